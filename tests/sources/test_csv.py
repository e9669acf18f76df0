"""CSV of hostile bytes: a line is a row, whatever the lines around it hold, and no bytes after the header stop it."""

import csv
import logging
import re
import traceback
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Attribute, Contract, PrivacyUnit, Role
from crowdgate.domain import Domain, categories, numbers
from crowdgate.errors import FileFault
from crowdgate.hierarchy import Level, hierarchy
from crowdgate.histogram import View
from crowdgate.sampling import SecretKey
from crowdgate.sources import csv as csv_files
from crowdgate.sources import joined_batches, open_source
from crowdgate.sources.counting import CountingTask, count_table, histograms, serial
from crowdgate.sources.csv import parse, read_blocks
from crowdgate.sources.csv_header import read_header
from crowdgate.sources.facts import TableFacts
from tests.examples import examples
from tests.reading import batches, file_server

MARK = "ZZMARKZZ"
quick = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

WORDS = categories(["a", "1", "b,c", 'q"', "é", "\u200fx", "\ufffd", "a\0", " a"], "test")
DIGITS = numbers(Fraction(0), Fraction(9), Fraction(1), "test")

ATOMS = [
    b"a",
    b"1",
    b",",
    b",",
    b'"',
    b"\r",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\x80",
    b"\xc3\xa9",
    b" ",
    b";",
    b"\\",
    b"'",
]
ATOMS += ["\u200fx".encode(), b"\xef\xbb\xbf", b"\x0b", b"\x85", b"\xe2\x80\xa8", b"#"]
hostile = st.lists(st.sampled_from(ATOMS), max_size=40).map(b"".join)
tame = st.lists(st.sampled_from([atom for atom in ATOMS if atom != b'"']), max_size=40).map(b"".join)


def cells_of(line: bytes, delimiter: bytes = b",") -> list[bytes]:
    """Return the cells of one line by the rules of CSV, one byte at a time: the reference of the reader."""
    cells, cell, state = list[bytes](), b"", "start"
    for byte in (line[i : i + 1] for i in range(len(line))):
        if byte == delimiter and state != "quoted":
            cells, cell, state = [*cells, cell], b"", "start"
        elif byte == b'"' and state == "start":
            state = "quoted"
        elif byte == b'"' and state == "quoted":
            state = "closing"
        elif byte == b'"' and state == "closing":
            cell, state = cell + byte, "quoted"
        else:
            cell, state = cell + byte, "quoted" if state == "quoted" else "plain"
    return [*cells, cell]


def reference(body: bytes, width: int) -> tuple[list[list[bytes]], int]:
    """Return the rows of a body and the number of ragged lines."""
    rows = [cells_of(line) for line in re.split(rb"\r\n|\r|\n", body) if line]
    whole = [row for row in rows if len(row) == width]
    return whole, len(rows) - len(whole)


fields = st.sampled_from([b"a", b"", b'""', b'"a"', b'"a,b"', b'"\xff\0"', b"1", b'"a""b"', b'a"b', b'"'])
orderly = st.lists(st.lists(fields, min_size=1, max_size=3).map(b",".join), max_size=8).map(b"\n".join)


@quick
@given(body=hostile | tame | orderly, width=st.integers(1, 3), block_bytes=st.integers(1, 50))
def test_the_rows_of_any_bytes_are_those_of_the_reference(
    body: bytes, width: int, block_bytes: int, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"header\n" + body)
    parsed = [parse(block, ",", width, range(width)) for block, _ in read_blocks(path, 7, block_bytes)]
    rows = Counter(row for part in parsed for row in zip(*(column.to_pylist() for column in part.cells), strict=True))
    expected, ragged = reference(body, width)
    assert rows == Counter(map(tuple, expected))
    assert sum(part.ragged for part in parsed) == ragged


@quick
@given(body=hostile | st.binary() | orderly, level=st.sampled_from(["level", "drop"]))
def test_no_bytes_after_the_header_raise(body: bytes, level: Any, tmp_path: Path) -> None:
    contract = contract_of(tmp_path / "t.csv", attribute("x", WORDS, level), attribute("n", DIGITS, level))
    (tmp_path / "t.csv").write_bytes(b"x,n\n" + body)
    expected = [row for row in map(codes_of(contract), reference(body, 2)[0]) if row is not None]
    seen = TableFacts()
    assert Counter(read(contract, seen)) == Counter(expected)
    assert seen.rows == sum(1 for line in re.split(rb"\r\n|\r|\n", body) if line)


