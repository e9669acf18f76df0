"""Advice on noise: what it says holds, and whoever follows it is not advised again."""

import re
from math import exp, sqrt
from pathlib import Path

import pytest

from crowdgate.accounting.tables_plan import tables_budget
from crowdgate.review.check import check
from tests.kinds.test_tables_release import POLICY, tables_workshop
from tests.workshop import Workshop

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


def test_many_tables_are_not_advised_laplace_noise(tmp_path: Path) -> None:
    """Each of nine lines gets a part of epsilon alone, or of rho, whose root it is that divides Gaussian noise."""
    assert advised(tables_workshop(tmp_path / "w")) == []


def test_where_noise_also_decides_the_number_of_releases_nothing_is_advised(tmp_path: Path) -> None:
    workshop = with_tables(tmp_path / "w", "{attributes: [ward]}", delta="0.005")
    assert len(advised(workshop)) == 1
    workshop.edit(workshop.policy, "  publish:", "  series: {releases: 2}\n  publish:")
    assert advised(workshop) == []
