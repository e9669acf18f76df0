"""levels.csv: the coarser value of each value, consistent along every path."""

import pytest

from crowdgate.errors import VerificationFailed
from crowdgate.publish.dictionary import DictionaryEntry
from crowdgate.publish.levels import CoarserLine, domains_of

LISTED = (
    DictionaryEntry("age", "exact", ("0", "1", "2", "3"), ""),
    DictionaryEntry("age", "pairs", ("0 to 1", "2 to 3"), ""),
    DictionaryEntry("age", "halves", ("low", "high"), ""),
)
LINES: list[CoarserLine] = [
    *(("age", "exact", str(at), "pairs", "0 to 1" if at < 2 else "2 to 3") for at in range(4)),
    *(("age", "exact", str(at), "halves", "low" if at < 2 else "high") for at in range(4)),
    ("age", "pairs", "0 to 1", "halves", "low"),
    ("age", "pairs", "2 to 3", "halves", "high"),
]


def test_levels_that_nest_are_read() -> None:
    assert domains_of(LISTED, LINES).codes("age", "exact", "halves").tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("at", range(len(LINES)))
def test_a_value_that_belongs_elsewhere_by_way_of_another_level_is_refused(at: int) -> None:
    other = {"0 to 1": "2 to 3", "2 to 3": "0 to 1", "low": "high", "high": "low"}
    lines = [(*line[:4], other[line[4]]) if i == at else line for i, line in enumerate(LINES)]
    with pytest.raises(VerificationFailed, match="its levels differ from those"):
        domains_of(LISTED, lines)
