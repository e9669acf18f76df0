"""Measures on small candidates, compared with listing all cases."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting import pso
from crowdgate.candidate import Candidate, ColumnFacts, Measurement, OutputType, Static
from crowdgate.gate import GateReach, Outcome, judge, reach, verdict
from crowdgate.guarantee import Guarantee, JointCost, Part
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, at_least, collapse
from crowdgate.measures import MEASURES, Aspect, BetterSide, Measure, MeasureClass
from crowdgate.measures.base import SHARE
from crowdgate.measures.charged_counts import ALPHA
from crowdgate.measures.labels import LABELS
from crowdgate.measures.options import DEFAULTS, OPTIONS, wrong_options
from crowdgate.measures.small_classes import SENSITIVITY
from crowdgate.noise import laplace_quantile
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.policy import GateRule
from crowdgate.risk.population_uniques import population_uniques

ROOT = Path(__file__).parents[2]
NAMES = ("x", "y")
SIZES = (3, 2)
Table = dict[tuple[int, ...], int]
NONE: Table = {}


def level(codes: list[int]) -> Level:
    return Level("a level", tuple(map(str, range(max(codes) + 1))), np.array(codes, dtype=np.int32))


def static(
    margins: dict[str, tuple[int, ...] | None] | None = None,
    levels: dict[str, Level] | None = None,
    *,
    people: int = 100,
    k: int = 3,
    spent: tuple[str, str] = ("1", "1e-6"),
    budget: tuple[str, str] = ("4", "1e-5"),
) -> Static:
    parts = (Part("mechanism", Fraction("0.75"), Fraction("1e-6")), Part("gate", Fraction("0.25"), Fraction(0)))
    found = margins or {"x": (1, 2, 3), "y": (1, 1)}
    return Static(
        guarantee=Guarantee.of(parts),
        spent=(Fraction(spent[0]), Fraction(spent[1])),
        budget=(Fraction(budget[0]), Fraction(budget[1])),
        people=people,
        least_class=k,
        levels=levels or {"x": level([0, 1, 2]), "y": level([0, 1])},
        facts={name: ColumnFacts(margins=counts) for name, counts in found.items()},
    )


def histogram(counts: Table) -> Histogram:
    columns = [np.array([row[i] for row in counts], dtype=np.int64) for i in range(len(SIZES))]
    return collapse(NAMES, SIZES, columns, np.array(list(counts.values()), dtype=np.int64))


REGISTER = histogram({(0, 0): 1, (1, 1): 2})


def candidate(full: Table, sample: Table, noise: Any = lambda count, *_: count) -> Candidate:
    found = static()
    output = at_least(histogram(sample), found.least_class)
    return Candidate(
        static=found, rows=output, table=histogram(full), sample=histogram(sample), noise=noise, register=REGISTER
    )


def gate(measure: str, side: str = "at_most", limit: str = "1", **more: Any) -> GateRule:
    return GateRule.model_validate({"measure": measure, side: limit, **more})


def of_candidate(name: str, found: Candidate, **more: Any) -> Measurement | None:
    measured = MEASURES[name].of_candidate
    assert measured is not None
    return measured(found, gate(name, **more))


def of_static(name: str, found: Static, **more: Any) -> Measurement | None:
    measured = MEASURES[name].of_static
    assert measured is not None
    return measured(found, gate(name, **more))


FULL: Table = {(0, 0): 9, (1, 0): 1, (1, 1): 1, (2, 1): 6}
SAMPLE: Table = {(0, 0): 5, (1, 0): 1, (2, 1): 3}
tables = st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 1)), st.integers(1, 9))


def test_every_measure_is_decided_on_static_facts_or_on_the_candidate_and_listed_under_its_name() -> None:
    for name, measure in MEASURES.items():
        assert name == measure.name
        assert (measure.of_static is None) == (measure.reads is not MeasureClass.STATIC)
        assert (measure.of_static is None) != (measure.of_candidate is None)


def test_every_measure_and_nothing_else_has_a_label() -> None:
    assert {*LABELS} == {*MEASURES}, "LABELS of measures/labels.py has one line for each measure"


def test_every_option_is_described_and_has_a_value_where_a_gate_does_not_state_it() -> None:
    """`explain` writes the value into the sentence of the measure. That of `people` is the budget's."""
    for name, measure in MEASURES.items():
        assert {*measure.options} <= OPTIONS.keys(), f"{name}: OPTIONS of measures/options.py lacks an option"
        known = {*DEFAULTS, *measure.needs, "people"}
        assert {*measure.options} <= known, f"{name}: DEFAULTS of measures/options.py lacks an option that has no value"


