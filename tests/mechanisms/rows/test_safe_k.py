"""The implemented mechanism, enumerated: the distribution of its output over all samples, on neighbouring tables, in
fractions."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.safe_k import exact_delta
from crowdgate.guarantee import Part
from crowdgate.hierarchy import Level
from crowdgate.histogram import Column, Histogram, Records, at_least, generalise, project, scan, subsample
from crowdgate.mechanisms.rows.safe_k import SafeK
from tests.examples import examples

Row = tuple[int, ...]
Law = dict[object, Fraction]
Release = Callable[[SafeK, Histogram, Sequence[int]], object]
"""Output of a mechanism for a table and the numbers of sampled rows in its classes."""
Coins = Callable[[Histogram, Fraction], Iterator[tuple[Sequence[int], Fraction]]]

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
EXACT2 = Level("exact", ("0", "1"), np.array([0, 1], dtype=np.int32))
EXACT3 = Level("exact", ("0", "1", "2"), np.array([0, 1, 2], dtype=np.int32))
PAIRED = Level("paired", ("01", "2"), np.array([0, 0, 1], dtype=np.int32))
ANY3 = Level("any", ("*",), np.array([0, 0, 0], dtype=np.int32))


def mechanism(k: int, beta: Fraction, levels: Sequence[Level] = (EXACT3, EXACT3)) -> SafeK:
    part = Part("mechanism", Fraction(1), Fraction(1, 10))
    return SafeK(beta, k, {f"c{i}": level for i, level in enumerate(levels)}, part)


def table(safe: SafeK, rows: Sequence[Row]) -> Histogram:
    """Return the histogram of rows of domain codes, as a release counts it."""
    columns = {name: Column(np.array([row[i] for row in rows], dtype=np.int32)) for i, name in enumerate(safe.levels)}
    return scan([Records(len(rows), columns)], {"release": safe.view})["release"]


def canonical(histogram: Histogram) -> object:
    return tuple(map(tuple, np.column_stack([*histogram.codes, histogram.counts]).tolist()))


def binomial(heads: int, size: int, beta: Fraction) -> Fraction:
    return math.comb(size, heads) * beta**heads * (1 - beta) ** (size - heads)


def all_coins(full: Histogram, beta: Fraction) -> Iterator[tuple[Sequence[int], Fraction]]:
    """Yield each vector of sampled numbers of the classes, with its probability."""
    sizes = full.counts.tolist()
    for heads in product(*(range(size + 1) for size in sizes)):
        yield heads, math.prod((binomial(h, n, beta) for h, n in zip(heads, sizes, strict=True)), start=Fraction(1))


def twin_coins(full: Histogram, beta: Fraction) -> Iterator[tuple[Sequence[int], Fraction]]:
    """Yield the samples of a fault that samples two rows of a class by one decision."""
    sizes = full.counts.tolist()
    halves = [(size // 2, size % 2) for size in sizes]
    for outcome in product(*(product(range(pairs + 1), range(single + 1)) for pairs, single in halves)):
        chances = [
            binomial(p, pairs, beta) * binomial(s, single, beta)
            for (p, s), (pairs, single) in zip(outcome, halves, strict=True)
        ]
        yield [2 * p + s for p, s in outcome], math.prod(chances, start=Fraction(1))


def given_heads(heads: Sequence[int]) -> Callable[[object], np.ndarray]:
    return lambda _: np.array(heads, dtype=np.int64)


def honest(safe: SafeK, full: Histogram, heads: Sequence[int]) -> object:
    return canonical(safe.protect(full, given_heads(heads)).output)


def law(safe: SafeK, rows: Sequence[Row], release: Release = honest, coins: Coins = all_coins) -> Law:
    full, out = table(safe, rows), defaultdict[object, Fraction](Fraction)
    for heads, chance in coins(full, safe.beta):
        out[release(safe, full, heads)] += chance
    assert sum(out.values()) == 1
    return out


def divergence(left: Law, right: Law, ratio: Fraction) -> Fraction:
    """Return sup over sets of outputs of left(set) - ratio right(set)."""
    return sum((max(mass - ratio * right.get(out, 0), Fraction(0)) for out, mass in left.items()), Fraction(0))


def delta_of(
    safe: SafeK, more: Sequence[Row], ratio: Fraction, release: Release = honest, coins: Coins = all_coins
) -> Fraction:
    """Return the exact delta at epsilon = ln(ratio) for this table and the one without its first row, in the worse
    direction."""
    laws = [law(safe, rows, release, coins) for rows in (more, more[1:])]
    return max(divergence(laws[0], laws[1], ratio), divergence(laws[1], laws[0], ratio))


def stated_delta(safe: SafeK, ratio: Fraction) -> Fraction:
    """Return the delta that the accounting states, at the float just below ln(ratio)."""
    return Fraction(exact_delta(safe.k, safe.beta, max(0.0, math.nextafter(math.log(ratio), -1))))


SETTINGS = [
    (k, beta, ratio)
    for k in (1, 2, 3, 4)
    for beta in (HALF, THIRD, Fraction(1, 10), Fraction(3, 4))
    for ratio in map(Fraction, ("1", "3/2", "2", "3", "5"))
]


@pytest.mark.thorough
@pytest.mark.parametrize(("k", "beta", "ratio"), SETTINGS, ids=lambda value: str(value))
def test_the_worst_class_reaches_the_stated_delta_and_no_class_exceeds_it(
    k: int, beta: Fraction, ratio: Fraction
) -> None:
    safe = mechanism(k, beta, (EXACT2,))
    sizes = range(1, min(int((k + 2) / beta) + 3, 24 if ratio > 1 else 45))
    reached = max(delta_of(safe, [(0,)] * size, ratio) for size in sizes)
    stated = stated_delta(safe, ratio)
    assert reached <= stated <= reached * (1 + Fraction(3, 10**9)), (float(reached), float(stated))


rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=7)
settings_drawn = st.sampled_from([setting for setting in SETTINGS if setting[0] > 1])


@settings(max_examples=examples(60), deadline=None)
@given(
    rows=rows,
    setting=settings_drawn,
    levels=st.tuples(st.sampled_from([EXACT3, PAIRED, ANY3]), st.sampled_from([EXACT3, PAIRED, ANY3])),
)
def test_no_table_at_any_levels_exceeds_the_stated_delta(
    rows: list[Row], setting: tuple[int, Fraction, Fraction], levels: tuple[Level, Level]
) -> None:
    k, beta, ratio = setting
    safe = mechanism(k, beta, levels)
    assert delta_of(safe, rows, ratio) <= stated_delta(safe, ratio)


@settings(max_examples=examples(25), deadline=None)
@given(size=st.integers(1, 7), others=st.lists(st.integers(1, 3), max_size=2), setting=settings_drawn)
def test_further_classes_do_not_change_the_delta_of_one(
    size: int, others: list[int], setting: tuple[int, Fraction, Fraction]
) -> None:
    k, beta, ratio = setting
    safe = mechanism(k, beta, (EXACT3,))
    alone = [(0,)] * size
    crowd = [(i + 1,) for i, many in enumerate(others) for _ in range(many)]
    assert delta_of(safe, alone + crowd, ratio) == delta_of(safe, alone, ratio)


def test_the_output_is_the_sample_without_the_classes_below_k() -> None:
    safe = mechanism(2, HALF, (EXACT3,))
    protected = safe.protect(table(safe, [(0,)] * 3 + [(1,)] * 2 + [(2,)] * 4), given_heads([2, 1, 4]))
    assert canonical(protected.sample) == ((0, 2), (1, 1), (2, 4))
    assert canonical(protected.output) == ((0, 2), (2, 4))


# --- faults, each of which must be caught ---


def below_k(safe: SafeK, full: Histogram, heads: Sequence[int]) -> object:
    return canonical(at_least(subsample(full, given_heads(heads)), safe.k - 1))


def and_the_sample_size(safe: SafeK, full: Histogram, heads: Sequence[int]) -> object:
    return honest(safe, full, heads), sum(heads)


def and_the_suppressed_rows(safe: SafeK, full: Histogram, heads: Sequence[int]) -> object:
    protected = safe.protect(full, given_heads(heads))
    return canonical(protected.output), protected.sample.rows - protected.output.rows


def and_again_coarser_from_the_same_sample(safe: SafeK, full: Histogram, heads: Sequence[int]) -> object:
    sample = subsample(full, given_heads(heads))
    coarser = generalise(sample, {"c0": Level("any", ("*",), np.zeros(9, dtype=np.int32))})
    return canonical(at_least(sample, safe.k)), canonical(at_least(coarser, safe.k))


def with_a_column_outside_the_key(safe: SafeK, full: Histogram, heads: Sequence[int]) -> object:
    sample = subsample(full, given_heads(heads))
    kept = set(at_least(project(sample, ["c0"]), safe.k).codes[0].tolist())
    return tuple(row for row in canonical(sample) if row[0] in kept)  # type: ignore[attr-defined]


def at_levels_chosen_from_the_sample(safe: SafeK, full: Histogram, heads: Sequence[int]) -> object:
    """Publish the finest level at which nothing is suppressed."""
    sample = subsample(full, given_heads(heads))
    coarse = generalise(sample, {"c0": Level("any", ("*",), np.zeros(9, dtype=np.int32))})
    fits = bool((sample.counts >= safe.k).all())
    return fits, canonical(at_least(sample if fits else coarse, safe.k))


ONE_CLASS = [(0, 0)] * 3
LONE_AND_CROWD = [(1, 0)] + [(0, 0)] * 4
LONE_IN_COLUMN = [(0, 1)] + [(0, 0)] * 4
TWO = Fraction(2)

FAULTS: dict[str, tuple[Release, Coins, Sequence[Row], Fraction, int]] = {
    "suppression at k - 1": (below_k, all_coins, ONE_CLASS[:2], TWO, 1),
    "one coin for two rows": (honest, twin_coins, [(0, 0)] * 4, TWO, 1),
    "a second release from the same sample": (
        and_again_coarser_from_the_same_sample,
        all_coins,
        LONE_AND_CROWD,
        TWO,
        2,
    ),
    "a column outside the class key": (with_a_column_outside_the_key, all_coins, LONE_IN_COLUMN, TWO, 1),
    "the sample's size published": (and_the_sample_size, all_coins, ONE_CLASS[:1], TWO, 1),
    "the number of suppressed rows published": (and_the_suppressed_rows, all_coins, ONE_CLASS[:1], TWO, 1),
    "levels chosen from the sample": (at_levels_chosen_from_the_sample, all_coins, LONE_AND_CROWD, TWO, 1),
}
"""Faults: output, sampling, table, e^epsilon of one release, and number of releases."""
FAULTY = mechanism(3, HALF)


def check(fault: str, *, release: Release | None = None, coins: Coins | None = None) -> tuple[Fraction, Fraction]:
    """Return the delta on the fault's table and the limit for its number of releases, which compose if they are
    independent."""
    faulty, faulty_coins, more, ratio, releases = FAULTS[fault]
    found = delta_of(FAULTY, more, ratio**releases, release or faulty, coins or faulty_coins)
    return found, releases * stated_delta(FAULTY, ratio)


def assert_within(found: Fraction, limit: Fraction) -> None:
    assert found <= limit, f"delta {float(found):.6f} is above the limit {float(limit):.6f}"


def in_numbers(fault: str) -> str:
    found, limit = check(fault)
    return f"{fault}: delta {float(found):.4f}, limit {float(limit):.4f}"


@pytest.mark.parametrize("fault", FAULTS, ids=in_numbers)
def test_a_faulty_mechanism_is_above_the_limit_where_the_right_one_is_within(fault: str) -> None:
    assert_within(*check(fault, release=honest, coins=all_coins))
    with pytest.raises(AssertionError, match="is above the limit"):
        assert_within(*check(fault))


def test_publishing_the_sample_size_or_the_suppressed_rows_makes_delta_beta_whatever_k_is() -> None:
    for release in (and_the_sample_size, and_the_suppressed_rows):
        for k, beta in product((2, 5, 50), (HALF, THIRD)):
            assert delta_of(mechanism(k, beta), [(0, 0)], Fraction(5), release) == beta