@quick
@given(rows=st.lists(st.sampled_from([b"a,1", b"1,2", b'"b,c",3', b'"q""",4']), max_size=6), bad=hostile)
def test_one_bad_line_changes_no_other_row(rows: list[bytes], bad: bytes, tmp_path: Path) -> None:
    line = re.sub(rb"[\r\n]", b"", bad)
    specs = attribute("x", WORDS, "drop"), attribute("n", DIGITS, "drop")
    contract = contract_of(tmp_path / "t.csv", *specs)
    found = []
    for body in (rows, [*rows[:2], line, *rows[2:]], [line]):
        (tmp_path / "t.csv").write_bytes(b"\n".join([b"x,n", *body]))
        found.append(Counter(read(contract)))
    without, with_it, alone = found
    assert with_it == without + alone


@quick
@given(rows=st.lists(hostile.map(lambda row: re.sub(rb"[\r\n]", b"", row)), max_size=8), cut=st.integers(0, 8))
def test_splitting_lines_into_two_files_gives_the_same_rows(rows: list[bytes], cut: int, tmp_path: Path) -> None:
    specs = attribute("x", WORDS), attribute("n", DIGITS)
    folder = tmp_path / "parts"
    folder.mkdir(exist_ok=True)
    for path, part in ((folder / "1.csv", rows[:cut]), (folder / "2.csv", rows[cut:]), (tmp_path / "all.csv", rows)):
        path.write_bytes(b"\r\n".join([b"x,n", *part]))
    halves, whole = contract_of(folder, *specs), contract_of(tmp_path / "all.csv", *specs)
    assert Counter(read(halves)) == Counter(read(whole))


