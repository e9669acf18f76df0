"""Tables as codes: a cell's content decides its code and nothing else, and only files can stop a run."""

import datetime as dt
import itertools
import logging
import math
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Attribute, Contract, Fact, PrivacyUnit, Role, TableRule
from crowdgate.domain import INVALID, Domain, categories, dates, numbers
from crowdgate.errors import FileFault
from crowdgate.hierarchy import hierarchy
from crowdgate.histogram import Records
from crowdgate.sources import joined_batches, open_source
from crowdgate.sources.counting import CountingTask, count_table, serial
from crowdgate.sources.facts import TableFacts
from tests.examples import examples
from tests.reading import batches, file_server

MARK = "ZZMARKZZ"
quick = settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

WORDS = categories(["1", "0.5", "2.50", "1.0e", "true", "2024-01-05", "a", "é", "\u200fx", 'q"', "a,b"], "test")
DOMAINS = [
    WORDS,
    numbers(Fraction(0), Fraction(9), Fraction(1), "test"),
    numbers(Fraction(-5), Fraction(9), Fraction(1), "test", top=True, bottom=True),
    numbers(Fraction(0), Fraction(9), Fraction(1), "test", whole=False),
    numbers(Fraction(0), Fraction(10), Fraction(1, 2), "test", top=True),
    numbers(Fraction(-10), Fraction(10), Fraction(5), "test", whole=False, bottom=True),
    dates(dt.date(2024, 1, 1), dt.date(2024, 1, 31), "test"),
    numbers(Fraction(-10), Fraction(10), Fraction(5), "test", top=True, precision=Fraction(1)),
    numbers(Fraction(-10), Fraction(8), Fraction(6), "test", whole=False, bottom=True, precision=Fraction(3, 2)),
]


def attribute(name: str, domain: Domain, invalid: Any = "level", accepted: Sequence[int] | None = None) -> Attribute:
    mask = None if accepted is None else np.isin(np.arange(domain.size), accepted)
    levels = hierarchy(domain, [], invalid_level=invalid == "level")
    return Attribute(name, Role.QUASI_IDENTIFIER, "", domain, levels, invalid, mask)


def contract_of(
    path: Path,
    *attributes: Attribute,
    kind: Any = "parquet",
    person: str | None = None,
    rules: Sequence[TableRule] = (),
) -> Contract:
    unit, server = PrivacyUnit(person), file_server(path, kind)
    return Contract("c", "1", "people", unit, server, attributes, table_rules=tuple(rules))


def write(path: Path, columns: dict[str, Any], rows_per_group: int | None = None) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=rows_per_group)
    return path


def all_rows(batches: Iterator[Records]) -> list[tuple[int, ...]]:
    """Return the codes of the retained rows, in order."""
    found: list[tuple[int, ...]] = []
    for records in batches:
        keep = np.ones(records.rows, dtype=bool) if records.keep is None else records.keep
        columns = [column.codes[keep].tolist() for column in records.columns.values()]
        assert all(column.codes.shape == (records.rows,) for column in records.columns.values())
        found += zip(*columns, strict=True)
    return found


def read(contract: Contract, seen: TableFacts | None = None) -> list[tuple[int, ...]]:
    return all_rows(batches(contract, seen))


def expected_code(text: str | None, spec: Attribute) -> int | None:
    """Return the code of a cell's text under the contract, or None for a row that is dropped."""
    assert spec.domain is not None
    code = spec.domain.code(text)
    if code != INVALID and (spec.accepted is None or spec.accepted[code]):
        return code
    return spec.domain.size if spec.invalid == "level" else None


def number_text(value: float | None) -> str | None:
    if value is None or not math.isfinite(value):
        return None
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


