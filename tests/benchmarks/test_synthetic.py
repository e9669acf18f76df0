"""The benchmark of synthetic rows: its distances, its policies, and the selections that it compares with."""

import gzip
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.guarantee import Part
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, collapse
from crowdgate.mechanisms.synthetic import rounds
from crowdgate.mechanisms.synthetic.domain import ModelDomain
from crowdgate.mechanisms.synthetic.plan import DpSynthetic
from crowdgate.noise import ZcdpSource
from crowdgate.releases.working_copy import init
from crowdgate.review.check import check
from tests.benchmarks import synthetic_rivals
from tests.benchmarks.planning import ADULT, NIST
from tests.benchmarks.synthetic import Line, ratios, spread
from tests.benchmarks.synthetic_errors import Table, distance, distances
from tests.benchmarks.synthetic_policies import AMOUNTS, LEARNED, LEFT_OUT, TEST, WANTED, write_policies
from tests.benchmarks.synthetic_run import OWN, Measured, counts_of
from tests.mechanisms.synthetic.noise import OPENDP_ZCDP

ROW = {
    "age": "39", "workclass": "State-gov", "education": "Bachelors", "marital-status": "Never-married",
    "occupation": "Adm-clerical", "relationship": "Wife", "race": "White", "sex": "Male", "capital-gain": "2174",
    "capital-loss": "0", "hours-per-week": "40", "native-country": "United-States", "income-per-year": "<=50K",
}  # fmt: skip
OTHER = {"sex": "Female", "capital-gain": "0", "capital-loss": "1902", "SEX": "1", "PUMA": "06-07502"}
COUNTY = {"PUMA": "01-01301", "AGEP": "18", "SEX": "2", "POVPIP": "N"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, row in (*((name, ROW) for name in ADULT), (NIST, COUNTY | dict.fromkeys(LEFT_OUT, "1"))):
        with gzip.open(tmp_path / name, "wt", encoding="utf-8") as file:
            other = {**row, **{key: value for key, value in OTHER.items() if key in row}}
            file.write("\n".join(",".join(each) for each in (row, row.values(), other.values())) + "\n")
    return tmp_path


@pytest.mark.thorough
def test_every_policy_is_accepted_and_releases_what_is_said(data: Path) -> None:
    only = ("adult", "adult-raw", "nist")
    written = dict(write_policies(init(data / "copy", "benchmark"), data, only))
    assert list(written) == [each for each in WANTED if each.table in only]
    assert all(check(path).allowed for each, path in written.items() if each.epsilon == "1")
    test = counts_of(written[LEARNED].with_name(f"{TEST}.yaml"))
    assert [test.sizes[list(ROW).index(name)] for name in AMOUNTS] == [10, 10]
    assert test.counts.sum() == 2


SIZES = (2, 3, 2, 2)
ROWS = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES)), min_size=1, max_size=12)


CELLS = [(a, b) for a in range(max(SIZES)) for b in range(max(SIZES))]


def table(rows: list[tuple[int, ...]]) -> Table:
    return Table.of_rows([np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)], SIZES)


@given(ROWS, ROWS)
def test_distances_are_halved_sums_of_differences_of_shares(one: list[Any], other: list[Any]) -> None:
    own, beside = table(one), table(other)
    found = distances(own, beside)
    every = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    brute = [sum(abs(_share(one, pair, cell) - _share(other, pair, cell)) for cell in CELLS) / 2 for pair in every]
    assert found[1] == pytest.approx(np.mean(brute), abs=1e-12)
    assert 0 <= found[0] <= found[1] + 1e-12
    assert found[1] <= found[2] + 1e-12
    assert distances(own, Table(own.codes, 3 * own.counts, SIZES)) == pytest.approx((0, 0, 0))


def _share(rows: list[Any], pair: tuple[int, int], cell: Any) -> float:
    return [(row[pair[0]], row[pair[1]]) for row in rows].count(cell) / len(rows)


def planned(sizes: dict[str, int], rho: Fraction) -> DpSynthetic:
    levels = {n: (Level("exact", tuple(map(str, range(s))), np.arange(s, dtype=np.int32)),) for n, s in sizes.items()}
    budget = rounds.SyntheticBudget((rho / len(sizes),) * len(sizes), Fraction(0), Fraction(0))
    drawing = rounds.RoundsPlan(ModelDomain.of(levels), (), (), 1 << 12, 1, budget)
    return DpSynthetic(levels, drawing, Fraction(1), Part("mechanism", Fraction(1), Fraction(1, 10**9)))


def people() -> Histogram:
    """Two columns that are equal, one that is their own; the last one has rare values."""
    base = np.arange(4000, dtype=np.int32)
    codes = [base % 3, base % 3, base // 3 % 2, np.where(base < 3990, 0, 1 + base % 3).astype(np.int32)]
    return collapse(("a", "b", "c", "d"), (3, 3, 2, 4), codes, np.ones(4000, dtype=np.int64))


@pytest.mark.thorough
@pytest.mark.parametrize("method", synthetic_rivals.RIVALS)
def test_other_selections_spend_what_is_theirs_and_find_what_belongs_together(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PICKS", "AT_FIRST", "PRICES"):
        monkeypatch.setattr(rounds, name, getattr(rounds, name))
    spent: list[Fraction] = []

    def paid(draw: Any) -> Any:
        def drawn(values: Any, sensitivity: int, rho: Fraction) -> Any:
            spent.append(rho)
            return draw(values, sensitivity, rho)

        return drawn

    source = ZcdpSource(paid(OPENDP_ZCDP.gaussian), paid(OPENDP_ZCDP.choose))
    monkeypatch.setattr(synthetic_rivals, "OPENDP_ZCDP", source)
    counted, rho = people(), Fraction(1, 10)
    made = synthetic_rivals.RIVALS[method](
        planned(dict(zip(counted.names, counted.sizes, strict=True)), rho), counted, np.random.default_rng(0)
    )
    assert sum(spent) == rho
    own = Table.of_rows(made, counted.sizes)
    assert distance(own, Table(counted.codes, counted.counts, counted.sizes), (0, 1)) < 0.1  # as if independent: .67


def measured(two: float, cpu: float) -> Measured:
    return Measured((two / 2, two, 2 * two), cpu, 90.0, 80.0)


def test_lines_say_medians_and_ranges_and_ratios_compare_medians() -> None:
    assert spread([0.3, 0.1, 0.2], 0.25, "{:.1f}") == "0.2 [0.1, 0.3] (0.25)"
    own = Line(LEARNED, OWN, [measured(each, 2) for each in (0.01, 0.02, 0.06)], [])
    other = Line(LEARNED, "mst", [measured(0.04, 8)], [])
    (said,) = ratios([own, other])
    assert "2-way 0.500, 3-way 0.500, CPU 0.250" in said
    assert len(own.cells()) == len(other.cells())
