"""The mechanism's exact output distribution: masses of the released vector under neighbouring tables, and planted
faults."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace, Law
from crowdgate.arrays import Integers
from crowdgate.histogram import scan
from crowdgate.kinds.tables.plan import TablesPlan
from crowdgate.kinds.tables.release import parameters
from crowdgate.mechanisms.tables import counting as dp_counting
from crowdgate.mechanisms.tables import workload
from crowdgate.mechanisms.tables.consistency import consistent_tables
from crowdgate.mechanisms.tables.counting import answer, cover
from crowdgate.mechanisms.tables.dp_tables import DpTables, expected_noise, plan_dp_tables, total_error
from crowdgate.mechanisms.tables.spec import DpTablesSpec
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, LinearQuery, Mean, Quantiles, Sum, all_ways
from crowdgate.mechanisms.tables.workload_lines import plan_tables
from crowdgate.noise import OPENDP, NoiseSource, gaussian_vector, laplace_vector
from crowdgate.sampling import SecretKey, bernoulli_subsampler
from tests.examples import examples
from tests.mechanisms.tables.tables import NUMERIC, contract, counted, plan, records
from tests.oracles.zcdp import renyi

ROWS = [(0, 0, 0, 0), (1, 2, 10, 11), (1, 3, 4, 5)]
"""sex, town, hours, pay; code 11 of pay is the invalid level."""
KINDS = [(s, t, h, p) for s in range(2) for t in (0, 3) for h, p in ((0, 0), (10, 10), (3, 11))]
SMALL = (
    ContingencyTable(),
    ContingencyTable({"sex": "exact"}),
    ContingencyTable({"town": "grouped", "sex": "exact"}),
    Sum("hours"),
)
HALF = Fraction(1, 2)
Laws = list[tuple[int, Law]]
"""True value and noise distribution of each released number."""


class Recorder:
    """A noise source without noise that records its requests: they determine the released vector's distribution."""

    def __init__(self) -> None:
        self.calls: list[tuple[Integers, int, Fraction]] = []
        self.source = NoiseSource(self.draw, self.draw)

    def draw(self, values: Integers, sensitivity: int, budget: Fraction) -> Integers:
        self.calls.append((values, sensitivity, budget))
        return values


def asked(mechanism: DpTables, rows: Sequence[tuple[int, ...]]) -> list[tuple[Integers, int, Fraction]]:
    recorder = Recorder()
    mechanism.protect(counted(mechanism, rows), None, recorder.source)
    return recorder.calls


def laws(mechanism: DpTables, rows: Sequence[tuple[int, ...]]) -> Laws:
    """Return true values and noise distributions, from the mechanism's requests to its noise source."""

    def law(s: int, b: Fraction) -> Law:
        return DiscreteLaplace(s / b) if mechanism.budget.noise == "laplace" else DiscreteGaussian(s**2 / (2 * b))

    return [(int(v), law(s, b)) for values, s, b in asked(mechanism, rows) for v in values.reshape(-1)]


def worst_ratio(left: Laws, right: Laws) -> float:
    """Return ln of the greatest ratio of the masses of any vector: numbers are independent, so the maxima of each add
    up."""
    total = 0.0
    for (x, law), (y, _) in zip(left, right, strict=True):
        window = range(min(x, y) - 3, max(x, y) + 4)
        total += max(math.log(law.mass(z - x)) - math.log(law.mass(z - y)) for z in window)
    return total


def loss(mechanism: DpTables, held: int = 1) -> float:
    """Return the epsilon that is reached when one person with up to `held` rows is added or removed."""
    base = laws(mechanism, ROWS)
    worst = 0.0
    for count in range(1, held + 1):
        for more in combinations_with_replacement(KINDS, count):
            other = laws(mechanism, [*ROWS, *more])
            worst = max(worst, worst_ratio(base, other), worst_ratio(other, base))
    return worst


@pytest.mark.parametrize("split", ["equal", "least-variance"])
@pytest.mark.parametrize("epsilon", ["0.3", "1", "4"])
def test_the_released_vector_has_ratio_at_most_e_to_the_epsilon_and_reaches_it(epsilon: str, split: str) -> None:
    assert loss(plan(SMALL, epsilon, split=split)) == pytest.approx(float(epsilon), rel=1e-9)


def test_a_person_with_three_rows_is_within_epsilon_and_reaches_it() -> None:
    assert loss(plan(SMALL[:2], rows=3), 3) == pytest.approx(1, rel=1e-9)


