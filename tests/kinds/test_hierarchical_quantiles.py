"""Quantiles from a hierarchical histogram: more accurate than from a flat one, within their limits, and verified."""

import shutil
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from crowdgate.arrays import Floats
from crowdgate.contracts.contract import Attribute, Contract, PrivacyUnit, Role
from crowdgate.domain import categories, numbers
from crowdgate.errors import VerificationFailed
from crowdgate.guarantee import Part
from crowdgate.hierarchy import by_width, hierarchy, nests
from crowdgate.histogram import Column, Records, scan
from crowdgate.mechanisms.tables.answers import QuantileAnswer, consistent_answers
from crowdgate.mechanisms.tables.bin_groups import bin_groups
from crowdgate.mechanisms.tables.bin_tree import tree_estimates
from crowdgate.mechanisms.tables.dp_tables import DpTables, plan_dp_tables
from crowdgate.mechanisms.tables.quantiles import quantile_bins
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, Quantiles
from crowdgate.verification.release import verify
from tests.benchmarks.coverage import numpy_noise
from tests.forging import Claims, reseal
from tests.kinds.test_tables_release import path_of, run, tables_workshop
from tests.reading import file_server
from tests.workshop import verified

SEED, DRAWS, PEOPLE = 20301109, 60, 2000
DOMAIN = numbers(Fraction(0), Fraction(99), Fraction(1), "a codebook")
TOWNS = categories(["a", "b", "c"], "a codebook")


def contract(coarsest: tuple[str, ...] = ()) -> Contract:
    levels = [("tens", by_width(DOMAIN, Fraction(10))), *([("coarsest", coarsest)] if coarsest else [])]
    pay = hierarchy(DOMAIN, levels, invalid_level=False)
    columns = (
        Attribute("town", Role.OTHER, domain=TOWNS, hierarchy=hierarchy(TOWNS, [], invalid_level=False)),
        Attribute("pay", Role.OTHER, domain=DOMAIN, hierarchy=pay),
    )
    return Contract("made", "1", "people", PrivacyUnit(), file_server(Path("x"), "csv"), columns)


def planned(*items: Item, epsilon: str = "1", **how: str) -> DpTables:
    part = Part("mechanism", Fraction(epsilon), Fraction(1, 10**6))
    stated = {"noise": "gaussian", "split": "least-error", **how}
    found, findings = plan_dp_tables(items, contract(), part, **stated)  # type: ignore[arg-type]
    assert found is not None, findings
    return found


def quantiles(level: str = "exact", *, hierarchical: bool, share: Fraction | None = None) -> Quantiles:
    return Quantiles("pay", level, by={"town": "exact"}, share=share, hierarchical=hierarchical)


def test_groups_nest_with_the_levels_that_tables_use() -> None:
    named = contract().by_name["pay"].hierarchy
    assert named is not None
    finest, tens = named.levels[:2]
    groups = bin_groups(finest, [finest, tens])
    assert [len(each) for each in groups] == [30, 10, 3]
    assert groups[1] is tens
    chain = [finest, *groups]
    assert all(nests(a, b) for a, b in zip(chain, groups, strict=False))
    assert groups[-1].labels[-1] == f"{tens.labels[8]} to {tens.labels[9]}"


