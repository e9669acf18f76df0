"""Rows, margins, a gate and a choice of levels together, enumerated through the mechanism, against the joint delta.

Each enumeration states the release's whole law on a table and on the table without one row, for all sizes of the row's
class, and for each outcome of the choice all sizes. Planted faults of the accounting are below what is reached.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from crowdgate.accounting import part_laws
from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.discrete_laws import DiscreteLaplace
from crowdgate.accounting.dominating_pairs import DominatingPair
from crowdgate.accounting.joint import JointLaw
from crowdgate.accounting.noise_laws import NoiseLaw, NoisyVector
from crowdgate.guarantee import Part
from crowdgate.histogram import Histogram
from crowdgate.mechanisms.rows.charge_names import MARGINS_PART
from crowdgate.mechanisms.rows.joint_cost import MarginsLaw, RowsLaw
from crowdgate.mechanisms.rows.safe_k import SafeK
from tests.mechanisms.rows.choosing import chooser, exact_delta_of
from tests.mechanisms.rows.test_margins import HALF, ODDS, Asked, mechanism, recorder
from tests.mechanisms.rows.test_safe_k import all_coins, canonical, given_heads, table

Law = dict[object, float]
Row = tuple[int, ...]
GATE = Fraction(2, 5)
MOVED = float(np.log(float(ODDS)))
"""Epsilon of each noisy count: e^epsilon is 2."""


def binary(counts: Sequence[int], top: Sequence[int], epsilon: float) -> list[tuple[tuple[bool, ...], float]]:
    """Return the law of whether each noisy count reaches its threshold: the statistic on which a count and the count
    below differ as much as their noisy values do."""
    tails = []
    for count, at in zip(counts, top, strict=True):
        noise = DiscreteLaplace(Fraction(epsilon) ** -1)
        tails.append(noise.tail(at - count - 1))
    return [
        (bits, math.prod(tail if bit else 1 - tail for bit, tail in zip(bits, tails, strict=True)))
        for bits in product((True, False), repeat=len(tails))
    ]


@cache
def release(k: int, size: int, top: int, gate: bool) -> Law:
    """Return the law of released rows, of noisy margins (the total and the class's own count), and of a gate that
    counts rows, for a table of `size` equal rows; thresholds are at `top`."""
    safe, out = mechanism(k), dict[object, float]()
    full = table(safe, [(0, 0)] * size)
    for heads, chance in all_coins(full, safe.beta):
        asked: Asked = []
        made = safe.protect(full, given_heads(heads), vectors=recorder(asked))
        counts = [int(value) for values, _, _ in asked for value in values.reshape(-1)][:2]
        margins = binary(counts, [top] * 2, MOVED)
        gates = binary([made.full.rows], [top], float(GATE)) if gate else [((), 1.0)]
        for (seen, noisy), (judged, passed) in product(margins, gates):
            key = canonical(made.output), seen, judged
            out[key] = out.get(key, 0.0) + float(chance) * noisy * passed
    return out


def apart(more: Law, less: Law, epsilon: float) -> float:
    return math.fsum(max(mass - math.exp(epsilon) * less.get(key, 0.0), 0.0) for key, mass in more.items())


def reached(k: int, epsilon: float, *, gate: bool, add: bool | None = None) -> float:
    """Return the greatest delta over all sizes of the class, in the worse direction or in one of them."""
    found = 0.0
    for size in range(1, 4 * k + 6):
        more, less = (release(k, each, size, gate) for each in (size, size - 1))
        both = apart(more, less, epsilon), apart(less, more, epsilon)
        found = max(found, *both) if add is None else max(found, both[add])
    return found


def stated(k: int, *, gate: bool) -> JointLaw:
    """Return the law that a policy with these parts is charged for."""
    counts = NoiseLaw("laplace", (NoisyVector(1, Fraction(MOVED)),) * 2)
    margins = MarginsLaw(Part(MARGINS_PART, 2 * Fraction(MOVED), Fraction(0)), counts)
    return RowsLaw(HALF, 1, (GATE,) if gate else (), None, margins).law(k)


@pytest.mark.thorough
@pytest.mark.parametrize("gate", [False, True])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_rows_margins_and_a_gate_reach_the_joint_delta_and_never_exceed_it(k: int, gate: bool) -> None:
    law = stated(k, gate=gate)
    for epsilon in (0.5, 1.0, 1.6, 2.0):
        each = [reached(k, epsilon, gate=gate, add=add) for add in (False, True)]
        assert all(found * (1 - 1e-12) <= law.direction(epsilon, add=bool(i)) for i, found in enumerate(each))
        assert law.delta(epsilon) <= max(each) * 1.01


# --- a choice on the full table: the class's size may differ by its outcome ---


def by_parity(epsilon: Fraction, odd: int) -> Callable[[SafeK, Histogram], list[float]]:
    """Return a private choice between two schemes by the parity of the number of rows: each row changes each
    probability by e^epsilon."""
    great = 1 / (1 + math.exp(-float(epsilon)))

    def law(_: SafeK, counted: Histogram) -> list[float]:
        return [great, 1 - great] if counted.rows % 2 == odd else [1 - great, great]

    return law


def chosen_delta(k: int, beta: Fraction, price: Fraction, total: Fraction, sizes: Sequence[tuple[int, int]]) -> float:
    """Return the greatest delta of rows at a chosen level, exact or any, at which the class of the row has these
    sizes."""
    safe = chooser(1, k=k, beta=beta, total=total, price=price)
    return max(
        exact_delta_of(safe, [(0,)] * own + [(1,)] * (all_rows - own), total, by_parity(price, odd))
        for own, all_rows in sizes
        for odd in (0, 1)
    )


TENTHS = Fraction(1, 10)
CHOICES = [(2, 5 * TENTHS, 3 * TENTHS, 8 * TENTHS), (3, 3 * TENTHS, 5 * TENTHS, Fraction(1))]


@pytest.mark.parametrize(("k", "beta", "price", "total"), CHOICES)
def test_a_choice_reaches_the_joint_delta_with_a_size_for_each_outcome(
    k: int, beta: Fraction, price: Fraction, total: Fraction
) -> None:
    sizes = [(own, more) for own in range(1, 9) for more in range(own, 10)]
    law = RowsLaw(beta, 1, (), price).law(k)
    found = chosen_delta(k, beta, price, total, sizes)
    assert found <= law.delta(float(total)) <= 1.01 * found


# --- planted faults of the accounting, each of which is below what a release reaches ---


def forwards_only(law: JointLaw, epsilon: float) -> float:
    return law.direction(epsilon, add=False)


def test_one_direction_is_too_small() -> None:
    law = JointLaw(SampledClass(21, 0.95))
    assert forwards_only(law, 0.03) < 0.3484 - 5e-5 < law.delta(0.03)


def test_parts_of_opposite_directions_are_too_small() -> None:
    pair = part_laws.sampled(part_laws.laplace(2.0), 0.1)
    law = JointLaw(None, (pair, pair))
    mixed = JointLaw(None, (pair, pair.swapped))
    assert mixed.delta(0.6) < 0.99 * law.delta(0.6)


def test_one_size_across_the_outcomes_of_a_choice_is_too_small() -> None:
    k, beta, price, total = CHOICES[1]
    same = [(size, size) for size in range(1, 12)]
    one = chosen_delta(k, beta, price, total, same)
    assert one == pytest.approx(0.02745, abs=5e-6)
    assert one < 0.8 * chosen_delta(k, beta, price, total, [(3, 4), (4, 4), (3, 5)])


def test_a_supremum_over_sizes_for_each_part_is_more_than_a_release_reaches() -> None:
    law = stated(3, gate=True)
    each = JointLaw(None, (SampledClass(3, 0.5).worst_pair(add=False), *law.others))
    assert each.delta(1.6) > 1.01 * reached(3, 1.6, gate=True)


def test_an_unpaid_part_is_too_small() -> None:
    assert stated(3, gate=False).delta(1.6) < reached(3, 1.6, gate=True)


def test_losses_rounded_down_are_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = part_laws.discrete_gaussian(1, Fraction(4))
    true = float(noise.delta(np.array([0.4]))[0])

    def lower(pair: DominatingPair, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        place = np.clip(np.searchsorted(grid, pair.losses, side="right") - 1, 0, len(grid) - 1)
        return grid, np.bincount(place, pair.masses, len(grid))

    from crowdgate.accounting import dominating_pairs

    assert float(dominating_pairs.coarser(noise, 12).delta(np.array([0.4]))[0]) >= true
    monkeypatch.setattr(dominating_pairs, "_split_at", lower)
    assert float(dominating_pairs.coarser(noise, 12).delta(np.array([0.4]))[0]) < true