def facts_of(reads: MeasureClass) -> dict[str, Any]:
    """Return all properties that a measure of this class must state."""
    read = "of_static" if reads is MeasureClass.STATIC else "of_candidate"
    return {
        "name": "new", "summary": "a number", "sentence": "It limits a number.", "reads": reads,
        "shape": OutputType.ROWS, "aspect": Aspect.USEFULNESS, "better": BetterSide.EITHER, "accumulates": False,
        "range": SHARE, "reach": lambda *_: SHARE, read: lambda *_: None,
        **({} if reads is MeasureClass.STATIC else {"steady": False}),
        **({"of_noisy": lambda *_: None} if reads is MeasureClass.CHARGED else {}),
    }  # fmt: skip


@pytest.mark.parametrize("reads", list(MeasureClass))
def test_a_measure_that_leaves_a_fact_out_is_not_made(reads: MeasureClass) -> None:
    """Nor is one without its function: its gate would have no verdict, and nothing would block."""
    facts = facts_of(reads)
    assert Measure(**facts).reads is reads
    for left_out in facts:
        with pytest.raises(TypeError, match=rf"{left_out}|measure new: .*"):
            Measure(**{name: fact for name, fact in facts.items() if name != left_out})


@pytest.mark.parametrize(
    "wrong",
    [
        {"summary": ""},
        {"sentence": "It limits a number of {people}."},
        {"options": ("size",)},
        {"of": True},
        {"steady": None},
        {"of_static": lambda *_: None},
        {"of_noisy": lambda *_: None},
    ],
)
def test_a_measure_whose_facts_contradict_each_other_is_not_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="measure new: "):
        Measure(**{**facts_of(MeasureClass.OUTPUT), **wrong})
    assert Measure(**{**facts_of(MeasureClass.OUTPUT), "of": True, "sentence": "It limits {of}."}).of


LARGER_IS_BETTER = {
    "anonymity_set_quartile", "distinct_diversity", "effective_rows", "entropy_diversity", "margins_met",
    "represented_share", "smallest_class", "trusted_pairs", "trusted_share",
}  # fmt: skip
EITHER_SIDE = {"kept_share_in_audit", "released_classes", "released_rows", "smallest_trusted_cell"}
MAY_JUMP = {
    "absent_values", "anonymity_set_quartile", "beta_likeness", "delta_disclosure", "distinct_diversity",
    "effective_rows", "entropy_diversity", "margins_met", "population_uniques", "sample_uniques", "smallest_class",
    "smallest_trusted_cell", "suppressed_share", "t_closeness", "trusted_pairs", "trusted_share", "worst_share_error",
}  # fmt: skip
"""Measures of data for which past values do not bound the next one: the maximum of many, or a share of few."""


def test_of_every_measure_the_better_side_is_the_one_that_protects_or_serves() -> None:
    """A wrong side inverts the linter's advice (CG214): it would recommend limits that pass bad values."""
    sides = {BetterSide.LARGER: LARGER_IS_BETTER, BetterSide.EITHER: EITHER_SIDE}
    sides[BetterSide.SMALLER] = MEASURES.keys() - LARGER_IS_BETTER - EITHER_SIDE
    found = {side: {each.name for each in MEASURES.values() if each.better is side} for side in BetterSide}
    assert found == sides, "a measure belongs in LARGER_IS_BETTER or EITHER_SIDE above, or smaller is better"


def test_past_values_speak_for_the_next_one_only_where_it_can_not_jump() -> None:
    found = {each.name for each in MEASURES.values() if each.steady is False}
    assert found == MAY_JUMP, "a measure whose values may jump states steady=False, and stands in MAY_JUMP above"


