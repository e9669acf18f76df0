"""One table in every format: the same codes of the same rows, and one clear error for a faulty file."""

import datetime as dt
import itertools
import math
import os
import pickle
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Contract, Server
from crowdgate.domain import categories, dates, numbers
from crowdgate.errors import FileFault
from crowdgate.hierarchy import hierarchy
from crowdgate.histogram import View
from crowdgate.releases import table_from_frame
from crowdgate.sampling import SecretKey
from crowdgate.sources import SOURCES, arrow_ipc, csv, files, open_source, parquet
from crowdgate.sources.counting import CountingTask, count_table, histograms, serial
from crowdgate.sources.locations import stamp_of, table_files
from tests.examples import examples
from tests.sources.table_files import NEEDS, WRITERS, Columns, write_workbook
from tests.sources.test_sources import attribute, contract_of, everything_said, quick
from tests.workshop import MARK

WARDS = categories(["north", " north", "NORTH", "été", "a,b", 'q"', "1", "2.5", "x" * 40], "test")
SPECS = (
    attribute("ward", WARDS, "level"),
    attribute("age", numbers(Fraction(0), Fraction(99), Fraction(1), "test", top=True), "level"),
    attribute("score", numbers(Fraction(0), Fraction(9), Fraction(1, 2), "test"), "level"),
    attribute("day", dates(dt.date(2024, 1, 1), dt.date(2024, 1, 31), "test"), "level"),
)
EXACT = {
    spec.name: hierarchy(spec.domain, [], invalid_level=True).level("exact")
    for spec in SPECS
    if spec.domain is not None
}
# SPSS and SAS store no blanks at the end of a text
WORDS = st.sampled_from([*WARDS.labels, "No", "x" * 200, "2.50", MARK])
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["p1", "p2", "p3"]),
        WORDS | st.none(),
        st.integers(-3, 130) | st.none(),
        st.sampled_from([0.0, 0.5, 9.0, 9.5, 1e300, -1.0, math.nan]) | st.none(),
        st.dates(dt.date(2023, 12, 30), dt.date(2024, 2, 3)) | st.none(),
    ),
    min_size=1,
    max_size=12,
)


def columns_of(rows: Sequence[tuple[Any, ...]]) -> Columns:
    """Return rows as columns whose first rows show the types."""
    names = ("patient", "ward", "age", "score", "day")
    shown = ("p0", "north", 5, 0.5, dt.date(2024, 1, 5))
    last = ("p0", "1", 6, None, None)  # some formats end a table before a row without cells
    return dict(zip(names, map(list, zip(shown, *rows, last, strict=True)), strict=True))


def server(path: Path, kind: str) -> Server:
    properties = SOURCES[kind].rule.properties
    return Server(kind, {"path": str(path), **{name: each.default or "" for name, each in properties.items()}}, Path())


def table_at(path: Path, kind: str, person: str | None = "patient") -> Contract:
    found = contract_of(path, *SPECS, person=person)
    object.__setattr__(found, "server", server(path, kind))
    return found


def counted(contract: Contract, path: Path | None = None, turn: Callable[[Any], Any] = lambda parts: parts) -> Any:
    """Return the rows that count, at most one of each person, chosen by a fixed key."""
    names = tuple(spec.name for spec in SPECS)
    view = View(EXACT)
    task = CountingTask(contract, names, {"": view})
    source = open_source(contract, names, path)
    total = count_table(source, task, lambda counter, parts: serial()(counter, turn(list(parts))))
    found = histograms(total, task, SecretKey(bytes(32), injected=True))[""]
    return [each.tolist() for each in found.codes], found.counts.tolist()


def form(name: str, folder: Path, columns: Columns) -> Contract:
    kind, file, write = WRITERS[name]
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
    folder.mkdir(exist_ok=True)
    write(folder / file, columns)
    return table_at(folder / file, kind)


