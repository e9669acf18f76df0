"""Kinds of release: one folder each, and a line below. Ledger, gates, verification and flows are the same for all."""

from crowdgate.kind.kind import AnyKind
from crowdgate.kinds.rows import ROWS
from crowdgate.kinds.synthetic import SYNTHETIC
from crowdgate.kinds.tables import TABLES

KINDS: dict[str, AnyKind] = {
    ROWS.name: ROWS,
    TABLES.name: TABLES,
    SYNTHETIC.name: SYNTHETIC,
}
