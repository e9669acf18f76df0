"""What the proofs of this room say, on every mechanism, table and set of outputs of small universes, in whole fractions.

e^epsilon is a whole fraction here, so that nothing is rounded.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, pairwise, product

import mpmath as mp
import pytest

from crowdgate.accounting.amplification import amplify
from crowdgate.accounting.numbers import up
from crowdgate.accounting.safe_k import exact_delta, same_sample_delta
from crowdgate.accounting.threshold import threshold_delta
from crowdgate.guarantee import replace_one

Law = Mapping[Hashable, Fraction]
Table = frozenset[str]
Mechanism = Mapping[Table, Law]
"""The law of the output for every sample."""

ONE = Fraction(1)
RATES = [Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)]
GROWTHS = [ONE, Fraction(3, 2), Fraction(2), Fraction(4)]
"""e^epsilon."""


def apart(one: Law, other: Law, growth: Fraction) -> Fraction:
    """The least delta of one direction: the supremum over all sets of outputs is that of the outputs that are likelier
    by more than the growth."""
    return sum((max(Fraction(0), mass - growth * other.get(out, 0)) for out, mass in one.items()), Fraction(0))


def both(one: Law, other: Law, growth: Fraction) -> Fraction:
    return max(apart(one, other, growth), apart(other, one, growth))


def mixed(parts: Sequence[tuple[Fraction, Law]]) -> Law:
    found: dict[Hashable, Fraction] = {}
    for weight, law in parts:
        for out, mass in law.items():
            found[out] = found.get(out, Fraction(0)) + weight * mass
    return found


def subsets(rows: Table) -> Iterator[Table]:
    return map(frozenset, chain.from_iterable(combinations(sorted(rows), size) for size in range(len(rows) + 1)))


def coins(rows: int, kept: int, beta: Fraction) -> Fraction:
    return beta**kept * (1 - beta) ** (rows - kept)


def sampled(mechanism: Mechanism, table: Table, beta: Fraction) -> Law:
    return mixed([(coins(len(table), len(part), beta), mechanism[part]) for part in subsets(table)])


def neighbours(mechanism: Mechanism) -> list[tuple[Table, Table]]:
    return [(one, other) for one in mechanism for other in mechanism if len(one - other) == 1 and other < one]


def delta_of(mechanism: Mechanism, growth: Fraction) -> Fraction:
    return max(both(mechanism[one], mechanism[other], growth) for one, other in neighbours(mechanism))


def laws(outcomes: int, parts: int) -> list[Law]:
    """All laws with masses that are whole multiples of 1 / parts."""
    cuts = (each for each in product(range(parts + 1), repeat=outcomes) if sum(each) == parts)
    return [{out: Fraction(mass, parts) for out, mass in enumerate(each)} for each in cuts]


def mechanisms(rows: Table, choices: list[Law]) -> Iterator[Mechanism]:
    tables = list(subsets(rows))
    return (dict(zip(tables, chosen, strict=True)) for chosen in product(choices, repeat=len(tables)))


ALL = [*mechanisms(frozenset("ab"), laws(2, 3)), *mechanisms(frozenset("a"), laws(3, 3))]
"""With two outcomes on two rows, so that the other row's coin is averaged over; with three outcomes on one."""


def test_the_greatest_divergence_of_sets_is_that_of_the_likelier_outputs() -> None:
    for one, other in product(laws(3, 3), repeat=2):
        sets = [part for size in range(4) for part in combinations(range(3), size)]
        greatest = max(sum((one[out] - 2 * other[out] for out in part), Fraction(0)) for part in sets)
        assert apart(one, other, Fraction(2)) == greatest


@pytest.mark.parametrize("beta", RATES)
def test_sampling_amplifies_every_mechanism_in_both_directions_and_one_is_as_bad(beta: Fraction) -> None:
    """Heads of accounting/amplification.py: e^epsilon becomes 1 + beta (e^epsilon - 1), delta beta delta."""
    for growth in GROWTHS:
        more, attained = 1 + beta * (growth - 1), False
        for mechanism in ALL:
            allowed = beta * delta_of(mechanism, growth)
            found = delta_of({table: sampled(mechanism, table, beta) for table in mechanism}, more)
            assert found <= allowed
            attained |= found == allowed > 0
        epsilon, spent = amplify(above(growth), Fraction(1, 3), beta)
        assert attained
        assert spent >= beta / 3
        assert mp.exp(mp.mpf(epsilon)) >= mp.mpf(more.numerator) / more.denominator * (1 - mp.mpf(10) ** -14)


def above(growth: Fraction) -> float:
    """Its logarithm, rounded up."""
    return math.nextafter(math.log(growth), math.inf) if growth > 1 else 0.0


