"""What a plan foretells of its people at the levels that it counts, and a record beside what was observed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from crowdgate.errors import ConfigurationError
from crowdgate.jobs.predict.figures import Row, rows_of, told, what_ends_are
from crowdgate.jobs.predict.laws import laws
from crowdgate.jobs.prior import Figures, Subject, figures
from crowdgate.kind.forecast import PEOPLE, PROBABILITY, SHARE, Axes, Column, Listing
from crowdgate.risk.prediction import SIZES, predicted

if TYPE_CHECKING:
    from crowdgate.candidate import Candidate
    from crowdgate.histogram import Histogram
    from crowdgate.kind.plan import Plan

COLUMNS = (
    Column("by", "by"),
    Column("singletons", "alone", PEOPLE),
    Column("low", "from", PEOPLE),
    Column("high", "to", PEOPLE),
    Column("spread", "standard deviation", PEOPLE),
    Column("at_least_one", "somebody is", PROBABILITY),
    *(Column(f"up_to_{size}", f"up to {size}", SHARE) for size in SIZES),
)


def prediction(plan: Plan, known: Figures) -> Listing:
    """How many of the budget's people would be alone with all that is counted, at the finest levels; without rows where
    too little is known, or for too many classes."""
    subject = Subject.of_plan(plan)
    rows = _rows(subject, known)
    by = "" if len(rows) != 1 else f" by {rows[0]['by']} of attributes"
    ends = f"; {what_ends_are(rows)}" if what_ends_are(rows) else ""
    note = f"of {subject.people:,} people{by}, before anything is protected; and the share in groups up to a size{ends}"
    title = "people expected to be alone in the table by all that is counted"
    return Listing("prediction", title, told(COLUMNS, rows), rows, note)


def beside_observed(plan: Plan, candidate: Candidate, counted: Mapping[str, Histogram]) -> dict[str, Any]:
    """For the curator: who is alone and in small groups in the table (at the released levels, where rows are released)
    beside what the public margins foretold of as many."""
    released = candidate.table
    if released is not None:
        return _beside(plan, {name: candidate.static.levels[name] for name in released.names}, released)
    views = plan.protection.views()
    return {" and ".join(views[name].levels): _beside(plan, views[name].levels, held) for name, held in counted.items()}


def _beside(plan: Plan, levels: Axes, held: Histogram) -> dict[str, Any]:
    observed = {"alone": int((held.counts == 1).sum()), **_shares(_share_up_to(held, size) for size in SIZES)}
    subject = Subject(plan.bundle.contract, plan.bundle.root, plan.bundle.budget.spec.people, levels)
    return {"rows": held.rows, "observed": observed, "expected by independent margins": _expected(subject, held.rows)}


def _expected(subject: Subject, rows: int) -> dict[str, float] | None:
    """None where no margins are known, or nobody is there."""
    try:
        found = predicted(laws(subject, figures(subject, None)).independent, rows)
    except (ConfigurationError, ValueError):
        return None
    return {"alone": found.singletons, "spread": found.spread, **_shares(found.shares.values())}


def _shares(shares: Iterable[float]) -> dict[str, float]:
    return {f"share in groups up to {size}": share for size, share in zip(SIZES, shares, strict=True)}


def _share_up_to(held: Histogram, size: int) -> float:
    return int(held.counts[held.counts <= size].sum()) / max(1, held.rows)


def _rows(subject: Subject, known: Figures) -> tuple[Row, ...]:
    try:
        found = laws(subject, known)
    except ConfigurationError:
        return ()
    return tuple(rows_of(found.bins(), found.ends, (subject.people,)))
