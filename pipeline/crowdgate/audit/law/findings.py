"""Findings of an audit of the stated distributions, computed from its record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, lgamma, log
from typing import Any

from crowdgate.audit.common.audit import Options
from crowdgate.audit.common.findings import Findings, outcome_of
from crowdgate.audit.common.game import UNUSED, Game
from crowdgate.audit.common.levels import ALPHA, POWER
from crowdgate.audit.law import score_tests
from crowdgate.audit.law.record import LawRecord, LawResults, LawSetting, RareClasses
from crowdgate.audit.law.score_tests import LawTest
from crowdgate.audit.law.scores import NOISE, is_scaled
from crowdgate.audit.law.sums import ScoreSums, added
from crowdgate.candidate import Measurement
from crowdgate.number_text import percent, whole

ALL_NOISE = "all noise"
"""The name of all noise together whose scores are multiples of its standard deviation."""
GATES = "noise of gates"
CLASSES, RARE = "class sizes", "released rare classes"
OTHER = 0.05
"""One-sided level of the confidence limits of spread and rate."""


@dataclass(frozen=True)
class LawEstimate:
    """Findings on one family of numbers in fresh releases: their count, the spread as a multiple of the stated one,
    the sampling rate as a multiple of the stated one (None: unknown), how much too small a spread would have been
    seen with probability .9 (None: none), and the p-values of the tests. Spread and what would have been seen are None
    for numbers whose scores are no multiples of a standard deviation."""

    family: str
    numbers: int
    spread: Measurement | None
    rate: Measurement | None
    seen: float | None
    tests: tuple[LawTest, ...]


@dataclass(frozen=True)
class LawFindings(Findings):
    """Findings on the policy's mechanism. `refuting` are the tests whose p-values are at most the level of each test
    (`level`); `shortfall` is how much smaller than stated noise can be, in the worst family (None: unknown)."""

    estimates: tuple[LawEstimate, ...]
    refuting: tuple[LawTest, ...]
    contradictions: tuple[str, ...]
    rare: LawTest | None
    level: float
    shortfall: Measurement | None


def error_of(error: Fraction, attempt: int) -> Fraction:
    """Return the false-alarm rate of all tests of this attempt: that of a first one, halved for each earlier one."""
    return error / (1 << (attempt - 1))


def refuting_tests(played: LawResults, error: Fraction, attempt: int) -> tuple[tuple[LawTest, ...], float]:
    """Return all tests of some releases, and the level of each: a p-value of at most this level refutes."""
    own = (each for _, tests in _tested(played) for each in tests)
    rare = _rare_test(played.rare)
    tests = (*own, *(() if rare is None else (rare,)))
    return tests, float(error_of(error, attempt)) / max(1, len(tests))


def _tested(played: LawResults) -> list[tuple[ScoreSums, tuple[LawTest, ...]]]:
    """Return the sums of each family with their tests, and those of all noise together."""
    every = [(sums, tuple(score_tests.tests(sums))) for sums in played.sums if sums.numbers]
    noise = _all_noise(played.sums)
    return every if noise is None else [*every, (noise, (score_tests.spread_test(noise),))]


def findings_of(record: LawRecord) -> LawFindings:
    """Return the findings of a finished audit of the stated distributions."""
    played, setting = record.policy_results, record.setting
    tests, level = refuting_tests(played, setting.error, record.attempt)
    estimates = tuple(_estimate(sums, own, level) for sums, own in _tested(played))
    refuting = tuple(each for each in tests if each.p <= level)
    broken = bool(refuting or played.contradictions)
    reasons = () if broken else tuple(_reasons(setting, played, estimates, level))
    return LawFindings(
        outcome=outcome_of(reasons, not broken), reasons=reasons, estimates=estimates, refuting=refuting,
        contradictions=played.contradictions, rare=_rare_test(played.rare), level=level,
        shortfall=_shortfall(estimates),
    )  # fmt: skip


def _rare_test(rare: RareClasses) -> LawTest | None:
    """Return the test of classes that are hardly ever released: the probability of r releases among independent classes
    is at most m^r / r!, m their expected number."""
    if not rare.expected:
        return LawTest(CLASSES, RARE, 0.0) if rare.released else None
    log_p = rare.released * log(rare.expected) - lgamma(rare.released + 1) if rare.released else 0.0
    return LawTest(CLASSES, RARE, exp(min(0.0, log_p)))


def _estimate(sums: ScoreSums, tests: tuple[LawTest, ...], level: float) -> LawEstimate:
    limits = score_tests.rate_limits(sums, OTHER)
    rate = None if limits is None else Measurement(sum(limits) / 2, *limits)
    if not (sums.family == ALL_NOISE or is_scaled(sums.family)):
        return LawEstimate(sums.family, sums.numbers, None, rate, None, tests)
    spread = Measurement((sums.squares / sums.numbers) ** 0.5, *score_tests.spread_limits(sums, OTHER))
    seen = score_tests.least_seen(sums.numbers, level, float(POWER))
    return LawEstimate(sums.family, sums.numbers, spread, rate, seen, tests)


def _all_noise(every: Sequence[ScoreSums]) -> ScoreSums | None:
    """Return the sums over all families of noise together whose scores are multiples of its standard deviation; None
    unless there are several."""
    noise = [each.model_copy(update={"family": ALL_NOISE}) for each in every if is_scaled(each.family) and each.numbers]
    return added(noise)[0] if len(noise) > 1 else None


def _reasons(
    setting: LawSetting, played: LawResults, estimates: tuple[LawEstimate, ...], level: float
) -> Iterator[str]:
    """Yield why the audit can't tell: it would not have seen noise that is too small by the limit."""
    own = [each for each in estimates if not each.family.startswith(GATES)]
    if not own:
        yield "nothing was drawn whose distribution is stated: this audit could not have failed"
    elif all(each.seen is None and each.rate is None for each in own):
        yield "neither noise nor a sampling rate could be measured: this audit could hardly have failed"
    for each in own:
        if each.family.startswith(NOISE) and not is_scaled(each.family):
            yield f"{each.family}: it is not known how much of it could be missing, as it is no wide Gaussian noise"
    for each in _measured_noise(own):
        if each.seen is None or each.seen > setting.limit:
            releases = _releases_needed(each, played.releases, setting.limit, level)
            yield (
                f"this audit could not have failed: it sees noise that is {percent(setting.limit)} too small with a"
                f" probability below {float(POWER):g}; write releases: {whole(releases)}"
            )


