"""Precision improvement of an attack over a baseline, with confidence limits from the shares of each release.

Limits over releases hold for one table, its people and the baselines fitted on them. Others of the same kind would give
another baseline: limits for people like the targets add what differs between samples of people. Both kinds get half of
the level, and their distances from the estimate are added.
"""

from fractions import Fraction

import numpy as np

from crowdgate.accounting.bets import (
    EVEN,
    PairedGuesses,
    SeparateGuesses,
    improvement_limits,
    people_improvement_limits,
)
from crowdgate.audit.inference.record import AttackShares
from crowdgate.candidate import Measurement
from crowdgate.risk.inference import precision_improvement

Column = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def improvement_of(
    attack: Column,
    base: Column,
    predicted: Column,
    alpha: Fraction,
    most: float,
    wrong: float,
    on_largest: Fraction = EVEN,
) -> Measurement | None:
    """Return the improvement of an attack's precision over a baseline's, with confidence limits, from shares per
    release; None where the baseline was always right. The largest bet has the share `on_largest` of the capital."""
    value = value_of(attack.sum(), base.sum(), predicted.sum())
    if value is None or wrong <= 0:
        return None
    # the larger of two gains is judged: its lower limit fails if one of the two does
    lower, _ = improvement_limits(attack, base, predicted, alpha / 2, most, wrong, on_largest)
    _, upper = improvement_limits(attack, base, predicted, alpha, most, wrong, on_largest)
    return Measurement(value, lower, upper)


def value_of(attack: float, base: float, predicted: float) -> float | None:
    """Return an attack's precision improvement over a baseline. Inputs are shares of all targets: right by attack,
    right by baseline, guessed for. None where the baseline is always right."""
    return None if predicted <= base else precision_improvement(float(attack / predicted), float(base / predicted))


def improvements_for_people(
    shares: AttackShares, rows: int, alpha: Fraction, on_largest: Fraction = EVEN
) -> list[Measurement | None]:
    """Return the improvements over both baselines, with limits at level alpha for people like the targets, of whom each
    has up to `rows` rows. None where the baseline is always right, and in earlier records. Of releases the largest bet
    has the share `on_largest` of the capital."""
    if shares.both is None:
        return [None, None]
    predicted, attack, *bases = np.array(shares.shares).T
    both = (bases[0], shares.wrong, _of_these(shares, rows)), (bases[1], shares.wrong_at, _of_as_many(shares, rows))
    return [
        _for_people(
            improvement_of(attack, base, predicted, alpha / 2, shares.coverage, wrong, on_largest), people, alpha
        )
        for base, wrong, people in both
    ]


def _for_people(of: Measurement | None, people: PairedGuesses | SeparateGuesses, alpha: Fraction) -> Measurement | None:
    """Return an improvement whose limits hold for people like the targets, from that whose limits are of releases at
    half of the level."""
    if of is None:
        return None
    value = float(of.value)
    lower, _ = people_improvement_limits(people, alpha / 4)  # as of releases: the larger of two gains is judged
    _, upper = people_improvement_limits(people, alpha / 2)
    most = float(of.upper) + max(0.0, upper - value)
    return Measurement(value, float(of.lower) + min(0.0, lower - value), min(1.0, most))


def _of_these(shares: AttackShares, rows: int) -> PairedGuesses:
    """Return the mean numbers of targets of an attack and the baseline that guesses for the same ones. The rows of a
    target count as one."""
    predicted, attack, base, _ = np.array(shares.shares).mean(axis=0) * (shares.targets / rows)
    both = (shares.both or 0.0) * shares.targets / rows
    neither = max(0.0, predicted - attack - base + both)
    return PairedGuesses(max(0.0, attack - both), max(0.0, base - both), neither)


def _of_as_many(shares: AttackShares, rows: int) -> PairedGuesses | SeparateGuesses:
    """Return the mean numbers of targets of an attack and the baseline that guesses for as many: for the same ones if
    both guess for all."""
    predicted, attack, _, base = np.array(shares.shares).mean(axis=0)
    if predicted >= 1 and shares.baseline == shares.baseline_of_these:
        return _of_these(shares, rows)
    people = shares.targets / rows
    return SeparateGuesses(float(predicted * people), float(attack * people), float(base * people))