def test_the_whole_joint_law_of_a_small_release_enumerated() -> None:
    """Three numbers, each vector of a window of 21^3, without using independence; both directions; probabilities add up
    to 1."""
    mechanism = plan(SMALL[:2], "1.5", split="equal")
    joint = []
    for rows in (ROWS, [*ROWS, KINDS[0]]):
        found = laws(mechanism, rows)
        cells = [np.array([law.mass(z - x) for z in range(-40, 46)]) for x, law in found]
        joint.append(np.einsum("i,j,k->ijk", *cells))
    assert joint[0].sum() == pytest.approx(1, abs=1e-6)
    ratios = np.abs(np.log(joint[0] / joint[1]))
    assert ratios.max() == pytest.approx(1.5, rel=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("rows", [1, 3])
def test_gaussian_noise_meets_the_zcdp_curve(rows: int) -> None:
    """Renyi divergences of independent numbers add up: at most order * rho, with equality at whole orders."""
    mechanism = plan((*SMALL[:2], Sum("hours")), "2", rows=rows, noise="gaussian")
    base, rho = laws(mechanism, ROWS), float(mechanism.budget.spend)
    for order in (1.5, 2.0, 3.0, 7.0):
        curves = [
            sum(
                renyi(law, order, x - y) if isinstance(law, DiscreteGaussian) else math.inf
                for (x, law), (y, _) in zip(laws(mechanism, [*ROWS, *[kind] * rows]), base, strict=True)
            )
            for kind in KINDS
        ]
        assert max(curves) <= order * rho * (1 + 1e-9)
        assert order % 1 or max(curves) == pytest.approx(order * rho, rel=1e-9)


@pytest.mark.parametrize("beta", [HALF, Fraction(1, 10)])
def test_with_sampling_the_ratio_is_reached_once_and_amplifying_twice_is_caught(beta: Fraction) -> None:
    """One number: its distribution is a mixture of those without and with the row, at rate beta."""

    def reached(mechanism: DpTables, rate: float) -> float:
        ((values, sensitivity, budget),) = asked(replace_beta(mechanism), ROWS)
        law, n = DiscreteLaplace(sensitivity / budget), int(values)
        ratios = [((1 - rate) * law.mass(z - n) + rate * law.mass(z - n - 1)) / law.mass(z - n) for z in range(-40, 40)]
        return max(max(map(math.log, ratios)), -min(map(math.log, ratios)))

    once = plan([ContingencyTable()], beta=beta)
    assert reached(once, float(beta)) == pytest.approx(1, rel=1e-9)
    twice = plan([ContingencyTable()], beta=beta**2)
    assert reached(twice, float(beta)) > 1.3


def replace_beta(mechanism: DpTables) -> DpTables:
    """Return the mechanism with equal noise, for a table that is not sampled."""
    return replace(mechanism, budget=replace(mechanism.budget, beta=Fraction(1)))


def test_a_wrong_sensitivity_is_caught() -> None:
    """Noise for one row, although a person has three."""
    wrong = replace(plan(SMALL[:2], rows=3), rows=1)
    assert loss(wrong, 3) == pytest.approx(3, rel=1e-9)


def test_a_sum_with_the_sensitivity_of_a_count_is_caught() -> None:
    mechanism = plan([Sum("hours")])
    linear = mechanism.queries[0]
    forgot = replace(linear, query=replace(linear.query, contribution=1))
    wrong = replace(mechanism, workload=replace(mechanism.workload, queries=(forgot,)))
    assert loss(wrong) == pytest.approx(8, rel=1e-9)


def test_a_person_with_more_rows_than_stated_is_caught() -> None:
    assert loss(plan(SMALL[:2], rows=1), 3) == pytest.approx(3, rel=1e-9)


def test_a_forgotten_table_is_caught_and_refused() -> None:
    """A table outside the split, with the noise of another one's part."""
    mechanism, full = plan(SMALL[:1]), plan(SMALL[:2])
    with pytest.raises(ValueError, match="every query must have its part"):
        replace(full, spends=mechanism.spends)
    with pytest.raises(ValueError, match="not be over the budget"):
        replace(full, spends=(*mechanism.spends, mechanism.spends[0]))
    wrong = replace(full, spends=(*mechanism.spends, mechanism.spends[0]), part=replace(full.part, epsilon=Fraction(2)),
                    budget=replace(full.budget, spend=Fraction(2)))  # fmt: skip
    assert loss(wrong) == pytest.approx(2, rel=1e-9)


def test_a_part_below_what_the_noise_spends_is_refused() -> None:
    mechanism = plan(SMALL[:1])
    with pytest.raises(ValueError, match="within the part"):
        replace(mechanism, part=replace(mechanism.part, epsilon=HALF))


def test_sums_are_integers_that_no_order_of_rows_changes_and_floats_are_refused() -> None:
    """In floats .1 + .2 + .3 depends on the order of rows, so one row could change a sum by more than its bound."""
    mechanism = plan([Sum("hours"), Sum("pay", {"sex": "exact"})])
    rows = [(s, 0, h, p) for s, h, p in product(range(2), range(11), range(12))]
    for order in (rows, rows[::-1]):
        (total, _, _), (by_sex, _, _) = asked(mechanism, order)
        assert total.dtype == by_sex.dtype == np.int64
        assert total == 2 * 12 * sum(-2 + h for h in range(11))
        assert by_sex.tolist() == [11 * sum(-2 + p for p in range(11))] * 2
    for draw in (laplace_vector, gaussian_vector):
        with pytest.raises(ValueError, match="sums of floats"):
            draw(np.array([0.1 + 0.2]), 1, Fraction(1))


def test_the_noise_source_is_asked_for_the_planned_sensitivity_and_budget() -> None:
    mechanism = plan((ContingencyTable({"sex": "exact"}), Sum("hours"), Mean("pay")), "1", rows=2)
    calls = asked(mechanism, ROWS)
    assert [s for _, s, _ in calls] == [2, 16, 10, 2]
    assert sum((b for *_, b in calls), Fraction(0)) == 1


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(
    rows=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 10), st.integers(0, 11)), max_size=30),
    most=st.sampled_from([1, 30, 200, 10**6]),
    cut=st.integers(0, 30),
)
def test_every_answer_is_a_projection_of_a_covering_view(rows: list[tuple[int, ...]], most: int, cut: int) -> None:
    items: tuple[Item, ...] = (
        *all_ways(2, {"sex": "exact", "town": "grouped", "hours": "ones"}),
        *all_ways(1, {"town": "exact", "pay": "exact", "hours": "any"}),
        ContingencyTable(),
        Sum("pay", {"town": "grouped", "sex": "exact"}),
        Sum("hours", low=Fraction(0), high=Fraction(2)),
    )
    mechanism = plan(items)
    views = cover(mechanism.queries, most)
    counted = scan([records(rows[:cut]), records(rows[cut:])], views)
    for dense in (dp_counting.VIEW_CELLS, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dp_counting, "VIEW_CELLS", dense)
            found = answer(mechanism.queries, views, counted)
        for linear, values in zip(mechanism.queries, found, strict=True):
            assert values.dtype == np.int64
            assert values.shape == linear.shape
            assert (values == brute(linear, rows)).all()