def test_what_a_measure_can_be_lies_in_its_range() -> None:
    """An excess, which is compared with 0, has the range of its limit."""
    facts = static()
    for name, measure in MEASURES.items():
        low, high = measure.range
        assert low < high
        given = {"of": "y"} if measure.of else {}
        least, most = measure.reach(facts, gate(name, **given))
        assert measure.excess or least == -math.inf or low <= least <= most <= high, name
    assert {name for name, measure in MEASURES.items() if measure.excess} == {
        "invalid_share", "singleton_share", "share_in_classes_below",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "empty"),
    [
        ("released_rows", 8, 0),
        ("released_classes", 2, 0),
        ("smallest_class", 3, 3),
        ("suppressed_share", 1 / 9, 0),
        ("sample_uniques", 1 / 9, 0),
    ],
)
def test_a_measure_has_its_value_on_a_candidate_and_on_an_empty_one(name: str, value: float, empty: float) -> None:
    near: Any = pytest.approx(value)
    assert of_candidate(name, candidate(FULL, SAMPLE)) == Measurement.exact(near)
    assert of_candidate(name, candidate(NONE, NONE)) == Measurement.exact(empty)


@given(full=tables, quartile=st.integers(1, 3))
def test_a_quartile_of_the_anonymity_sets_is_between_order_statistics(full: Any, quartile: int) -> None:
    """Linear between them, as in R's `summary`."""
    found = of_candidate("anonymity_set_quartile", candidate(full, NONE), **{"with": {"quartile": str(quartile)}})
    sizes = sorted(full.values())
    if not sizes:
        assert found is None
        return
    at, rest = divmod((len(sizes) - 1) * quartile, 4)
    above = sizes[min(at + 1, len(sizes) - 1)]
    assert found == Measurement.exact(sizes[at] + (above - sizes[at]) * rest / 4)


