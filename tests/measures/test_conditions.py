"""Conditions on classes, compared with listing all classes in fractions."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdgate.candidate import Candidate, ColumnFacts, Static
from crowdgate.contracts.contract import Attribute, Role
from crowdgate.domain import Domain, categories, numbers
from crowdgate.gate import GateReach, Outcome, gate_text, judge, reach
from crowdgate.guarantee import Guarantee, Part
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, collapse
from crowdgate.measures import MEASURES, conditions
from crowdgate.policy.policy import GateRule
from tests.workshop import Workshop, crowdgate

Table = dict[tuple[int, int, int], int]
NAMES, SIZES, K = ("x", "s", "y"), (3, 4, 2), 2
CONDITIONS = ("distinct_diversity", "entropy_diversity", "t_closeness", "beta_likeness", "delta_disclosure")
cells = st.tuples(*(st.integers(0, size - 1) for size in SIZES))
whole_tables = st.lists(st.integers(K, 40), min_size=8, max_size=8).map(
    lambda counts: dict(zip(product(range(2), range(2), range(2)), counts, strict=True))
)
"""Each class holds each value that occurs."""
tables = whole_tables | st.dictionaries(cells, st.one_of(st.integers(K, 6), st.integers(K, 10**6)), max_size=12)
NAMED, NUMERIC = categories([*"abcd"], "book"), numbers(Fraction(0), Fraction(3), Fraction(1), "book")


def release(table: Table) -> Histogram:
    columns = [np.array([cell[i] for cell in table], dtype=np.int64) for i in range(3)]
    return collapse(NAMES, SIZES, columns, np.array(list(table.values()), dtype=np.int64))


def candidate(table: Table, domain: Domain = NAMED, people: int = 10**8, invalid: Any = "drop") -> Candidate:
    levels = {
        name: Level("exact", tuple(map(str, range(size))), np.arange(size, dtype=np.int32))
        for name, size in zip(NAMES, SIZES, strict=True)
    }
    part = Part("mechanism", Fraction(1), Fraction(1, 10))
    attributes = [*(Attribute(name, Role.OTHER) for name in NAMES if name != "s")]
    attributes.append(Attribute("s", Role.SENSITIVE, domain=domain, invalid=invalid))
    facts = {each.name: ColumnFacts.of(each) for each in attributes}
    spent = (Fraction(1), Fraction(1, 10))
    static = Static(Guarantee.of((part,)), spent, spent, people, K, levels, facts)
    return Candidate(static=static, rows=release(table))


def rule(name: str, side: str = "at_most", limit: str = "1") -> GateRule:
    return GateRule.model_validate({"measure": name, side: limit, "of": "s"})


def measured(name: str, found: Candidate) -> Any:
    of_candidate = MEASURES[name].of_candidate
    assert of_candidate is not None
    return of_candidate(found, rule(name))


def listed(table: Table) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return the distribution of s in each class of (x, y), and in the whole table, in fractions."""
    by_class: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for (x, s, y), count in table.items():
        by_class[x, y][s] += count
    whole = sum(by_class.values(), Counter())
    return [_shares(found) for found in by_class.values()], _shares(whole)


def _shares(counts: Counter[int]) -> list[Fraction]:
    return [Fraction(counts[s], max(1, counts.total())) for s in range(SIZES[1])]


def naive_distinct(table: Table) -> float:
    return min((sum(p > 0 for p in shares) for shares in listed(table)[0]), default=SIZES[1])


def naive_entropy(table: Table) -> float:
    found = [math.exp(-sum(p * math.log(p) for p in shares if p)) for shares in listed(table)[0]]
    return min(found, default=SIZES[1])


def naive_variation(table: Table) -> Fraction:
    classes, whole = listed(table)
    return max((sum(map(abs, _apart(shares, whole)), Fraction(0)) / 2 for shares in classes), default=Fraction(0))