small = st.integers(-20, 20)
midnights = st.integers(1, 40).map(lambda day: dt.datetime(2023, 12, 31) + dt.timedelta(days=day))
odd_text = st.one_of(st.sampled_from(WORDS.labels), small.map(str), st.text('a,"\r\n\0é\u200f\ufffd39.- ', max_size=4))
KINDS: dict[str, tuple[Any, st.SearchStrategy[Any], Callable[[Any], str | None]]] = {
    "int8": (pa.int8(), st.integers(-128, 127) | small, str),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1) | small, str),
    "uint16": (pa.uint16(), st.integers(0, 2**16 - 1) | st.integers(0, 12), str),
    "uint64": (pa.uint64(), st.integers(0, 2**64 - 1) | st.integers(0, 12), str),
    "double": (pa.float64(), st.floats() | small.map(float) | st.sampled_from([0.5, 2.5]), number_text),
    "float": (pa.float32(), small.map(lambda value: value / 4) | st.just(math.nan), number_text),
    "half": (pa.float16(), small.map(lambda value: value / 4) | st.just(math.inf), number_text),
    "bool": (pa.bool_(), st.booleans(), lambda value: str(value).lower()),
    "decimal": (pa.decimal128(6, 2), small.map(lambda value: Decimal(value * 25) / 100), lambda value: f"{value:.2f}"),
    "date": (pa.date32(), st.dates(dt.date(2023, 12, 1), dt.date(2024, 2, 20)), str),
    "timestamp": (pa.timestamp("us"), midnights | st.datetimes(dt.datetime(2024, 1, 1)), str),
    "string": (pa.string(), odd_text, str),
    "large string": (pa.large_string(), odd_text, str),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), odd_text, str),
    "binary": (
        pa.binary(),
        st.binary(max_size=3) | odd_text.map(str.encode),
        lambda v: v.decode("utf-8", "surrogateescape"),
    ),
    "null": (pa.null(), st.none(), str),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.data())
def test_a_parquet_cell_has_the_code_of_its_text_whatever_its_type(
    kind: str, data: st.DataObject, tmp_path: Path
) -> None:
    arrow, values, text = KINDS[kind]
    cells = data.draw(st.lists(st.none() | values, max_size=12))
    domain = data.draw(st.sampled_from(DOMAINS))
    accepted = data.draw(st.none() | st.lists(st.integers(0, domain.size - 1)))
    spec = attribute("x", domain, data.draw(st.sampled_from(["level", "drop"])), accepted)
    path = write(tmp_path / "t.parquet", {"x": pa.array(cells, arrow)}, data.draw(st.integers(1, 13)))
    texts = [None if cell is None else text(cell) for cell in cells]
    expected = [expected_code(each, spec) for each in texts]
    assert read(contract_of(path, spec)) == [(code,) for code in expected if code is not None]


@quick
@given(
    rows=st.lists(st.tuples(odd_text | st.none(), small | st.none()), max_size=20),
    cuts=st.lists(st.integers(0, 20), max_size=4),
    group=st.integers(1, 20),
)
def test_splitting_a_table_into_files_and_row_groups_gives_the_same_rows(
    rows: list[tuple[str | None, int | None]], cuts: list[int], group: int, tmp_path: Path
) -> None:
    folder = tmp_path / f"parts{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    specs = attribute("s", WORDS, "drop"), attribute("n", DOMAINS[2], "level")
    for number, (start, stop) in enumerate(itertools.pairwise(edges)):
        write(folder / f"part-{number}.parquet", columns_of(rows[start:stop]), group)
    whole = write(tmp_path / "whole.parquet", columns_of(rows))
    assert read(contract_of(folder, *specs)) == read(contract_of(whole, *specs))


def columns_of(rows: Sequence[tuple[str | None, int | None]]) -> dict[str, Any]:
    return {"s": pa.array([row[0] for row in rows], pa.string()), "n": pa.array([row[1] for row in rows], pa.int64())}


BAD = [None, math.nan, math.inf, -math.inf, 1e300, 0.5, 10.0**9]