def test_a_sample_of_a_sample_is_a_sample() -> None:
    """What a smaller rate than the one that was accounted for comes to."""
    for mechanism in ALL[:50]:
        inner = {table: sampled(mechanism, table, Fraction(1, 2)) for table in mechanism}
        for table in mechanism:
            assert sampled(inner, table, Fraction(1, 3)) == sampled(mechanism, table, Fraction(1, 6))


@pytest.mark.parametrize("beta", RATES)
def test_whatever_is_computed_on_a_sample_replaces_a_row_as_stated(beta: Fraction) -> None:
    """The row a becomes b: e^epsilon / (1 - beta), and delta as it is; e^epsilon itself is not enough."""
    needed = False
    for growth in GROWTHS:
        wider = growth / (1 - beta)
        for mechanism in mechanisms(frozenset("ab"), laws(2, 3)):
            law = {table: sampled(mechanism, table, beta) for table in mechanism}
            delta, one, other = delta_of(law, growth), law[frozenset("a")], law[frozenset("b")]
            assert both(one, other, wider) <= delta
            needed |= both(one, other, growth) > delta
        assert replace_one(above(growth), 0, beta)[0] >= math.log(wider)
    assert needed


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("beta", RATES)
def test_a_row_that_changes_its_class_is_replaced_as_stated(k: int, beta: Fraction) -> None:
    """All tables of two classes of up to four rows, and of the class alone."""
    law = {rows: published(rows, k, beta) for rows in range(6)}
    for growth in GROWTHS:
        delta = max(both(law[rows], law[rows + 1], growth) for rows in range(5))
        wider = growth / (1 - beta)
        for first, second in product(range(5), repeat=2):
            one, other = beside(law[first + 1], law[second]), beside(law[first], law[second + 1])
            assert apart(one, other, wider) <= delta
        assert delta <= Fraction(exact_delta(k, beta, below(growth)))


def below(growth: Fraction) -> float:
    return max(0.0, math.nextafter(math.log(growth), 0))


def published(rows: int, k: int, beta: Fraction) -> Law:
    """Of a class: how many of its rows are in the sample, if k or more."""
    return mixed([(math.comb(rows, j) * coins(rows, j, beta), {j if j >= k else "": ONE}) for j in range(rows + 1)])


def beside(one: Law, other: Law) -> Law:
    return {(a, b): p * q for (a, p), (b, q) in product(one.items(), other.items())}


# thresholds


def noisy(count: int, threshold: int, base: Fraction, far: int) -> Law:
    """What is seen of a key that occurs: its noisy count above the threshold. From `far` on ratios of two counts stay."""
    a = 1 / base
    tail = {least: a ** (least - count) / (1 + a) for least in range(threshold + 1, far + 1) if least > count}
    mass = {y: (1 - a) / (1 + a) * a ** abs(y - count) for y in range(threshold + 1, far)}
    return {**mass, far: tail[far], "": 1 - sum(mass.values()) - tail[far]}


def seen(counts: Sequence[int], threshold: int, base: Fraction, far: int) -> Law:
    """Of a table: keys that nobody has are not there."""
    found: Law = {(): ONE}
    for count in counts:
        own = noisy(count, threshold, base, far) if count else {"": ONE}
        found = {(*out, each): mass * q for (out, mass), (each, q) in product(found.items(), own.items())}  # type: ignore[misc]
    return found


@pytest.mark.parametrize("base", [Fraction(6, 5), Fraction(2), Fraction(5)])
@pytest.mark.parametrize(("rows", "threshold"), [(1, 1), (1, 2), (2, 2), (2, 4), (3, 3)])
def test_the_delta_of_unknown_keys_is_that_of_the_worst_way_to_spread_rows(
    rows: int, threshold: int, base: Fraction
) -> None:
    """All tables of one key that others hold, up to two times, and as many further keys as the person has rows; both
    directions, at e^epsilon = base^rows."""
    far, found = threshold + rows + 3, []
    for others, spread in product(range(3), product(range(rows + 1), repeat=rows + 1)):
        if not 0 < sum(spread) <= rows:
            continue
        without = seen([others, *[0] * rows], threshold, base, far)
        with_them = seen([others + spread[0], *spread[1:]], threshold, base, far)
        found.append(both(with_them, without, base**rows))
    appear = {c: 1 - noisy(c, threshold, base, far)[""] for c in range(1, rows + 1)}
    worst = max(1 - math.prod((1 - appear[c] for c in ways), start=ONE) for ways in partitions(rows, rows))
    assert max(found) == worst
    stated = threshold_delta(threshold, rows * math.log(base), rows)
    assert 0 <= Fraction(stated) - worst * (1 - Fraction(1, 10**13)) <= worst * Fraction(1, 10**10)


def partitions(rows: int, largest: int) -> Iterator[tuple[int, ...]]:
    if rows == 0:
        yield ()
    for first in range(min(rows, largest), 0, -1):
        yield from ((first, *rest) for rest in partitions(rows - first, first))


# levels that are chosen on the sample itself

