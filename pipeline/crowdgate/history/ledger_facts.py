"""Public facts about a run from the ledger: its population, and the budget before and after its charge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from crowdgate.history.ledger_summary import used_part
from crowdgate.kind.run_facts import Amounts, RunBudget, RunDescription
from crowdgate.ledger.schema import ENTRIES, POPULATIONS, TOTALS
from crowdgate.ledger.transitions import RESERVED
from crowdgate.ledger.values import State
from crowdgate.manifest import AboutFields, SeriesFields

if TYPE_CHECKING:
    from crowdgate.ledger.journal import JournalLine
    from crowdgate.ledger.ledger import Entry, Ledger

_NOTHING = (Fraction(0), Fraction(0))
_UNKNOWN = RunBudget(_NOTHING, _NOTHING, _NOTHING)


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
    found = _budgets(ledger, ledger.head().digest).get(entry.number)
    if found is None or entry.state is not State.VOID:
        return found
    return replace(found, after=found.before, used=None if found.used is None else (found.used[0], found.used[0]))


@lru_cache(maxsize=1)
def _budgets(ledger: Ledger, head: str) -> Mapping[int, RunBudget]:  # noqa: ARG001
    """Return the budget around each charge by its number, of the journal up to the line with the digest `head`: a page
    tells many runs of one journal."""
    found, now = dict[int, RunBudget](), dict[str, RunBudget]()
    for line in ledger.journal():
        for population in {str(row["population"]) for _, row in line.rows() if row.get("population")}:
            rows = {name: row for name, row in line.rows() if row.get("population") == population}
            now[population] = _budget_at(line, rows, now.get(population, _UNKNOWN))
            if line.event == RESERVED and TOTALS in rows and ENTRIES in rows:
                found[int(rows[ENTRIES]["number"])] = now[population]
    return found


def _budget_at(line: JournalLine, rows: Mapping[str, Mapping[str, Any]], earlier: RunBudget) -> RunBudget:
    """Return the budget of a population around a line of the journal that wrote these rows of it."""
    cap = _amounts(rows[POPULATIONS]) if POPULATIONS in rows else earlier.cap
    after = _amounts(rows[TOTALS]) if TOTALS in rows else earlier.after
    before, part = Fraction(0) if earlier.used is None else earlier.used[1], used_part(line)
    if part is not None:
        return RunBudget(cap, earlier.after, after, (before, part))
    return RunBudget(cap, earlier.after, after, None if earlier.used is None else (before, before))


def _amounts(row: Mapping[str, Any]) -> Amounts:
    return Fraction(row["epsilon"]), Fraction(row["delta"])