def brute(linear: LinearQuery, rows: Sequence[tuple[int, ...]]) -> Integers:
    out = np.zeros(linear.shape, dtype=np.int64)
    for row in rows:
        codes = dict(zip(("sex", "town", "hours", "pay"), row, strict=True))
        cell = tuple(int(level.codes[codes[name]]) for name, level in linear.levels.items())
        out[cell] += 1 if linear.grid is None else int(linear.grid.weights[codes[linear.grid.column]])
    return out


def test_clamped_bounds_lower_the_sensitivity() -> None:
    assert plan([Sum("hours")]).queries[0].query.contribution == 8
    clamped = plan([Sum("hours", low=Fraction(0), high=Fraction(2))]).queries[0]
    assert clamped.query.contribution == 4
    assert clamped.grid is not None
    assert clamped.grid.integers[:4].tolist() == [0, 0, 0, 1]


def test_sampling_throws_one_coin_for_all_tables() -> None:
    """Each table then counts one sample: all totals are equal. Counting itself does not sample."""
    items = (
        ContingencyTable({"town": "exact", "hours": "exact"}),
        ContingencyTable({"sex": "exact", "pay": "exact"}),
        ContingencyTable(),
    )
    mechanism = plan(items, beta=HALF)
    assert [view.names for view in mechanism.views.values()] == [("town", "hours", "sex", "pay")]
    rows = [KINDS[i % len(KINDS)] for i in range(1000)]
    coins = bernoulli_subsampler(SecretKey(bytes(32), injected=True), HALF)
    recorder = Recorder()
    mechanism.protect(counted(mechanism, rows[:500], rows[500:]), coins, recorder.source)
    totals = {int(values.sum()) for values, *_ in recorder.calls}
    assert len(totals) == 1
    assert abs(totals.pop() - 500) < 5 * math.sqrt(250)


