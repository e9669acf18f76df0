"""Files that need more resources than their size: one cell affects its own row only, and oversized parts are refused
unread.
"""

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.domain import Domain
from crowdgate.errors import FileFault
from crowdgate.limits import LARGEST_PAGE, LONGEST_CELL, LONGEST_ID
from crowdgate.sources import open_source, pages, parquet_footer, thrift
from crowdgate.sources.counting import CountingTask, count_table, serial
from crowdgate.sources.encode import Reason
from crowdgate.sources.parquet_footer import footer_of
from tests.examples import examples
from tests.sources.test_sources import WORDS, attribute, contract_of, read, write

SPARE = 1 << 30
"""Bytes of memory that reading may use in addition to the process."""


def csv_of(path: Path, cells: list[str]) -> None:
    path.write_text("x\n" + "".join(f"{cell}\n" for cell in cells))


def parquet_of(**options: Any) -> Callable[[Path, list[str]], None]:
    return lambda path, cells: pq.write_table(pa.table({"x": cells}), path, **options)


WRITERS: dict[str, tuple[str, Callable[[Path, list[str]], None]]] = {
    "csv": ("csv", csv_of),
    "quoted csv": ("csv", lambda path, cells: csv_of(path, [f'"{cell}"' for cell in cells])),
    "dictionary": ("parquet", parquet_of(compression="zstd", dictionary_pagesize_limit=1 << 24)),
    "plain": ("parquet", parquet_of(compression="snappy", use_dictionary=False)),
    "version 2": ("parquet", parquet_of(compression="gzip", data_page_version="2.0", data_page_size=1000)),
}


@pytest.mark.parametrize("how", WRITERS)
@pytest.mark.parametrize("invalid", ["level", "drop"])
def test_all_other_rows_are_read_as_without_a_cell_that_is_too_long(how: str, invalid: str, tmp_path: Path) -> None:
    kind, written = WRITERS[how]
    words = ["a", "1", "é", "nothing"] * 500
    long = "a" * (LONGEST_CELL * 40)
    written(tmp_path / "with", [*words[:700], long, *words[700:]])
    written(tmp_path / "without", words)
    spec = attribute("x", WORDS, invalid)
    rows, others = (read(contract_of(tmp_path / name, spec, kind=kind)) for name in ("with", "without"))
    if invalid == "level":
        assert rows.pop(700) == (WORDS.size,)
    assert rows == others


