"""Prediction of a plan at the levels that it counts, and a record that compares it with the observed table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from crowdgate.anonymity.predict.figures import Row, bounds_note, informative_columns, prediction_rows
from crowdgate.anonymity.predict.independence_bounds import BOUND_NAMES
from crowdgate.anonymity.predict.laws import INDEPENDENT, laws
from crowdgate.errors import ConfigurationError
from crowdgate.kind.forecast import Axes
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.number_text import PEOPLE, PROBABILITY, SHARE, whole
from crowdgate.public_counts.figures import PriorFigures, PriorSubject, read_prior
from crowdgate.risk.prediction import SIZES, predict_singletons

if TYPE_CHECKING:
    from crowdgate.candidate import Candidate
    from crowdgate.histogram import Histogram
    from crowdgate.kind.plan import Plan

COLUMNS = (
    ListingColumn("by", "by"),
    ListingColumn("singletons", "unique", PEOPLE),
    ListingColumn("low", "from", PEOPLE),
    ListingColumn("high", "to", PEOPLE),
    ListingColumn("spread", "standard deviation", PEOPLE),
    ListingColumn("at_least_one", "somebody is", PROBABILITY),
    *(ListingColumn(f"up_to_{size}", f"up to {size}", SHARE) for size in SIZES),
)


def prediction(plan: Plan, known: PriorFigures) -> Listing:
    """Return the expected number of the budget's people who are unique in all that is counted, at the finest levels.
    Without rows where too little is known, or for too many classes."""
    subject = PriorSubject.of_plan(plan)
    rows = tuple(_without_guess(row) for row in _rows(subject, known))
    by = "" if len(rows) != 1 else f" by {rows[0]['by']} of attributes"
    ends = f"; {bounds_note(rows)}" if bounds_note(rows) else ""
    note = (
        f"of {whole(subject.people)} people{by}, before anything is protected; and the share in groups up to a"
        f" size{ends}"
    )
    title = "people expected to be unique in the table by all that is counted"
    return Listing("prediction", title, informative_columns(COLUMNS, rows), rows, note)


def _without_guess(row: Row) -> Row:
    """Return a row without the figures that assume independence of several attributes; its limits stay."""
    guessed = row["by"] == INDEPENDENT and row["low"] is not None
    return {**row, **dict.fromkeys(name for name in row if name not in KNOWN)} if guessed else row


KNOWN = ("people", "by", *BOUND_NAMES)
"""Fields of a row that do not assume independence."""


def observed_and_expected(plan: Plan, candidate: Candidate, counted: Mapping[str, Histogram]) -> dict[str, Any]:
    """Return, for the custodian, the unique people and those in small sets of the table (at the released levels, if
    rows are released), with the numbers that the public margins predict."""
    released = candidate.table
    if released is not None:
        return _observed_and_expected_at(
            plan, {name: candidate.static.levels[name] for name in released.names}, released
        )
    views = plan.protection.views
    return {
        " and ".join(views[name].levels): _observed_and_expected_at(plan, views[name].levels, held)
        for name, held in counted.items()
    }


def _observed_and_expected_at(plan: Plan, levels: Axes, held: Histogram) -> dict[str, Any]:
    observed = {"alone": int((held.counts == 1).sum()), **_shares(_share_up_to(held, size) for size in SIZES)}
    subject = PriorSubject(plan.bundle.contract, plan.bundle.root, plan.bundle.budget.spec.people, levels)
    return {
        "rows": held.rows,
        "observed": observed,
        "expected by independent margins": _expected_by_margins(subject, held.rows),
    }


def _expected_by_margins(subject: PriorSubject, rows: int) -> dict[str, float] | None:
    """Return the numbers of unique people and of people in small sets that independent margins predict for `rows` rows;
    None where no margins are known, or the table is empty."""
    try:
        found = predict_singletons(laws(subject, read_prior(subject, None)).independent, rows)
    except (ConfigurationError, ValueError):
        return None
    return {"alone": found.singletons, "spread": found.spread, **_shares(found.shares.values())}


def _shares(shares: Iterable[float]) -> dict[str, float]:
    return {f"share in groups up to {size}": share for size, share in zip(SIZES, shares, strict=True)}


def _share_up_to(held: Histogram, size: int) -> float:
    return int(held.counts[held.counts <= size].sum()) / max(1, held.rows)


def _rows(subject: PriorSubject, known: PriorFigures) -> tuple[Row, ...]:
    try:
        found = laws(subject, known)
    except ConfigurationError:
        return ()
    return tuple(prediction_rows(found.bins(), found.bounds, (subject.people,)))
