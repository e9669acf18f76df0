"""Advice on noise: what it says holds, and whoever follows it is not advised again."""

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pytest

from crowdgate.accounting.tables_plan import tables_budget
from crowdgate.arrays import Integers
from crowdgate.hierarchy import Level
from crowdgate.mechanisms.tables.coarse_to_fine import whole_tables
from crowdgate.mechanisms.tables.consistency import consistent_tables
from crowdgate.mechanisms.tables.quantiles import quantile_bins
from crowdgate.review.check import check
from tests.kinds.test_tables_release import POLICY, tables_workshop
from tests.workshop import Workshop, crowdgate

TABLES = POLICY[POLICY.index("    tables:") : POLICY.index("    relative_error")]


def advised(workshop: Workshop) -> list[str]:
    return [each.words for each in check(workshop.policy).warnings if each.code == "CG228"]


def with_tables(root: Path, *lines: str, delta: str = "1e-9", noise: str = "gaussian") -> Workshop:
    tables = "".join(f"      - {line}\n" for line in lines)
    made = tables_workshop(
        root, **{TABLES: f"    tables:\n{tables}", "delta: 0.01": f"delta: {delta}", "    raw: true\n": ""}
    )
    made.edit(made.policy, "noise: gaussian", f"noise: {noise}")
    return made


@pytest.mark.parametrize("delta", ["1e-9", "0.01"])
def test_one_table_is_advised_laplace_noise_as_its_variances_say(tmp_path: Path, delta: str) -> None:
    """One table of counts: the standard deviations are those of the discrete distributions, known in closed form."""
    workshop = with_tables(tmp_path / "w", "{attributes: [ward]}", delta=delta)
    rho = float(tables_budget(2, delta, "gaussian").spend)
    q = exp(-2)
    ratio = sqrt(1 / (2 * rho)) / sqrt(2 * q / (1 - q) ** 2)
    (words,) = advised(workshop)
    found = re.search(r"are ([0-9.]+) times those with noise: laplace, at the same guarantee", words)
    assert found is not None
    assert float(found[1]) == pytest.approx(ratio, rel=0.06)
    workshop.edit(workshop.policy, "noise: gaussian", "noise: laplace")
    assert advised(workshop) == []


def test_the_search_for_the_best_policy_finds_it_and_names_what_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop = with_tables(tmp_path / "w", "{attributes: [ward]}")
    assert crowdgate("plan", workshop.policy, "--best", "--json") == 0
    first, *_ = json.loads(capsys.readouterr().out)["policies"]
    assert "noise: gaussian becomes laplace" in first["changes"]


def test_many_tables_are_not_advised_laplace_noise(tmp_path: Path) -> None:
    """Each of nine lines gets a part of epsilon alone, or of rho, whose root it is that divides Gaussian noise."""
    assert advised(tables_workshop(tmp_path / "w")) == []


def test_settings_that_make_numbers_as_drawn_far_worse_are_not_advised(tmp_path: Path) -> None:
    """With Laplace noise the tables agree better, but one-way counts as drawn would have 25 times the error."""
    workshop = with_tables(tmp_path / "w", "{all: 1}", "{attributes: {age: exact}}")
    assert len(advised(workshop)) == 1
    workshop.edit(workshop.policy, "    relative_error", "    raw: true\n    relative_error")
    assert advised(workshop) == []


def test_settings_that_make_one_table_worse_are_not_advised(tmp_path: Path) -> None:
    """The many cells of a table gain, and the total has half as much noise again."""
    lines = ("{total: true}", "{attributes: {age: exact, ward: exact}}")
    workshop = with_tables(tmp_path / "w", *lines, delta="0.01")
    workshop.edit(workshop.policy, "    tables:\n", "    split: equal\n    tables:\n")
    assert advised(workshop) == []


def test_where_noise_also_decides_the_number_of_releases_nothing_is_advised(tmp_path: Path) -> None:
    workshop = with_tables(tmp_path / "w", "{attributes: [ward]}", delta="0.005")
    assert len(advised(workshop)) == 1
    workshop.edit(workshop.policy, "  publish:", "  series: {releases: 2}\n  publish:")
    assert advised(workshop) == []


def test_quantiles_of_many_bins_are_advised_a_hierarchical_histogram(tmp_path: Path) -> None:
    """The key that the words show, written into the line, ends the advice. The quantile's own errors are those of the
    benchmark means_quantiles: with 100 bins beside 10 they are less than half as large.
    """
    workshop = with_tables(tmp_path / "w", "{quantiles: age, level: exact, at: [0.5]}", delta="0.01", noise="laplace")
    (words,) = advised(workshop)
    found = re.search(r"`(.*)` in their line", words)
    assert found is not None
    workshop.edit(workshop.policy, "level: exact", f"level: exact, {found[1]}")
    assert advised(workshop) == []
    true = np.bincount(np.random.default_rng(3).integers(20, 60, 1000), minlength=100)
    fine, both = (rank_errors(true, widths) for widths in ((1,), (1, 10)))
    assert both < fine / 2


def rank_errors(true: Integers, widths: Sequence[int], draws: int = 40) -> float:
    """Return the root mean square error of the median's rank, in rows, with counts of bins of these widths."""
    random, spread = np.random.default_rng(4), [400.0 * len(widths)] * len(widths)
    codes = [np.arange(len(true)) // width for width in widths]
    axes = [{"age": Level(str(each[1]), tuple(map(str, range(each[-1] + 1))), each.astype(np.int32))} for each in codes]
    below, errors = np.cumsum(true), []
    for _ in range(draws):
        noisy = [np.rint(np.bincount(each, true) + random.normal(0, spread[0] ** 0.5, each[-1] + 1)) for each in codes]
        tables = whole_tables(axes, consistent_tables(axes, noisy, spread).tables, spread)
        (at,) = quantile_bins(tables[0].astype(np.float64)[None], Fraction(1, 2))
        errors.append(max(0.0, below[at] - true[at] - below[-1] / 2, below[-1] / 2 - below[at]))
    return float(np.sqrt(np.mean(np.square(errors))))
