"""What an inference audit's shares come to: precision, coverage and precision improvement, with limits over releases.

A limit passes on the upper end of every secret, which hold together as they are; that an attack is above its baseline
is claimed at one level over all secrets, groups and coverages (Holm 1979).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from crowdgate.accounting.audit_power import holm
from crowdgate.accounting.bets import improvement_limits, improvement_p, ratio_limits
from crowdgate.audit.inference.case import COVERAGES, GROUPS
from crowdgate.audit.inference.record import Attacked, Played, Shares
from crowdgate.candidate import Measurement

LEAST_TARGETS = 20
"""Predictions of a release, at least, of which a precision is spoken: of fewer it is a matter of single people."""
STRICTER = Fraction(1, 10)
"""An attack that is so far below its baseline shows a release to be stricter than inference alone would need."""


@dataclass(frozen=True)
class Estimate:
    """One secret, group and coverage. `precision` of the attack and of the two baselines: of exactly the targets that
    the attack predicts (`base_of_these`), and at equal coverage (`base`). `improvement` over each: None where the
    baseline is always right, so that there is nothing to improve. `p` is the p-value of no improvement over both.
    `ceiling` is the improvement of the same question asked of all rows as they are."""

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


def too_few(played: Played) -> Iterator[tuple[Shares, int]]:
    """Where too few targets are predicted, with how many targets of the group would be enough."""
    for secret in played.secrets:
        yield from (
            (shares, int(np.ceil(LEAST_TARGETS / shares.coverage))) for shares in secret.found if not _enough(shares)
        )


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


def worst(found: Sequence[Estimate], coverage: float) -> Measurement | None:
    """The greatest gain of all secrets at a coverage, of all targets; None where one of them can't be measured."""
    own = [each.gain for each in found if each.coverage == coverage and each.group == GROUPS[0]]
    if not own or any(each is None for each in own) or coverage not in COVERAGES:
        return None
    known = [each for each in own if each is not None]
    return Measurement(*(max(getattr(each, end) for each in known) for end in ("value", "lower", "upper")))