def test_coins_must_be_given_exactly_if_the_mechanism_samples() -> None:
    whole, half = plan([ContingencyTable()]), plan([ContingencyTable()], beta=HALF)
    with pytest.raises(ValueError, match="bits must be given"):
        half.protect(counted(half, ROWS))
    with pytest.raises(ValueError, match="bits must be given"):
        whole.protect(counted(whole, ROWS), lambda sizes: sizes)
    with pytest.raises(ValueError, match="row by row"):
        replace(half, rows=2)


def test_rows_that_are_no_part_of_the_table_are_not_sampled() -> None:
    mechanism, recorder = plan([ContingencyTable()], beta=HALF), Recorder()
    batch = replace(records(ROWS), keep=np.array([True, False, True]))
    mechanism.protect(scan([batch], mechanism.views), lambda sizes: sizes, recorder.source)
    assert [int(values) for values, *_ in recorder.calls] == [2]


def test_the_plan_tells_errors_and_cells_before_any_data_is_read() -> None:
    found = expected_noise(plan((*SMALL, Mean("pay")), "1"))
    assert [e.cells for e in found] == [1, 2, 4, 1, 1, 1]
    assert all(0.95 <= e.coverage <= 1 and e.error > 0 for e in found)
    assert all(e.consistent_error is not None and e.consistent_error < e.error for e in found[:3])
    assert [e.consistent_error for e in found[3:]] == [None] * 3


TOWN = ContingencyTable({"town": "grouped"})
PAIR = ContingencyTable({"town": "exact", "sex": "exact"})


@pytest.mark.parametrize(
    ("items", "beta", "split"),
    [
        ((SMALL[1], TOWN), 1, "least-variance"), ((SMALL[1], TOWN), HALF, "least-variance"),
        ((SMALL[1], TOWN, PAIR), 1, "least-variance"), (SMALL, 1, "least-variance"),
        ((SMALL[1], PAIR), 1, "residuals"),
    ],
)  # fmt: skip
def test_the_error_of_the_total_is_that_of_the_published_estimates(
    items: Sequence[Item], beta: int | Fraction, split: str
) -> None:
    """Estimates are linear: the response of the total to each noisy number gives its variance."""
    noise = "gaussian" if split == "residuals" else "laplace"
    mechanism = plan(items, "1", noise=noise, beta=Fraction(beta), split=split)
    counts = [at for at, linear in enumerate(mechanism.queries) if linear.grid is None]
    axes = [mechanism.queries[at].levels for at in counts]
    own = mechanism.vectors if mechanism.residuals else [mechanism.queries[at] for at in counts]
    laws = mechanism.laws if mechanism.residuals else [mechanism.laws[at] for at in counts]
    variance = 0.0
    for at, (linear, law) in enumerate(zip(own, laws, strict=True)):
        for cell in range(linear.query.cells):
            noisy = [np.zeros(tuple(map(len, each.levels.values())), dtype=np.int64) for each in own]
            noisy[at].flat[cell] = 1
            if mechanism.residual_noise is not None:
                (first, *_) = mechanism.residual_noise.estimates(noisy)
            else:
                (first, *_) = consistent_tables(axes, noisy, [each.variance for each in laws]).tables
            variance += law.variance * float(first.sum()) ** 2
    assert total_error(mechanism) == pytest.approx(math.sqrt(variance) / float(beta), rel=1e-5)


def test_the_manifest_says_what_the_noise_spent_and_that_nothing_is_invariant() -> None:
    spec = DpTablesSpec.model_validate({"kind": "dp_tables", "tables": [{"total": "true"}]})
    told = parameters(TablesPlan(plan(SMALL, "1", noise="gaussian", beta=HALF), spec))
    assert told["invariants"] == []
    assert sum(Fraction(query["rho"]) for query in told["queries"]) == Fraction(told["rho"])
    assert told["queries"][2]["levels"] == {"town": "grouped", "sex": "exact"}


