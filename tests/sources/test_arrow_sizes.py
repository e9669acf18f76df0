"""Arrow files whose batches would fill the memory are refused before any buffer is decompressed."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from crowdgate.errors import FileFault
from crowdgate.limits import LARGEST_BATCH
from crowdgate.sources import arrow_ipc, arrow_sizes
from crowdgate.sources.arrow_sizes import check_batches

ROWS = 3000
BYTES = 8 * ROWS
WRITERS: dict[str, Callable[..., Any]] = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}


def written(path: Path, form: str, columns: dict[str, Any], rows: int = ROWS, **options: Any) -> Path:
    """Write columns in batches of so many rows, with compressed buffers."""
    table, stated = pa.table(columns), pa.ipc.IpcWriteOptions(**{"compression": "zstd", **options})
    with WRITERS[form](path, table.schema, options=stated) as out:
        out.write_table(table, rows)
    return path


def fault(path: Path) -> str:
    """Return the message of the fault of a file, an empty text if it has none."""
    try:
        check_batches(path)
    except FileFault as error:
        return str(error)
    return ""


def is_too_large(path: Path, limit: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(arrow_sizes, "LARGEST_BATCH", limit)
    return "decompressed: write smaller batches" in fault(path)


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("codec", ["zstd", "lz4"])
@pytest.mark.parametrize("old", [False, True])
def test_the_size_of_a_batch_is_that_of_its_buffers(
    form: str, codec: str, old: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"x": pa.array([0] * 2 * ROWS, pa.int64())}
    path = written(tmp_path / "t", form, columns, compression=codec, use_legacy_format=old)
    assert path.stat().st_size < BYTES / 4
    assert not is_too_large(path, BYTES, monkeypatch)
    assert is_too_large(path, BYTES - 1, monkeypatch)


@pytest.mark.parametrize("form", WRITERS)
def test_dictionaries_stay_in_memory_beside_a_batch(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int8()), pa.array(["a" * BYTES]))
    path = written(tmp_path / "t", form, {"x": words})
    whole = BYTES + ROWS + 8  # with two offsets
    assert not is_too_large(path, whole, monkeypatch)
    assert is_too_large(path, whole - 1, monkeypatch)


def test_parts_of_a_dictionary_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is small, and a reader holds all of them."""
    words = [chr(97 + at) * BYTES for at in range(4)]
    arrays = [pa.DictionaryArray.from_arrays(pa.array([at], pa.int8()), words[: at + 1]) for at in range(4)]
    schema = pa.schema([pa.field("x", arrays[0].type)])
    stated = pa.ipc.IpcWriteOptions(compression="zstd", emit_dictionary_deltas=True)
    with pa.ipc.new_stream(tmp_path / "t", schema, options=stated) as out:
        for array in arrays:
            out.write_batch(pa.record_batch([array], schema=schema))
    assert is_too_large(tmp_path / "t", 4 * BYTES, monkeypatch)
    assert not is_too_large(tmp_path / "t", 4 * BYTES + 100, monkeypatch)


def test_rows_without_buffers_count(tmp_path: Path) -> None:
    """A column of nothing costs no byte in a file, and a step for each row."""
    path = written(tmp_path / "t", "file", {"x": pa.nulls(LARGEST_BATCH + 1)}, rows=LARGEST_BATCH + 1)
    with pytest.raises(FileFault, match="more than 1024 MiB"):
        list(arrow_ipc.ArrowFiles().slices(path, path.stat().st_size, (0,)))


@pytest.mark.parametrize("form", WRITERS)
def test_a_damaged_file_is_a_fault_or_left_to_its_reader(form: str, tmp_path: Path) -> None:
    """Every byte is set to 255, and every beginning of the file tried."""
    words = pa.array(["a", "b"]).dictionary_encode()
    whole, path = written(tmp_path / "t", form, {"x": words}).read_bytes(), tmp_path / "damaged"
    for at in range(len(whole)):
        for data in (whole[:at] + b"\xff" + whole[at + 1 :], whole[:at]):
            path.write_bytes(data)
            assert re.search("^$|not a readable Arrow file|more than", fault(path))
