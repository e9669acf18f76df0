"""Bounds on rows per person by a pilot release: shares by brute force, covariance by the estimator itself, coverage of
all intervals at once, quality of the best bound, and the command from a release to its answer.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace
from crowdgate.accounting.noise_sums import width
from crowdgate.arrays import Floats
from crowdgate.contracts.reading import read_contract
from crowdgate.forecast.row_bounds import (
    BestBound,
    BoundError,
    best_bound,
    bound_with_errors,
    candidate_bounds,
    row_bounds,
)
from crowdgate.hierarchy import Level
from crowdgate.interval import Interval
from crowdgate.kind.forecast import CountErrors
from crowdgate.kind.listing import Listing
from crowdgate.kind.one_way_counts import OneWayCounts
from crowdgate.kinds.tables.one_way_counts import covariance
from crowdgate.mechanisms.tables.consistency import Axes, consistent_tables
from crowdgate.mechanisms.tables.residuals import ResidualNoise, residual_axes
from crowdgate.noisy_counts.recount import CountsPlan
from crowdgate.pages.row_bounds import RowBoundsReport
from crowdgate.planning.bundle import KNOWN
from crowdgate.planning.plan import plan_policy
from crowdgate.planning.truncation_gate import gate_limit
from crowdgate.public_counts.ratio_intervals import ratio_interval
from crowdgate.public_counts.rows_per_person import RowsPerPerson
from tests.examples import examples
from tests.workshop import Row, Workshop, crowdgate, make_workshop

MOST = 12
SLOT = "2030-01-01"
VALUES = """\
      - property: personValues
        value:
          rows_a_person: {count: ward, most: 12, levels: [{name: some, cuts: [1, 3]}]}
          rows_in_north: {count: ward, values: [north], most: 20}
          oldest: {greatest: age}
"""
PILOT = """\
  mechanism:
    kind: dp_tables
    noise: laplace
    tables: [{attributes: {rows_in_north: exact}, share: 0.1}, {attributes: {rows_a_person: exact}}]
  gates:
    - {measure: pso_bound, at_most: 1}
  publish: {to: releases, formats: [csv]}
"""
TABLES = """\
  mechanism: {kind: dp_tables, noise: laplace, levels: {ward: exact, age: 50 years}, tables: [{total: true}, {all: 2}]}
  gates:
    - {measure: pso_bound, at_most: 1}
  publish: {to: releases, formats: [csv]}
