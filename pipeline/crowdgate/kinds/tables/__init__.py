"""Kind `dp_tables`: counts, sums, means and quantiles with discrete noise, made consistent."""

from crowdgate.candidate import Shape
from crowdgate.kind.kind import Kind
from crowdgate.kinds.tables import outlook, page, plan, release, verify
from crowdgate.kinds.tables.plan import TablesPlan
from crowdgate.kinds.tables.release import AnsweredTables
from crowdgate.mechanisms.tables.spec import DpTablesSpec

TABLES: Kind[DpTablesSpec, TablesPlan, AnsweredTables] = Kind(
    name="dp_tables",
    spec=DpTablesSpec,
    shapes=frozenset((Shape.STATIC, Shape.CELLS)),
    spends=frozenset(("mechanism",)),
    attributes=lambda _: (),
    beside=lambda _: {},
    plan=plan.plan,
    figures=plan.figures,
    views=plan.views,
    protect=release.protect,
    files=release.files,
    parameters=release.parameters,
    mechanism=lambda planned, _: release.parameters(planned),
    data=release.data,
    page=page.page,
    private=release.private,
    promise=plan.promise,
    notes=plan.notes,
    outlook=outlook.outlook,
    propose=outlook.propose,
    verify=verify.problems,
)
