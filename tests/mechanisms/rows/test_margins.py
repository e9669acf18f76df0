"""Rows and noisy margins together, enumerated: the joint distribution over all sampling and all noise, on neighbouring
tables."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Attribute, Contract, PrivacyUnit, Role
from crowdgate.domain import categories
from crowdgate.guarantee import Part
from crowdgate.hierarchy import hierarchy
from crowdgate.histogram import Histogram
from crowdgate.mechanisms.rows.charge_names import MARGINS_PART
from crowdgate.mechanisms.rows.margins import PlannedMargins, margin_findings
from crowdgate.mechanisms.rows.safe_k import AnonymisedRows, SafeK
from crowdgate.mechanisms.rows.spec import SafeKAnonymity
from crowdgate.noise import NoiseSource
from tests.examples import examples
from tests.mechanisms.rows.test_safe_k import all_coins, canonical, divergence, given_heads, stated_delta, table
from tests.reading import file_server

Law = dict[object, Fraction]
Row = tuple[int, ...]
Asked = list[tuple[np.ndarray, int, Fraction]]
See = Callable[[SafeK, AnonymisedRows], object]
"""Output of a release other than its rows and its noisy counts."""
HALF = Fraction(1, 2)
ODDS = Fraction(2)
"""e^epsilon of each noisy count: the probabilities of discrete Laplace noise are powers of 1/2."""


def _attribute(name: str, values: Sequence[str]) -> Attribute:
    domain = categories(list(values), "a codebook")
    levels = hierarchy(domain, [("pairs", ["01" if value in "01" else value for value in values])], invalid_level=False)
    return Attribute(name, Role.QUASI_IDENTIFIER, domain=domain, hierarchy=levels)


CONTRACT = Contract(
    "clinic", "1", "town", PrivacyUnit(), file_server(Path("x"), "csv"),
    (_attribute("c0", "012"), _attribute("c1", "012")),
)  # fmt: skip


def spec(**margins: object) -> SafeKAnonymity:
    return SafeKAnonymity.model_validate(
        {"kind": "safe_k_anonymity", "sampling": {"beta": "0.5"}, "attributes": {"c0": "exact", "c1": "exact"},
         "margins": {"epsilon": "1", "noise": "laplace", **margins}}
    )  # fmt: skip


def mechanism(k: int, names: Sequence[str] = ("c0",), **margins: object) -> SafeK:
    levels = {name: CONTRACT.by_name[name].hierarchy.level("exact") for name in names}  # type: ignore[union-attr]
    bought = spec(**{"tables": [{"all": "1"}], **margins}).margins
    assert bought is not None
    part = Part(MARGINS_PART, Fraction(1), Fraction(0))
    return SafeK(
        HALF, k, levels, Part("mechanism", Fraction(1), Fraction(1, 10)), margins=PlannedMargins(bought, CONTRACT, part)
    )


def recorder(asked: Asked) -> NoiseSource:
    def laplace(values: np.ndarray, sensitivity: int, epsilon: Fraction) -> np.ndarray:
        asked.append((values.copy(), sensitivity, epsilon))
        return values

    return NoiseSource(laplace, laplace)


def at_least(threshold: int, count: int) -> Fraction:
    """Return P(count + noise >= threshold), which at most doubles for a count one larger: the tail of the discrete
    Laplace distribution with e^-epsilon = 1/2."""
    above = 1 / ODDS ** max(0, threshold - count) / (1 + 1 / ODDS)
    return above if threshold > count else 1 - 1 / ODDS ** (count - threshold + 1) / (1 + 1 / ODDS)


def law(safe: SafeK, rows: Sequence[Row], thresholds: Sequence[int], see: See) -> Law:
    """Return the joint distribution of the released rows, of other output, and of whether each noisy count reaches its
    threshold: the statistic on which a count of neighbouring tables differs most."""
    full, out = table(safe, rows), defaultdict[object, Fraction](Fraction)
    for heads, chance in all_coins(full, safe.beta):
        asked: Asked = []
        made = safe.protect(full, given_heads(heads), vectors=recorder(asked))
        counts = [int(value) for values, _, _ in asked for value in values.reshape(-1)]
        told = canonical(made.output), see(safe, made)
        for bits in product((True, False), repeat=len(counts)):
            tails = [at_least(at, count) for at, count in zip(thresholds, counts, strict=True)]
            chances = (tail if bit else 1 - tail for bit, tail in zip(bits, tails, strict=True))
            out[told, bits] += chance * math.prod(chances, start=Fraction(1))
    assert sum(out.values()) == 1
    return out


def nothing(_: SafeK, __: AnonymisedRows) -> object:
    return None


def margins_of_the_sample(_: SafeK, made: AnonymisedRows) -> object:
    """Return counts of the sample before suppression, without noise."""
    return canonical(made.sample)


def weight_of_the_sample(_: SafeK, made: AnonymisedRows) -> object:
    """Return a weight that compensates for suppressed rows: it can only be computed from the sample."""
    return Fraction(made.sample.rows, max(1, made.output.rows))


def weight_of_suppressed_classes(_: SafeK, made: AnonymisedRows) -> object:
    """Return a weight that depends on which classes were suppressed."""
    return len(made.sample)


def joint_delta(safe: SafeK, more: Sequence[Row], ratio: Fraction, see: See = nothing) -> Fraction:
    """Return the delta at e^epsilon = ratio x the odds of all noisy counts that one row changes: the total, the row's
    cell."""
    moved = 2
    top = [len(more), *(sum(row[0] == value for row in more) for value in range(3))]
    laws = [law(safe, rows, top, see) for rows in (more, more[1:])]
    total = ratio * ODDS**moved
    return max(divergence(laws[0], laws[1], total), divergence(laws[1], laws[0], total))


@settings(max_examples=examples(25), deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.just(0)), min_size=1, max_size=5), k=st.integers(1, 4),
    ratio=st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4)]),
)  # fmt: skip
def test_rows_and_margins_together_keep_the_sum_of_their_parts(rows: list[Row], k: int, ratio: Fraction) -> None:
    safe = mechanism(k)
    assert joint_delta(safe, rows, ratio) <= stated_delta(safe, ratio)


LONE = [(1, 0)] + [(0, 0)] * 3
FAULTS: dict[str, See] = {
    "margins of the sample": margins_of_the_sample,
    "weights that make up for suppressed rows": weight_of_the_sample,
    "weights that look at suppressed classes": weight_of_suppressed_classes,
}


def in_numbers(fault: str) -> str:
    safe = mechanism(3)
    return f"{fault}: delta {float(worst(safe, FAULTS[fault])):.4f}, limit {float(stated_delta(safe, ODDS)):.4f}"


def worst(safe: SafeK, see: See) -> Fraction:
    tables = ([(0, 0)] * 3, [(0, 0)] * 4, LONE, [(0, 0)])
    return max(joint_delta(safe, rows, ODDS, see) for rows in tables)


@pytest.mark.parametrize("fault", FAULTS, ids=in_numbers)
def test_what_looks_at_the_sample_is_above_the_limit_where_margins_of_the_full_table_are_within(fault: str) -> None:
    safe = mechanism(3)
    limit = stated_delta(safe, ODDS)
    assert worst(safe, nothing) <= limit
    assert worst(safe, FAULTS[fault]) > limit


rows_of_two = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12)


@given(rows=rows_of_two, heads=st.integers(0, 2**32))
def test_margins_count_the_full_table_whatever_the_coins_say_and_pay_for_one_row(rows: list[Row], heads: int) -> None:
    safe = mechanism(2, ("c0", "c1"), tables=[{"all": "2"}])
    coins = np.random.default_rng(heads)
    asked: list[Asked] = [[], []]
    for which, some in enumerate((rows, rows[1:])):
        full = table(safe, some)
        safe.protect(full, lambda sizes: coins.binomial(sizes, 0.5), vectors=recorder(asked[which]))
    pairs = list(zip(*asked, strict=True))
    assert sum((spend for (_, _, spend), _ in pairs), Fraction(0)) <= 1
    for (more, sensitivity, spend), (less, _, same) in pairs:
        assert spend == same > 0
        assert int(np.abs(more - less).sum()) == sensitivity == 1
        assert int(more.sum()) == len(rows)


def test_the_total_and_every_column_have_a_margin_of_their_own_and_each_table_is_drawn_once() -> None:
    safe = mechanism(2, ("c0", "c1"), tables=[{"all": "2"}, {"attributes": ["c1", "c0"]}, {"all": "1"}])
    assert safe.margins is not None
    names = [linear.query.name for linear in safe.margins.tables(safe.levels).queries]
    expected = ["count", "count by c0 (exact)", "count by c1 (exact)", "count by c0 (exact), c1 (exact)"]
    assert names == expected


def test_margins_are_drawn_at_stated_coarser_levels_and_leave_out_what_has_one_value() -> None:
    safe = mechanism(2, ("c0", "c1"), levels={"c0": "pairs", "c1": "any"})
    assert safe.margins is not None
    (_, own) = safe.margins.tables(safe.levels).queries
    assert own.query.name == "count by c0 (pairs)"
    chosen = {name: CONTRACT.by_name[name].hierarchy.level("any") for name in ("c0", "c1")}  # type: ignore[union-attr]
    everything_at_any = mechanism(2, ("c0", "c1"), tables=[{"all": "2"}, {"attributes": ["c0", "c1"]}])
    assert everything_at_any.margins is not None
    assert [q.query.cells for q in everything_at_any.margins.tables(chosen).queries] == [1]


def _findings(stated: SafeKAnonymity, contract: Contract = CONTRACT) -> Iterator[tuple[tuple[str | int, ...], str]]:
    finest = {name: contract.by_name[name].hierarchy.level("exact") for name in stated.attributes}  # type: ignore[union-attr]
    part = Part(MARGINS_PART, Fraction(1), Fraction(0))
    for place, found, *_ in margin_findings(stated, contract, part, finest):
        yield place, found


REFUSED: dict[str, tuple[dict[str, object], tuple[str | int, ...]]] = {
    "the manifest has a level of a column that is not "
        "released": ({"levels": {"c9": "exact"}}, ("margins", "levels", "c9")),
    "an unknown level": ({"levels": {"c0": "pears"}}, ("margins", "levels", "c0")),
    "a table of a column that is not released": (
        {"tables": [{"attributes": ["c0", "c9"]}]}, ("margins", "tables", 0, "attributes", 1),
    ),
    "a column twice": ({"tables": [{"attributes": ["c0", "c0"]}]}, ("margins", "tables", 0, "attributes", 1)),
    "more columns than there are": ({"tables": [{"all": "3"}]}, ("margins", "tables", 0, "all")),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_margins_that_can_not_be_are_refused_at_their_place(name: str) -> None:
    stated, place = REFUSED[name]
    assert [at for at, _ in _findings(spec(**stated))] == [place]


def test_margins_finer_than_the_rows_are_refused() -> None:
    stated = spec(levels={"c0": "exact"})
    coarse = stated.model_copy(update={"attributes": {"c0": "pairs", "c1": "exact"}})
    assert [at for at, _ in _findings(coarse)] == [("margins", "levels", "c0")]


@pytest.mark.parametrize("stated", [{"delta": "1e-9"}, {"tables": []}, {"tables": [{}]}])
def test_margins_of_another_shape_are_refused(stated: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="margins"):
        spec(**stated)


@pytest.mark.parametrize(
    ("stated", "part"),
    [({"noise": "laplace"}, "0"), ({"noise": "gaussian"}, "1/10"), ({"noise": "gaussian", "delta": "1/4"}, "1/4")],
)
def test_gaussian_margins_take_a_tenth_of_delta_unless_stated_and_laplace_none(
    stated: dict[str, object], part: str
) -> None:
    delta = Fraction(1, 1000)
    number = {"delta": "0.00025"} if "delta" in stated else {}
    margins = spec(**{**stated, **number}).margins
    assert margins is not None
    assert margins.cost(delta) == (Fraction(1), delta * Fraction(part))


@pytest.mark.parametrize(
    ("key", "word", "reason"),
    [
        ("suppression", "cell", "class: leaving out single cells depends on the sample"),
        ("recoding", "local", "global: levels that differ from class to class depend on the sample"),
    ],
)
def test_what_would_look_at_the_sample_is_refused_with_its_reason(key: str, word: str, reason: str) -> None:
    stated = spec().model_dump(include={"kind"}) | {"sampling": {"beta": "0.5"}, "attributes": {"c0": "exact"}}
    with pytest.raises(ValueError, match=reason):
        SafeKAnonymity.model_validate(stated | {key: word})


def test_an_empty_table_has_margins_too() -> None:
    safe = mechanism(2, ("c0", "c1"))
    empty = Histogram(("c0", "c1"), (3, 3), (np.zeros(0, np.int32),) * 2, np.zeros(0, np.int64))
    asked: Asked = []
    safe.protect(empty, given_heads([]), vectors=recorder(asked))
    assert [int(values.sum()) for values, _, _ in asked] == [0, 0, 0]