"""


def source_of(counts: Floats, spread: Floats | None = None, half: Any = None) -> RowsPerPerson:
    """Return rows per person with these estimates; without noise unless it is stated."""
    size = len(counts)
    noise = np.zeros((size, size)) if spread is None else spread
    table = OneWayCounts("rows", counts, lambda: noise, half or (lambda _: Fraction(2)))
    return RowsPerPerson("pilot/1/day", "people", "ward", size - 1, table)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(0, 15), min_size=1, max_size=60).filter(any), st.integers(2, 12))
def test_shares_and_rows_left_out_are_those_of_the_people(rows: list[int], most: int) -> None:
    """Brute force over people: each counts with at most `most` rows."""
    held = [min(each, most) for each in rows]
    counts = np.bincount(held, minlength=most + 1).astype(np.float64)
    for found in source_of(counts).truncations(candidate_bounds(most)):
        left_out = sum(each - min(each, found.rows) for each in held)
        more = sum(each > found.rows for each in held)
        expected = more, more / len(held), left_out / sum(held), left_out
        stated = found.truncated, found.people, found.row_share, found.left_out
        for own, value in zip(stated, expected, strict=True):
            assert (own.value, own.low, own.high) == pytest.approx((value, value, value))


@settings(max_examples=examples(100), deadline=None)
@given(
    st.floats(-50, 50), st.floats(1, 100), st.floats(0.1, 20), st.floats(0.1, 20), st.floats(-1, 1), st.floats(-40, 40)
)
def test_a_ratio_is_in_its_interval_if_its_difference_is_near_0(
    top: float, bottom: float, own: float, other: float, correlation: float, ratio: float
) -> None:
    """The interval holds the ratios that a test at 2 standard errors does not reject."""
    shared = correlation * math.sqrt(own * other)
    low, high = ratio_interval(top, bottom, (own, other), shared, 2.0)
    off, square = top - ratio * bottom, own - 2 * ratio * shared + ratio**2 * other
    distance = off * off - 4 * square
    if bottom**2 <= 4 * other:
        assert (low, high) == (-math.inf, math.inf)
        return
    for limit in (low, high):
        square_there = own - 2 * limit * shared + limit**2 * other
        assert abs(top - limit * bottom) == pytest.approx(2 * math.sqrt(max(square_there, 0)), rel=1e-4, abs=1e-3)
    if abs(distance) > 1e-6 * (off * off + 4 * abs(square) + 1):
        assert (low <= ratio <= high) == (distance <= 0)


def test_many_bounds_are_judged_in_steps_up_to_the_last() -> None:
    assert candidate_bounds(2) == [1]
    assert candidate_bounds(12) == list(range(1, 12))
    found = candidate_bounds(1000)
    assert (found[:40], found[-1]) == (list(range(1, 41)), 999)
    assert all(a < b <= max(a + 1, math.ceil(1.1 * a)) for a, b in pairwise(found))


@pytest.fixture(scope="module")
def working_copy(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Make a working copy with a contract of rows, one of persons, and a policy of each."""
    made = make_workshop(tmp_path_factory.mktemp("row-bounds") / "w")
    made.edit(made.contract, "privacyUnit, value: row", "privacyUnit, value: {person: patient, rows: 2}")
    made.edit(made.budget, "unit: row", "unit: 'person:patient'")
    contract = made.contract.read_text(encoding="utf-8").replace("patient, rows: 2", "patient")
    persons = contract.replace("id: clinic\n", "id: persons\n")
    persons = persons.replace("    properties:\n", f"{VALUES}    properties:\n")
    made.contract.with_name("persons.yaml").write_text(persons, encoding="utf-8")
    text = made.policy.read_text(encoding="utf-8")
    text = text[: text.index("  mechanism:")].replace("epsilon: 2, delta: 0.01", "epsilon: 2, delta: 0")
    made.policy.write_text(text + TABLES, encoding="utf-8")
    pilot = text.replace("contract: clinic", "contract: persons").replace("name: clinic", "name: pilot")
    made.policy.with_name("pilot.yaml").write_text(pilot + PILOT, encoding="utf-8")
    made.write(visits(300))
    return made


def visits(people: int) -> list[Row]:
    """Rows of persons, of whom a third each has one, four and thirteen rows."""
    return [
        {"patient": f"p{person}", "age": 30, "ward": ("north", "south")[row % 2], "note": ""}
        for person in range(people)
        for row in range((1, 4, 13)[person % 3])
    ]


@pytest.fixture(scope="module")
def pilot(working_copy: Workshop) -> Path:
    assert crowdgate("release", working_copy.policy.with_name("pilot.yaml"), "--as-of", SLOT) == 0
    return working_copy.root / "releases" / "pilot" / "1" / SLOT


def axes_of(working_copy: Workshop, named: Sequence[dict[str, str]]) -> list[Axes]:
    """Return the axes of tables by the names of their levels."""
    contract = read_contract(working_copy.contract.with_name("persons.yaml"), KNOWN.servers)

    def level(column: str, name: str) -> Level:
        hierarchy = contract.by_name[column].hierarchy
        assert hierarchy is not None
        return hierarchy.level(name)

    return [{column: level(column, name) for column, name in table.items()} for table in named]


ONE: dict[str, str] = {"rows_a_person": "exact"}
TWO = {"oldest": "50 years", **ONE}
WORKLOADS: list[list[dict[str, str]]] = [
    [ONE], [ONE, {}], [ONE, {}, TWO], [ONE, {"rows_a_person": "some"}, {"oldest": "10 years"}],
    [ONE, {"oldest": "10 years", "rows_a_person": "some"}, TWO, {}],
]  # fmt: skip


