"""Tables of other libraries by their Arrow stream: the same release as the file's, and no cell in errors."""

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crowdgate
from crowdgate.errors import CrowdgateError, FileFault
from crowdgate.kind.run import Request, ReservedRun, Run
from crowdgate.releases.release import conclude, prepare, reserve
from crowdgate.sampling import SecretKey
from tests.workshop import MARK, Workshop, make_workshop

SLOT = "2030-01-01"


def _polars(table: pa.Table) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def _duckdb(table: pa.Table) -> Any:
    return pytest.importorskip("duckdb").connect().from_arrow(table)


LIBRARIES: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow": lambda table: table,
    "batches": lambda table: pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7)),
    "pandas": lambda table: table.to_pandas(),
    "polars": _polars,
    "duckdb": _duckdb,
}


def staged_rows(workshop: Workshop, table: Any = None, path: Path | None = None) -> bytes:
    """Return the rows that a release with a fixed key stages and never publishes."""
    run = prepare(Request(workshop.policy, SLOT, input=path, table=table))
    assert isinstance(run, Run)
    reserved = reserve(run)
    assert isinstance(reserved, ReservedRun)
    conclude(reserved, SecretKey(bytes(32), injected=True))
    return (run.staged / "data.csv").read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_table_of_any_library_gives_the_bytes_of_its_file(library: str, tmp_path: Path) -> None:
    from_file, from_table = make_workshop(tmp_path / "file"), make_workshop(tmp_path / "table")
    table = LIBRARIES[library](pq.read_table(from_file.data))
    from_table.data.unlink()
    assert staged_rows(from_table, table) == staged_rows(from_file)


def test_a_release_of_a_table_in_memory_is_published_and_verified(workshop: Workshop) -> None:
    table = pq.read_table(workshop.data)
    workshop.data.unlink()
    made = crowdgate.release(workshop.policy, SLOT, input=table)
    assert made.path is not None
    assert crowdgate.verify(made.path).manifest.release.slot == SLOT
    assert not list(workshop.root.rglob("*patients*"))


FAULTY: dict[str, Callable[[pa.Table], Any]] = {
    "no table": lambda table: {"age": table["age"].to_pylist()},
    "a missing column": lambda table: table.drop_columns(["age"]),
    "a column twice": lambda table: table.append_column("age", table["age"]),
    "a nested column": lambda table: table.set_column(1, "age", pa.array([[1]] * len(table))),
}


@pytest.mark.parametrize("case", FAULTY)
def test_a_table_that_cannot_be_the_contracts_is_refused_before_the_charge(case: str, workshop: Workshop) -> None:
    table = FAULTY[case](pq.read_table(workshop.data))
    with pytest.raises(FileFault, match="the Arrow table") as caught:
        crowdgate.release(workshop.policy, SLOT, input=table)
    assert MARK not in str(caught.value)
    assert crowdgate.open_ledger(workshop.root).entries() == []


def test_a_stream_that_breaks_off_is_charged_and_quotes_nothing(workshop: Workshop) -> None:
    table = pq.read_table(workshop.data)

    def broken() -> Iterator[pa.RecordBatch]:
        yield from table.slice(0, 5).to_batches()
        raise ValueError(MARK)

    with pytest.raises(CrowdgateError) as caught:
        crowdgate.release(workshop.policy, SLOT, input=pa.RecordBatchReader.from_batches(table.schema, broken()))
    assert MARK not in "".join(traceback.format_exception(caught.value))
    assert not (workshop.root / "releases" / "clinic").exists()
