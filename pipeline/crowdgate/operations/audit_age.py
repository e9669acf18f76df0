"""The age of the recorded audits that a policy's gates read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from crowdgate.candidate import AuditQuestion
from crowdgate.ledger.audits import RECORDED, key
from crowdgate.measures import MEASURES
from crowdgate.measures.recorded_audits import MAX_AGE

if TYPE_CHECKING:
    from crowdgate.ledger.journal import JournalLine
    from crowdgate.policy.files import Bundle


@dataclass(frozen=True)
class AuditAge:
    """The age in days of the newest recorded audit on a question (None: there is none), and the greatest age that the
    strictest gate allows."""

    question: AuditQuestion
    age: int | None
    most: int

    @property
    def stale(self) -> bool:
        """True if a gate that reads the audit is inconclusive for lack of a recent record."""
        return self.age is None or self.age > self.most


def asks_audits(bundle: Bundle) -> bool:
    """Return whether a gate of a policy reads a recorded audit."""
    return any(_allowed(bundle))


def audit_ages(bundle: Bundle, journal: Sequence[JournalLine], today: str) -> list[AuditAge]:
    """Return the age of each audit that gates of a policy read, for the policy's files as they are now."""
    most: dict[AuditQuestion, int] = {}
    for question, days in _allowed(bundle):
        most[question] = min(days, most.get(question, days))
    return [AuditAge(each, _age(bundle, journal, each, today), days) for each, days in most.items()]


def _allowed(bundle: Bundle) -> Iterator[tuple[AuditQuestion, int]]:
    for rule in bundle.policy.spec.gates:
        question, days = MEASURES[rule.measure].asks, rule.options.get(MAX_AGE)
        if question is not None and days is not None:
            yield question, int(days)


def _age(bundle: Bundle, journal: Sequence[JournalLine], question: AuditQuestion, today: str) -> int | None:
    wanted = key(bundle.digest, question)
    days = [each.day for each in journal if each.event == RECORDED and each.subject.partition(" ")[2] == wanted]
    newest = max((each for each in days if each), default=None)
    return None if newest is None else max(0, (date.fromisoformat(today) - date.fromisoformat(newest)).days)
