"""What an inference audit's shares come to: precision, coverage and precision improvement, with limits over releases.

A limit passes on the upper end of every secret, which hold together as they are; that an attack is above its baseline
is claimed at one level over all secrets, groups and coverages (Holm 1979).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from crowdgate.accounting.audit_power import holm
from crowdgate.accounting.bets import improvement_limits, improvement_p, ratio_limits
from crowdgate.audit.findings import level
from crowdgate.audit.inference.case import GROUPS
from crowdgate.audit.inference.record import Attacked, InferenceRecord, Played, Shares
from crowdgate.candidate import Measurement
from crowdgate.gate import Outcome

LEAST_TARGETS = 20
"""Predictions of a release, at least, of which a precision is spoken: of fewer it is a matter of single people."""
STRICTER = Fraction(1, 10)
"""An attack that is so far below its baseline shows a release to be stricter than inference alone would need."""


@dataclass(frozen=True)
class Estimate:
    """One secret, group and coverage. `precision` of the attack and of the two baselines: of exactly the targets that
    the attack predicts (`base_of_these`), and at equal coverage (`base`). `improvement` over each: None where the
    baseline is always right, so that there is nothing to improve. `p` is the p-value of no improvement over both;
    `outside` the precision of the attack on people who were not in the release."""

    secret: str
    group: str
    coverage: float
    attack: str
    baselines: tuple[str, str]
    predicted: float
    precision: Measurement
    base_of_these: Measurement
    base: Measurement
    improvement_of_these: Measurement | None
    improvement: Measurement | None
    p: float
    outside: float | None

    @property
    def gain(self) -> Measurement | None:
        """The larger improvement of the two."""
        both = [each for each in (self.improvement_of_these, self.improvement) if each is not None]
        if len(both) < 2:
            return None
        return Measurement(*(max(getattr(each, end) for each in both) for end in ("value", "lower", "upper")))


def estimates(played: Played, alpha: Fraction) -> list[Estimate]:
    """All that can be estimated of a mechanism."""
    return [_estimate(secret, shares, alpha) for secret in played.secrets for shares in secret.found if _enough(shares)]


def _enough(shares: Shares) -> bool:
    return shares.targets * shares.coverage >= LEAST_TARGETS and any(each[0] > 0 for each in shares.shares)


def refuted(found: Sequence[Estimate], alpha: Fraction) -> list[Estimate]:
    """The estimates of which it is claimed that the attack is above the baseline."""
    adjusted = holm([each.p for each in found])
    return [each for each, p in zip(found, adjusted, strict=True) if p <= alpha]


def _estimate(secret: Attacked, shares: Shares, alpha: Fraction) -> Estimate:
    predicted, attack, of_these, base = np.array(shares.shares).T
    most = shares.coverage
    ps = [_p(attack, each, predicted, most) for each in (of_these, base)]
    return Estimate(
        secret=secret.secret, group=shares.group, coverage=shares.coverage, attack=shares.attack,
        baselines=(shares.baseline_of_these, shares.baseline), predicted=float(predicted.mean()),
        precision=_precision(attack, predicted, alpha, most),
        base_of_these=_precision(of_these, predicted, alpha, most), base=_precision(base, predicted, alpha, most),
        improvement_of_these=_improvement(attack, of_these, predicted, alpha, most, shares.wrong),
        improvement=_improvement(attack, base, predicted, alpha, most, shares.wrong_at),
        p=max(ps), outside=shares.outside,
    )  # fmt: skip


Column = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def _precision(right: Column, predicted: Column, alpha: Fraction, most: float) -> Measurement:
    return Measurement(float(right.sum() / predicted.sum()), *ratio_limits(right, predicted, alpha, most))


def _improvement(
    attack: Column, base: Column, predicted: Column, alpha: Fraction, most: float, wrong: float
) -> Measurement | None:
    """None where the baseline was always right."""
    left = float((predicted - base).sum())
    if left <= 0 or wrong <= 0:
        return None
    ends = improvement_limits(attack, base, predicted, alpha, most, wrong)
    return Measurement(float((attack - base).sum()) / left, *ends)


def _p(attack: Column, base: Column, predicted: Column, most: float) -> float:
    return improvement_p(attack, base, predicted, most)


@dataclass(frozen=True)
class Judged:
    """A control, and whether what must be found of it was: the improvement that decides (None: nothing was guessed)."""

    control: str
    must: str
    works: bool
    gain: float | None


@dataclass(frozen=True)
class Findings:
    """What was found of the policy's mechanism. `gain` is the greatest improvement of all secrets at the coverage that
    is judged, and `above` how much more often the attack is right there; None where a baseline is always right.
    `refuted` are the estimates of which it is claimed that they are above their baselines. `ceilings` are the
    improvements, by secret, of the same question asked of the policy's columns as they are."""

    outcome: Outcome
    reasons: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    refuted: tuple[Estimate, ...]
    gain: Measurement | None
    controls: tuple[Judged, ...]
    ceilings: Mapping[str, float | None]

    @property
    def stricter(self) -> bool:
        """Whether every attack stays far below its baseline."""
        return self.gain is not None and self.gain.upper < -STRICTER