def estimator(axes: Sequence[Axes], variances: Sequence[float]) -> Floats:
    """Return the matrix of the published estimates of the first table, column by column."""
    sizes = [prod(map(len, levels.values())) for levels in axes]
    units = np.split(np.eye(sum(sizes)), np.cumsum(sizes)[:-1])
    shapes = [tuple(map(len, levels.values())) for levels in axes]
    found = []
    for at in range(sum(sizes)):
        noisy = [unit[:, at].reshape(shape) for unit, shape in zip(units, shapes, strict=True)]
        found.append(consistent_tables(axes, noisy, variances).tables[0].reshape(-1))
    return np.column_stack(found)


@pytest.mark.parametrize("named", WORKLOADS)
def test_the_covariance_is_that_of_the_published_estimates_or_larger(
    named: list[dict[str, str]], working_copy: Workshop
) -> None:
    """The estimates are linear, so their covariance follows exactly from the noise of each number. They are solved to
    a ten-thousandth of a standard error."""
    axes = axes_of(working_copy, named)
    laws = [DiscreteLaplace(Fraction(10 + 5 * at)) for at in range(len(axes))]
    matrix = estimator(axes, [law.variance for law in laws])
    noise = np.repeat([law.variance for law in laws], [prod(map(len, levels.values())) for levels in axes])
    true = matrix * noise @ matrix.T
    names = [str(at) for at in range(len(axes))]
    stated = covariance(CountsPlan(names, axes, laws, Fraction(1), Fraction(2)), axes[0])
    assert np.linalg.eigvalsh(stated - true).min() >= -1e-3 * true.max()
    assert stated == pytest.approx(true, rel=0.01, abs=1e-3 * true.max())


def test_the_covariance_with_noise_on_residuals_is_that_of_the_estimates(working_copy: Workshop) -> None:
    axes = axes_of(working_copy, [ONE, TWO])
    residuals = residual_axes(axes)
    laws = [DiscreteGaussian(Fraction(100 + 50 * at)) for at in range(len(residuals))]
    noise = ResidualNoise(axes, residuals, [law.variance for law in laws])
    shapes = [tuple(map(len, levels.values())) for levels in residuals]
    sizes = [prod(shape) for shape in shapes]
    columns = []
    for at in range(sum(sizes)):
        parts = np.split((np.arange(sum(sizes)) == at).astype(np.int64), np.cumsum(sizes)[:-1])
        columns.append(noise.estimates([part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)])[0])
    matrix = np.column_stack(columns)
    true = matrix * np.repeat([law.variance for law in laws], sizes) @ matrix.T
    plan = CountsPlan(["0", "1"], axes, [], Fraction(1), Fraction(2), noise)
    assert covariance(plan, axes[0]) == pytest.approx(true, rel=1e-9, abs=1e-9 * true.max())


LAW = DiscreteLaplace(Fraction(20))
DRAWS = 1000
MOST_MISSES = 75
TRUE = np.round(2000 * np.exp(-np.arange(MOST + 1) / 2.5))
COUNTS = CountErrors(30.0, ((4, 12.0), (20, 15.0)))


def pilots(draws: int, shrunk: float = 1.0, true: Floats = TRUE) -> list[RowsPerPerson]:
    """Return pilots of the true counts with discrete Laplace noise of scale 20; `shrunk` is a fault of their width."""
    random, rate = np.random.default_rng(7), -np.expm1(-1 / 20)
    spread = np.eye(MOST + 1) * LAW.variance
    noise = random.geometric(rate, (draws, MOST + 1)) - random.geometric(rate, (draws, MOST + 1))
    half = cache(partial(width, [LAW], MOST + 1))
    return [source_of(true + each, spread, lambda miss: shrunk * half(miss)) for each in noise]