@pytest.mark.thorough
@pytest.mark.parametrize("name", WRITERS)
@settings(quick, max_examples=examples(8))
@given(rows=ROWS)
def test_a_table_counts_the_same_in_every_format(name: str, rows: list[tuple[Any, ...]], tmp_path: Path) -> None:
    columns = columns_of(rows)
    assert counted(form(name, tmp_path / "other", columns)) == counted(form("parquet", tmp_path / "one", columns))


@pytest.mark.thorough
@pytest.mark.parametrize("name", WRITERS)
def test_parts_may_be_fewer_more_and_in_any_order(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days = [dt.date(2024, 1, 1 + i % 31) for i in range(200)]
    rows = [(f"p{i % 70}", WARDS.labels[i % 9], i % 100, 0.5 * (i % 19), day) for i, day in enumerate(days)]
    contract = form(name, tmp_path / "t", columns_of(rows))
    whole = counted(contract)
    for module, limit in ((files, "PART_ROWS"), (parquet, "PART_ROWS"), (files, "PART_BYTES"), (csv, "PART_BYTES")):
        monkeypatch.setattr(module, limit, 700 if limit == "PART_BYTES" else 7)
    monkeypatch.setattr(arrow_ipc, "PART_BYTES", 700)
    cut = open_source(contract, [spec.name for spec in SPECS]).parts
    assert len(cut) > 5 or name not in ("parquet", "csv", "arrow")
    assert counted(contract, turn=lambda parts: pickle.loads(pickle.dumps(parts[::-1]))) == whole


@quick
@given(
    text=st.text('ab,"\r\né', max_size=60),
    edges=st.lists(st.integers(0, 70), max_size=4),
    block=st.integers(1, 9),
)
def test_a_line_of_csv_is_in_one_stretch_of_its_file(text: str, edges: list[int], block: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"x\n" + text.encode())
    size = path.stat().st_size
    cuts = [0, *sorted(min(edge, size) for edge in edges), size]
    found = [
        line
        for first, last in itertools.pairwise(cuts)
        for lines, _ in csv.read_blocks(path, 2, block, first, last)
        for line in lines.splitlines()
        if line
    ]
    assert found == [line for line in text.encode().splitlines() if line]


def write_parts(folder: Path, columns: Columns, kind: str) -> None:
    """Write the rows into folders by ward, as other tools partition tables."""
    table = pa.table(dict(columns))
    for at, ward in enumerate(dict.fromkeys(columns["ward"])):
        rows = pc.equal(table["ward"], ward) if ward is not None else pc.is_null(table["ward"])
        part = table.filter(rows).drop_columns(["ward"])
        name = "__HIVE_DEFAULT_PARTITION__" if ward is None else quote(ward, safe="")
        place = folder / f"year=2024/ward={name}"
        place.mkdir(parents=True)
        WRITERS[kind][2](place / f"part-{at}.{WRITERS[kind][1].partition('.')[2]}", part.to_pydict())


@pytest.mark.parametrize("kind", ["parquet", "gz", "arrow"])
def test_folders_that_name_values_are_columns(kind: str, tmp_path: Path) -> None:
    rows = [(f"p{i}", [*WARDS.labels, None][i % 10], i, 0.5, dt.date(2024, 1, 5)) for i in range(30)]
    columns = columns_of(rows)
    write_parts(tmp_path / "parts", columns, kind)
    contract = table_at(tmp_path / "parts", WRITERS[kind][0])
    assert counted(contract) == counted(form("parquet", tmp_path / "one", columns))
    names = SOURCES[contract.server.reader].header(contract).names
    assert {*names} == {"patient", "age", "score", "day", "year", "ward"}


def test_a_table_all_of_whose_columns_are_folders_has_its_rows(tmp_path: Path) -> None:
    columns = columns_of([("p1", "north", 3, 0.5, dt.date(2024, 1, 5))])
    write_parts(tmp_path / "parts", columns, "csv")
    contract = table_at(tmp_path / "parts", "csv", person=None)
    task = CountingTask(contract, ("ward",), {"": View({"ward": EXACT["ward"]})})
    found = count_table(open_source(contract, ["ward"]), task, serial()).histograms[""]
    assert (found.codes[0].tolist(), found.counts.tolist()) == ([0, 6], [2, 1])


def test_a_stamp_changes_with_the_footer_and_names_no_device(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    stamps = []
    for cells in ([1, 2], [1, 3]):
        pq.write_table(pa.table({"x": cells}), path)
        os.utime(path, ns=(1, 1))
        stamps.append(stamp_of(path))
    assert stamps[0][0] == stamps[1][0]
    assert stamps[0][-1] != stamps[1][-1]
    assert path.stat().st_dev not in stamps[0] or path.stat().st_dev == path.stat().st_ino


def test_values_of_statistics_are_read_as_their_labels_unless_the_contract_wants_codes(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"patient": ["a", "b", "c"], "ward": [1.0, 2.0, 3.0], "age": [1.0] * 3, "score": [0.5] * 3})
    frame["day"] = pd.to_datetime(["2024-01-05"] * 3)
    labels = {"ward": {1.0: "north", 2.0: "été"}}
    for kind, file, write in (("spss", "t.sav", pyreadstat.write_sav), ("stata", "t.dta", pyreadstat.write_dta)):
        stated = labels if kind == "spss" else {"ward": {1: "north", 2: "été"}}
        write(frame, tmp_path / file, variable_value_labels=stated)
        contract = table_at(tmp_path / file, kind, person=None)
        assert sorted(counted(contract)[0][0]) == [0, 3, 9]
        coded = table_at(tmp_path / file, kind, person=None)
        object.__setattr__(coded, "server", Server(kind, {**coded.server.settings, "values": "codes"}, Path()))
        assert sorted(counted(coded)[0][0]) == [6, 9]


def test_texts_of_statistics_are_read_as_their_labels_too(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"ward": ["n", "é", "x", "north"], "age": [1.0] * 4, "score": [0.5] * 4})
    frame["day"] = pd.to_datetime(["2024-01-05"] * 4)
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels={"ward": {"n": "north", "é": "été"}})
    contract = table_at(tmp_path / "t.sav", "spss", person=None)
    assert sorted(counted(contract)[0][0]) == [0, 3, 9]
    assert sorted(counted(contract)[1]) == [1, 1, 2]
    object.__setattr__(contract, "server", Server("spss", {**contract.server.settings, "values": "codes"}, Path()))
    assert sorted(counted(contract)[0][0]) == [0, 9]


