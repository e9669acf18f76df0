"""The events of a run: its end, and what its end shows of the budget, of audits and of the ledger.

Everything in them is public: names of the policy's files, verdicts of gates that anybody may see, and the budget left.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from crowdgate.errors import Crashed, CrowdgateError, LedgerRefused
from crowdgate.history.ended_run import of_result
from crowdgate.kind.run import Request, Result
from crowdgate.operations.audit_age import AuditAge, asks_audits, audit_ages
from crowdgate.operations.event import Event, EventAudit, EventCost, EventGate, EventKind, new_event
from crowdgate.operations.next_steps import NEXT_STEPS
from crowdgate.planning.budget_left import today
from crowdgate.planning.budgets import budgets_json, percent_left
from crowdgate.planning.open_ledger import ledger_for_reading
from crowdgate.planning.plan import bundle_of
from crowdgate.policy.policy import release_id
from crowdgate.releases.dry_run import DryRun
from crowdgate.releases.slot_day import slot_of

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.policy.files import Bundle

RunEnd = Result | DryRun | CrowdgateError
UNUSABLE = ("edited", "unsigned", "lost", "frozen")
"""Codes of a ledger that refuses every run, or every run of a population, until somebody acts."""
WITHHELD = 3


@dataclass(frozen=True)
class RunFacts:
    """The names of a requested run, as far as its files can be read."""

    request: Request
    run: str

    @cached_property
    def bundle(self) -> Bundle | None:
        """The policy with its files; None if they can't be read."""
        with suppress(CrowdgateError):
            return bundle_of(self.request.policy)
        return None

    @cached_property
    def ledger(self) -> Ledger | None:
        """The ledger, for reading; None if it can't be read."""
        with suppress(CrowdgateError):
            return None if self.bundle is None else ledger_for_reading(self.bundle.root, self.request.ledger)
        return None

    def names(self) -> dict[str, Any]:
        """Return the fields of an event that name the run, its policy and its slot."""
        bundle = self.bundle
        if bundle is None:
            return {"run": self.run}
        return {
            "run": self.run,
            "policy": bundle.policy.metadata.name,
            "policy_digest": bundle.digest,
            "contract": bundle.contract.id,
            "population": bundle.contract.population,
            "ledger": bundle.budget.spec.ledger,
            **self._slot(bundle),
        }

    def _slot(self, bundle: Bundle) -> dict[str, str]:
        with suppress(CrowdgateError, ValueError):
            slot = slot_of(bundle.policy, self.request)
            return {"slot": slot, "release": release_id(bundle.policy, slot)}
        return {}

    def percent_left(self) -> int | None:
        """Return the part of the budget that is left, in percent rounded down; None if it is unknown."""
        with suppress(CrowdgateError):
            found = [] if self.ledger is None or self.bundle is None else budgets_json(self.ledger)
            name = "" if self.bundle is None else self.bundle.contract.population
            return next((percent_left(each) for each in found if each["population"] == name), None)
        return None

    def stale_audits(self) -> list[AuditAge]:
        """Return the audits that gates of the policy read and that are missing or too old."""
        with suppress(CrowdgateError):
            if self.bundle is not None and self.ledger is not None and asks_audits(self.bundle):
                return [each for each in audit_ages(self.bundle, self.ledger.journal(), today()) if each.stale]
        return []


def run_events(request: Request, run: str, end: RunEnd) -> list[Event]:
    """Return the events of a run that ended, the end itself first."""
    facts = RunFacts(request, run)
    return list(_events(facts, end))


def _events(facts: RunFacts, end: RunEnd) -> Iterator[Event]:
    names = facts.names()
    if isinstance(end, CrowdgateError):
        yield _error(names, end)
        if isinstance(end, LedgerRefused) and end.code in UNUSABLE:
            yield new_event(EventKind.LEDGER_REFUSED, **names, code=end.code, todo=NEXT_STEPS[end.code])
    elif isinstance(end, DryRun):
        yield new_event(EventKind.DRY_RUN, **names, exit_code=WITHHELD)
    else:
        yield _result(facts, names, end)
    if isinstance(end, Result) and end.low and not end.repeated:
        yield new_event(EventKind.LOW_BUDGET, **names, budget_left_percent=facts.percent_left())
    for each in facts.stale_audits():
        audit = EventAudit(question=each.question, age_days=each.age, max_age_days=each.most)
        yield new_event(EventKind.AUDIT_STALE, **names, audit=audit)


def _error(names: dict[str, Any], error: CrowdgateError) -> Event:
    waits = isinstance(error, LedgerRefused) and error.code == "unapproved"
    crashed = EventKind.CRASHED if isinstance(error, Crashed) else EventKind.REFUSED
    leased = isinstance(error, LedgerRefused) and error.code == "held"
    todo = NEXT_STEPS.get("held-lease" if leased else error.code, "")
    kind = EventKind.WAITING if waits else crashed
    return new_event(kind, **names, code=error.code, exit_code=error.exit_code, todo=todo)


def _result(facts: RunFacts, names: dict[str, Any], end: Result) -> Event:
    kind = EventKind(end.outcome)
    gates = tuple(
        EventGate(measure=each.measure, outcome=each.outcome, withholds=each.withholds)
        for each in end.verdicts
        if each.public
    )
    charged = bool(end.left) or kind in (EventKind.PUBLISHED, EventKind.WAITING)
    cost = _cost(end) if charged and not end.repeated else None
    left = facts.percent_left()
    named = {**names, "release": end.release_id, "slot": end.release_id.rpartition("/")[2]}
    code = 0 if kind is EventKind.PUBLISHED else WITHHELD
    return new_event(
        kind, **named, repeated=end.repeated, exit_code=code, gates=gates, cost=cost, budget_left_percent=left
    )


def _cost(end: Result) -> EventCost:
    """Return what a run was charged. The first one of a series pays for all, so that a later one is charged nothing."""
    found = of_result(end)
    series = None if found.facts is None else found.facts.series
    if series is not None and series.paid_by != end.release_id:
        return EventCost(epsilon=Fraction(0), delta=Fraction(0))
    return EventCost(epsilon=found.epsilon, delta=found.delta)
