"""The candidate of a release of rows, and what is said of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crowdgate.candidate import Static
from crowdgate.histogram import Histogram
from crowdgate.kind.kind import Sections
from crowdgate.kind.randomness import Randomness
from crowdgate.kinds.rows.candidate import RowsCandidate
from crowdgate.kinds.rows.plan import VIEW
from crowdgate.kinds.rows.utility import utility
from crowdgate.mechanisms.rows.safe_k import SafeK


def protect(safe: SafeK, static: Static, counted: Mapping[str, Histogram], randomness: Randomness) -> RowsCandidate:
    """Choose the levels if they are open, sample with fresh coins, suppress."""
    made = safe.protect(counted[VIEW], randomness.coins(safe.beta), randomness.select)
    static = replace(static, levels=made.levels)
    return RowsCandidate(static=static, rows=made.output, table=made.full, sample=made.sample, noise=randomness.noise)


def parameters(safe: SafeK) -> dict[str, Any]:
    """What can be said of the mechanism before a release."""
    return safe.parameters()


def mechanism(safe: SafeK, candidate: RowsCandidate) -> dict[str, Any]:
    """What the manifest says of the mechanism, with the released levels."""
    return safe.parameters(candidate.static.levels)


def data(candidate: RowsCandidate) -> dict[str, Any]:
    """What the manifest says of the files: columns, rows, classes."""
    levels, rows = candidate.static.levels, candidate.rows
    columns = [{"name": name, "level": level.name, "values": len(level)} for name, level in levels.items()]
    return {"columns": columns, "rows": rows.rows, "classes": len(rows)}


def private(safe: SafeK, candidate: RowsCandidate, _: Mapping[str, Histogram]) -> Sections:
    """What the curator may know: rows, and what the release is worth."""
    rows = {"table": candidate.table.rows, "sample": candidate.sample.rows}
    return {"rows": lambda: rows, "utility": lambda: utility(candidate, safe)}
