"""How the record of an audit is read, question by question: one table for gates, releases and those who verify them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from crowdgate.audit import findings as singling_out
from crowdgate.audit.controls import CONTROLS
from crowdgate.audit.inference import controls as inference_controls
from crowdgate.audit.inference import findings as inference
from crowdgate.audit.inference.record import InferenceRecord
from crowdgate.audit.membership import controls as membership_controls
from crowdgate.audit.membership import findings as membership
from crowdgate.audit.membership.record import MembershipRecord
from crowdgate.audit.record import AuditRecord, Record, weights_of
from crowdgate.audit.written import parsed
from crowdgate.candidate import AuditFigures, Measurement, Question
from crowdgate.errors import VerificationFailed

if TYPE_CHECKING:
    from crowdgate.gate import Outcome

Options = Mapping[str, Fraction]


class Said(Protocol):
    """What the findings of every question say."""

    @property
    def outcome(self) -> Outcome:
        """Whether it passed."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why nothing can be concluded."""


R = TypeVar("R", bound=Record)
F = TypeVar("F", bound=Said)


@dataclass(frozen=True, eq=False)
class Reading(Generic[R, F]):
    """One question: the `file` of its record beside a release, the type of the record, what it comes to, and what that
    says of a measure at the options of a gate. `must` is what is expected of controls, by name; `odd` says what no
    audit would have written."""

    question: Question
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


def _singled_out(_: AuditRecord, said: singling_out.Findings, name: str, __: Options) -> Measurement | None:
    return {
        "pso_success": said.success, "pso_excess": said.excess, "isolation_rate": said.isolation,
        "kept_share_in_audit": None if said.kept is None else Measurement.exact(said.kept),
    }[name]  # fmt: skip


def _inferred(record: InferenceRecord, said: inference.Findings, name: str, options: Options) -> Measurement | None:
    of: Callable[[inference.Estimate], Measurement | None] = {
        "inference_gain": lambda each: each.gain, "inference_precision_above_baseline": lambda each: each.above,
    }[name]  # fmt: skip
    return inference.worst(said.estimates, float(options["coverage"]), record.setting, of)


def _claimed(record: MembershipRecord, said: membership.Findings, _: str, options: Options) -> Measurement | None:
    """An audit looks for claims at its own skew and recall, and tells of no others."""
    asked = (record.setting.skew, record.setting.recall) == (options["skew"], options["recall"])
    return said.precision if asked else None


def _weights(record: AuditRecord) -> Iterator[str]:
    if record.setting.weights != weights_of(record.setting.weight, record.setting.n):
        yield "it was not judged at the weights that an audit judges"


READINGS: Mapping[Question, Reading[Any, Any]] = {
    Question.SINGLING_OUT: Reading(
        Question.SINGLING_OUT, "audit.json", AuditRecord, singling_out.found, _singled_out,
        {each.name: each.must for each in CONTROLS}, _weights,
    ),
    Question.INFERENCE: Reading(
        Question.INFERENCE, "inference.json", InferenceRecord, inference.found, _inferred,
        {each.name: each.must for each in inference_controls.controls()},
    ),
    Question.MEMBERSHIP: Reading(
        Question.MEMBERSHIP, "membership.json", MembershipRecord, membership.found, _claimed,
        {each.name: each.must for each in membership_controls.controls(Fraction(1, 2))},
    ),
}  # fmt: skip
"""By question."""
