"""The benchmark on Adult, on a small table of the same form, and without its table."""

import gzip
import math
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from crowdgate.accounting import safe_k
from crowdgate.histogram import collapse, generalise
from tests.benchmarks import adult

COLUMNS = {
    name: [[f"{name}{i}", *([f"{name} group {i // 2}"] * (depth - 1)), "*"] for i in range(4)]
    for name, depth in (("age", 3), ("sex", 1), ("education", 2))
}
SCHEME = {"age": 2, "sex": 0, "education": 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "adult_hierarchies").mkdir()
    for name, lines in COLUMNS.items():
        text = "".join(";".join(line) + "\n" for line in lines)
        (tmp_path / adult.LEVELS.format(name)).write_text(text, encoding="utf-8")
    rows = [[f"{name}{i % modulus}" for name, modulus in zip(COLUMNS, (4, 2, 3), strict=True)] for i in range(60)]
    with gzip.open(tmp_path / adult.TABLE, "wt", encoding="utf-8") as file:
        file.writelines(";".join(line) + "\n" for line in [list(COLUMNS), *rows])
    return tmp_path


def test_the_table_is_read_with_its_hierarchies(folder: Path) -> None:
    hierarchies, table = adult.read_adult(folder)
    assert table.rows == 60
    levels = adult.scheme_levels(hierarchies, SCHEME)
    assert {name: len(level) for name, level in levels.items()} == {"age": 2, "sex": 4, "education": 2}
    assert len(generalise(table, levels)) == 2 * 2 * 2
    assert [level.name for level in hierarchies["age"].levels] == ["exact", "1", "2", "any"]


def test_the_expected_share_is_the_sum_over_all_coins() -> None:
    sizes, k, beta = (1, 3, 4), 2, 0.3
    full = collapse(("x",), (3,), [np.arange(3)], np.array(sizes, dtype=np.int64))
    total = 0.0
    for heads in product(*(range(size + 1) for size in sizes)):
        chance = math.prod(math.comb(n, h) * beta**h * (1 - beta) ** (n - h) for n, h in zip(sizes, heads, strict=True))
        total += chance * sum(h for h in heads if h >= k)
    assert adult.expected_kept(full, k, beta) == pytest.approx(total / sum(sizes))


def test_arx_is_one_above_theorem_5_at_its_own_beta_and_has_no_figure_elsewhere() -> None:
    for epsilon, delta, arx, exact in (
        (Fraction(1), Fraction("1e-6"), 75, 58),
        (Fraction(2), Fraction("1e-5"), 114, 92),
    ):
        beta = adult.safepub_beta(epsilon)
        assert dict(adult.class_sizes(epsilon, delta, beta)) == {"ARX": arx, "Theorem 5": arx - 1, "exact": exact}
        assert [by for by, _ in adult.class_sizes(epsilon, delta, beta / 2)] == ["Theorem 5", "exact"]
        assert [by for by, _ in adult.class_sizes(epsilon, delta, (1 + beta) / 2)] == ["exact"]


def test_the_best_beta_keeps_most_rows(folder: Path) -> None:
    hierarchies, table = adult.read_adult(folder)
    full = generalise(table, adult.scheme_levels(hierarchies, SCHEME))
    epsilon, delta = Fraction(2), Fraction("0.01")
    best = adult.best_beta(full, epsilon, delta, steps=20)
    kept = Counter(
        {i: adult.expected_kept(full, safe_k.least_k(epsilon, delta, Fraction(i, 20)), i / 20) for i in range(1, 20)}
    )
    assert best == Fraction(kept.most_common(1)[0][0], 20)


def test_without_the_table_the_benchmark_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["adult", "--data", str(tmp_path)])
    adult.main()
    assert capsys.readouterr().out.startswith("skipped: arx_adult_30162.csv.gz is not there. Name a folder")