def test_population_uniques_are_the_interval_of_the_sample_at_its_rate() -> None:
    """A sample of 7 rows tells nothing, unless the gate's limit is beyond the interval."""
    sample: Table = {(0, 0): 1, (1, 0): 1, (2, 0): 2, (0, 1): 3}
    found = replace(candidate(NONE, sample), static=replace(static(), beta=Fraction(1, 2)))
    told = population_uniques(histogram(sample).counts, Fraction(1, 2)).interval
    assert told is not None
    assert not told.known
    assert of_candidate("population_uniques", found, at_most=str(int(told.high) // 2)) is None
    measured = of_candidate("population_uniques", found, at_most=str(int(told.high) + 1))
    assert measured == Measurement(told.high, told.low, told.high)
    nobody = candidate(NONE, NONE)
    assert of_candidate("population_uniques", nobody) is None
    rule, measure = gate("population_uniques", severity="advise"), MEASURES["population_uniques"]
    assert verdict(rule, measure, None, nobody.static).reason.endswith(
        "the sample does not tell this number, or nobody is in it"
    )


OF_ROWS = (OutputType.ROWS, OutputType.TABLE, OutputType.SAMPLE)


@pytest.mark.thorough
@given(full=tables, other=tables, sample=tables)
def test_output_measures_read_nothing_but_the_output(full: Any, other: Any, sample: Any) -> None:
    kept = {row: count for row, count in sample.items() if count >= 3}
    for name, measure in MEASURES.items():
        if measure.reads is MeasureClass.OUTPUT and measure.shape in OF_ROWS and not measure.needs:
            of = {"of": "y"} if measure.of else {}
            found = of_candidate(name, candidate(full, sample), **of)
            assert found is not None, (
                f"{name}: an output measure of rows has a value on every release, also an empty one"
            )
            assert found == of_candidate(name, candidate(other, kept), **of), f"{name} reads more than the release"


@settings(deadline=None)
@given(sample=tables, limit=st.integers(0, 70), side=st.sampled_from(["at_most", "at_least"]))
def test_what_cannot_fail_never_fails_and_what_cannot_pass_never_passes(sample: Any, limit: int, side: str) -> None:
    found = candidate(sample, sample)
    for name, measure in MEASURES.items():
        if measure.of_candidate and name != "singletons" and measure.shape in OF_ROWS:
            rule = gate(name, side, str(limit), **({"of": "y"} if measure.of else {}))
            measured = measure.of_candidate(found, rule)
            outcome = judge(rule, measured)
            least, most = measure.reach(found.static, rule)
            assert measured is None or least <= measured.value <= most, f"{name}: a value outside its reach"
            stated = reach(rule, (least, most))
            assert not (stated is GateReach.CANNOT_FAIL and outcome is not Outcome.PASS), name
            assert not (stated is GateReach.CANNOT_PASS and outcome is Outcome.PASS), name


@settings(deadline=None)
@given(
    limit=st.sampled_from(["0", "1e-7", "1e-4", "0.0011", "0.4", "1", "2", "10"]),
    side=st.sampled_from(["at_most", "at_least"]),
    releases=st.integers(1, 4),
)
def test_static_measures_stay_within_their_reach_for_every_spend_of_the_budget(
    limit: str, side: str, releases: int
) -> None:
    found = static(spent=(str(releases), f"{releases}e-6"))
    for name, measure in MEASURES.items():
        if measure.of_static is not None:
            rule = gate(name, side, limit)
            outcome = judge(rule, measure.of_static(found, rule))
            stated = reach(rule, measure.reach(found, rule))
            assert not (stated is GateReach.CANNOT_FAIL and outcome is not Outcome.PASS), name
            assert not (stated is GateReach.CANNOT_PASS and outcome is Outcome.PASS), name


@pytest.mark.parametrize(
    ("name", "side", "limit", "expected"),
    [
        ("smallest_class", "at_least", "3", GateReach.CANNOT_FAIL),
        ("smallest_class", "at_least", "4", GateReach.OPEN),
        ("smallest_class", "at_most", "2", GateReach.CANNOT_PASS),
        ("released_rows", "at_least", "100", GateReach.OPEN),
        ("released_rows", "at_least", "101", GateReach.CANNOT_PASS),
        ("released_classes", "at_least", "7", GateReach.CANNOT_PASS),
        ("released_classes", "at_most", "6", GateReach.CANNOT_FAIL),
        ("suppressed_share", "at_most", "1", GateReach.CANNOT_FAIL),
        ("guarantee_epsilon", "at_most", "1", GateReach.CANNOT_FAIL),
        ("guarantee_epsilon", "at_most", "0.99", GateReach.CANNOT_PASS),
        ("guarantee_delta", "at_most", "1e-6", GateReach.CANNOT_FAIL),
        ("singletons", "at_most", "0", GateReach.OPEN),
        ("pso_bound", "at_most", "0.0011", GateReach.CANNOT_FAIL),
        ("pso_bound", "at_most", "0.0005", GateReach.OPEN),
        ("pso_bound", "at_most", "1e-4", GateReach.CANNOT_PASS),
    ],
)
def test_reaches_have_their_known_values(name: str, side: str, limit: str, expected: GateReach) -> None:
    rule = gate(name, side, limit)
    assert reach(rule, MEASURES[name].reach(static(), rule)) is expected


def test_classes_cannot_outnumber_people_over_k() -> None:
    rule = gate("released_classes", "at_least", "4")
    assert reach(rule, MEASURES["released_classes"].reach(static(people=11), rule)) is GateReach.CANNOT_PASS


# --- singletons ---


def test_one_row_changes_the_number_of_singletons_by_at_most_one_and_by_one_somewhere() -> None:
    changes = set()
    for counts in product(range(4), repeat=3):
        for i in range(3):
            more = [count + (j == i) for j, count in enumerate(counts)]
            changes.add(abs(_singletons_of(more) - _singletons_of(list(counts))))
    assert max(changes) == SENSITIVITY == 1


def _singletons_of(counts: list[int]) -> int:
    full: Table = {(i, 0): count for i, count in enumerate(counts) if count}
    found = of_candidate("singletons", candidate(full, NONE), charge={"epsilon": "1"})
    assert found is not None
    return int(found.value)


@given(full=tables, shift=st.integers(-40, 40), epsilon=st.sampled_from(["0.05", "0.1", "1"]))
def test_singletons_are_counted_on_the_whole_table_through_noise_of_the_charged_epsilon(
    full: Any, shift: int, epsilon: str
) -> None:
    asked: list[tuple[int, int, Fraction]] = []

    def noise(*arguments: Any) -> int:
        asked.append(arguments)
        return int(arguments[0]) + shift

    found = of_candidate("singletons", candidate(full, NONE, noise), charge={"epsilon": epsilon})
    ones = list(full.values()).count(1)
    margin = laplace_quantile(1, Fraction(epsilon), ALPHA)
    assert asked == [(ones, 1, Fraction(epsilon))]
    assert found == Measurement(ones + shift, ones + shift - margin, ones + shift + margin)


def test_without_a_charge_singletons_are_not_measured_and_no_noise_is_drawn() -> None:
    def noise(*_: Any) -> int:
        raise AssertionError("the table was read without a charge")

    assert of_candidate("singletons", candidate(FULL, NONE, noise)) is None


# --- expected singletons ---


def listed_expectation(shares: list[list[Fraction]], people: int) -> Fraction:
    """Return the expected number of singletons over all ways in which the people can fall into the classes."""
    classes = [math.prod(cell, start=Fraction(1)) for cell in product(*shares)]
    total = Fraction(0)
    for places in product(range(len(classes)), repeat=people):
        chance = math.prod((classes[place] for place in places), start=Fraction(1))
        total += chance * sum(places.count(place) == 1 for place in range(len(classes)))
    return total


def some_margins() -> Iterator[tuple[dict[str, tuple[int, ...]], dict[str, Level], int]]:
    plain = {"x": level([0, 1, 2]), "y": level([0, 1])}
    coarse = {"x": level([0, 0, 1]), "y": level([0, 1])}
    for people in (1, 2, 4):
        yield {"x": (1, 2, 3), "y": (1, 1)}, plain, people
        yield {"x": (5, 0, 1), "y": (3, 1)}, plain, people
        yield {"x": (1, 2, 3), "y": (7, 2)}, coarse, people


@pytest.mark.parametrize("case", list(some_margins()), ids=lambda case: f"{case[0]} among {case[2]}")
def test_expected_singletons_are_the_sum_over_all_ways_to_fall_into_the_product_of_the_margins(case: Any) -> None:
    margins, levels, people = case
    shares = [
        [
            Fraction(sum(c for c, code in zip(margins[n], levels[n].codes, strict=True) if code == at), sum(margins[n]))
            for at in range(len(levels[n]))
        ]
        for n in levels
    ]
    found = of_static("expected_singletons", static(margins, levels), **{"with": {"people": str(people)}})
    expected = listed_expectation(shares, people)
    assert found is not None
    assert found.lower <= expected <= found.upper
    assert found.value == pytest.approx(float(expected), rel=1e-12)


def test_expected_singletons_over_some_attributes_ignore_the_others() -> None:
    found = of_static(
        "expected_singletons", static({"x": (1, 2, 3), "y": None}), over=["x"], **{"with": {"people": "3"}}
    )
    assert found is not None
    assert found.value == pytest.approx(float(listed_expectation([[Fraction(n, 6) for n in (1, 2, 3)]], 3)))


def test_expected_singletons_are_about_all_people_of_the_budget_unless_told_otherwise() -> None:
    people = of_static("expected_singletons", static(people=7))
    assert people == of_static("expected_singletons", static(people=9), **{"with": {"people": "7"}})


def test_expected_singletons_without_margins_cannot_be_measured_and_their_gate_is_open() -> None:
    found = static({"x": (1, 2, 3), "y": None})
    rule = gate("expected_singletons")
    assert of_static("expected_singletons", found) is None
    assert reach(rule, MEASURES["expected_singletons"].reach(found, rule)) is GateReach.OPEN


def test_too_many_classes_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdgate.measures.expected_classes.MOST_CLASSES", 5)
    assert of_static("expected_singletons", static()) is None


# --- the guarantee ---


def test_epsilon_and_delta_are_those_of_the_whole_release() -> None:
    assert of_static("guarantee_epsilon", static()) == Measurement.exact(Fraction(1))
    assert of_static("guarantee_delta", static()) == Measurement.exact(Fraction("1e-6"))


def test_the_bound_on_singling_out_uses_all_that_the_population_has_spent() -> None:
    found = of_static("pso_bound", static(people=1000, spent=("3", "2e-6")), **{"with": {"weight": "1e-5"}})
    assert found == Measurement.exact(pso.bound(1000, "1e-5", 3, "2e-6"))


@pytest.mark.parametrize(("rows", "rate"), [(1, "0.25"), (2, "1")])
def test_the_bound_in_the_sample_takes_the_rate_of_the_coins_and_counts_people_of_several_rows_whole(
    rows: int, rate: str
) -> None:
    facts = replace(static(people=1000, spent=("3", "2e-6")), beta=Fraction("0.25"), rows_per_unit=rows)
    found = of_static("pso_bound_in_sample", facts, **{"with": {"weight": "1e-5"}})
    assert found == Measurement.exact(pso.bound_in_sample(rows * 1000, "1e-5", 3, "2e-6", rate))
    rule = gate("pso_bound_in_sample", "at_most", "1", **{"with": {"weight": "1e-5"}})
    reached = MEASURES["pso_bound_in_sample"].reach(facts, rule)
    assert reached == tuple(
        pso.bound_in_sample(rows * 1000, "1e-5", *spent, rate) for spent in ((3, "2e-6"), (4, "1e-5"))
    )
    assert of_static("pso_bound_in_sample", static()) == of_static("pso_bound", static())


def test_the_bound_on_membership_claims_replaces_a_unit_in_this_release_and_doubles_earlier_ones() -> None:
    """Epsilon .75 on a sample at rate 1/4 and .25 for other output, after 2 and 1e-6 that were spent before."""
    facts = replace(static(people=1000, spent=("3", "2e-6")), beta=Fraction("0.25"))
    given = {"with": {"skew": "240", "recall": "0.1"}}
    epsilon = 0.75 - math.log(0.75) + 2 * 0.25 + 2 * 2
    delta = 1e-6 + (1 + math.exp(2)) * 1e-6
    bound = 0.1 / (0.1 + 240 * (0.1 - delta) * math.exp(-epsilon))
    found = of_static("membership_precision_bound", facts, **given)
    assert found is not None
    assert float(found.value) == pytest.approx(bound)
    low, high = MEASURES["membership_precision_bound"].reach(
        facts, gate("membership_precision_bound", "at_most", "1", **given)
    )
    assert low == found.value < high


def test_the_bound_on_membership_claims_is_that_of_the_best_point_of_a_joint_cost() -> None:
    """A small epsilon at a large delta, below the recall, is the best of three; earlier releases count twice."""
    points = [(Fraction(2), Fraction(1, 10**6)), (Fraction(1), Fraction(1, 10**4)), (Fraction(1, 2), Fraction(1, 100))]
    facts = static(people=1000, spent=("3", "2e-6"))
    cost = JointCost.stated((points[0],), (), tuple(points))
    facts = replace(facts, guarantee=replace(facts.guarantee, joint=cost))
    given = {"with": {"skew": "240", "recall": "0.1"}}
    found = of_static("membership_precision_bound", facts, **given)
    assert found is not None
    before = 2 * 2, (1 + math.exp(2)) * 1e-6
    each = [0.1 / (0.1 + 240 * (0.1 - float(d) - before[1]) * math.exp(-float(e) - before[0])) for e, d in points]
    assert float(found.value) == pytest.approx(min(each)) == pytest.approx(each[2])


def test_without_a_sample_everything_counts_twice_and_less_recall_than_delta_promises_nothing() -> None:
    usual = of_static("membership_precision_bound", static())
    assert usual is not None
    factor = math.exp(-2)
    delta = 1e-6 * (1 + math.exp(0.75))
    assert float(usual.value) == pytest.approx(0.01 / (0.01 + 30 * (0.01 - delta) * factor))
    nothing = of_static("membership_precision_bound", static(), **{"with": {"recall": "1e-7"}})
    assert nothing == Measurement.exact(1.0)


@pytest.mark.parametrize("option", [{"skew": "0.5"}, {"skew": "1e10"}, {"recall": "0"}, {"recall": "1.5"}])
def test_skews_below_1_and_recalls_beyond_a_share_are_refused(option: dict[str, str]) -> None:
    rule = gate("membership_precision_bound", "at_most", "1", **{"with": option})
    assert [name for name, _ in wrong_options(rule, MEASURES[rule.measure])] == list(option)


@pytest.mark.parametrize(("policy", "beta"), [("census_income", "0.3"), ("census_income_tables", "1")])
def test_plans_of_every_kind_say_the_rate_of_their_coins(policy: str, beta: str) -> None:
    assert plan_policy(ROOT / "policies" / f"{policy}.yaml").first_release_facts().beta == Fraction(beta)


def test_the_bundled_budget_allows_four_releases_with_these_bounds_on_singling_out() -> None:
    plan = plan_policy(ROOT / "policies" / "census_income.yaml")
    rule, measure = next(found for found in plan.gates if found[0].measure == "pso_bound")
    budget = plan.bundle.budget.spec
    once = plan.guarantee
    assert min(budget.epsilon // once.epsilon, budget.delta // once.delta) == 4
    bounds = []
    for count in range(1, 5):
        spent = (count * once.epsilon, count * once.delta)
        facts = plan.static(budget.people, (budget.epsilon, budget.delta), spent)
        assert measure.of_static is not None
        found = measure.of_static(facts, rule)
        assert found is not None
        assert judge(rule, found) is Outcome.PASS
        bounds.append(round(float(found.value), 4))
    assert bounds == [0.001, 0.0027, 0.0068, 0.0165]
    assert reach(rule, measure.reach(plan.first_release_facts(), rule)) is GateReach.CANNOT_FAIL