CLASSES = [{"t": "ta", "a": "ta", "b": "b"}, {"t": "tb", "b": "tb", "a": "a"}]
"""Two schemes: t is in one class with a, or with b."""
LEVELS = (Fraction(1, 7), Fraction(2, 7), Fraction(4, 7))
"""Of the first scheme. A choice that moves by one level where a row is added or removed is 2-DP (e^e1 = 2): neither
scheme gets more than twice as likely. In two steps one can get four times as likely."""
SIDE = Fraction(2)


def choices() -> Iterator[Mapping[Table, Fraction]]:
    """All such choices: the probability of the first scheme for every sample."""
    samples = list(subsets(frozenset("tab")))
    near = [(i, j) for i, one in enumerate(samples) for j, other in enumerate(samples) if len(one ^ other) == 1]
    for at in product(range(len(LEVELS)), repeat=len(samples)):
        if all(abs(at[i] - at[j]) <= 1 for i, j in near):
            yield {sample: LEVELS[each] for sample, each in zip(samples, at, strict=True)}


def released(scheme: int, sample: Table, k: int) -> Hashable:
    """The scheme and the sizes of its classes of at least k rows."""
    own = [CLASSES[scheme][row] for row in sample]
    return scheme, tuple(sorted((name, own.count(name)) for name in set(own) if own.count(name) >= k))


def chosen(choice: Mapping[Table, Fraction], table: Table, k: int, beta: Fraction) -> Law:
    parts = []
    for sample in subsets(table):
        weight, first = coins(len(table), len(sample), beta), choice[sample]
        parts += [(weight * first, {released(0, sample, k): ONE}), (weight * (1 - first), {released(1, sample, k): ONE})]
    return mixed(parts)


def size_of_t(out: Hashable) -> int:
    """Of the published class of t, or 0."""
    assert isinstance(out, tuple)
    return dict(out[1]).get(("ta", "tb")[out[0]], 0)


CASES = [("1/4", "3/2"), ("1/4", "3"), ("1/4", "5"), ("1/2", "2"), ("1/2", "6"), ("2/3", "3")]


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize(("beta", "growth"), CASES)
def test_no_choice_on_the_sample_exceeds_what_four_steps_prove(k: int, beta: str, growth: str) -> None:
    """Head of accounting/safe_k_same_sample.py, step by step, for all choices."""
    b, g = Fraction(beta), Fraction(growth)
    x = (g / (1 - b) - 1) / SIDE**2
    left = share_left(k, b, x / (1 + x), 2)
    delta = min(ONE, 2 * max(share_left(k, b, x / (1 + x), n) for n in range(1, 60)))
    for without, law in laws_of_choices(k, b):
        assert apart(without, law, g) == 0, "step 1"
        likelier = exceeding(without, law, g)
        assert all(steps_leave(out, k, x) for out in likelier), "steps 2 and 3"
        mass = sum((law[out] for out in likelier), Fraction(0))
        assert apart(law, without, g) <= mass <= 2 * left, "step 4"
    epsilon = below(g) if g > max(1 / (1 - b), 1 + b * (SIDE - 1)) else math.log(g) + 1e-13
    assert delta * (1 - Fraction(1, 10**10)) <= Fraction(same_sample_delta(k, b, epsilon, above(SIDE), 2))


def test_one_step_less_of_the_choice_or_the_published_addition_would_be_seen() -> None:
    """e^e1 for e^(2 e1) in step 3; the epsilon of the choice added to that of Theorem 5."""
    b, g = Fraction(1, 2), Fraction(2)
    found = [exceeding(without, law, g) for without, law in laws_of_choices(1, b)]
    for x in ((g / (1 - b) - 1) / SIDE, g / SIDE / (1 - b) - 1):
        assert any(not steps_leave(out, 1, x) for likelier in found for out in likelier)


def laws_of_choices(k: int, beta: Fraction) -> Iterator[tuple[Law, Law]]:
    """Of every choice: what is released without t, and with t."""
    for choice in choices():
        yield chosen(choice, frozenset("ab"), k, beta), chosen(choice, frozenset("tab"), k, beta)


def exceeding(without: Law, law: Law, growth: Fraction) -> set[Hashable]:
    return {out for out, mass in law.items() if mass > growth * without.get(out, 0)}


def steps_leave(out: Hashable, k: int, x: Fraction) -> bool:
    """Whether an output may exceed e^epsilon: the class of t, of two rows, is published and too large."""
    return size_of_t(out) >= k and size_of_t(out) > 2 * x / (1 + x)


def share_left(k: int, beta: Fraction, share: Fraction, rows: int) -> Fraction:
    """P(Bin(rows, beta) >= max(k, floor(rows share) + 1))."""
    least = max(k, math.floor(rows * share) + 1)
    return sum((math.comb(rows, j) * coins(rows, j, beta) for j in range(least, rows + 1)), Fraction(0))