@pytest.mark.parametrize("over", [0, 1])
def test_a_text_is_one_that_a_domain_may_hold_up_to_its_limit(over: int, tmp_path: Path) -> None:
    cell = "a" * (LONGEST_CELL + over)
    csv_of(tmp_path / "t.csv", [cell])
    contract = contract_of(tmp_path / "t.csv", attribute("x", Domain((cell,), "test")), kind="csv")
    facts = count_table(open_source(contract, ["x"]), CountingTask(contract, ("x",), {}), serial()).facts
    assert facts.reasons == ({("x", Reason.UNREADABLE): 1} if over else {})


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_binary(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
@pytest.mark.parametrize("unique", [False, True])
def test_a_text_that_many_rows_share_is_held_once(kind: Any, unique: bool, tmp_path: Path) -> None:
    words = ["a" * (LONGEST_ID + 1), "b"] * 3000
    column = pa.array(words).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(words, kind)
    path = write(tmp_path / "t.parquet", {"x": column})
    (part,) = open_source(contract_of(path, attribute("x", WORDS)), ["x"]).parts
    (batch,) = part.read(["x"], ["x"] if unique else [])
    assert pa.types.is_dictionary(batch.cells["x"].type)


@pytest.mark.parametrize("width", [LONGEST_ID, LONGEST_ID + 1])
def test_a_person_whose_id_is_too_long_is_nobody(width: int, tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", {"x": ["a", "a", "1"], "id": ["p" * width, "p" * width, "q"]})
    contract = contract_of(path, attribute("x", WORDS), person="id")
    people = count_table(open_source(contract, ["x"]), CountingTask(contract, ("x",), {}), serial()).people
    assert people is not None
    assert people.named == (3 if width == LONGEST_ID else 1)


cells = st.text("ab", max_size=30) | st.integers(0, 3000).map(lambda size: "z" * size)


@settings(max_examples=examples(40), deadline=None)
@given(
    columns=st.lists(st.lists(st.none() | cells, min_size=12, max_size=12), min_size=1, max_size=3),
    dictionary=st.booleans(),
    codec=st.sampled_from(["none", "snappy", "gzip", "brotli", "lz4", "zstd"]),
    version=st.sampled_from(["1.0", "2.0"]),
    page=st.integers(1, 4000),
    group=st.integers(1, 13),
)
def test_headers_say_what_pages_hold(
    columns: list[list[str | None]],
    dictionary: bool,
    codec: str,
    version: str,
    page: int,
    group: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("pages") / "t.parquet"
    table = pa.table({f"c{at}": pa.array(column, pa.string()) for at, column in enumerate(columns)})
    options = {"use_dictionary": dictionary, "data_page_version": version, "data_page_size": page}
    pq.write_table(table, path, group, compression=codec, write_batch_size=1, write_statistics=False, **options)
    metadata = pq.read_metadata(path)
    with path.open("rb") as file:
        places = pages.places_of(footer_of(file), table.column_names)
        groups = list(pages.chunks_of(file, places))
    assert list(pages.chunks_of(path.read_bytes(), places)) == groups
    for number, found in enumerate(groups):
        assert [chunk.name for chunk in found] == table.column_names
        for at, chunk in enumerate(found):
            said = metadata.row_group(number).column(at)
            assert sum(each.values for each in chunk.data) == said.num_values
            # the footer counts headers as well
            assert 0 <= said.total_uncompressed_size - sum(each.bytes for each in chunk.pages) < 100 * len(chunk.pages)


@settings(max_examples=examples(40))
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1, max_size=6), min_size=1, max_size=3),
    st.integers(1, 9),
)
def test_no_run_of_rows_touches_more_than_is_said(columns: list[list[tuple[int, int]]], rows: int) -> None:
    for column in columns:
        found = [pages.ParquetPage(size, values, 0, 0) for size, values in column]
        of_row = np.repeat(np.arange(len(column)), [values for _, values in column])
        runs = (set(of_row[at : at + rows].tolist()) for at in range(len(of_row)))
        assert pages._fullest(found, rows) == max(sum(column[page][0] for page in run) for run in runs)


@given(st.binary(max_size=80) | st.sampled_from([b"\x19\x19" * 5000, b"\x1c" * 5000, b"\x1b\x01\xbb" * 3000]))
def test_any_bytes_are_a_struct_or_none(data: bytes) -> None:
    with suppress(ValueError):
        assert thrift.parse(data, pages.HEADER).size <= len(data)


def chunk(*held: int, width: int = 0) -> pages.ColumnChunk:
    return pages.ColumnChunk("x", 1, width, tuple(pages.ParquetPage(size, 1000, 0, 0) for size in held))


def test_batches_have_fewer_rows_the_longer_cells_are() -> None:
    assert pages.batch_rows([chunk(1 << 20)], ()) == pages.MOST_ROWS
    assert pages.batch_rows([chunk(*[LARGEST_PAGE] * 9)], ()) < 4000
    assert pages.batch_rows([chunk(pages.MOST_BYTES)], ()) == pages.MOST_ROWS
    assert pages.batch_rows([chunk(pages.MOST_BYTES + 1)], ()) == 1
    assert pages.batch_rows([chunk(1, width=1 << 20)], ()) < 512


def big(path: Path, **options: Any) -> Path:
    pq.write_table(pa.table({"x": ["a", "z" * (2 << 20)]}), path, **options)
    return path


def claimed(path: Path, size: int) -> Path:
    """Write a file whose first page states so many decompressed bytes."""
    content = bytearray(path.read_bytes())
    said = thrift.parse(bytes(content[4:1000]), pages.HEADER).fields[2]
    assert isinstance(said, int)
    before, after = zigzag(said), zigzag(size)
    path.write_bytes(content.replace(before, after, 1))
    return path


