"""How the record of an audit is read, of whatever question: by gates, by releases and by those who verify them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from crowdgate.audit.common.record import RecordedAudit
from crowdgate.audit.common.record_io import parsed
from crowdgate.candidate import AuditFigures, AuditQuestion, Measurement
from crowdgate.errors import VerificationFailed

if TYPE_CHECKING:
    from crowdgate.gate import Outcome

Options = Mapping[str, Fraction]


class Conclusion(Protocol):
    """What the findings of every question say."""

    @property
    def outcome(self) -> Outcome:
        """Whether it passed."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why nothing can be concluded."""


R = TypeVar("R", bound=RecordedAudit)
F = TypeVar("F", bound=Conclusion)


@dataclass(frozen=True, eq=False)
class Reading(Generic[R, F]):
    """One question: the `file` of its record beside a release, the type of the record, what it comes to, and what that
    says of a measure at the options of a gate. `must` is what is expected of controls, by name; `odd` says what no
    audit would have written."""

    question: AuditQuestion
    file: str
    kept: type[R]
    found: Callable[[R], F]
    measured: Callable[[R, F, str, Options], Measurement | None]
    must: Mapping[str, str]
    odd: Callable[[R], Iterator[str]] = lambda _: iter(())

    def read(self, data: bytes) -> tuple[R, F]:
        """The record in `data`, and its findings. Raises VerificationFailed for anything that is no such record."""
        record = parsed(data, self.kept)
        try:
            return record, self.found(record)
        except (ValueError, ArithmeticError, LookupError, AssertionError):
            raise VerificationFailed("it is not the record of an audit") from None

    def figures(self, record: R, said: F, slot: date) -> AuditFigures:
        """What gates of a release of this slot are judged by."""
        age = max(0, (slot - record.made).days)
        return AuditFigures(lambda name, options: self.measured(record, said, name, options), age)
