"""Kind `safe_k_anonymity`: rows at levels, sampled, with the classes of fewer than k rows left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.candidate import Shape
from crowdgate.kind.kind import Kind
from crowdgate.later import modules
from crowdgate.mechanisms.rows.parts import CHOICE_PART, JOINT_PART, MARGINS_PART
from crowdgate.mechanisms.rows.spec import SafeKAnonymity

if TYPE_CHECKING:
    from crowdgate.kinds.rows import attacked, explained, files, outlook, page, pictures, plan, release, tells, verify
    from crowdgate.kinds.rows.candidate import PublishedRows, RowsCandidate
    from crowdgate.kinds.rows.said import RowsManifest
    from crowdgate.mechanisms.rows.safe_k import SafeK
else:
    attacked, explained, files, outlook, page, pictures, plan, release, tells, verify = modules(
        "crowdgate.kinds.rows",
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


def _says() -> type[RowsManifest]:
    from crowdgate.kinds.rows.said import RowsManifest

    return RowsManifest


ROWS: Kind[SafeKAnonymity, SafeK, RowsCandidate, PublishedRows, RowsManifest] = Kind(
    name="safe_k_anonymity",
    serves="rows of real people at coarse levels, where no combination may be invented",
    spec=SafeKAnonymity,
    shapes=frozenset((Shape.STATIC, Shape.INPUT, Shape.ROWS, Shape.TABLE, Shape.SAMPLE)),
    spends=frozenset(("mechanism", CHOICE_PART, JOINT_PART, MARGINS_PART)),
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
    mechanism=release.mechanism,
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
