"""Minimal uniques equal those of the definition, and scores those that sdcMicro publishes."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.histogram import Histogram, collapse
from crowdgate.risk import minimal_uniques as module
from crowdgate.risk.minimal_uniques import MinimalUniques, minimal_uniques, score_weights, suda
from tests.examples import examples

GUIDE = pd.DataFrame(
    {
        "residence": ["Urban"] * 4 + ["Rural"] + ["Urban"] * 5,
        "gender": ["F", "F", "F", "M", "F", "M", "F", "M", "F", "F"],
        "education": ["secondary incomplete", "secondary incomplete", "primary incomplete", "secondary complete",
                      "secondary complete", "secondary complete", "primary complete", "post-secondary",
                      "secondary incomplete", "secondary incomplete"],
        "labor": ["employed", "employed", "non-LF", "employed", "unemployed", "employed", "non-LF", "unemployed",
                  "non-LF", "non-LF"],
    }
)  # fmt: skip
"""Table 4.5 of the guide to statistical disclosure control of the World Bank's IHSN (sdcpractice.readthedocs.io)."""
BOOK = pd.DataFrame(
    {
        "age": ["20s"] * 7 + ["60s"],
        "gender": ["male"] * 4 + ["female"] * 3 + ["male"],
        "income": ["50k+"] * 2 + ["50k-"] * 6,
        "education": ["high"] * 4 + ["university", "high", "middle", "university"],
    }
)
"""M. Templ, Statistical disclosure control for microdata (2017), from sdcMicro's test_suda2.R."""
THREE = pd.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
"""From sdcMicro's test_suda2.R."""


def counted(frame: pd.DataFrame) -> Histogram:
    coded = {name: pd.factorize(frame[name]) for name in frame}
    sizes = tuple(max(1, len(values)) for _, values in coded.values())
    codes = [codes.astype(np.int64) for codes, _ in coded.values()]
    return collapse(tuple(frame.columns), sizes, codes, np.ones(len(frame), dtype=np.int64))


def by_row(frame: pd.DataFrame, values: np.ndarray, uniques: MinimalUniques) -> list[float]:
    """Return values of records, for each row of the frame."""
    cells = counted(frame)
    names = {tuple(int(column[at]) for column in cells.codes): value
             for at, value in zip(uniques.records.tolist(), values.tolist(), strict=True)}  # fmt: skip
    rows = zip(*(pd.factorize(frame[name])[0].tolist() for name in frame), strict=True)
    return [names.get(row, 0.0) for row in rows]


def brute(frame: pd.DataFrame, up_to: int) -> dict[int, set[tuple[int, ...]]]:
    """Return for each row the sets of columns in which it is unique, but not in any proper subset."""
    alone = {
        subset: ~frame.duplicated(list(frame.columns[list(subset)]), keep=False)
        for size in range(1, up_to + 1)
        for subset in combinations(range(frame.shape[1]), size)
    }
    return {
        row: {
            subset for subset, unique in alone.items()
            if unique[row] and not any(alone[part][row] for part in combinations(subset, len(subset) - 1) if part)
        }
        for row in frame.index
    }  # fmt: skip


@settings(max_examples=examples(120), deadline=None)
@given(data=st.data(), width=st.integers(1, 5), rows=st.integers(0, 14), small=st.booleans())
def test_minimal_uniques_are_those_of_the_definition(data: st.DataObject, width: int, rows: int, small: bool) -> None:
    cells = st.lists(st.integers(0, 3), min_size=rows, max_size=rows)
    frame = pd.DataFrame({f"c{i}": data.draw(cells) for i in range(width)}, dtype=np.int64)
    up_to, histogram = data.draw(st.integers(1, width)), counted(frame)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE_CELLS", 1 if small else 1 << 24)
        uniques = minimal_uniques(histogram, up_to)
    found = {
        tuple(int(codes[place]) for codes in histogram.codes): {s for s, who in uniques.found.items() if at in who}
        for at, place in enumerate(uniques.records.tolist())
    }
    coded = list(zip(*(pd.factorize(frame[name])[0].tolist() for name in frame), strict=True))
    assert [found.get(row, set()) for row in coded] == list(brute(frame, up_to).values())
    counts = np.array([[sum(len(s) == size for s in own) for size in range(1, up_to + 1)] for own in found.values()])
    assert (uniques.sizes == counts.reshape(-1, up_to)).all()


@pytest.mark.parametrize("up_to", [3, 4])
def test_the_scores_of_the_guide(up_to: int) -> None:
    uniques = minimal_uniques(counted(GUIDE), up_to)
    assert by_row(GUIDE, suda(uniques).scores, uniques) == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def test_the_dis_suda_scores_of_the_guide_are_of_the_older_scores() -> None:
    """The guide prints .0051, .0107, .0051 and .0088 beside scores of 6, 12, 6 and 10. They follow from the scores
    before version 5.0.3 (1.75, 3.25, 1.75, 2.75); from the printed scores they would be .0050, .0114, .0050, .0092."""
    uniques = minimal_uniques(counted(GUIDE), 4)
    older, newer = suda(uniques, scores="ihsn"), suda(uniques)
    assert by_row(GUIDE, older.scores, uniques)[2:8:2] == [1.75, 3.25, 1.75]
    assert by_row(GUIDE, older.dis.round(4), uniques) == [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]
    assert by_row(GUIDE, newer.dis.round(4), uniques) == [0, 0, 0.0050, 0, 0.0114, 0, 0.0050, 0.0092, 0, 0]


def test_the_scores_of_the_book() -> None:
    uniques = minimal_uniques(counted(BOOK), 4)
    assert by_row(BOOK, suda(uniques).scores, uniques)[4:] == [4, 2, 6, 8]


@pytest.mark.parametrize("order", [["a", "b", "c"], ["a", "c", "b"], ["c", "a", "b"], ["c", "b", "a"]])
def test_the_contributions_of_the_packages_own_example(order: list[str]) -> None:
    found = suda(minimal_uniques(counted(THREE[order]), 3))
    assert dict(zip(order, found.shares.tolist(), strict=True)) == {"a": 0.5, "b": 0.375, "c": 0.375}


def test_weights_are_those_that_the_package_prints() -> None:
    assert score_weights(4, 4).tolist() == [6, 2, 1, 1]
    assert score_weights(8, 3).tolist() == [7 * 6 * 5, 6 * 5, 5]
    assert score_weights(4, 4, "ihsn").tolist() == [1.75, 0.5, 0.25, 0]


def test_nobody_and_a_table_of_equals_have_no_scores() -> None:
    for frame in (GUIDE[:0], pd.concat([GUIDE[:1]] * 3)):
        found = suda(minimal_uniques(counted(frame), 2))
        assert not found.scores.any()
        assert np.isfinite(found.shares).all()


def test_without_pairs_every_match_is_right() -> None:
    assert suda(minimal_uniques(counted(THREE), 2)).dis.tolist() == [1, 1, 1]


def test_what_cannot_be_looked_for_is_refused() -> None:
    histogram = counted(GUIDE)
    for up_to in (0, 5):
        with pytest.raises(ValueError, match="up_to must be 1 to 4"):
            minimal_uniques(histogram, up_to)
    wide = pd.DataFrame({f"c{i}": [0, 1] for i in range(40)})
    with pytest.raises(ValueError, match="too many: at most 100000"):
        minimal_uniques(counted(wide), 5)
    for fraction in (0, 1, -1, float("nan")):
        with pytest.raises(ValueError, match="fraction must be above 0 and below 1"):
            suda(minimal_uniques(histogram, 1), fraction)