def naive_ordered(table: Table) -> Fraction:
    classes, whole = listed(table)
    return max((_moved(_apart(shares, whole)) for shares in classes), default=Fraction(0))


def _apart(shares: list[Fraction], whole: list[Fraction]) -> list[Fraction]:
    return [p - q for p, q in zip(shares, whole, strict=True)]


def _moved(apart: list[Fraction]) -> Fraction:
    """Move earth greedily from left to right, which is optimal on a line: section 4 of Li, Li, Venkatasubramanian."""
    work, carried = Fraction(0), Fraction(0)
    for difference in apart:
        carried += difference
        work += abs(carried)
    return work / (len(apart) - 1)


def naive_likeness(table: Table) -> Fraction:
    classes, whole = listed(table)
    gains = [(p - q) / q for shares in classes for p, q in zip(shares, whole, strict=True) if p > q]
    return max(gains, default=Fraction(0))


def naive_disclosure(table: Table) -> float:
    classes, whole = listed(table)
    pairs = [(p, q) for shares in classes for p, q in zip(shares, whole, strict=True) if q]
    return max((abs(math.log2(p / q)) if p else math.inf for p, q in pairs), default=0)


@given(table=tables)
@example(table={})
@example(table={(0, 0, 0): 10, (0, 1, 0): 10, (1, 0, 0): 100, (1, 1, 0): 2})
@example(table={(0, 0, 0): 2, (0, 0, 1): 2, (0, 1, 0): 3, (0, 1, 1): 3})
def test_every_condition_has_the_value_of_listing_the_classes(table: Table) -> None:
    found = candidate(table)
    assert measured("distinct_diversity", found).value == naive_distinct(table)
    assert measured("entropy_diversity", found).value == pytest.approx(naive_entropy(table), rel=1e-9)
    assert measured("t_closeness", found).value == naive_variation(table)
    assert measured("t_closeness", candidate(table, NUMERIC)).value == naive_ordered(table)
    assert measured("beta_likeness", found).value == naive_likeness(table)
    assert measured("delta_disclosure", found).value == pytest.approx(naive_disclosure(table), rel=1e-9, abs=1e-12)


@given(table=tables)
def test_the_ends_of_a_rounded_value_hold_it(table: Table) -> None:
    for name in ("entropy_diversity", "delta_disclosure"):
        value = measured(name, candidate(table))
        assert value.lower <= value.value <= value.upper


@given(table=tables.filter(bool), scale=st.sampled_from([10**3, 10**9, 10**11]))
def test_conditions_depend_on_shares_only_also_where_products_leave_63_bits(table: Table, scale: int) -> None:
    larger = {cell: count * scale for cell, count in table.items()}
    for domain, name in product((NAMED, NUMERIC), ("t_closeness", "beta_likeness")):
        assert measured(name, candidate(larger, domain)).value == measured(name, candidate(table, domain)).value


@given(table=tables)
def test_the_order_of_the_other_columns_does_not_matter(table: Table) -> None:
    turned = {(x, s, y): count for (x, s, y), count in reversed(table.items())}
    a, b = conditions.equivalence_classes(release(table), "s"), conditions.equivalence_classes(release(turned), "s")
    assert conditions.total_variation(a) == conditions.total_variation(b)


def test_the_ordered_distance_does_not_depend_on_how_classes_are_cut_into_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = {cell: 2 + hash(cell) % 7 for cell in product(range(3), range(4), range(2))}
    whole = conditions.ordered_distance(conditions.equivalence_classes(release(table), "s"))
    monkeypatch.setattr(conditions, "BLOCK_CELLS", 1)
    assert (
        conditions.ordered_distance(conditions.equivalence_classes(release(table), "s"))
        == whole
        == naive_ordered(table)
    )


