"""What the README of a release of rows says: for the people who use the data."""

from crowdgate.kind.kind import Page
from crowdgate.kinds.rows.candidate import RowsCandidate
from crowdgate.kinds.rows.estimates import Estimate, estimates, largest
from crowdgate.kinds.rows.plan import notes
from crowdgate.mechanisms.rows.safe_k import SafeK


def page(safe: SafeK, candidate: RowsCandidate) -> Page:
    """Columns, what was done, how to use it, and an example with the release's own numbers."""
    levels = candidate.static.levels
    found = largest(estimates(candidate.rows, levels, safe.beta, levels))
    values = {
        "columns": [{"name": name, "level": level.name, "values": len(level)} for name, level in levels.items()],
        "beta": f"{float(safe.beta):g}",
        "rest": f"{float(1 - safe.beta):g}",
        "weight": f"{float(1 / safe.beta):g}",
        "k": safe.k,
        "rows": safe.rows,
        "inherited": safe.inherited,
        "choice": notes(safe),
        "examples": list(map(_example, found)),
    }
    return Page("kinds/rows/release.md.j2", values)


def _example(each: Estimate) -> dict[str, object]:
    middle, half = each.persons_hundredths / 100, 1.96 * each.error_hundredths / 100
    ends = f"{middle - half:.0f} to {middle + half:.0f}"
    return {"column": each.column, "label": each.label, "rows": each.count, "persons": each.persons,
            "error": each.error, "interval": ends}  # fmt: skip
