"""Rows that mislead, on public tables that nobody tuned to: the gates of the templates withhold them.

The tables are those of ../shared/data and a generated one; a test of an absent table is skipped. Settings are those of
a newcomer: all columns of interest at fine levels, epsilon 1 with a fifth of it for margins, beta .3. The good settings
are fewer columns of the same tables.
"""

import csv
import gzip
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest

from crowdgate.accounting.safe_k import least_k
from crowdgate.candidate import Candidate
from crowdgate.gate import Outcome, judge
from crowdgate.guarantee import Part
from crowdgate.kind.forecast import Basis
from crowdgate.kind.prior import ExpectedCounts
from crowdgate.kinds.rows.use_forecast import BAD, simulated_releases, use_listing
from crowdgate.kinds.rows.use_forecast import GOOD as FORECAST
from crowdgate.measures import MEASURES
from crowdgate.mechanisms.rows.charge_names import MARGINS_PART
from crowdgate.mechanisms.rows.margins import PlannedMargins
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.mechanisms.rows.spec import MarginsSpec
from crowdgate.policy.policy import GateRule
from tests.benchmarks.options import DATA
from tests.benchmarks.planning import _people

RELEASES = 5
Rows = list[dict[str, str]]
BETA, EPSILON, DELTA = Fraction("0.3"), Fraction(1), Fraction("1e-8")
LIMITS = {"represented_share": ("at_least", "0.7"), "worst_share_error": ("at_most", "0.05"),
          "margins_met": ("at_least", "0.3"), "absent_values": ("at_most", "0")}  # fmt: skip
"""The limits of the templates; absent values are those of a hundredth of the people."""


def read(name: str) -> Rows:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [{key: (cell or "NA").strip() for key, cell in row.items()} for row in csv.DictReader(file)]


def survey() -> Rows:
    return [{**row, "age": f"{int(row['AGEP']) // 10:02d}"} for row in read("nist_acs_national2019.csv.gz")]


def charges() -> Rows:
    return [
        {**row, "decade": str(min(7, int(row["age"]) // 10))} for row in read("compas_two_years_no_direct_ids.csv.gz")
    ]


def census() -> Rows:
    return read("uk_census2011_nanodata_10000.csv.gz")


def generated(people: int = 9000) -> Rows:
    """Return correlated columns of 8, 2, 5, 3, 6 and 2 values, by six latent groups."""
    draws = np.random.default_rng(5)
    group = draws.choice(6, people, p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05])
    columns = {}
    for at, size in enumerate((8, 2, 5, 3, 6, 2)):
        steps = np.cumsum(draws.dirichlet(np.full(size, 0.6), 6), 1)[group]
        columns[f"c{at}"] = (draws.random(people)[:, None] > steps).sum(1).clip(0, size - 1)
    return [{name: str(codes[row]) for name, codes in columns.items()} for row in range(people)]


MISLEADING: Mapping[str, tuple[Callable[[], Rows], Sequence[str]]] = {
    "survey": (survey, ("age", "SEX", "RAC1P", "OWN_RENT", "EDU", "MSP", "PINCP_DECILE")),
    "charges": (charges, ("decade", "sex", "race", "c_charge_degree", "score_text", "two_year_recid")),
    "census": (census, ("Sex", "Age", "Marital Status", "Health", "Economic Activity")),
    "generated": (generated, ("c0", "c1", "c2", "c3", "c4", "c5")),
}
GOOD: Mapping[str, tuple[Callable[[], Rows], Sequence[str]]] = {
    "charges": (charges, ("sex", "c_charge_degree", "score_text", "two_year_recid")),
    "census": (census, ("Sex", "Age")),
    "generated": (generated, ("c1", "c3", "c5")),
}


def planned(rows: Rows, columns: Sequence[str]) -> tuple[SafeK, ExpectedCounts]:
    """Return the mechanism of a policy, and the table as counts that are known."""
    people = _people("table", [{name: row[name] for name in columns} for row in rows], columns, {})
    levels = {name: people.contract.by_name[name].hierarchy.levels[0] for name in columns}  # type: ignore[union-attr]
    spec = MarginsSpec.model_validate({"epsilon": "0.2", "tables": [{"all": "2"}]})
    epsilon, delta = spec.cost(DELTA)
    own = Part("mechanism", EPSILON - epsilon, DELTA - delta)
    margins = PlannedMargins(spec, people.contract, Part(MARGINS_PART, epsilon, delta))
    counts = np.zeros([len(level) for level in levels.values()])
    counts[people.table.codes] = people.table.counts
    joint = ExpectedCounts(levels, counts, Basis.COUNTED, lambda: ())
    return SafeK(BETA, least_k(own.epsilon, own.delta, BETA), levels, own, margins=margins), joint


def failing(releases: Sequence[Candidate], joint: ExpectedCounts) -> list[set[str]]:
    """Return the gates that do not pass, for each of five simulated releases of the known table."""
    many = str(int(joint.people.sum()) // 100)
    found = []
    for candidate in releases[:RELEASES]:
        stopped = set()
        for name, (side, limit) in LIMITS.items():
            options = {"size": many} if name == "absent_values" else {}
            rule = GateRule.model_validate({"measure": name, side: limit, "with": options})
            measured = MEASURES[name].of_candidate
            assert measured is not None
            if judge(rule, measured(candidate, rule)) is not Outcome.PASS:
                stopped.add(name)
        found.append(stopped)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("name", MISLEADING)
def test_rows_that_mislead_are_withheld_by_more_than_one_gate_and_forecast_as_such(name: str) -> None:
    make, columns = MISLEADING[name]
    safe, joint = planned(make(), columns)
    releases = simulated_releases(safe, joint)
    assert [len(stopped) > 1 for stopped in failing(releases, joint)] == [True] * RELEASES
    assert [listing.note for listing in use_listing(safe, releases)] == [BAD]


@pytest.mark.thorough
@pytest.mark.parametrize("name", GOOD)
def test_rows_of_fewer_columns_pass(name: str) -> None:
    make, columns = GOOD[name]
    safe, joint = planned(make(), columns)
    releases = simulated_releases(safe, joint)
    assert failing(releases, joint) == [set()] * RELEASES
    assert [listing.note for listing in use_listing(safe, releases)] == [FORECAST]