def misses(found: Sequence[RowsPerPerson], noise: float = 30.0, counts: Floats = TRUE) -> tuple[int, list[int]]:
    """Return in how many pilots a limit misses its truth or the best bound lies outside its range, and the bounds that
    they call best. The noise of the total is `noise` for each row of a person."""
    exact = source_of(counts).truncations(candidate_bounds(MOST))
    truth = [bound_with_errors(each, 0.0, replace(COUNTS, total=noise * each.rows)) for each in exact]
    best, missed, called = best_bound([(each.truncation.rows, each.total) for each in truth]), 0, []
    assert best is not None
    for source in found:
        bounds = [
            bound_with_errors(each, source.variance_left_out(each.rows), replace(COUNTS, total=noise * each.rows))
            for each in source.truncations(candidate_bounds(MOST))
        ]
        own = best_bound([(each.truncation.rows, each.total) for each in bounds])
        people = source.people(len(bounds))
        held = [people.low <= counts.sum() <= people.high]
        if own is not None:  # else the answer is "unknown"
            called.append(own.rows)
            errors = {each.truncation.rows: each.total.whole.value for each in truth if each.total is not None}
            held += [own.low <= best.rows <= own.high, errors[own.rows] <= own.factor * errors[best.rows]]
        for each, true in zip(bounds, truth, strict=True):
            assert each.total is not None
            assert true.total is not None
            held += [
                stated.low <= value.value <= stated.high
                for stated, value in (
                    (each.truncation.truncated, true.truncation.truncated),
                    (each.truncation.people, true.truncation.people),
                    (each.truncation.row_share, true.truncation.row_share),
                    (each.truncation.left_out, true.truncation.left_out),
                    (each.total.whole, true.total.whole),
                )
            ]
        missed += not all(held)
    return missed, called


# N = 1,000 pilots. Limits that miss together with probability .05 miss in more than 75 with probability 3e-4 (false
# alarm, binomial). With 0.4 of their width they miss in more than 75 (power above .999; 238 here, and
# 1 with their own width).
@pytest.mark.thorough
def test_all_limits_hold_together_in_95_of_100_pilots() -> None:
    assert misses(pilots(DRAWS))[0] <= MOST_MISSES
    assert misses(pilots(200, 0.4))[0] > MOST_MISSES / 5


NUMBERS = np.arange(MOST + 1)
OTHERS = {
    "one row each": np.where(NUMBERS == 1, 5000.0, 0.0),
    "one or ten rows": 4000.0 * (NUMBERS == 1) + 300.0 * (NUMBERS == 10),
    "a heavy tail": np.round(3000 / np.maximum(NUMBERS, 1) ** 1.5),
    "few people": np.where(NUMBERS < 4, 8.0, 0.0),
}


# N = 300 pilots of each shape: limits that miss together with probability .05 miss in more than 30 with probability
# 1e-4 (false alarm, binomial). With 0.4 of their width they miss in more than 30 for each shape.
@pytest.mark.thorough
@pytest.mark.parametrize("shape", OTHERS)
def test_all_limits_hold_together_for_other_people(shape: str) -> None:
    assert misses(pilots(300, true=OTHERS[shape]), counts=OTHERS[shape])[0] <= 30
    assert misses(pilots(300, 0.4, OTHERS[shape]), counts=OTHERS[shape])[0] > 30


# N = 1,000: the mean square of a standardised sum has a standard error of at most sqrt(5 / 1000) = .07, as no sum of
# Laplace noises has a kurtosis above 6. False alarm below 1e-3 at 3.5 of it; a variance half as large has power .99.
def test_the_stated_variance_of_rows_left_out_is_the_one_that_occurs() -> None:
    for rows in (1, 6, MOST - 1):
        beyond = np.maximum(np.arange(MOST + 1) - rows, 0)
        found = pilots(DRAWS)
        off = [float(beyond @ (each.counts.estimates - TRUE)) for each in found]
        assert abs(np.mean(np.square(off)) / found[0].variance_left_out(rows) - 1) < 0.25


