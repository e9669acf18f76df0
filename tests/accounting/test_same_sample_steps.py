"""Choices on the released sample: the proof's steps for all choices on tiny tables, in whole fractions.

e^epsilon and e^e1 are fractions here, so that nothing is rounded.
"""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product

import pytest

from crowdgate.accounting.safe_k import same_sample_delta

Law = Mapping[Hashable, Fraction]
Table = frozenset[str]
ONE = Fraction(1)

CLASSES = [{"t": "ta", "a": "ta", "b": "b"}, {"t": "tb", "b": "tb", "a": "a"}]
"""Two schemes: t is in one class with a, or with b."""
LEVELS = (Fraction(1, 7), Fraction(2, 7), Fraction(4, 7))
"""Probabilities of the first scheme. A choice that changes by one level when a row is added or removed is 2-DP (e^e1 =
2): neither scheme gets more than twice as likely. In two steps one can get four times as likely."""
SIDE = Fraction(2)


def choices() -> Iterator[Mapping[Table, Fraction]]:
    """Yield all such choices: the probability of the first scheme for each sample."""
    samples = list(subsets(frozenset("tab")))
    near = [(i, j) for i, one in enumerate(samples) for j, other in enumerate(samples) if len(one ^ other) == 1]
    for at in product(range(len(LEVELS)), repeat=len(samples)):
        if all(abs(at[i] - at[j]) <= 1 for i, j in near):
            yield {sample: LEVELS[each] for sample, each in zip(samples, at, strict=True)}


def released(scheme: int, sample: Table, k: int) -> Hashable:
    """Return the scheme and the sizes of its classes of at least k rows."""
    own = [CLASSES[scheme][row] for row in sample]
    return scheme, tuple(sorted((name, own.count(name)) for name in set(own) if own.count(name) >= k))


def chosen(choice: Mapping[Table, Fraction], table: Table, k: int, beta: Fraction) -> Law:
    parts = []
    for sample in subsets(table):
        weight, first = coins(len(table), len(sample), beta), choice[sample]
        parts += [
            (weight * first, {released(0, sample, k): ONE}),
            (weight * (1 - first), {released(1, sample, k): ONE}),
        ]
    return mixed(parts)


def size_of_t(out: Hashable) -> int:
    """Return the size of the published class of t, or 0."""
    assert isinstance(out, tuple)
    sizes: dict[str, int] = dict(out[1])
    return sizes.get(("ta", "tb")[out[0]], 0)


CASES = [("1/4", "3/2"), ("1/4", "3"), ("1/4", "5"), ("1/2", "2"), ("1/2", "6"), ("2/3", "3")]


@pytest.mark.thorough
@pytest.mark.parametrize(("k", "beta", "growth"), [(1 + at % 2, *case) for at, case in enumerate(CASES)])
def test_no_choice_exceeds_the_four_steps(k: int, beta: str, growth: str) -> None:
    """Docstring of accounting/safe_k_same_sample.py, step by step, for all choices."""
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
    """Yield for each choice the distributions of the output without t, and with t."""
    for choice in choices():
        yield chosen(choice, frozenset("ab"), k, beta), chosen(choice, frozenset("tab"), k, beta)


def exceeding(without: Law, law: Law, growth: Fraction) -> set[Hashable]:
    return {out for out, mass in law.items() if mass > growth * without.get(out, 0)}


def steps_leave(out: Hashable, k: int, x: Fraction) -> bool:
    """Return whether an output may exceed e^epsilon: the class of t, of two rows, is published and too large."""
    return size_of_t(out) >= k and size_of_t(out) > 2 * x / (1 + x)


def share_left(k: int, beta: Fraction, share: Fraction, rows: int) -> Fraction:
    """Return P(Bin(rows, beta) >= max(k, floor(rows share) + 1))."""
    least = max(k, math.floor(rows * share) + 1)
    return sum((math.comb(rows, j) * coins(rows, j, beta) for j in range(least, rows + 1)), Fraction(0))


def apart(one: Law, other: Law, growth: Fraction) -> Fraction:
    """Return the least delta of one direction: the supremum over all sets of outputs is that of the outputs that are
    likelier by more than the growth."""
    return sum((max(Fraction(0), mass - growth * other.get(out, 0)) for out, mass in one.items()), Fraction(0))


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


def above(growth: Fraction) -> float:
    """Return the logarithm of the growth, rounded up."""
    return math.nextafter(math.log(growth), math.inf) if growth > 1 else 0.0


def below(growth: Fraction) -> float:
    return max(0.0, math.nextafter(math.log(growth), 0))
