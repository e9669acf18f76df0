"""Noisy numbers of the input, paid from the policy's epsilon."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Measurement, Number
from crowdgate.noise import laplace_quantile

if TYPE_CHECKING:
    from crowdgate.policy.policy import Charge, GateRule

ALPHA = 0.05
_MOST = 1 << 62
"""Whole numbers are clamped here before they get noise of 64 bits, which changes no sensitivity."""


def noisy_measurement(
    candidate: Candidate, rule: GateRule, number: int, sensitivity: int, parts: int = 1
) -> Measurement | None:
    """Return `number / parts` with discrete Laplace noise, where one privacy unit changes `number` by at most
    `sensitivity`.

    None, without drawing noise, if nothing is charged.
    """
    if rule.charge is None or candidate.noise is None:
        return None
    cut = max(-_MOST, min(_MOST, number))
    noisy = candidate.noise(cut, sensitivity, rule.charge.epsilon)
    return _with_limits(noisy * Fraction(1, parts), sensitivity, rule.charge, parts)


def published_noisy_measurement(
    rule: GateRule, noisy: Fraction, sensitivity: int, parts: int = 1
) -> Measurement | None:
    """Return a published noisy number with the limits of its noise distribution; None for a number that can't be drawn.

    Raises ValueError for a rule without a charge.
    """
    if rule.charge is None:
        raise ValueError("charge must be stated")
    return _with_limits(noisy, sensitivity, rule.charge, parts) if (noisy * parts).denominator == 1 else None


def _with_limits(noisy: Number, sensitivity: int, charge: Charge, parts: int) -> Measurement:
    margin = Fraction(laplace_quantile(sensitivity, charge.epsilon, ALPHA), parts)
    return Measurement(noisy, noisy - margin, noisy + margin)
