"""The verdict of an audit from its figures, shared by the findings of all audits."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.audit.common.levels import POWER, level
from crowdgate.candidate import Measurement
from crowdgate.gate import Outcome
from crowdgate.number_text import rounded, whole


@dataclass(frozen=True)
class ControlResult:
    """Result of a control. `must` is the result that a working audit finds; `works` is true if this audit found it."""

    control: str
    must: str
    works: bool

    @property
    def failure(self) -> str:
        """How the control failed, as words that follow what it must do."""
        return {"hold": "was refuted", "be caught": "was not"}.get(self.must, "did not")

    @property
    def reason(self) -> str | None:
        """The reason why the audit is inconclusive; None if this control works."""
        return None if self.works else f"the control {self.control!r} must {self.must}, and {self.failure}"


@dataclass(frozen=True)
class Findings:
    """Verdict of an audit, with the reasons why it is inconclusive, if it is."""

    outcome: Outcome
    reasons: tuple[str, ...]


def outcome_of(reasons: Sequence[str], passes: bool) -> Outcome:
    """Return the verdict: inconclusive if there is any reason."""
    return Outcome.INCONCLUSIVE if reasons else Outcome.PASS if passes else Outcome.FAIL


def worst(figures: Iterable[Measurement]) -> Measurement:
    """Return the greatest value and the greatest confidence limits of some figures."""
    every = list(figures)
    return Measurement(*(max(getattr(each, part) for each in every) for part in ("value", "lower", "upper")))


def control_reasons(controls: Sequence[ControlResult]) -> Iterator[str]:
    """Yield the reasons why the controls make the audit inconclusive."""
    if not controls:
        yield "no control was played: nothing says that this audit sees anything"
    yield from (each.reason for each in controls if each.reason is not None)


def too_few(key: str, played: int, needed: int) -> str:
    """Return the reason why an audit that found nothing is inconclusive: too few trials or releases were played. The
    text names the number to write at `key` of the policy."""
    hardly = f"a harmless mechanism passes with a probability below {rounded(POWER, 6)}"
    return f"nothing was found in {whole(played)} {key}, but {hardly} in so few; write {key}: {needed}"


def too_few_releases(needed: Callable[[Fraction], int | None], played: int, attempt: int) -> Iterator[str]:
    """Yield the reason that a harmless mechanism would not have passed either, with the number of releases for the next
    attempt.

    `needed` is the number of releases with which a harmless mechanism passes at a level (None: no number suffices).
    """
    here, following = needed(level(attempt)), needed(level(attempt + 1))
    if here is not None and following is not None and played < here:
        yield too_few("releases", played, following)
