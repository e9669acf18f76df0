"""Renyi divergences of the steps of a release, against sums in 60 digits."""

import mpmath as mp
import pytest

from crowdgate.accounting.part_laws import pure
from crowdgate.accounting.renyi_parts import pair_cost


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
def test_a_pure_step_has_its_closed_form(epsilon: float) -> None:
    cost = pair_cost(pure(epsilon), (2, 10, 50))
    with mp.workdps(60):
        e = mp.mpf(epsilon)
        for order, amount in zip((2, 10, 50), cost.amounts, strict=True):
            true = mp.log((mp.exp(order * e) + mp.exp((1 - order) * e)) / (1 + mp.exp(e))) / (order - 1)
            assert (
                true <= mp.mpf(amount.numerator) / amount.denominator <= true * (1 + mp.mpf("1e-8")) + mp.mpf("2e-12")
            )