def zigzag(number: int) -> bytes:
    """Return a number in the encoding of headers."""
    value = 2 * number if number >= 0 else -2 * number - 1
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def coded(path: Path, encoding: str) -> Path:
    table = pa.table({"x": ["a", "ab"]})
    pq.write_table(table, path, use_dictionary=False, column_encoding={"x": encoding})
    return path


def footed(path: Path) -> Path:
    pq.write_table(pa.table({"x": ["a"]}).replace_schema_metadata({"note": "a" * (1 << 20)}), path)
    return path


REFUSED: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a large page": (lambda path: big(path), "column 'x' has a page of more than 1 MiB"),
    "a large plain page": (
        lambda path: big(path, use_dictionary=False, compression="zstd"),
        "a page of more than 1 MiB",
    ),
    "a page that claims 2 GiB": (
        lambda path: claimed(big(path, use_dictionary=False), 2**31 - 1),
        "column 'x' has a page of more than",
    ),
    "a page of negative size": (
        lambda path: claimed(big(path, use_dictionary=False), -1),
        "the header of a page can't be read",
    ),
    "many values": (
        lambda path: write(path, {"x": list(map(str, range(99)))}),
        "has a dictionary of more than 64 values",
    ),
    "texts as differences": (lambda path: coded(path, "DELTA_BYTE_ARRAY"), "column 'x' is encoded as DELTA_BYTE_ARRAY"),
    "lengths as differences": (
        lambda path: coded(path, "DELTA_LENGTH_BYTE_ARRAY"),
        "write it plain or with a dictionary",
    ),
    "a large footer": (footed, "its footer is larger than 1 MiB"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_would_take_too_much_memory_is_refused_before_it_is_read(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, message = REFUSED[what]
    path = make(tmp_path / "t.parquet")
    monkeypatch.setattr(parquet_footer, "LARGEST_FOOTER", 1 << 20)
    monkeypatch.setattr(pages, "LARGEST_PAGE", 1 << 20)
    monkeypatch.setattr(pages, "MOST_PAGE_VALUES", 64)
    with pytest.raises(FileFault, match=message):
        open_source(contract_of(path, attribute("x", WORDS)), ["x"])


def test_columns_that_are_large_together_are_refused_and_unread_ones_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "t.parquet", {name: [name * 5000] for name in "abc"})
    contract = contract_of(path, *(attribute(name, WORDS) for name in "abc"))
    monkeypatch.setattr(pages, "LARGEST_PAGES", 11_000)
    assert len(open_source(contract, ["a", "b"]).parts) == 1
    with pytest.raises(FileFault, match="its columns have pages of more than"):
        open_source(contract, ["a", "b", "c"])


READ = """
import resource, sys
from pathlib import Path
from tests.sources.test_sources import WORDS, attribute, contract_of, read
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + int(sys.argv[2]),) * 2)
print(len(read(contract_of(Path(sys.argv[1]), attribute("x", WORDS), kind=sys.argv[3]))))
"""


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads its own size from /proc")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_longest_cell_that_is_read_takes_no_more_memory_than_is_said(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{kind}"
    # of the longest page in a dictionary, and of a line that is left out
    size = LARGEST_PAGE - (1 << 10 if kind == "parquet" else 0)
    long = pa.array(["a", "z" * size])
    table = pa.table({"x": pa.DictionaryArray.from_arrays(pa.array([0, 1] * 500, pa.int32()), long)})
    if kind == "parquet":
        pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=1 << 30)
        assert path.stat().st_size < 1 << 16
    else:
        csv_of(path, ["a", "z" * size, *["a"] * 998])
    ended = subprocess.run(
        [sys.executable, "-c", READ, str(path), str(SPARE), kind], capture_output=True, text=True, check=False
    )
    assert ended.stdout == ("1000\n" if kind == "parquet" else "999\n"), ended.stderr
