"""The score of each scheme, compared with grouping rows for it; and its sensitivity to one row, over all small
tables."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdgate.accounting.sensitivity import expected_kept_rows
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, collapse, generalise
from crowdgate.mechanisms.rows import lattice as lattices
from crowdgate.mechanisms.rows.lattice import SchemeLattice, between, roll_up, totals
from crowdgate.mechanisms.rows.scores import SCORES, SENSITIVITY, information, retention_table
from tests.benchmarks.lattice import ADULT, adult
from tests.benchmarks.options import DATA, VARIABLE
from tests.examples import examples

Row = tuple[int, ...]
HALF = Fraction(1, 2)


def level(name: str, codes: Sequence[int]) -> Level:
    index: dict[int, int] = {}
    numbered = [index.setdefault(code, len(index)) for code in codes]
    return Level(name, tuple(map(str, index)), np.array(numbered, dtype=np.int32))


@st.composite
def nested(draw: st.DrawFn) -> tuple[Level, ...]:
    """Draw one to four nested levels of an attribute of up to nine values; the finest need not be exact."""
    codes = draw(st.lists(st.integers(0, 8), min_size=1, max_size=9))
    found = [level("0", codes)]
    for i in range(draw(st.integers(0, 3))):
        above = draw(st.lists(st.integers(0, 3), min_size=9, max_size=9))
        found.append(level(str(i + 1), [above[code] for code in found[-1].codes.tolist()]))
    return tuple(found)


@st.composite
def tables(draw: st.DrawFn) -> tuple[SchemeLattice, list[Row]]:
    attributes = draw(st.lists(nested(), min_size=1, max_size=4))
    if draw(st.booleans()):
        attributes[-1] = attributes[-1][:1]
        lattice = SchemeLattice({f"c{i}": found for i, found in enumerate(attributes)}, f"c{len(attributes) - 1}")
    else:
        lattice = SchemeLattice({f"c{i}": found for i, found in enumerate(attributes)})
    cells = [st.integers(0, len(found[0].codes) - 1) for found in attributes]
    return lattice, draw(st.lists(st.tuples(*cells), max_size=40))


def counted(lattice: SchemeLattice, rows: Sequence[Row]) -> Histogram:
    """Return the rows at the finest candidates."""
    finest = lattice.finest
    codes = [found.codes[[row[i] for row in rows]] for i, found in enumerate(finest.values())]
    return collapse(tuple(finest), tuple(map(len, finest.values())), codes, np.ones(len(rows), dtype=np.int64))


def by_hand(scheme: Mapping[str, Level], rows: Sequence[Row]) -> Counter[Row]:
    """Return classes of the rows at a scheme's levels, one row after another."""
    return Counter(tuple(int(found.codes[row[i]]) for i, found in enumerate(scheme.values())) for row in rows)


@settings(max_examples=examples(150), deadline=None)
@given(case=tables(), bits=st.sampled_from([0, 3, 6, 62]))
@example((SchemeLattice({"a": (level("x", [0, 1]),)}), []), 62)
def test_every_scheme_is_scored_as_if_its_rows_were_grouped_one_by_one(
    case: tuple[SchemeLattice, list[Row]], bits: int
) -> None:
    lattice, rows = case
    full = counted(lattice, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattices, "KEY_BITS", bits)
        squares = totals(lattice, full, lambda sizes, _: int((sizes**2).sum()))
    assert len(squares) == len(lattice) == math.prod(lattice.shape)
    for i, found in enumerate(squares):
        assert found == sum(size**2 for size in by_hand(lattice.scheme(i), rows).values())


def test_attributes_that_do_not_fit_into_one_number_keep_their_classes_apart() -> None:
    """Eight of 512 values; the rows differ in one attribute each."""
    wide = (level("exact", range(512)), level("any", [0] * 512))
    lattice = SchemeLattice({f"c{i}": wide for i in range(8)})
    rows = [tuple(value if i == at else 0 for i in range(8)) for at in range(8) for value in (1, 255, 256, 511)]
    squares = totals(lattice, counted(lattice, rows), lambda sizes, _: int((sizes**2).sum()))
    for i, found in enumerate(squares):
        assert found == sum(size**2 for size in by_hand(lattice.scheme(i), rows).values())