def _measured_noise(own: Iterable[LawEstimate]) -> list[LawEstimate]:
    """Return the estimate of all noise together; that of the only family of noise if there is one; or none."""
    wide = [each for each in own if each.family == ALL_NOISE or is_scaled(each.family)]
    return [each for each in wide if each.family == ALL_NOISE] or wide


def _releases_needed(each: LawEstimate, releases: int, limit: Fraction, level: float) -> int:
    """Return the number of releases in which noise that is too small by the limit is seen with probability POWER, from
    an estimate of some releases."""
    needed = score_tests.numbers_needed(1 - float(limit), level, float(POWER))
    return -(-needed * releases // each.numbers)


def needed(setting: LawSetting, alpha: Fraction, game: Game[Any, LawResults]) -> int:
    """Return the number of releases in which an audit at level alpha would see the noise that is too small by its
    limit. Two releases are drawn, and tell how many numbers each has."""
    one = game.played({0: game.batch(UNUSED, 2)}, "judged", "", None).model_copy(update={"releases": 2})
    _, level = refuting_tests(one, setting.error * alpha / ALPHA, 1)
    own = [_estimate(sums, tests, level) for sums, tests in _tested(one) if not sums.family.startswith(GATES)]
    return max((_releases_needed(each, 2, setting.limit, level) for each in _measured_noise(own)), default=1)


def _shortfall(estimates: tuple[LawEstimate, ...]) -> Measurement | None:
    """Return how much smaller than stated the noise of the worst family can be; None if that of any is unknown. Noise
    of charged gates is left out: it is tested, and not measured."""
    noise = [each for each in estimates if each.family.startswith(NOISE) and not each.family.startswith(GATES)]
    spreads = [each.spread for each in noise if each.spread is not None]
    if not noise or len(spreads) < len(noise):
        return None
    worst = min(spreads, key=lambda each: each.lower)
    return Measurement(1 - worst.value, 1 - worst.upper, 1 - worst.lower)


def measurement(record: LawRecord, found: LawFindings, name: str, options: Options) -> Measurement | None:
    """Return the figure of the gate `noise_shortfall`: how much smaller than stated noise can be."""
    del record, name, options
    return found.shortfall