@quick
@given(values=st.lists(small.map(float), max_size=8), bad=st.sampled_from(BAD), at=st.integers(0, 8))
def test_one_bad_row_changes_no_other_row(values: list[float], bad: float | None, at: int, tmp_path: Path) -> None:
    spec = attribute("n", DOMAINS[1], "drop")
    clean = write(tmp_path / "clean.parquet", {"n": pa.array([int(value) for value in values], pa.int64())})
    marred = [*values[:at], bad, *values[at:]]
    spoilt = write(tmp_path / "bad.parquet", {"n": pa.array(marred, pa.float64())})
    assert read(contract_of(clean, spec)) == read(contract_of(spoilt, spec))


@pytest.mark.parametrize("size", [10_000, 1_000_000])
def test_a_cell_of_any_length_is_one_invalid_cell(size: int, tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", {"n": ["3", "1" * size, " " * size + "x", None, "4"]})
    assert read(contract_of(path, attribute("n", DOMAINS[1], "drop"))) == [(3,), (4,)]
    assert read(contract_of(path, attribute("n", DOMAINS[1], "level"))) == [(3,), (10,), (10,), (10,), (4,)]


EXTREMES = {
    "int64": pa.array([-(2**63), 2**63 - 1, 3 * 10**9, 3 * 10**9 - 6, None]),
    "uint64": pa.array([0, 2**64 - 1, 3 * 10**9, 3 * 10**9 - 6, None], pa.uint64()),
    "double": pa.array([-1e17, 1e17, 3e9, 3e9 - 6, None]),
}


@pytest.mark.parametrize("kind", EXTREMES)
def test_numbers_at_the_ends_of_their_type_are_clamped_and_not_wrapped(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", {"n": EXTREMES[kind]})
    far = numbers(Fraction(3 * 10**9 - 9), Fraction(3 * 10**9), Fraction(1), "test", top=True, bottom=True)
    assert read(contract_of(path, attribute("n", far))) == [(0,), (9,), (9,), (3,), (10,)]
    near = numbers(Fraction(-9), Fraction(0), Fraction(1), "test", top=True, bottom=True)
    assert read(contract_of(path, attribute("n", near)))[1:] == [(9,), (9,), (9,), (10,)]


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_a_category_spells_a_number_of_a_float_column_in_any_plain_way(kind: Any, tmp_path: Path) -> None:
    domain = categories(["1", "2.0", "0.5", "1000000000000000", "1.5e-3"], "test")
    path = write(tmp_path / "t.parquet", {"x": pa.array([1.0, 2.0, 0.5, -0.5, 1.5e-30], kind)})
    assert read(contract_of(path, attribute("x", domain))) == [(0,), (1,), (2,), (5,), (5,)]
    path = write(tmp_path / "t.parquet", {"x": pa.array([1e15, None, 1.5e-300])})
    assert read(contract_of(path, attribute("x", domain))) == [(3,), (5,), (5,)]


def test_bytes_that_are_no_utf8_never_become_a_category(tmp_path: Path) -> None:
    domain = categories(["\ufffd", "?", "a"], "test")
    cells = pa.array([b"\xff", b"a", "\ufffd".encode(), b"\xed\xb3\xbf", b"a\xff"], pa.binary())
    for column in (cells, cells.view(pa.string()), cells.view(pa.string()).dictionary_encode()):
        path = write(tmp_path / "t.parquet", {"x": column})
        assert read(contract_of(path, attribute("x", domain))) == [(3,), (2,), (0,), (3,), (3,)]


UUIDS = [UUID(int=2**127 + 3 * number) for number in range(2)]
RARE_TYPES = {
    "string view": pa.array(["a", None, "b", "a"], pa.string_view()),
    "binary view": pa.array([b"a", None, b"b", b"a"], pa.binary_view()),
    "fixed size": pa.array([b"a", None, b"b", b"a"], pa.binary(1)),
    "json": pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array(["a", None, "b", "a"])),
    "uuid": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([UUIDS[0].bytes, None, UUIDS[1].bytes, UUIDS[0].bytes], pa.binary(16))
    ),
    "unknown zone": pa.array([1, None, 2, 1], pa.timestamp("us", "No/Where")),
    "beyond all years": pa.array([2**62, None, 2**61, 2**62], pa.timestamp("us")),
    "duration": pa.array([1, None, 2, 1], pa.duration("us")),
    "time": pa.array([1, None, 2, 1], pa.time64("us")),
    "dictionary of numbers": pa.array([1.0, None, 2.0, 1.0]).dictionary_encode(),
}
CODED = {"string view", "binary view", "fixed size", "json", "uuid", "duration", "dictionary of numbers"}


