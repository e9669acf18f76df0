"""Public facts about a run from the ledger: its population, and the budget before and after its charge."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from crowdgate.history.ledger_summary import used_part
from crowdgate.kind.run_facts import Amounts, RunBudget, RunDescription
from crowdgate.ledger.schema import POPULATIONS, TOTALS
from crowdgate.ledger.transitions import RESERVED
from crowdgate.ledger.values import State
from crowdgate.manifest import AboutFields, SeriesFields

if TYPE_CHECKING:
    from crowdgate.ledger.journal import JournalLine
    from crowdgate.ledger.ledger import Entry, Ledger

_NOTHING = (Fraction(0), Fraction(0))


def facts_in_ledger(ledger: Ledger, entry: Entry, stated: Mapping[str, Any]) -> RunDescription:
    """Return the facts about a run in the ledger; `stated` is the public part of its private record, if known."""
    registered = ledger.budget(entry.population)
    people = None if registered is None else registered.people
    kind = ((stated.get("settings") or {}).get("mechanism") or {}).get("kind")
    about, around = _about(stated.get("about")), budget_around(ledger, entry)
    return RunDescription(entry.population, about, kind, people, around, _series_of(ledger, entry))


def _series_of(ledger: Ledger, entry: Entry) -> SeriesFields | None:
    """Return the series of a charge, at what its first release was charged; None for a charge of no series."""
    slot, payer = ledger.slot(entry), ledger.paying(entry)
    if slot is None:
        return None
    cost = {"epsilon": payer.spend.epsilon, "delta": payer.spend.delta}
    return SeriesFields(paid_by=payer.release_id, releases=slot.releases, **cost)


def _about(stated: object) -> AboutFields | None:
    try:
        return None if stated is None else AboutFields.model_validate(stated)
    except ValidationError:
        return None


def budget_around(ledger: Ledger, entry: Entry) -> RunBudget | None:
    """Return the budget of a run's population before and after the line of the journal that charged it (equal if
    the charge was given back); None if there is no such line."""
    cap, before, used = _NOTHING, _NOTHING, Fraction(0)
    for line in ledger.journal():
        rows = {name: row for name, row in line.rows() if row.get("population") == entry.population}
        cap = _amounts(rows[POPULATIONS]) if POPULATIONS in rows else cap
        after = _amounts(rows[TOTALS]) if TOTALS in rows else before
        part = used_part(line) if rows else None
        if line.event == RESERVED and line.subject == entry.release_id and TOTALS in rows and _charges(line, entry):
            if entry.state is State.VOID:
                after, part = before, None if part is None else used
            return RunBudget(cap, before, after, None if part is None else (used, part))
        before, used = after, used if part is None else part
    return None


def _charges(line: JournalLine, entry: Entry) -> bool:
    """Return whether a line of the journal is the charge of this entry: an id may be charged again after it was given
    back."""
    return any(row.get("number") == entry.number for _, row in line.rows())


def _amounts(row: Mapping[str, Any]) -> Amounts:
    return Fraction(row["epsilon"]), Fraction(row["delta"])