@settings(max_examples=examples(100), deadline=None)
@given(case=tables(), bits=st.sampled_from([0, 3, 62]), k=st.integers(1, 4))
def test_scores_are_what_they_say_for_every_scheme(case: tuple[SchemeLattice, list[Row]], bits: int, k: int) -> None:
    lattice, rows = case
    full, kept = counted(lattice, rows), retention_table(k, HALF, len(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattices, "KEY_BITS", bits)
        found = {name: score(lattice, full, kept, {}) for name, score in SCORES.items() if name != "classification"}
        majority = SCORES["classification"](lattice, full, kept, {}) if lattice.last else None
    shares = [sum(map(information, lattice.scheme(i).values())) / len(lattice.candidates) for i in range(len(lattice))]
    best = max(shares) or 1.0
    for i in range(len(lattice)):
        classes = by_hand(lattice.scheme(i), rows)
        expected = sum(exact_kept(size, k, HALF) for size in classes.values())
        assert found["expected_kept_rows"][i] * kept.unit == pytest.approx(float(expected), rel=1e-6, abs=1e-6)
        weighted = float(expected) * shares[i] / best
        assert found["expected_kept_information"][i] * kept.unit == pytest.approx(weighted, rel=1e-6, abs=1e-6)
        if majority is not None:
            right = defaultdict[Row, Fraction](Fraction)
            for tuple_, size in classes.items():
                right[tuple_[:-1]] = max(right[tuple_[:-1]], exact_kept(size, k, HALF))
            assert majority[i] * kept.unit == pytest.approx(float(sum(right.values())), rel=1e-6, abs=1e-6)


def exact_kept(size: int, k: int, beta: Fraction) -> Fraction:
    """Return E[J 1(J >= k)], J ~ Bin(size, beta)."""
    return sum(
        (j * math.comb(size, j) * beta**j * (1 - beta) ** (size - j) for j in range(k, size + 1)), start=Fraction(0)
    )


@pytest.mark.thorough
@pytest.mark.parametrize("beta", ["1/2", "1/10", "9/10", "1/1000", "1"], ids=lambda text: f"beta {text}")
@pytest.mark.parametrize("k", [1, 2, 3, 7, 35, 69])
def test_the_table_of_kept_rows_is_the_expectation(k: int, beta: str) -> None:
    rate = Fraction(beta)
    kept = retention_table(k, rate, 10**6)
    sizes = [*range(0, 200, 7), 1000]
    values = kept(np.array(sizes, dtype=np.int64))
    for size, value in zip(sizes, values.tolist(), strict=True):
        exact = float(exact_kept(size, k, rate))
        assert value * kept.unit == pytest.approx(exact, rel=2e-8, abs=2e-9 * kept.unit * SENSITIVITY * (size + 1))


@pytest.mark.parametrize(("k", "beta"), [(69, "1/2"), (35, "1/10"), (1, "1/3"), (20, "1"), (10**9, "1e-9")])
def test_no_entry_depends_on_how_far_the_table_goes(k: int, beta: str) -> None:
    long, short = (retention_table(k, Fraction(beta), most) for most in (5000, 40))
    sizes = np.arange(41)
    assert (long(sizes) == short(sizes)).all()
    assert (long.slope, long.unit) == (short.slope, short.unit)


@pytest.mark.thorough
@settings(max_examples=examples(80), deadline=None)
@given(k=st.integers(1, 300), beta=st.fractions(Fraction(1, 1000), 1, max_denominator=1000))
def test_increments_are_never_negative_nor_above_the_sensitivity_and_reach_it(k: int, beta: Fraction) -> None:
    kept = retention_table(k, beta, 3 * math.ceil(k / beta) + 10)
    increments = np.diff(kept(np.arange(len(kept.curve) + 5)))
    assert increments.min() >= 0
    assert SENSITIVITY - 2 <= increments.max() <= SENSITIVITY
    assert kept.unit * SENSITIVITY == pytest.approx(expected_kept_rows(k, beta), rel=1e-12)


def test_levels_of_levels_and_rolled_up_tables_are_those_of_the_rows() -> None:
    exact, pairs, any_ = level("exact", range(5)), level("pairs", [0, 0, 1, 1, 2]), level("any", [0] * 5)
    assert between(pairs, any_).codes.tolist() == [0, 0, 0]
    full = collapse(("a",), (5,), [np.arange(5)], np.arange(1, 6))
    at = roll_up(generalise(full, {"a": pairs}), {"a": pairs}, {"a": any_})
    assert (at.sizes, at.counts.tolist()) == ((1,), [15])
    assert roll_up(full, {"a": exact}, {"a": exact}) is full


# --- sensitivity, over all small tables ---

BINARY = (level("exact", [0, 1]), level("any", [0, 0]))
TERNARY = (level("exact", [0, 1, 2]), level("pairs", [0, 0, 1]), level("any", [0, 0, 0]))
SMALL = {
    "expected_kept_rows": SchemeLattice({"a": TERNARY, "b": BINARY}),
    "expected_kept_information": SchemeLattice({"a": TERNARY, "b": BINARY}),
    "classification": SchemeLattice({"a": TERNARY, "b": BINARY[:1]}, "b"),
}
WEIGHTS = {"a": Fraction(3), "b": Fraction(1, 2)}


def neighbours(rows: int) -> Iterator[tuple[tuple[Row, ...], Row]]:
    """Yield each table of up to `rows` rows over six tuples, with each row that can be added to it."""
    tuples = list(product(range(3), range(2)))
    for size in range(rows + 1):
        for table in combinations_with_replacement(tuples, size):
            for row in tuples:
                yield table, row


@pytest.mark.thorough
@pytest.mark.parametrize(("k", "beta"), [(1, "1/2"), (2, "1/2"), (3, "9/10"), (3, "1"), (2, "1/5")])
@pytest.mark.parametrize("name", SMALL)
def test_one_row_raises_every_score_of_every_small_table_by_at_most_the_sensitivity(
    name: str, k: int, beta: str
) -> None:
    lattice, kept = SMALL[name], retention_table(k, Fraction(beta), 12)
    known: dict[tuple[Row, ...], list[int]] = {}

    def scores(rows: tuple[Row, ...]) -> list[int]:
        rows = tuple(sorted(rows))
        if rows not in known:
            known[rows] = SCORES[name](lattice, counted(lattice, rows), kept, WEIGHTS)
        return known[rows]

    moves = [
        (after - before)
        for table, row in neighbours(4)
        for before, after in zip(scores(table), scores((*table, row)), strict=True)
    ]
    assert min(moves) == 0 or k == 1
    assert min(moves) >= 0
    assert max(moves) <= SENSITIVITY
    peak = max(k - 1, math.ceil(k / Fraction(beta)) - 2)
    if peak <= 4:
        assert max(moves) >= SENSITIVITY - 2


def test_a_sensitivity_of_one_row_is_refuted_by_these_tables() -> None:
    """The fault that the test above must find: retained rows change by up to 1.9 rows at k = 35, beta = 1/2."""
    kept = retention_table(35, HALF, 200)
    increments = np.diff(kept(np.arange(200)))
    assert increments.max() * kept.unit == pytest.approx(1.91, abs=0.01)
    assert increments.max() * kept.unit > 1


def test_an_empty_table_and_attributes_of_one_value_have_scores() -> None:
    single = SchemeLattice({"a": (level("exact", [0]), level("any", [0])), "b": BINARY})
    kept = retention_table(2, HALF, 0)
    for name in ("expected_kept_rows", "expected_kept_information"):
        assert SCORES[name](single, counted(single, []), kept, {}) == [0] * 4
    last = SchemeLattice({"a": BINARY, "b": BINARY[:1]}, "b")
    assert SCORES["classification"](last, counted(last, []), kept, {}) == [0, 0]
    nothing = {"a": Fraction(1), "b": Fraction(0)}
    coarse = SchemeLattice({"a": BINARY[1:], "b": BINARY})
    assert SCORES["expected_kept_information"](coarse, counted(coarse, [(0, 0)]), kept, nothing) == [0, 0]


# --- a lattice of real size ---


def test_schemes_of_the_adult_rows_are_scored_as_if_grouped_one_by_one() -> None:
    if not (DATA / ADULT).is_file():
        pytest.skip(f"no folder with {ADULT} and adult_hierarchies ({VARIABLE})")
    lattice, columns = adult(DATA)
    rows = np.column_stack(columns)
    full = counted(lattice, rows.tolist())
    assert (full.rows, len(full), len(lattice)) == (30162, 19502, 12960)
    kept = retention_table(69, HALF, full.rows)
    scores = SCORES["expected_kept_rows"](lattice, full, kept, {})
    for i in np.random.default_rng(1).choice(len(lattice), 40, replace=False).tolist():
        codes = [found.codes[rows[:, j]] for j, found in enumerate(lattice.scheme(i).values())]
        sizes = np.unique(np.column_stack(codes), axis=0, return_counts=True)[1]
        assert scores[i] == kept.total(sizes, full.rows)
