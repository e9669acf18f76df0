"""Points of a joint curve that a release states: at parts of its epsilon, and for one unit replaced by another.

Each stated delta is raised, so that another machine, whose logarithms may differ in the last bit, confirms it.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from crowdgate.accounting.joint import least_epsilon
from crowdgate.accounting.numbers import down

Point = tuple[Fraction, Fraction]
"""Epsilon and delta."""
Curve = Callable[[float], float]
"""Delta at each epsilon."""

_PARTS = tuple(Fraction(tenths, 10) for tenths in range(1, 11))
"""Epsilons of the stated curve, in parts of the total."""
_QUARTERS = tuple(Fraction(quarters, 4) for quarters in (3, 2, 1))
"""Further epsilons for a replaced unit, in parts of the first."""
_STATED = 1 + 1e-6
"""Factor by which stated deltas are raised."""
_DIGITS = 10**6


def target_delta(delta: Fraction) -> float:
    """Return the delta that a plan must reach, so that the stated one is at most `delta`."""
    return down(delta) / _STATED


def stated_points(curve: Curve, epsilon: Fraction, delta: Fraction) -> tuple[Point, ...]:
    """Return points of the curve at parts of `epsilon`, the last at all of it; without deltas far above `delta`."""
    found = ((epsilon * part, curve(down(epsilon * part))) for part in _PARTS)
    return tuple((at, _stated_delta(value)) for at, value in found if value < float(delta) * 1e6)


def stated_replacements(curve: Curve, delta: Fraction, otherwise: tuple[float, float]) -> tuple[Point, ...]:
    """Return points of the curve for one unit replaced by another: at `delta`, then at smaller epsilons. If the curve
    reaches `delta` nowhere below, the one point is `otherwise`, (epsilon, delta) by the total alone."""
    try:
        least = least_epsilon(curve, target_delta(delta), near=2e-3)
    except ValueError:
        least = math.inf
    if least > otherwise[0]:
        return ((Fraction(otherwise[0]), _stated_delta(otherwise[1])),)
    epsilon = Fraction(math.ceil(least * _DIGITS), _DIGITS)
    others = ((epsilon * part, _stated_delta(curve(down(epsilon * part)))) for part in _QUARTERS)
    return ((epsilon, delta), *others)


def _stated_delta(delta: float) -> Fraction:
    """Return a delta rounded up to seven digits."""
    digits = 7 - math.ceil(math.log10(delta)) if delta > 0 else 0
    return min(Fraction(1), Fraction(math.ceil(Fraction(delta * _STATED) * 10**digits), 10**digits))