def test_the_salaries_of_the_paper_on_closeness_have_its_distances() -> None:
    """Li, Li, Venkatasubramanian 2007, section 4.1: {3k,4k,5k} and {6k,8k,11k} of 3k..11k; 0.375 and 0.167."""
    at = {"3k": 0, "4k": 1, "5k": 2, "6k": 3, "7k": 4, "8k": 5, "9k": 6, "10k": 7, "11k": 8}
    groups = (["3k", "4k", "5k"], ["6k", "8k", "11k"], ["7k", "9k", "10k"])
    rows = np.array([(i, at[value]) for i, values in enumerate(groups) for value in values], dtype=np.int64)
    found = collapse(("zip", "salary"), (3, 9), [rows[:, 0], rows[:, 1]], np.ones(9, dtype=np.int64))
    assert conditions.ordered_distance(conditions.equivalence_classes(found, "salary")) == Fraction(3, 8)
    second = [Fraction(int(i in (3, 5, 8)), 3) - Fraction(1, 9) for i in range(9)]
    assert round(float(_moved(second)), 3) == 0.167


@pytest.mark.parametrize(
    ("domain", "invalid", "codes", "ordered"),
    [
        (NUMERIC, "drop", [0, 1, 2, 3], True),
        (NUMERIC, "level", [0, 1, 2, 3], False),
        (NUMERIC, "drop", [0, 1, 0, 1], False),
        (NAMED, "drop", [0, 1, 2, 3], False),
    ],
)
def test_distances_are_ordered_for_numbers_at_levels_that_keep_their_order(
    domain: Domain, invalid: str, codes: list[int], ordered: bool
) -> None:
    static = candidate({}, domain, invalid=invalid).static
    levels = {**static.levels, "s": Level("a level", ("0", "1", "2", "3"), np.array(codes, dtype=np.int32))}
    assert replace(static, levels=levels).ordered("s") is ordered


@settings(deadline=None)
@given(
    table=tables, limit=st.sampled_from(["-1", "0", "0.5", "1", "2", "3", "4", "5", "999999"]), spare=st.integers(0, 9)
)
def test_what_cannot_fail_never_fails_and_what_cannot_pass_never_passes(table: Table, limit: str, spare: int) -> None:
    for name, side, domain in product(CONDITIONS, ("at_most", "at_least"), (NAMED, NUMERIC)):
        found = candidate(table, domain, people=sum(table.values()) + spare)
        gate = rule(name, side, limit)
        outcome = judge(gate, measured(name, found))
        stated = reach(gate, MEASURES[name].reach(found.static, gate))
        assert not (stated is GateReach.CANNOT_FAIL and outcome is not Outcome.PASS), name
        assert not (stated is GateReach.CANNOT_PASS and outcome is Outcome.PASS), name


def test_an_empty_release_violates_nothing() -> None:
    limits = {"distinct_diversity": ("at_least", "4"), "entropy_diversity": ("at_least", "4")}
    for name in CONDITIONS:
        side, limit = limits.get(name, ("at_most", "0"))
        assert judge(rule(name, side, limit), measured(name, candidate({}))) is Outcome.PASS


REACHES: list[tuple[str, str, str, GateReach]] = [
    ("distinct_diversity", "at_least", "1", GateReach.CANNOT_FAIL),
    ("distinct_diversity", "at_least", "2", GateReach.OPEN),
    ("distinct_diversity", "at_least", "5", GateReach.CANNOT_PASS),
    ("entropy_diversity", "at_least", "4.1", GateReach.CANNOT_PASS),
    ("t_closeness", "at_most", "0.99", GateReach.CANNOT_FAIL),
    ("t_closeness", "at_most", "0.98", GateReach.CANNOT_FAIL),
    ("t_closeness", "at_most", "0.97", GateReach.OPEN),
    ("t_closeness", "at_most", "-0.1", GateReach.CANNOT_PASS),
    ("beta_likeness", "at_most", "49", GateReach.CANNOT_FAIL),
    ("beta_likeness", "at_most", "48", GateReach.OPEN),
    ("delta_disclosure", "at_most", "99", GateReach.OPEN),
]