@quick
@given(lines=st.lists(hostile.map(lambda row: re.sub(rb"[\r\n]", b"", row)), max_size=20))
def test_the_person_bound_of_a_csv_chooses_one_row_per_id(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\n".join([b"id,x", *lines]))
    contract = contract_of(path, attribute("x", WORDS), person="id")
    task = CountingTask(contract, ("x",), {"x": View({"x": every(WORDS)})})
    total = count_table(open_source(contract, ["x"]), task, serial())
    people = {row[0] for row in reference(b"\n".join(lines), 2)[0] if row[0] and is_utf8(row[0])}
    assert total.people is not None
    assert set(total.people.ids.to_pylist()) == people
    assert histograms(total, task, SecretKey(bytes(32), injected=True))["x"].rows == len(people)


def every(domain: Domain) -> Level:
    """Return the level of all values, with one for invalid cells."""
    return hierarchy(domain, [], invalid_level=True).level("exact")


def is_utf8(cell: bytes) -> bool:
    return cell.decode("utf-8", "ignore").encode() == cell


def attribute(name: str, domain: Domain, invalid: Any = "level") -> Attribute:
    return Attribute(name, Role.QUASI_IDENTIFIER, domain=domain, invalid=invalid)


def contract_of(path: Path, *attributes: Attribute, person: str | None = None, delimiter: str = ",") -> Contract:
    return Contract("c", "1", "people", PrivacyUnit(person), file_server(path, "csv", delimiter), attributes)


def codes_of(contract: Contract) -> Any:
    """Return the codes of a row's cells by the contract, or None for a row that is dropped."""

    def codes(row: Sequence[bytes]) -> tuple[int, ...] | None:
        found = []
        for cell, spec in zip(row, contract.attributes, strict=True):
            assert spec.domain is not None
            code = spec.domain.code(cell.decode("utf-8", "surrogateescape"))
            if code < 0 and spec.invalid == "drop":
                return None
            found.append(code if code >= 0 else spec.domain.size)
        return tuple(found)

    return codes


def codes(batches: Sequence[Any]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    for batch in batches:
        keep = np.ones(batch.rows, dtype=bool) if batch.keep is None else batch.keep
        found += zip(*(column.codes[keep].tolist() for column in batch.columns.values()), strict=True)
    return found


def read(contract: Contract, seen: TableFacts | None = None) -> list[tuple[int, ...]]:
    return codes(list(batches(contract, seen)))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("last", [True, False])
def test_every_line_end_ends_a_line(end: bytes, last: bool, tmp_path: Path) -> None:
    lines = [b"x,n", b"a,1", b"1,2", b"", b'"a",3']
    (tmp_path / "t.csv").write_bytes(end.join(lines) + (end if last else b""))
    assert read(contract_of(tmp_path / "t.csv", attribute("x", WORDS), attribute("n", DIGITS))) == [
        (0, 1),
        (1, 2),
        (0, 3),
    ]


def test_only_the_files_own_byte_order_mark_is_left_out() -> None:
    for line in (b"\xef\xbb\xbfa,1", b"\xef,1", b"\xef\xbb\xbf,1", b'\xef\xbb\xbf"a",1'):
        parsed = parse(line, ",", 2, [0])
        assert parsed.cells[0].to_pylist() == [line[:-2]]


def test_an_open_quote_ends_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('x,n\n"a,1\na,2\n7,"3\n"b,c",4\n')
    seen = TableFacts()
    contract = contract_of(tmp_path / "t.csv", attribute("x", WORDS), attribute("n", DIGITS))
    assert sorted(read(contract, seen)) == [(0, 2), (2, 4), (len(WORDS), 3)]
    assert (seen.rows, seen.ragged) == (4, 1)


HALF_QUOTED = [
    b'"a,1\nb",2',
    b'"a\n",1',
    b'1,"a\r\nb"',
    b'a"b,c",1',
    b'"a""b",1',
    b'"a"b,1',
    b'"","',
    b'"a",1\n"b,2\n"c",3',
    b'a,1\nb,"\n',
    b'a,"1"\r\n\r\nb,"2\r\n\r\n',
]


@pytest.mark.parametrize("body", HALF_QUOTED)
def test_the_fast_way_through_quotes_takes_no_line_that_it_would_read_otherwise(body: bytes) -> None:
    parsed = parse(body, ",", 2, [0, 1])
    rows, ragged = reference(body, 2)
    assert sorted(zip(*(column.to_pylist() for column in parsed.cells), strict=True)) == sorted(map(tuple, rows))
    assert parsed.ragged == ragged


def test_ragged_lines_are_counted_where_no_column_is_wanted() -> None:
    assert parse(b'v,v\rv,"a\rb"\r', ",", 2, []).ragged == reference(b'v,v\rv,"a\rb"\r', 2)[1] == 1


def test_a_ragged_line_is_dropped_and_counted_even_where_cells_may_be_invalid(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"x,n\na,1\na\na,1,2\n\xff\xff\n,\na,2")
    seen = TableFacts()
    contract = contract_of(tmp_path / "t.csv", attribute("x", WORDS), attribute("n", DIGITS))
    assert read(contract, seen) == [(0, 1), (len(WORDS), len(DIGITS)), (0, 2)]
    assert (seen.rows, seen.ragged, seen.dropped, seen.broken) == (6, 3, 3, 4)


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("size", [10_000, 1_000_000])
def test_a_cell_of_any_length_is_one_invalid_cell(size: int, quote: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"x,n\na,1\n{quote}{'z' * size}{quote},2\n1,3\n")
    contract = contract_of(tmp_path / "t.csv", attribute("x", WORDS), attribute("n", DIGITS))
    assert sorted(read(contract)) == [(0, 1), (1, 3), (len(WORDS), 2)]


@pytest.mark.parametrize("block_bytes", [3, 7, 64])
def test_a_line_beyond_the_longest_is_ragged_wherever_blocks_are_cut(
    block_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "LONGEST_LINE", 10)
    (tmp_path / "t.csv").write_bytes(b"h\n1,2\n" + b"x" * 9 + b",2\n" + b"3" * 8 + b",4\n5,6\n")
    parsed = [parse(block, ",", 2, [1]) for block, _ in read_blocks(tmp_path / "t.csv", 2, block_bytes)]
    assert sum(part.ragged for part in parsed) == 1
    assert [cell for part in parsed for cell in part.cells[0].to_pylist()] == [b"2", b"4", b"6"]


def test_a_block_that_the_fast_parser_refuses_is_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise pyarrow.ArrowInvalid(MARK)

    monkeypatch.setattr(pyarrow.csv, "read_csv", refuse)
    parsed = parse(b"a,1\nb\nc,2", ",", 2, [1])
    assert ([cell.as_py() for cell in parsed.cells[0]], parsed.ragged) == ([b"1", b"2"], 1)


@pytest.mark.parametrize("delimiter", [";", "\t", "|", "§"])
def test_the_delimiter_is_the_contracts(delimiter: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f'x{delimiter}n\nb,c{delimiter}1\n"b,c"{delimiter}2\n', encoding="utf-8")
    specs = attribute("x", WORDS), attribute("n", DIGITS)
    assert read(contract_of(tmp_path / "t.csv", *specs, delimiter=delimiter)) == [(2, 1), (2, 2)]


def test_words_for_missing_values_are_ordinary_text(tmp_path: Path) -> None:
    names = ["NA", "null", "NaN", "true", "0x1", "2024-01-01", "#N/A", "a"]
    (tmp_path / "t.csv").write_text("x\n" + "\n".join(names))
    assert read(contract_of(tmp_path / "t.csv", attribute("x", categories(names, "t")))) == [(i,) for i in range(8)]


AWKWARD_NAMES = ['say "hi"', "two\r\nlines", "a,b", "\u200fשם", " padded ", ""]


def test_a_header_may_hold_anything_that_quotes_can_hold(tmp_path: Path) -> None:
    with (tmp_path / "t.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([AWKWARD_NAMES, ["1", "2", "3", "4", "5", "6"]])
    for number, name in enumerate(AWKWARD_NAMES):
        assert read(contract_of(tmp_path / "t.csv", attribute(name, DIGITS))) == [(number + 1,)]


@quick
@given(names=st.lists(st.text('a,"\r\n é\u200f', max_size=4), min_size=1, max_size=4), bom=st.booleans())
def test_a_header_reads_back_as_it_was_written(names: list[str], bom: bool, tmp_path: Path) -> None:
    with (tmp_path / "t.csv").open("w", encoding="utf-8-sig" if bom else "utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerow(names)
        end = file.tell()
        file.write("1\n")
    header = read_header(tmp_path / "t.csv", ",")
    assert (header.names, header.body) == (tuple(names), end)


FAULTS = {
    "no bytes": (b"", "the file is empty"),
    "a byte order mark alone": (b"\xef\xbb\xbf", "the file is empty"),
    "empty lines alone": (b"\n\r\n", "the file is empty"),
    "a header of bad bytes": (b"x\xff,y\n" + MARK.encode(), "header is not in UTF-8"),
    "another encoding": (("\ufeffx,y\n" + MARK).encode("utf-16-le"), "header is not in UTF-8"),
    "a header whose quote never ends": (b'"x,y\n' + MARK.encode(), "header cannot be read as UTF-8"),
    "a header of a mebibyte": (b"x" * (1 << 20) + b",y\n", "header cannot be read as UTF-8"),
    "a column that is missing": (f"y\n{MARK}".encode(), "column 'x' is missing"),
    "no header, a row with a word twice": (
        f"{MARK},{MARK},x\n1,2,3\n".encode(),
        "name of a column is used",
    ),
    "no header, a column missing": (f"{MARK},{MARK}\n1,2\n".encode(), "column 'x' is missing"),
    "a name used twice": (f"x,y,x\n{MARK},,".encode(), "name of column 'x' is used twice"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_csv_without_a_usable_header_is_a_fault(fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    content, message = FAULTS[fault]
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(FileFault, match=f"^t.csv: .*{message}") as caught:
        open_source(contract_of(tmp_path / "t.csv", attribute("x", WORDS)), ["x"])
    said = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert MARK not in said
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)


def test_a_header_alone_is_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,n")
    contract = contract_of(tmp_path / "t.csv", attribute("x", WORDS), person="n")
    assert codes(list(batches(contract))) == []


def test_a_csv_may_stand_in_for_the_contracts_parquet(tmp_path: Path) -> None:
    (tmp_path / "t.CSV").write_text("x\na\n")
    contract = Contract("c", "1", "p", PrivacyUnit(), file_server(tmp_path), (attribute("x", WORDS),))
    assert codes(list(batches(contract, path=tmp_path / "t.CSV"))) == [(0,)]


def test_a_csv_that_grows_while_it_is_read_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 3)
    monkeypatch.setattr(joined_batches, "MOST_ROWS", 1)
    path = tmp_path / "t.csv"
    path.write_text("x\na\na\n")
    contract = contract_of(path, attribute("x", WORDS))
    records = batches(contract)
    next(records)
    with path.open("a") as file:
        file.write("a\n")
    with pytest.raises(FileFault, match="changed while it was read"):
        list(records)


def test_marked_values_pass_through_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    body = f'a,1\n{MARK},2\n{MARK}\n"{MARK},3\n{MARK},{MARK},"\n'.encode() + MARK.encode() + b"\xff\n"
    (tmp_path / "t.csv").write_bytes(b"x,n\n" + body)
    seen = TableFacts()
    contract = contract_of(tmp_path / "t.csv", attribute("x", WORDS, "drop"), attribute("n", DIGITS))
    assert read(contract, seen) == [(0, 1)]
    assert MARK not in caplog.text + "".join(capfd.readouterr()) + repr(vars(seen))