# N = 1,000 pilots, of people with few rows each. A bound with more than three times the least error is called best by
# none of them, and by 87 if the variance of the pilot is left out of the error. With a rate of .05 the test fails with
# probability above .999 (more than 20), and with a rate of .01 with probability .002 (false alarm, binomial).
@pytest.mark.thorough
def test_the_best_bound_is_nearly_the_best_one_whatever_the_noise_of_the_pilot() -> None:
    _, called = misses(pilots(DRAWS), noise=3.0)
    left_out = [float(np.maximum(np.arange(MOST + 1) - rows, 0) @ TRUE) for rows in range(1, MOST)]
    errors = [math.hypot(each, 3.0 * rows) for rows, each in enumerate(left_out, 1)]
    assert sum(errors[rows - 1] > 3 * min(errors) for rows in called) <= 20


def test_a_pilot_whose_noise_hides_all_differences_names_no_best_bound() -> None:
    spread = np.eye(MOST + 1) * LAW.variance
    for people, known in ((100, False), (100_000, True)):
        source = source_of(TRUE * people / TRUE.sum(), spread)
        bounds = [
            bound_with_errors(each, source.variance_left_out(each.rows), CountErrors(float(each.rows), ()))
            for each in source.truncations(candidate_bounds(MOST))
        ]
        assert (best_bound([(each.truncation.rows, each.total) for each in bounds]) is not None) == known


def test_the_factor_is_of_the_greatest_error_of_the_named_bound_and_the_least_of_all() -> None:
    """Bound 2 is named with an error of at most 20, and the error of bound 3 is at least 4."""
    stated = ((1, 30.0, 25.0, 40.0), (2, 10.0, 5.0, 20.0), (3, 11.0, 4.0, 15.0))
    errors = [(rows, BoundError(1.0, Interval(*limits))) for rows, *limits in stated]
    assert best_bound(errors) == BestBound(2, 2, 3, 5.0)


def test_a_typical_cell_lacks_its_part_of_the_rows() -> None:
    """Brute force over the 24 cells of two tables: an even part of the rows left out, and noise."""
    (found,) = source_of(np.array([0.0, 10, 20, 30])).truncations([2])
    cell = bound_with_errors(found, 0.0, COUNTS).cell
    squares = [(30 / cells) ** 2 + noise**2 for cells, noise in COUNTS.tables for _ in range(cells)]
    assert cell is not None
    assert cell.whole.value == pytest.approx(math.sqrt(sum(squares) / 24))


def test_a_gate_with_the_proposed_limit_passes_almost_always() -> None:
    """The gate adds Laplace noise and its 95 % quantile, exactly."""
    law, limit = DiscreteLaplace(Fraction(20)), gate_limit(100, Fraction(1, 20))
    quantile = next(x for x in range(1000) if sum(law.mass(y) for y in range(x, 2000)) < 0.05)
    passes = 1 - sum(law.mass(y) for y in range(limit - 100 - quantile + 1, 2000))
    assert 0.95 < passes < 0.999