@pytest.mark.parametrize(("name", "side", "limit", "expected"), REACHES)
def test_reaches_have_their_known_values(name: str, side: str, limit: str, expected: GateReach) -> None:
    gate = rule(name, side, limit)
    assert reach(gate, MEASURES[name].reach(candidate({}, people=100).static, gate)) is expected


def test_a_class_that_lacks_a_value_blocks_a_gate_on_disclosure() -> None:
    table = {(0, 0, 0): 5, (0, 1, 0): 5, (1, 0, 0): 5}
    assert judge(rule("delta_disclosure", limit="1000"), measured("delta_disclosure", candidate(table))) is (
        Outcome.INCONCLUSIVE
    )


def test_the_gate_names_its_attribute() -> None:
    assert gate_text(rule("t_closeness", limit="0.2")) == "t_closeness of s at most 0.2"


# --- through a whole release ---


def add_gate(workshop: Workshop, line: str) -> None:
    old = "    - {measure: released_rows, at_least: 0}\n"
    workshop.edit(workshop.policy, old, f"{old}    - {{{line}}}\n")


GATES: dict[str, tuple[str, str]] = {
    "distinct_diversity": ("at_least: 3", "at_least: 3.5"),
    "entropy_diversity": ("at_least: 2.5", "at_least: 3.01"),
    "t_closeness": ("at_most: 0.3", "at_most: 1e-6"),
    "beta_likeness": ("at_most: 1", "at_most: 1e-6"),
    "delta_disclosure": ("at_most: 2", "at_most: 1e-6"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_lets_a_release_through_and_withholds_it(
    workshop: Workshop, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    loose, tight = GATES[name]
    add_gate(workshop, f"measure: {name}, of: ward, {loose}")
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    workshop.edit(workshop.policy, f"of: ward, {loose}", f"of: ward, {tight}")
    workshop.edit(workshop.policy, "version: 1", "version: 2")
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-02") == 3
    assert not (workshop.root / "releases" / "clinic" / "2").exists()
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.split()[0] == "fail"]
    assert f"{name} of ward" in line


WRONG: list[tuple[str, str, Callable[[str], bool]]] = [
    ("measure: t_closeness, at_most: 0.2", "needs `of`", lambda text: "of: a released attribute" in text),
    ("measure: t_closeness, of: wrd, at_most: 0.2", "'wrd' is not released", lambda text: "ward" in text),
    ("measure: t_closeness, of: note, at_most: 0.2", "'note' is not released", bool),
    ("measure: released_classes, of: ward, at_most: 9", "is computed over all released attributes", bool),
    ("measure: t_closeness, of: ward, at_most: 0.2, over: [age]", "no `over`", bool),
    ("measure: t_closeness, of: [ward], at_most: 0.2", "a list", bool),
]


@pytest.mark.parametrize(("line", "found", "more"), WRONG, ids=[case[0] for case in WRONG])
def test_an_attribute_that_is_missing_unreleased_or_out_of_place_is_refused(
    workshop: Workshop, line: str, found: str, more: Callable[[str], bool], capsys: pytest.CaptureFixture[str]
) -> None:
    add_gate(workshop, line)
    assert crowdgate("check", workshop.policy) == 2
    said = capsys.readouterr().err
    assert found in said
    assert more(said)
    assert sum(line.startswith("crowdgate: ") for line in said.splitlines()) == 1


def test_conditions_on_two_attributes_are_two_gates_and_on_one_are_a_repetition(workshop: Workshop) -> None:
    add_gate(workshop, "measure: t_closeness, of: ward, at_most: 0.9")
    add_gate(workshop, "measure: t_closeness, of: age, at_most: 0.9")
    assert crowdgate("check", workshop.policy) == 0
    add_gate(workshop, "measure: t_closeness, of: age, at_most: 0.8")
    assert crowdgate("check", workshop.policy) == 2
