"""Kind `dp_tables`: counts, sums, means and quantiles with discrete noise, made consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.candidate import Shape
from crowdgate.kind.kind import Kind
from crowdgate.later import modules
from crowdgate.mechanisms.tables.spec import DpTablesSpec

if TYPE_CHECKING:
    from crowdgate.kinds.tables import attacked, explained, files, outlook, page, pictures, plan, release, tells, verify
    from crowdgate.kinds.tables.plan import TablesPlan
    from crowdgate.kinds.tables.published import PublishedTables
    from crowdgate.kinds.tables.release import AnsweredTables
    from crowdgate.kinds.tables.said import TablesManifest
else:
    attacked, explained, files, outlook, page, pictures, plan, release, tells, verify = modules(
        "crowdgate.kinds.tables",
        "attacked",
        "explained",
        "files",
        "outlook",
        "page",
        "pictures",
        "plan",
        "release",
        "tells",
        "verify",
    )


def _says() -> type[TablesManifest]:
    from crowdgate.kinds.tables.said import TablesManifest

    return TablesManifest


TABLES: Kind[DpTablesSpec, TablesPlan, AnsweredTables, PublishedTables, TablesManifest] = Kind(
    name="dp_tables",
    serves="figures that must be right, each with its error",
    spec=DpTablesSpec,
    shapes=frozenset((Shape.STATIC, Shape.INPUT, Shape.CELLS)),
    spends=frozenset(("mechanism",)),
    attributes=plan.attributes,
    beside=plan.beside,
    plan=plan.plan,
    figures=plan.figures,
    views=plan.views,
    protect=release.protect,
    attacked=attacked.attacked,
    publish=release.publish,
    files=files.files,
    parameters=release.parameters,
    mechanism=release.stated,
    data=release.data,
    page=page.page,
    measured=verify.measured,
    pictures=pictures.pictures,
    private=release.private,
    promise=plan.promise,
    notes=plan.notes,
    explained=explained.explained,
    outlook=outlook.outlook,
    propose=outlook.propose,
    says=_says,
    claims=verify.claims,
    read=verify.read,
    refit=None,
    tells=tells.tells,
)
