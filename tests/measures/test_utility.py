"""Utility of a release, compared with listing rows one by one."""

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crowdgate.candidate import ColumnFacts, Static
from crowdgate.guarantee import Guarantee, Part
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, collapse
from crowdgate.kinds.rows.candidate import RowsCandidate
from crowdgate.kinds.rows.utility import utility
from crowdgate.measures import naive_bayes
from crowdgate.measures import utility as worth
from crowdgate.mechanisms.rows.safe_k import SafeK

Cell = tuple[int, ...]
Cases = dict[Cell, tuple[int, int]]
NAMES, SIZES, K, BETA = ("x", "y", "z", "t"), (3, 1, 2, 2), 3, Fraction(2, 5)
LEVELS = {
    name: Level("a level", tuple(map(str, range(size))), np.array(codes, dtype=np.int32))
    for name, size, codes in zip(NAMES, SIZES, ([0, 0, 1, 1, 1, 2], [0, 0, 0], [0, 1], [0, 1]), strict=True)
}
cells = st.tuples(*(st.integers(0, size - 1) for size in SIZES))
counts = st.integers(1, 12).flatmap(lambda full: st.tuples(st.just(full), st.integers(0, full)))
cases = st.dictionaries(cells, counts, max_size=10)
"""(rows of the table, rows of the sample) of some cells."""


def histogram(table: dict[Cell, int]) -> Histogram:
    kept = {cell: count for cell, count in table.items() if count}
    columns = [np.array([cell[i] for cell in kept], dtype=np.int64) for i in range(len(NAMES))]
    return collapse(NAMES, SIZES, columns, np.array(list(kept.values()), dtype=np.int64))


def parts(case: Cases) -> tuple[dict[Cell, int], dict[Cell, int], dict[Cell, int]]:
    """Return release, sample and table, as counts of cells."""
    full = {cell: n for cell, (n, _) in case.items()}
    sample = {cell: n for cell, (_, n) in case.items() if n}
    return {cell: n for cell, n in sample.items() if n >= K}, sample, full


def rows_of(table: dict[Cell, int]) -> list[Cell]:
    return [cell for cell, count in table.items() for _ in range(count)]


def candidate(case: Cases, sensitive: str = "t") -> RowsCandidate:
    release, sample, full = map(histogram, parts(case))
    part = Part("mechanism", Fraction(1), Fraction(1, 10))
    facts = {name: ColumnFacts(sensitive=name in sensitive) for name in NAMES}
    spent = (Fraction(1), Fraction(1, 10))
    static = Static(Guarantee.of((part,)), spent, spent, 100, K, LEVELS, facts)
    return RowsCandidate(static=static, rows=release, table=full, sample=sample)


def safe(beta: Fraction = BETA) -> SafeK:
    return SafeK(beta, K, LEVELS, Part("mechanism", Fraction(1), Fraction(1, 10)))


@given(case=cases)
def test_loss_is_the_mean_penalty_of_listed_rows_with_suppressed_ones_lost(case: Cases) -> None:
    release, sample, _ = parts(case)
    found = worth.information_loss(histogram(release), LEVELS, sum(sample.values()))
    for i, (name, level) in enumerate(LEVELS.items()):
        leaves = Counter(level.codes.tolist())
        lost = [
            Fraction(leaves[cell[i]] - 1, len(level.codes) - 1) if cell in release else Fraction(1)
            for cell in rows_of(sample)
        ]
        assert found[name] == pytest.approx(float(sum(lost) / len(lost)) if lost else 1)


def test_a_value_of_the_domain_loses_nothing_and_any_loses_all() -> None:
    exact = Level("exact", ("a", "b", "c"), np.array([0, 1, 2], dtype=np.int32))
    assert worth.certainty_penalties(exact).tolist() == [0, 0, 0]
    assert worth.certainty_penalties(LEVELS["y"]).tolist() == [1]
    assert worth.certainty_penalties(LEVELS["x"]).tolist() == pytest.approx([1 / 5, 2 / 5, 0])
    assert worth.certainty_penalties(Level("any", ("*",), np.array([0], dtype=np.int32))).tolist() == [0]


@given(case=cases)
def test_discernibility_is_what_each_listed_row_cannot_be_told_from(case: Cases) -> None:
    release, sample, _ = parts(case)
    rows = rows_of(sample)
    assert worth.discernibility(histogram(release), len(rows)) == sum(release.get(row, len(rows)) for row in rows)


