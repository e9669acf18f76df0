"""What the README of a release of tables says: for the people who use the numbers."""

from crowdgate.kind.kind import Page
from crowdgate.kinds.tables.plan import TablesPlan, notes
from crowdgate.kinds.tables.release import AnsweredTables, listing


def page(planned: TablesPlan, candidate: AnsweredTables) -> Page:
    """What the files hold, how the numbers were made, and what their intervals mean."""
    mechanism, spec = planned.mechanism, planned.spec
    values = {
        "tables": list(listing(mechanism, candidate.answers)),
        "noise": mechanism.budget.noise,
        "beta": f"{float(mechanism.beta):g}",
        "sampled": mechanism.beta != 1,
        "relative": f"{float(spec.relative_error):g}",
        "suppress": spec.suppress,
        "raw": spec.raw,
        "workload": notes(planned),
        "used": "the numbers",
    }
    return Page("kinds/tables/release.md.j2", values)