@pytest.mark.parametrize("kind", RARE_TYPES)
def test_rare_types_are_read_through_their_text_and_never_raise(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", {"x": RARE_TYPES[kind]})
    domain = categories(["a", "b", "1", "2", *map(str, UUIDS)], "test")
    codes = [code for (code,) in read(contract_of(path, attribute("x", domain)))]
    first = {"uuid": 4, "duration": 2, "dictionary of numbers": 2}.get(kind, 0)
    assert codes == ([first, 6, first + 1, first] if kind in CODED else [6] * 4)


def test_an_empty_table_gives_no_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", {"x": pa.array([], pa.string()), "id": pa.array([], pa.int64())})
    contract = contract_of(path, attribute("x", WORDS), person="id")
    assert read(contract) == []


def test_columns_without_nulls_are_not_copied_per_row_and_share_one_lookup(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", {"x": ["a", "1", "a"] * 5, "n": [3, 4, 5] * 5})
    contract = contract_of(path, attribute("x", WORDS), attribute("n", DOMAINS[1]))
    (records,) = batches(contract)
    assert records.keep is None
    assert not records.columns["x"].indices.flags.owndata
    assert records.columns["x"].lookup is not None
    assert records.columns["x"].lookup.tolist() == [6, 0]
    assert records.columns["n"].lookup is None


def test_progress_ends_at_the_bytes_of_all_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.parquet", {"x": ["a"] * 10}, 4)
    contract = contract_of(tmp_path, attribute("x", WORDS))
    source, told = open_source(contract, ["x"]), list[int]()
    count_table(source, CountingTask(contract, ("x",), {}), serial(told.append))
    assert told == sorted(told)
    assert (
        told[-1] == sum(part.size for part in source.parts) == sum(file.stat().st_size for file in tmp_path.iterdir())
    )


def test_facts_speak_of_the_table_as_it_stands(tmp_path: Path) -> None:
    rules = [
        TableRule("size", Fact.ROWS, None, 1, None),
        TableRule("broken", Fact.INVALID_SHARE, None, None, 0.5),
        TableRule("broken n", Fact.INVALID_SHARE, "n", None, 0.5),
        TableRule("unread", Fact.INVALID_SHARE, "z", None, 0.5),
        TableRule("mean", Fact.MEAN, "n", 0, 9),
        TableRule("mean of words", Fact.MEAN, "s", 0, 9),
        TableRule("again", Fact.DUPLICATE_SHARE, None, None, 0.5),
    ]
    columns = {"n": [2, 4, None, 99], "s": ["a", "no", "a", "no"], "id": ["p", "p", "p", None]}
    path = write(tmp_path / "t.parquet", columns, 3)
    specs = attribute("n", DOMAINS[1], "drop"), attribute("s", WORDS, "level")
    contract = contract_of(path, *specs, person="id", rules=rules)
    assert read(contract) == [(2, 6), (4, len(WORDS))]
    seen = count_table(open_source(contract, ["n", "s"]), CountingTask(contract, ("n", "s"), {}), serial()).facts
    assert seen.values(contract) == {
        "rows": 4.0,
        "invalid_share": 0.75,
        "invalid_share of n": 0.5,
        "mean of n": 3.0,
        "duplicate_share": pytest.approx(2 / 3),
    }
    assert (seen.broken, seen.dropped) == (3, 2)


@pytest.mark.parametrize(("invalid", "rest"), [("drop", []), ("level", ["(invalid)"])])
def test_the_labels_that_remain_are_the_accepted_ones_that_occur(invalid: str, rest: list[str], tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", {"n": [3, 5, 4, None], "s": ["é", "a", "1", MARK]}, 2)
    specs = attribute("n", DOMAINS[1], invalid, [3, 4]), attribute("s", WORDS, invalid, [0, 7])
    contract, seen = contract_of(path, *specs), TableFacts()
    read(contract, seen)
    assert seen.distinct(contract, ["n", "s"]) == {"n": ["3", "4", *rest], "s": ["1", "é", *rest]}
    assert TableFacts().distinct(contract, ["n"]) == {"n": []}


def test_facts_of_nothing_are_absent() -> None:
    rules = [TableRule("m", Fact.MEAN, "n", 0, 9), TableRule("b", Fact.INVALID_SHARE, None, None, 1)]
    contract = contract_of(Path("none"), attribute("n", DOMAINS[1]), rules=rules)
    assert TableFacts().values(contract) == {}


@pytest.mark.parametrize("invalid", ["drop", "level"])
def test_invalid_cells_do_not_enter_the_mean_and_ragged_lines_have_no_valid_cell(invalid: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n,s\n2,a\n99,a\n5,a\n7\n")
    rules = [TableRule("m", Fact.MEAN, "n", 0, 9), TableRule("b", Fact.INVALID_SHARE, "n", 0, 1)]
    specs = attribute("n", DOMAINS[1], invalid), attribute("s", WORDS)
    contract, seen = contract_of(tmp_path / "t.csv", *specs, kind="csv", rules=rules), TableFacts()
    read(contract, seen)
    assert seen.values(contract) == {"mean of n": 3.5, "invalid_share of n": 0.5}


@pytest.mark.parametrize("value", [3, 3.0, "3", " 3.00", "3e0", True])
def test_the_mean_counts_lower_ends_of_cells(value: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", {"n": [value]})
    contract = contract_of(path, attribute("n", DOMAINS[5]), rules=[TableRule("m", Fact.MEAN, "n", 0, 9)])
    seen = TableFacts()
    read(contract, seen)
    assert seen.values(contract) == ({} if value is True else {"mean of n": 0.0})


def nested(path: Path) -> Path:
    return write(path, {"x": pa.array([["a"]]), "y": ["b"]})


def truncated(path: Path) -> Path:
    write(path, {"x": [MARK]})
    path.write_bytes(path.read_bytes()[:-9])
    return path


def text_file(path: Path) -> Path:
    path.write_text(MARK)
    return path


def twice(path: Path) -> Path:
    pq.write_table(pa.Table.from_arrays([pa.array([MARK]), pa.array(["b"])], names=["x", "x"]), path)
    return path


def unlike(path: Path) -> Path:
    write(path.with_name("s.parquet"), {"x": ["a"], "extra": ["b"]})
    write(path, {"x": ["a"]})
    return path.parent


FAULTS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "long name": (lambda path: path.with_name("n" * 5000), "there is no such file or directory"),
    "missing file": (lambda path: path, "t.parquet: there is no such file"),
    "empty directory": (lambda path: path.parent, "holds no \\*.parquet"),
    "missing column": (lambda path: write(path, {"X": [MARK]}), "t.parquet: column 'x' is missing"),
    "list column": (nested, "column 'x' holds lists"),
    "struct column": (lambda path: write(path, {"x": pa.array([{"a": 1}])}), "column 'x' holds lists or structures"),
    "truncated": (truncated, "t.parquet: not a readable Parquet file"),
    "not parquet": (text_file, "t.parquet: not a readable Parquet file"),
    "column twice": (twice, "name of column 'x' is used twice"),
    "other columns": (unlike, "t.parquet: its columns are not those of s.parquet"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_that_cannot_serve_is_a_fault_that_names_it(
    fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    make, message = FAULTS[fault]
    path = make(tmp_path / "t.parquet")
    contract = contract_of(tmp_path / "elsewhere.parquet", attribute("x", WORDS))
    with pytest.raises(FileFault, match=message) as caught:
        open_source(contract, ["x"], path)
    assert caught.value.exit_code == 4
    assert MARK not in everything_said(caught.value) + caplog.text
    assert str(tmp_path) not in everything_said(caught.value)


def everything_said(error: BaseException | None) -> str:
    """Return the text of an exception, of its arguments and of all chained exceptions."""
    if error is None:
        return ""
    said = [str(error), repr(error.args), "".join(traceback.format_exception(error))]
    return "\n".join([*said, everything_said(error.__cause__), everything_said(error.__context__)])


def test_a_nested_column_that_nobody_reads_is_no_fault(tmp_path: Path) -> None:
    assert read(contract_of(nested(tmp_path / "t.parquet"), attribute("y", WORDS))) == [(len(WORDS),)]


def test_a_missing_person_column_is_a_fault(tmp_path: Path) -> None:
    contract = contract_of(write(tmp_path / "t.parquet", {"x": ["a"]}), attribute("x", WORDS), person="id")
    with pytest.raises(FileFault, match="column 'id' is missing"):
        open_source(contract, ["x"])


def test_hidden_and_other_files_of_a_directory_are_not_read(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", {"x": ["a"]})
    for name in (".hidden.parquet", "notes.txt", "b.csv"):
        (tmp_path / name).write_text(MARK)
    assert read(contract_of(tmp_path, attribute("x", WORDS))) == [(6,)]


def changed_size(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" ")


def changed_time(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def replaced(path: Path) -> None:
    before = path.stat()
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    os.utime(copy, ns=(before.st_atime_ns, before.st_mtime_ns))
    copy.replace(path)


def rewritten(path: Path) -> None:
    """Rewrite a file in place, with the same size, and reset its time."""
    before = path.stat()
    path.write_bytes(path.read_bytes())
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # the same tick of the file system's clock
        os.utime(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("change", [changed_size, changed_time, replaced, rewritten, Path.unlink])
def test_a_file_that_changes_while_it_is_read_is_a_fault(
    change: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joined_batches, "MOST_ROWS", 5)
    path = write(tmp_path / "t.parquet", {"x": ["a"] * 10}, 5)
    records = batches(contract_of(path, attribute("x", WORDS)))
    next(records)
    change(path)
    with pytest.raises(FileFault, match="the input changed while it was read"):
        list(records)


def test_a_file_that_was_read_already_and_changes_before_the_end_is_a_fault(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.parquet", {"x": ["a"] * 10})
    contract = contract_of(tmp_path, attribute("x", WORDS))
    source = open_source(contract, ["x"])

    def executor(counter: Any, parts: Any) -> Iterator[Any]:
        yield from [counter([part], None) for part in parts]
        changed_time(tmp_path / "a.parquet")

    with pytest.raises(FileFault, match="the input changed while it was read"):
        count_table(source, CountingTask(contract, ("x",), {}), executor)


def test_a_damaged_page_is_a_fault_that_tells_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [f"{MARK}{i}" for i in range(500)]}), path, compression="NONE", use_dictionary=False)
    content = bytearray(path.read_bytes())
    first = content.index(f"{MARK}250".encode())
    content[first - 4 : first] = b"\xff" * 4  # the length of a text
    path.write_bytes(content)
    contract = contract_of(path, attribute("x", WORDS))
    with pytest.raises(FileFault, match="the file can't be read to its end") as caught:
        read(contract)
    assert MARK not in everything_said(caught.value) + caplog.text
    assert caught.value.__context__ is None


def test_marked_values_pass_through_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    columns = {"s": [MARK, "a", MARK * 1000], "d": [MARK, None, "b"], "n": [MARK, "3", None]}
    path = write(tmp_path / "t.parquet", columns)
    specs = attribute("s", WORDS, "drop"), attribute("d", DOMAINS[6]), attribute("n", DOMAINS[1])
    seen = TableFacts()
    assert read(contract_of(path, *specs), seen) == [(6, 31, 3)]
    assert MARK not in caplog.text + "".join(capfd.readouterr()) + repr(vars(seen))


def test_no_file_of_a_folder_is_left_out_for_the_case_of_its_suffix(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.PARQUET"):
        write(tmp_path / name, {"x": ["a"]})
    assert len(read(contract_of(tmp_path, attribute("x", WORDS)))) == 2