@given(case=cases.filter(lambda case: any(parts(case)[0])))
def test_class_sizes_are_those_of_the_published_classes(case: Cases) -> None:
    release = parts(case)[0]
    found = worth.class_sizes(histogram(release))
    assert found["mean"] == pytest.approx(sum(release.values()) / len(release))
    assert (found["quantile 0"], found["quantile 1"]) == (min(release.values()), max(release.values()))
    assert sorted(release.values())[(len(release) - 1) // 2] == found["quantile 0.5"]


@given(case=cases)
@example(case={})
@example(case={(0, 0, 0, 0): (5, 0)})
def test_margins_have_the_errors_of_listed_rows(case: Cases) -> None:
    release, _, full = parts(case)
    wanted = [*((name,) for name in NAMES), *combinations(NAMES, 2)]
    errors = worth.margin_errors(histogram(release), histogram(full), BETA)
    assert [error.names for error in errors] == wanted
    for error in errors:
        at = [NAMES.index(name) for name in error.names]
        small, large = (Counter(tuple(row[i] for i in at) for row in rows_of(table)) for table in (release, full))
        off = sum(abs(small[cell] / BETA - large[cell]) for cell in large)
        assert error.count_error == pytest.approx(float(off / max(1, large.total())))
        if not small:
            assert (error.total_variation, error.divergence) == (None, None)
            continue
        pairs = [(small[cell] / small.total(), large[cell] / large.total()) for cell in large]
        assert error.total_variation == pytest.approx(sum(abs(p - q) for p, q in pairs) / 2)
        assert error.divergence == pytest.approx(sum(p * math.log(p / q) for p, q in pairs if p), abs=1e-12)


@given(case=cases)
def test_a_release_of_the_whole_table_has_no_error(case: Cases) -> None:
    full = histogram(parts(case)[2])
    for error in worth.margin_errors(full, full, Fraction(1)):
        assert error.count_error == 0
        assert not error.total_variation
        assert not error.divergence


# --- the classifier ---


def listed_prediction(rows: list[Cell], seen: Cell) -> list[float]:
    """Return the posterior weight of both targets by the textbook, each probability with Laplace's correction."""
    weights = []
    for target in range(2):
        mine = [row for row in rows if row[3] == target]
        weight = (len(mine) + 1) / (len(rows) + 2)
        for i in range(3):
            weight *= (sum(row[i] == seen[i] for row in mine) + 1) / (len(mine) + SIZES[i])
        weights.append(weight)
    return weights


@given(case=cases)
def test_the_classifier_is_naive_bayes_with_laplace_correction(case: Cases) -> None:
    full = histogram(parts(case)[2])
    model = naive_bayes.train(full, "t")
    every = histogram(dict.fromkeys(product(*map(range, SIZES)), 1))
    for cell, predicted in zip(product(*map(range, SIZES)), naive_bayes.predict(model, every).tolist(), strict=True):
        weights = listed_prediction(rows_of(parts(case)[2]), cell)
        assert weights[predicted] == pytest.approx(max(weights))


@pytest.mark.thorough
@given(case=cases)
def test_the_rows_left_out_are_the_table_without_the_sample(case: Cases) -> None:
    _, sample, full = parts(case)
    left = naive_bayes.difference(histogram(full), histogram(sample))
    expected = histogram({cell: count - sample.get(cell, 0) for cell, count in full.items()})
    assert left.counts.tolist() == expected.counts.tolist()
    assert [column.tolist() for column in left.codes] == [column.tolist() for column in expected.codes]


def test_accuracies_count_rows() -> None:
    rows = histogram({(0, 0, 0, 0): 6, (0, 0, 1, 0): 2, (1, 0, 0, 1): 2})
    predicted = np.array([0, 1, 1])
    assert naive_bayes.accuracy(predicted, rows, "t") == pytest.approx(0.8)
    assert naive_bayes.balanced_accuracy(predicted, rows, "t") == pytest.approx((0.75 + 1) / 2)
    assert naive_bayes.accuracy(np.array([], dtype=np.int64), histogram({}), "t") is None


# --- all of it ---


@given(case=cases, beta=st.sampled_from([Fraction(1, 3), Fraction(1)]))
@example(case={}, beta=Fraction(1, 3))
def test_every_candidate_has_finite_figures_that_json_can_hold(case: Cases, beta: Fraction) -> None:
    found = utility(candidate(case), safe(beta))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    release, sample, full = (sum(table.values()) for table in parts(case))
    assert found["kept"]["of the sample"] == (release / sample if sample else None)
    assert found["kept"]["of the table"] == (release / full if full else None)
    assert found["classifiers"]["t"]["rows tested"] == full - sample


def test_only_sensitive_attributes_with_several_values_are_predicted() -> None:
    case: Cases = {(0, 0, 0, 0): (9, 5), (1, 0, 1, 1): (9, 5)}
    assert list(utility(candidate(case, "xy"), safe())["classifiers"]) == ["x"]
    assert utility(candidate(case, ""), safe())["classifiers"] == {}


def test_a_classifier_that_would_not_fit_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdgate.kinds.rows.utility.MOST_TABLE", 3)
    assert utility(candidate({(0, 0, 0, 0): (9, 5), (1, 0, 1, 1): (9, 5)}), safe())["classifiers"] == {}