GOOD = ContingencyTable({"sex": "exact"})


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (ContingencyTable({"sexx": "exact"}), "unknown attribute 'sexx'"),
        (ContingencyTable({"sex": "exakt"}), "unknown level 'exakt'"),
        (ContingencyTable({"name": "exact"}), "direct identifier"),
        (ContingencyTable({"note": "exact"}), "without a public domain"),
        (Sum("sex"), "not numeric"),
        (Sum("ours"), "unknown attribute 'ours'"),
        (Sum("hours", {"hours": "ones"}), "itself"),
        (Sum("hours", low=Fraction(2), high=Fraction(0)), "bounds 2 to 0"),
        (Mean("hours", low=Fraction(1, 3)), "bounds 1/3 to 4"),
        (Mean("hours", low=Fraction(-9)), "bounds -9 to 4"),
        (Quantiles("hours", "one"), "unknown level 'one'"),
        (Quantiles("pay", "ends"), "not made of intervals"),
        (Quantiles("hours", "ones", (Fraction(1),)), "'1'"),
        (Quantiles("sex", "exact"), "not numeric"),
        (ContingencyTable({"town": "exact"}, share=Fraction(0)), "share 0"),
        (ContingencyTable({"town": "exact"}, share=Fraction(3, 2)), "more than the whole"),
        (ContingencyTable({"town": "exact"}, share=Fraction(1)), "no budget left"),
        (ContingencyTable({"sex": "exact"}), "a second time"),
    ],
)
def test_a_bad_workload_is_refused(item: Item, words: str) -> None:
    found, findings = plan_dp_tables([GOOD, item], contract(), plan([GOOD]).part, noise="laplace")
    assert found is None
    assert any(words in finding[1] for finding in findings), findings


@pytest.mark.parametrize(("rows", "fits"), [(1, True), (3, True), (4, False)])
def test_all_rows_of_a_person_together_add_no_more_than_62_bits_hold(
    rows: int, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's row adds at most 8 units of a half."""
    monkeypatch.setattr(workload, "MOST_ADDED", 3 * 8)
    found, findings = plan_dp_tables([Sum("hours")], contract(rows), plan([GOOD]).part, noise="laplace")
    assert (found is not None) == fits
    assert fits or [told for _, told, *_ in findings] == ["numbers of too many steps"]


def test_where_no_table_can_be_made_the_reasons_are_told() -> None:
    spec = DpTablesSpec.model_validate(
        {"kind": "dp_tables", "levels": {"sex": "exact"}, "tables": [{"attributes": ["sexx"]}]}
    )
    found, findings = plan_tables(spec, contract(), plan([GOOD]).part)
    assert found is None
    assert [place for place, *_ in findings] == [("tables", 0, "attributes", 0)]


def test_all_faults_of_a_workload_are_told_together() -> None:
    items: list[Item] = [
        ContingencyTable({"sexx": "exact", "town": "exakt"}),
        Sum("hours", low=Fraction(9), share=Fraction(2)),
        Mean("name"),
    ]
    found, findings = plan_dp_tables(items, contract(), plan([GOOD]).part, noise="laplace")
    assert found is None
    assert {finding[0][0] for finding in findings if finding[0]} >= {0, 1, 2}
    assert len(findings) >= 5
    assert findings[0][3] == "sex"


def test_too_many_cells_are_refused_with_their_number_before_data_are_read() -> None:
    items = [ContingencyTable({"town": "exact", "hours": "exact", "sex": "exact"}), ContingencyTable()]
    found, findings = plan_dp_tables(items, contract(), plan([GOOD]).part, noise="laplace", most_cells=88)
    assert found is None
    assert findings == [((), "89 cells", "at most 88 in all tables together", None)]


def test_several_rows_of_a_person_are_not_sampled_row_by_row() -> None:
    found, findings = plan_dp_tables([GOOD], contract(2), plan([GOOD]).part, noise="laplace", beta=HALF)
    assert found is None
    assert "one row per person" in findings[0][2]


def test_gaussian_noise_without_delta_is_refused() -> None:
    part = replace(plan([GOOD]).part, delta=Fraction(0))
    found, findings = plan_dp_tables([GOOD], contract(), part, noise="gaussian")
    assert found is None
    assert findings[0][0] == ("noise",)


def test_all_ways_are_all_combinations() -> None:
    assert [t.name for t in all_ways(2, {"sex": "exact", "town": "grouped", "hours": "any"})] == [
        "count by sex (exact), town (grouped)",
        "count by sex (exact), hours (any)",
        "count by town (grouped), hours (any)",
    ]
    assert all_ways(0, {"sex": "exact"}) == (ContingencyTable(),)
    with pytest.raises(ValueError, match="k must"):
        all_ways(2, {"sex": "exact"})


def test_the_numeric_domain_of_these_tests_has_halves() -> None:
    assert NUMERIC.grid is not None
    assert len(NUMERIC) == 11
    assert OPENDP.laplace is laplace_vector