def found(record: InferenceRecord) -> Findings:
    """The findings of a finished audit."""
    setting, alpha = record.setting, level(record.attempt)
    every = estimates(record.own, alpha)
    coverage = float(setting.coverage)
    gain = worst(every, coverage, [name for name, _ in setting.secrets])
    judged = tuple(_judged(each) for each in record.played if each.must in ("be caught", "hold"))
    reasons = tuple(_reasons(record, every, judged, gain))
    limit = gain is not None and gain.upper <= setting.limit
    return Findings(
        outcome=Outcome.INCONCLUSIVE if reasons else Outcome.PASS if limit else Outcome.FAIL,
        reasons=reasons, estimates=tuple(every), refuted=tuple(refuted(every, alpha)), gain=gain, controls=judged,
        ceilings=_ceilings(record.played),
    )  # fmt: skip


def worst(every: Sequence[Estimate], coverage: float, secrets: Sequence[str]) -> Measurement | None:
    """The greatest gain of all secrets at a coverage, of all targets; None where that of one is not known."""
    own = {each.secret: each.gain for each in every if (each.coverage, each.group) == (coverage, GROUPS[0])}
    known = [gain for name in secrets if (gain := own.get(name)) is not None]
    if len(known) < len(secrets) or not known:
        return None
    return Measurement(*(max(getattr(each, end) for each in known) for end in ("value", "lower", "upper")))


def _judged(played: Played) -> Judged:
    """Nothing is drawn, so that figures are exact: the least improvement of all secrets for one that must be caught,
    the greatest for one that must hold."""
    gains = [_exact(secret) for secret in played.secrets]
    known = [each for each in gains if each is not None]
    if played.must == "hold":
        return Judged(played.mechanism, played.must, all(each <= 0 for each in known), max(known, default=None))
    least = min(known) if len(known) == len(gains) and known else None
    return Judged(played.mechanism, played.must, least is not None and least > (played.rate or 0.0), least)


def _exact(secret: Attacked) -> float | None:
    """The improvement at coverage 1 over the paper's baseline, of all targets."""
    for shares in secret.found:
        if (shares.group, shares.coverage) == (GROUPS[0], 1.0):
            predicted, attack, of_these, _ = np.array(shares.shares).sum(axis=0)
            return None if predicted <= of_these else float((attack - of_these) / (predicted - of_these))
    return None


def _ceilings(played: Sequence[Played]) -> Mapping[str, float | None]:
    return {secret.secret: _exact(secret) for each in played if each.must == "show" for secret in each.secrets}


def _reasons(
    record: InferenceRecord, every: Sequence[Estimate], judged: Sequence[Judged], gain: Measurement | None
) -> Iterator[str]:
    """Why nothing can be concluded."""
    if not judged:
        yield "no control was played: nothing says that this audit sees anything"
    for each in judged:
        if not each.works:
            found = "was not" if each.must == "be caught" else "was refuted"
            yield f"the control {each.control!r} must {each.must}, and {found}"
    coverage = float(record.setting.coverage)
    for secret in record.own.secrets:
        own = [each for each in every if each.secret == secret.secret and each.coverage == coverage]
        if not secret.found:
            yield f"nothing that is released is read by an attack on {secret.secret!r}"
        elif not own:
            need = int(np.ceil(LEAST_TARGETS / coverage))
            yield f"too few targets at coverage {coverage:g} to speak of {secret.secret!r}: {need:,} are needed"
    if gain is None and all(each.found for each in record.own.secrets):
        yield f"a baseline is always right at coverage {coverage:g}: there is nothing that a release could improve"
