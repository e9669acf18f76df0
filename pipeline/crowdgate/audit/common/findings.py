"""The verdict of an audit from its figures, shared by the findings of all audits."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.audit.common.levels import POWER, level
from crowdgate.candidate import Measurement
from crowdgate.gate import Outcome
from crowdgate.number_text import rounded, whole

NOTHING_PROVEN = "the confidence interval holds the limit: neither a pass nor a failure is shown"
"""Reason why an audit whose trials suffice for a harmless mechanism is inconclusive."""


@dataclass(frozen=True)
class ControlResult:
    """Result of a control, a mechanism with a known correct result. `must` is the result that a working audit finds;
    `works` is true if this audit found it."""

    control: str
    must: str
    works: bool

    @property
    def failure(self) -> str:
        """Clause that says how the control failed (`was refuted`, `was not`, `did not`), to follow "must ..., and"."""
        return {"hold": "was refuted", "be caught": "was not"}.get(self.must, "did not")

    @property
    def reason(self) -> str | None:
        """Reason why this control makes the audit inconclusive; None if the audit found the correct result."""
        return None if self.works else f"the control {self.control!r} must {self.must}, and {self.failure}"


@dataclass(frozen=True)
class Findings:
    """Verdict of an audit, with the reasons why it is inconclusive, if it is."""

    outcome: Outcome
    reasons: tuple[str, ...]


def outcome_of(reasons: Sequence[str], passes: bool) -> Outcome:
    """Return the verdict of an audit: inconclusive if there is any reason for that, otherwise pass or fail."""
    return Outcome.INCONCLUSIVE if reasons else Outcome.PASS if passes else Outcome.FAIL


def worst(figures: Iterable[Measurement]) -> Measurement:
    """Return a measurement made of the greatest value, the greatest lower and the greatest upper confidence limit of
    some measurements."""
    every = list(figures)
    return Measurement(*(max(getattr(each, part) for each in every) for part in ("value", "lower", "upper")))


def control_reasons(controls: Sequence[ControlResult]) -> Iterator[str]:
    """Yield the reasons why failed controls make the audit inconclusive, or the reason that no control was played."""
    if not controls:
        yield "no control was played: nothing says that this audit sees anything"
    yield from (each.reason for each in controls if each.reason is not None)


def too_few(key: str, played: int, needed: int) -> str:
    """Return the reason why an audit that found nothing is inconclusive: only `played` trials or releases were played
    (`key`: the policy's field). The text advises to write `needed` for that field."""
    hardly = f"a harmless mechanism passes with a probability below {rounded(POWER, 6)}"
    return f"nothing was found in {whole(played)} {key}, but {hardly} in so few; write {key}: {needed}"


def too_few_releases(needed: Callable[[Fraction], int | None], played: int, attempt: int) -> Iterator[str]:
    """Yield the reason that even a harmless mechanism would not have passed with `played` releases, with the number for
    the next attempt; nothing if they suffice. `needed` returns the number of releases for a significance level (None:
    no number suffices)."""
    here, following = needed(level(attempt)), needed(level(attempt + 1))
    if here is not None and following is not None and played < here:
        yield too_few("releases", played, following)