def asked(working_copy: Workshop, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert crowdgate("plan", working_copy.policy, "--rows-per-person", folder, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


# 100 persons each have 1, 4 and 13 rows (12 are distinguished). Limits hold with probability .95 or more; noise of
# scale 5/9 in 13 cells moves a share by more than .05 (15 persons) with a probability below 1e-5. Rows in the north are
# not all rows.
def test_a_pilot_says_what_each_bound_leaves_out(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = asked(working_copy, pilot, capsys)
    assert (found["release"], found["column"], found["most"], found["rows"]) == (f"pilot/1/{SLOT}", "ward", 12, 2)
    assert [each["rows"] for each in found["bounds"]] == list(range(1, 12))
    by_rows = {each["rows"]: each for each in found["bounds"]}
    for rows, people, left_out in ((1, 2 / 3, 1400 / 1700), (4, 1 / 3, 800 / 1700), (11, 1 / 3, 100 / 1700)):
        assert by_rows[rows]["people"]["value"] == pytest.approx(people, abs=0.05)
        assert by_rows[rows]["row_share"]["value"] == pytest.approx(left_out, abs=0.05)
    # with at most 11 rows each about 100 of the rows that are distinguished are left out, and more above them
    assert found["best"]["total"]["rows"] == 11
    assert found["people_with_most_or_more"]["low"] > 0.25


def test_the_noise_is_that_of_the_policy_with_a_contract_of_as_many_rows(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stated = {each["rows"]: each["total"]["noise"] for each in asked(working_copy, pilot, capsys)["bounds"]}
    for rows in (1, 2, 7):
        text = working_copy.contract.read_text(encoding="utf-8")
        working_copy.edit(working_copy.contract, "patient, rows: 2", f"patient, rows: {rows}")
        planned = plan_policy(working_copy.policy).protection
        errors = planned.kind.count_errors(planned.mechanism)
        working_copy.contract.write_text(text, encoding="utf-8")
        assert errors is not None
        assert stated[rows] == errors.total
    assert stated[7] == pytest.approx(7 * stated[1], rel=0.2)  # noise is in whole numbers


def test_the_text_says_what_is_read_and_what_is_unknown(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    capsys.readouterr()
    page = tmp_path / "rows.md"
    before = ledger_bytes(working_copy)
    assert crowdgate("plan", working_copy.policy, "--rows-per-person", pilot, "--page", page) == 0
    said = capsys.readouterr().out
    for text in (said, page.read_text(encoding="utf-8")):
        assert "Least error: rows: 11 for the total" in text
        assert "of the people have 12 rows or more. How many more is unknown, so rows left out and errors" in text
        assert "by the noise of the release and if no person has more than 12 rows: 11 to 11 or more for" in text
        assert "as a multiple of the least error: " in text
        assert "probability 95 %; those of errors if no person has more than 12 rows" in text
        assert "No confidential data are read, and nothing is charged." in text
    assert ledger_bytes(working_copy) == before
    (gate,) = [line.partition("): ")[2] for line in said.splitlines() if line.startswith("A gate for rows: 11")]
    policy = working_copy.policy.with_name("gated.yaml")
    policy.write_text(working_copy.policy.read_text(encoding="utf-8").replace("gates:\n", f"gates:\n    - {gate}\n"))
    assert [rule.measure for rule, _ in plan_policy(policy).gates] == ["truncated_people", "pso_bound"]
    policy.unlink()


# The pilot has noise of scale 5/9, and 100 of the 300 people have more than 11 rows: with its upper limit, and at least
# 2 ln 20 / 0.5 = 12 for the noise of the gate, the limit is above 112.
@pytest.mark.parametrize(
    ("stated", "people", "words"),
    [
        ("{measure: truncated_people, at_most: 9, charge: {epsilon: 0.5}}", 1000, "the policy's gate truncated_people"),
        ("{measure: invalid_people, at_most: 9, charge: {epsilon: 1.97}}", 1_000_000, "N, charge: {epsilon: 0.0015}"),
        ("{measure: guarantee_epsilon, at_most: 2}", 1000, "N, charge: {epsilon: 0.1}"),
        ("{measure: guarantee_epsilon, at_most: 2}", 100, ""),
    ],
)
def test_the_proposed_gate_is_the_policys_own_or_one_that_it_can_have(
    stated: str, people: int, words: str, working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy, budget = working_copy.policy.with_name("stated.yaml"), working_copy.budget.read_text(encoding="utf-8")
    working_copy.budget.write_text(budget.replace("people: 1000", f"people: {people}"), encoding="utf-8")
    text = working_copy.policy.read_text(encoding="utf-8").replace("gates:\n", f"gates:\n    - {stated}\n")
    policy.write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert crowdgate("plan", policy, "--rows-per-person", pilot) == 0
    gates = [each for each in capsys.readouterr().out.splitlines() if "truncated_people" in each]
    assert len(gates) == bool(words)
    for gate in gates:
        limit = int(gate.rpartition("at_most: ")[2].partition(",")[0].rstrip("."))
        assert words in gate.replace(f"at_most: {limit},", "at_most: N,")
        assert limit > 112
        if "gate truncated_people" not in gate:
            policy.write_text(text.replace("gates:\n", f"gates:\n    - {gate.partition('): ')[2]}\n"), encoding="utf-8")
            assert plan_policy(policy).gates[0][0].at_most == limit
    policy.unlink()
    working_copy.budget.write_text(budget, encoding="utf-8")


def ledger_bytes(working_copy: Workshop) -> bytes:
    return (working_copy.root / "ledger" / "ledger.db").read_bytes()


def test_without_the_source_table_the_answer_is_the_same(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, held = asked(working_copy, pilot, capsys), working_copy.data.read_bytes()
    working_copy.data.unlink()
    assert asked(working_copy, pilot, capsys) == before
    working_copy.data.write_bytes(held)


def refusal(policy: Path, folder: Path, capsys: pytest.CaptureFixture[str], code: int) -> str:
    capsys.readouterr()
    assert crowdgate("plan", policy, "--rows-per-person", folder) == code
    return capsys.readouterr().err


def test_other_folders_are_refused(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "manifest.json: the file is missing" in refusal(working_copy.policy, tmp_path, capsys, 6)
    for file in pilot.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    table = next(tmp_path.glob("1-count*.csv"))
    table.write_text(table.read_text(encoding="utf-8").replace('\n"4",', '\n"5",', 1), encoding="utf-8")
    assert "the file was changed" in refusal(working_copy.policy, tmp_path, capsys, 6)


def test_a_forged_greatest_number_is_refused(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The forger changes the greatest number in all files and states their digests anew."""
    for file in pilot.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    said = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    said["estimand"]["persons"]["rows_a_person"]["most"] = 13
    for name, stated in said["files"].items():
        held = (tmp_path / name).read_bytes().replace(b"More than 12 count as 12", b"More than 13 count as 13")
        (tmp_path / name).write_bytes(held)
        stated |= {"bytes": len(held), "sha256": hashlib.sha256(held).hexdigest()}
    text = json.dumps(said, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    assert "has no table of people by their number of rows" in refusal(working_copy.policy, tmp_path, capsys, 2)


@pytest.mark.thorough
def test_releases_without_counts_by_rows_are_refused_with_what_to_publish(
    working_copy: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("release", working_copy.policy, "--as-of", SLOT) == 0
    said = refusal(working_copy.policy, working_copy.release_dir(SLOT), capsys, 2)
    assert "this release (dp_tables) has no table of people by their number of rows; expected a release from" in said
    assert "personValues state rows_a_person: {count: COLUMN, most: 30} (most from 2 to 1000), by a policy" in said
    policy = working_copy.policy.with_name("quantiles.yaml")
    text = working_copy.policy.with_name("pilot.yaml").read_text(encoding="utf-8").replace("name: pilot", "name: bins")
    other = "{quantiles: rows_a_person, level: exact, at: [0.5]}"
    policy.write_text(text.replace("{attributes: {rows_a_person: exact}}", other), encoding="utf-8")
    assert crowdgate("release", policy, "--as-of", SLOT) == 0
    said = refusal(working_copy.policy, working_copy.root / "releases" / "bins" / "1" / SLOT, capsys, 2)
    assert "by a policy of dp_tables with the line {attributes: {rows_a_person: exact}}, without" in said
    policy.unlink()


def test_options_that_would_say_nothing_are_refused(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert crowdgate("plan", working_copy.policy, "--rows-per-person", pilot, "--best", "--releases", "3") == 2
    said = capsys.readouterr().err
    assert "--rows-per-person: stated beside --releases, --best; expected only --page and --json beside it" in said


def test_another_population_is_a_warning(working_copy: Workshop, pilot: Path) -> None:
    found = row_bounds(working_copy.policy, pilot)
    for population, warned in (("clinic-patients", False), ("town", True)):
        shown = RowBoundsReport(replace(found, source=replace(found.source, population=population))).report().shown()
        words = "Warning: these counts are of the population town, not of clinic-patients, the contract's."
        assert any(str(each).startswith(words) for each in shown) == warned


def test_a_policy_whose_persons_have_one_row_has_no_number_to_choose(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(working_copy.policy.with_name("pilot.yaml"), pilot, capsys, 2)
    assert "pilot.yaml:5:3: spec.contract: contract persons, of which every person counts with one row" in said


def test_a_policy_that_samples_allows_one_row_only(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy, contract = working_copy.policy.with_name("sampled.yaml"), working_copy.contract.read_text(encoding="utf-8")
    text = working_copy.policy.read_text(encoding="utf-8").replace("laplace,", "laplace, sampling: {beta: 0.5},")
    policy.write_text(text, encoding="utf-8")
    working_copy.contract.write_text(contract.replace("patient, rows: 2", "patient, rows: 1"), encoding="utf-8")
    said = refusal(policy, pilot, capsys, 2)
    assert "spec.mechanism.sampling: rows: 2 can't be judged: sampling with 2 rows per person; expected one row" in said
    policy.unlink()
    working_copy.contract.write_text(contract, encoding="utf-8")


def test_noise_of_thousands_is_printed_in_full(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = working_copy.policy.with_name("noisy.yaml")
    text = working_copy.policy.read_text(encoding="utf-8").replace("epsilon: 2,", "epsilon: 0.001,")
    policy.write_text(text, encoding="utf-8")
    capsys.readouterr()
    assert crowdgate("plan", policy, "--rows-per-person", pilot) == 0
    assert "e+0" not in capsys.readouterr().out
    policy.unlink()


def test_a_share_of_the_size_of_float_errors_is_printed_as_0(working_copy: Workshop, pilot: Path) -> None:
    found = row_bounds(working_copy.policy, pilot)
    bounds = [
        bound_with_errors(each, 0.0, None) for each in source_of(np.array([0.0, 3, 2e-15, 0])).truncations([1, 2])
    ]
    shown = RowBoundsReport(replace(found, bounds=bounds)).report().shown()
    (listing,) = [each for each in shown if isinstance(each, Listing)]
    assert [str(row["1"])[:5] for row in listing.rows] == ["0 % ("] * 2


def test_an_answer_for_cells_alone_is_a_suggestion(working_copy: Workshop, pilot: Path) -> None:
    found = row_bounds(working_copy.policy, pilot)
    alone = replace(found, bounds=[replace(each, total=None) for each in found.bounds])
    said = RowBoundsReport(alone).report().to_json()
    assert (said["outcome"], said["best"]["total"]) == ("suggested", None)
    low, high = said["people"]["low"], said["people"]["high"]
    assert low < 300 < high


def test_other_kinds_have_no_best_bound(
    working_copy: Workshop, pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = working_copy.policy.with_name("rows.yaml")
    text = working_copy.policy.read_text(encoding="utf-8")
    rows = "  mechanism: {kind: safe_k_anonymity, sampling: {beta: 0.5}, attributes: {ward: exact}}\n"
    rest = text[text.index("  gates:") :]
    start = text[: text.index("  mechanism:")].replace("epsilon: 2, delta: 0", "epsilon: 2, delta: 0.01")
    policy.write_text(start + rows + rest, encoding="utf-8")
    found = row_bounds(policy, pilot)
    assert found.best_of_total is None
    assert found.bounds[0].total is None
    capsys.readouterr()
    assert crowdgate("plan", policy, "--rows-per-person", pilot) == 0
    said = capsys.readouterr().out
    assert said.startswith("Best rows of a person: unknown (the policy publishes no counts with noise).")
    assert "error of the total" not in said
    policy.unlink()