ODD_TENS = tuple("odd" if value // 10 % 2 else "even" for value in range(100))
TWENTIES = tuple(by_width(DOMAIN, Fraction(20)))


@pytest.mark.parametrize(
    ("coarsest", "level", "sizes"),
    [
        pytest.param(ODD_TENS, "exact", [100, 30, 10], id="a table of values that are no intervals"),
        pytest.param(TWENTIES, "coarsest", [5], id="too few bins for groups"),
    ],
)
def test_quantiles_are_right_whatever_groups_their_level_allows(
    coarsest: tuple[str, ...], level: str, sizes: list[int]
) -> None:
    part, random = Part("mechanism", Fraction(100), Fraction(1, 10**6)), np.random.default_rng(SEED)
    items = quantiles(level, hierarchical=True), ContingencyTable({"pay": "coarsest"})
    mechanism, findings = plan_dp_tables(items, contract(coarsest), part, noise="gaussian", split="least-error")
    assert mechanism is not None, findings
    assert [len(mechanism.queries[at].levels["pay"]) for at in mechanism.workload.answers[0]] == sizes
    codes = {"town": random.choice(3, PEOPLE), "pay": random.choice(100, PEOPLE)}
    columns = {name: Column(each.astype(np.int32)) for name, each in codes.items()}
    counted = scan([Records(PEOPLE, columns)], mechanism.views)
    exact = mechanism.true_answers(counted)[0].astype(np.float64)
    true = np.stack([quantile_bins(exact, Fraction(at, 4)) for at in (1, 2, 3)], axis=-1)
    found, _ = consistent_answers(mechanism, mechanism.protect(counted, None, numpy_noise(random)), Fraction(1, 10))
    assert isinstance(found, QuantileAnswer)
    assert found.bins.tolist() == true.tolist()


def test_a_histogram_and_its_groups_share_the_budget_of_their_line() -> None:
    flat, found = (planned(quantiles(hierarchical=each), ContingencyTable({"town": "exact"})) for each in (False, True))
    assert sum(found.spends) == sum(flat.spends) == found.budget.spend
    assert len(set(found.spends[:-1])) == 1
    assert sum(found.spends[:-1]) == flat.spends[0]
    stated = planned(quantiles(hierarchical=True, share=Fraction(1, 3)), ContingencyTable(), split="equal")
    assert sum(stated.spends[:-1]) == stated.budget.spend / 3


def test_sums_of_bins_have_the_variance_of_least_squares() -> None:
    """Compared with matrices written out: 13 bins in groups of 4, 4, 4, 1, and these in pairs."""
    random, sizes = np.random.default_rng(SEED), (13, 4, 2)
    parents = [np.arange(13) // 4, np.arange(4) // 2]
    variances = [random.uniform(1, 3, size) for size in sizes]
    first = np.eye(4)[parents[0]].T
    design = np.vstack([np.eye(13), first, np.eye(2)[parents[1]].T @ first])
    weights, noisy = np.diag(1 / np.concatenate(variances)), random.normal(0, 5, 19)
    covariance = np.linalg.inv(design.T @ weights @ design)
    found = tree_estimates(np.split(noisy, [13, 17]), variances, parents)
    assert found.counts == pytest.approx(covariance @ design.T @ weights @ noisy)
    balance = np.tril(np.ones((13, 13))) - 0.3
    assert found.balance_variance(0.3) == pytest.approx(np.diag(balance @ covariance @ balance.T))


@cache
def releases(*, hierarchical: bool) -> tuple[Floats, Floats, Floats]:
    """Return the distances of published bins from the true ones, the stated errors, and whether limits hold the true
    bins, for incomes in three towns."""
    mechanism, random = planned(quantiles(hierarchical=hierarchical), epsilon="0.5"), np.random.default_rng(SEED)
    pay = np.clip(random.gamma(2, 12, PEOPLE), 0, 99).astype(np.int32)
    town = random.choice(3, PEOPLE, p=[0.6, 0.3, 0.1]).astype(np.int32)
    counted = scan([Records(PEOPLE, {"town": Column(town), "pay": Column(pay)})], mechanism.views)
    exact, source = mechanism.true_answers(counted)[0].astype(np.float64), numpy_noise(random)
    true = np.stack([quantile_bins(exact, Fraction(at, 4)) for at in (1, 2, 3)], axis=-1)
    found = []
    for _ in range(DRAWS):
        (answer,) = consistent_answers(mechanism, mechanism.protect(counted, None, source), Fraction(1, 10))
        assert isinstance(answer, QuantileAnswer)
        found.append((answer.bins - true, answer.errors, (answer.lower <= true) & (true <= answer.upper)))
    off, errors, held = (np.array(each, dtype=np.float64) for each in zip(*found, strict=True))
    return off, errors, held


# Seeded; N = 60 releases of 9 quantiles: a ratio of root mean squares has a standard error of .06, a share of .01 (nine
# of a release depend on each other: .02). Most of the squares are those of the smallest town, 200 people in 100 bins,
# whose errors are .6 to .9 of those that occur: little is known of such bins but their prior.
@pytest.mark.thorough
@pytest.mark.statistical
def test_quantiles_are_more_accurate_and_their_errors_and_limits_hold() -> None:
    (flat, _, _), (off, errors, held) = releases(hierarchical=False), releases(hierarchical=True)
    rms = [float(np.sqrt(np.square(each).mean())) for each in (flat, off, errors)]
    assert rms[1] < 0.6 * rms[0]
    assert 0.65 < rms[2] / rms[1] < 1.25
    assert held.mean() > 0.94


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("noise: gaussian", "noise: gaussian"),
        pytest.param("noise: gaussian", "noise: laplace", marks=pytest.mark.thorough),
        pytest.param("noise: gaussian", "sampling: {beta: 0.5}", marks=pytest.mark.thorough),
        pytest.param("    raw: true\n", "    split: equal\n", marks=pytest.mark.thorough),
    ],
)
def test_a_release_verifies_and_lists_the_groups(tmp_path: Path, old: str, new: str) -> None:
    workshop = tables_workshop(tmp_path / "w")
    workshop.edit(workshop.policy, "level: 10 years, at", "level: exact, histogram: hierarchical, at")
    workshop.edit(workshop.policy, old, new)
    claims = verified(path_of(run(workshop)), workshop.ledger)
    *_, table = claims["data"]["tables"]
    levels = [claims["mechanism"]["queries"][at]["levels"]["age"] for at in table["queries"]]
    assert levels[0] == "exact"
    assert {"groups of 4 values of exact", "10 years", "50 years"} <= set(levels)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workshop = tables_workshop(tmp_path_factory.mktemp("hierarchical") / "w")
    workshop.edit(workshop.policy, "level: 10 years, at", "level: exact, histogram: hierarchical, at")
    return path_of(run(workshop))


def _other_axis(claims: Claims) -> None:
    claims["mechanism"]["queries"][-1]["levels"]["ward"] = "any"


def _other_level(claims: Claims) -> None:
    query = claims["mechanism"]["queries"][-1]
    query["levels"]["age"] = "10 years"


def _without_one(claims: Claims) -> None:
    claims["data"]["tables"][-1]["queries"].pop()


@pytest.mark.parametrize("change", [_other_axis, _other_level, _without_one])
def test_a_manifest_with_other_groups_is_refused(
    release: Path, tmp_path: Path, change: Callable[[Claims], None]
) -> None:
    copy = Path(shutil.copytree(release, tmp_path / "copy"))
    reseal(copy, change)
    with pytest.raises(VerificationFailed, match=r"with other queries|exactly once, in order|differ"):
        verify(copy)
