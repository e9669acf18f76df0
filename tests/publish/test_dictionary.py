"""dictionary.csv and other listings: they round-trip, or are refused."""

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdgate.errors import VerificationFailed
from crowdgate.publish import dictionary
from crowdgate.publish.dictionary import DICTIONARY_COLUMNS, DictionaryEntry, read_dictionary, write_dictionary
from tests.strategies import labels

names = st.tuples(labels, labels)
listed = st.dictionaries(
    names, st.tuples(st.lists(labels, min_size=1, max_size=5, unique=True), st.just("") | labels), max_size=4
).map(lambda found: [DictionaryEntry(*name, tuple(own), words) for name, (own, words) in found.items()])
HEADER = ",".join(DICTIONARY_COLUMNS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(listed=listed)
def test_a_dictionary_is_read_as_it_was_written(tmp_path: Path, listed: list[DictionaryEntry]) -> None:
    out = BytesIO()
    write_dictionary(listed, out)
    path = tmp_path / "dictionary.csv"
    path.write_bytes(out.getvalue())
    assert read_dictionary(path) == tuple(listed)


WRONG: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "its columns must be column, level, code"),
    "another header": (b"column,level,code,label\n", "its columns must be"),
    "a short line": (f"{HEADER}\na,exact,0,x\n".encode(), "another number of cells"),
    "a long line": (f"{HEADER}\na,exact,0,x,,\n".encode(), "another number of cells"),
    "an empty line": (f"{HEADER}\na,exact,0,x,\n\n".encode(), "another number of cells"),
    "a value twice": (f"{HEADER}\na,exact,0,x,\na,exact,1,x,\n".encode(), "is listed twice"),
    "a column at a level twice": (f"{HEADER}\na,exact,0,x,one\na,exact,1,y,two\n".encode(), "is listed twice"),
    "an open quote": (
        f'{HEADER}\na,exact,0,"x,\n'.encode(),
        "bytes differ from those that Crowdgate would write for this list",
    ),
    "text after a quote": (
        f'{HEADER}\na,exact,0,"x"y,\n'.encode(),
        "bytes differ from those that Crowdgate would write for this list",
    ),
    "no text": (
        f"{HEADER}\na,exact,0,".encode() + b"\xff,\n",
        "bytes differ from those that Crowdgate would write for this list",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_dictionary_is_refused(tmp_path: Path, name: str) -> None:
    data, found = WRONG[name]
    path = tmp_path / "dictionary.csv"
    path.write_bytes(data)
    with pytest.raises(VerificationFailed, match=f"dictionary.csv: .*{found}"):
        read_dictionary(path)


def test_a_dictionary_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary, "LARGEST_LISTING", 10)
    path = tmp_path / "dictionary.csv"
    path.write_text(f"{HEADER}\n")
    with pytest.raises(VerificationFailed, match="larger than 10 bytes"):
        read_dictionary(path)


def test_a_label_may_be_longer_than_the_library_expects(tmp_path: Path) -> None:
    """The csv module refuses cells of more than 131,072 characters by default."""
    listed, out = (DictionaryEntry("ward", "exact", ("north", "x" * 140_000), "y" * 140_000),), BytesIO()
    write_dictionary(listed, out)
    (tmp_path / "dictionary.csv").write_bytes(out.getvalue())
    assert read_dictionary(tmp_path / "dictionary.csv") == listed