def test_a_text_that_is_no_utf8_is_a_fault_of_its_row(tmp_path: Path) -> None:
    rows = [("p1", "été", 3, 0.5, dt.date(2024, 1, 5)), ("p2", "north", 3, 0.5, dt.date(2024, 1, 5))]
    columns = columns_of(rows)
    for name in ("csv", "arrow", "spss", "stata", "sas"):
        contract = form(name, tmp_path / name, columns)
        path = contract.server.path
        path.write_bytes(path.read_bytes().replace("été".encode(), b"\xff\xfe\xfd\xfc\xfb"))
        assert sorted(counted(contract)[0][0]) == [0, 0, 9] or sorted(counted(contract)[0][0]) == [0, 6, 9]


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def _as_text(path: Path) -> None:
    path.write_bytes(f"{MARK}\n".encode() * 40)


def _locked(path: Path) -> None:
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + MARK.encode() * 200)


def _two_sheets(path: Path) -> None:
    write_workbook(path, {MARK: [["ward"]], "b": [["ward"]]})


def _name_twice(path: Path) -> None:
    write_workbook(path, {"table": [["patient", "ward", "age", "score", "day", "ward"], ["a", MARK, 1, 1, 1, "b"]]})


FAULTS: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "truncated gz": ("gz", _truncated, "can't be read to its end|can't be decompressed"),
    "no gz": ("gz", _as_text, "can't be decompressed"),
    "no zst": ("zst", _as_text, "can't be decompressed"),
    "truncated arrow": ("arrow", _truncated, "not a readable Arrow file"),
    "truncated stream": ("arrow stream", _truncated, "can't be read to its end"),
    "no arrow": ("arrow", _as_text, "not a readable Arrow file"),
    "no excel": ("excel", _as_text, "not a readable Excel workbook"),
    "locked excel": ("excel", _locked, "protected by a password"),
    "a sheet that is not named": ("excel", _two_sheets, "name one in the server's property `sheet`"),
    "a name twice in excel": ("excel", _name_twice, "the name of column 'ward' is used twice"),
    "no spss": ("spss", _as_text, "not a readable file of SPSS"),
    "truncated spss": ("spss", _truncated, "can't be read to its end"),
    "no sas": ("sas", _as_text, "not a readable file of SPSS"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_faulty_file_is_refused_in_one_error_without_a_cell(case: str, tmp_path: Path) -> None:
    name, damage, expected = FAULTS[case]
    contract = form(name, tmp_path, columns_of([("p", MARK, 3, 0.5, None)] * 50))
    damage(contract.server.path)
    with pytest.raises(FileFault, match=expected) as caught:
        counted(contract)
    assert MARK not in everything_said(caught.value)
    assert str(caught.value).count("\n") == 0


def test_a_panic_of_the_reader_of_workbooks_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rust's panics are no Exceptions in Python, and quote cells; other errors of that sort stay what they are."""
    fastexcel = pytest.importorskip("fastexcel")
    contract = form("excel", tmp_path, columns_of([]))
    panic = type("PanicException", (BaseException,), {})

    def read(error: BaseException) -> None:
        raise error

    monkeypatch.setattr(fastexcel, "read_excel", lambda _: read(panic(MARK)))
    with pytest.raises(FileFault, match="the workbook can't be read") as caught:
        counted(contract)
    assert caught.value.__context__ is None
    monkeypatch.setattr(fastexcel, "read_excel", lambda _: read(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        counted(contract)


def test_a_table_that_a_format_can_not_hold_is_one_error_without_a_cell(tmp_path: Path) -> None:
    odd = pa.table({"ward": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([MARK])])})
    with pytest.raises(FileFault, match="can't hold the types of all columns") as caught:
        table_from_frame.write(odd, table_at(tmp_path / "t.csv", "csv"))
    assert caught.value.__context__ is None


def test_files_in_folders_that_state_no_column_are_not_left_out(tmp_path: Path) -> None:
    columns = columns_of([("p1", "north", 3, 0.5, dt.date(2024, 1, 5))])
    contract = form("parquet", tmp_path / "t", columns)
    for folder in ("_temporary", ".old", "empty"):
        (tmp_path / "t" / folder).mkdir()
    (tmp_path / "t" / "_temporary" / "t.parquet").write_bytes(contract.server.path.read_bytes())
    whole = table_at(tmp_path / "t", "parquet")
    assert counted(whole) == counted(contract)
    form("parquet", tmp_path / "t" / MARK, columns)
    with pytest.raises(FileFault, match="not named column=value") as caught:
        counted(whole)
    assert MARK not in everything_said(caught.value)
    assert MARK not in repr(table_files(tmp_path / "t" / MARK, (".parquet",)))


def test_folders_of_different_columns_are_a_fault_of_the_table(tmp_path: Path) -> None:
    columns = columns_of([])
    write_parts(tmp_path, columns, "parquet")
    (tmp_path / "year=2024" / "other=1").mkdir()
    pq.write_table(pa.table(dict(columns)), tmp_path / "year=2024" / "other=1" / "z.parquet")
    with pytest.raises(FileFault, match="its columns are not those of"):
        counted(table_at(tmp_path, "parquet"))
