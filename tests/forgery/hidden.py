"""Forgeries of Parquet files that read as the same table: other settings, hidden values, hidden bytes, and bombs."""

import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.forgery.bombs import BOMBS
from tests.forgery.cells import NOTE, labelled
from tests.forgery.forgery import Change, Forgery, resealed

MAGIC, SECRET = b"PAR1", b"hidden bytes of somebody"
Settings = dict[str, Any]
SETTINGS: dict[str, Settings] = {
    "not compressed": {"compression": "none"},
    "compressed by gzip": {"compression": "gzip"},
    "compressed by snappy": {"compression": "snappy"},
    "compressed harder": {"compression_level": 19},
    "without dictionaries": {"use_dictionary": False},
    "without statistics": {"write_statistics": False},
    "with an index of pages": {"write_page_index": True},
    "with checksums": {"write_page_checksum": True},
    "with pages of the second version": {"data_page_version": "2.0"},
    "in an old version": {"version": "1.0"},
    "in small pages": {"data_page_size": 1, "write_batch_size": 1},
    "in small groups": {"row_group_size": 1},
    "with a stored schema": {"store_schema": True},
    "said to be sorted": {"sorting_columns": [pq.SortingColumn(0)]},
}


def parquet_forgeries(folder: Path, seal: Change) -> Iterator[Forgery]:
    """Yield forgeries of every Parquet file."""
    for path in sorted(folder.glob("*.parquet")):
        for group, changes in _changes(path).items():
            for what, change in changes.items():
                yield Forgery(f"{group}: {path.name}: {what}", resealed(_replacing(path.name, change), seal))
        for what, (make, dear) in BOMBS.items():
            bomb = partial(_bombed, name=path.name, make=make)
            yield Forgery(f"parquet bomb: {path.name}: {what}", resealed(bomb, seal), dear=dear)


def _replacing(name: str, change: Change) -> Change:
    return lambda folder: change(folder / name)


def _bombed(folder: Path, name: str, make: Callable[[list[str]], bytes]) -> None:
    names = pq.read_schema(folder / name).names
    (folder / name).write_bytes(make(names))


def _changes(path: Path) -> dict[str, dict[str, Change]]:
    settings: dict[str, Change] = {what: partial(_rewrite, settings=each) for what, each in SETTINGS.items()}
    schema = pq.read_schema(path)
    text = [at for at, field in enumerate(schema) if pa.types.is_string(field.type)]
    values: dict[str, Change] = {
        f"in the dictionary of {schema.names[at]}": partial(_hide_in_dictionary, at=at) for at in text
    }
    return {"parquet settings": settings, "parquet values": {**values, **VALUES}, "parquet bytes": BYTES}


def _rewrite(path: Path, settings: Settings, change: Callable[[pa.Table], pa.Table] = lambda table: table) -> None:
    table = change(labelled(pq.read_table(path)))
    own = {"compression": "zstd", "store_schema": False, "write_statistics": table.schema.names[:1]}
    pq.write_table(table, path, **{**own, **settings})


def _hide_in_dictionary(path: Path, at: int) -> None:
    """Add a value to a dictionary that no row holds."""

    def more(table: pa.Table) -> pa.Table:
        column = table.column(at).combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks else pa.array([], table.schema.field(at).type)
        held = pa.concat_arrays([column.dictionary, pa.array([SECRET.decode()], pa.string())])
        return table.set_column(at, table.schema.field(at), pa.DictionaryArray.from_arrays(column.indices, held))

    _rewrite(path, {}, more)


def _with_metadata(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata({"note": SECRET.decode()})


def _with_field_metadata(table: pa.Table) -> pa.Table:
    field = table.schema.field(0).with_metadata({"PARQUET:field_id": "7"})
    return table.cast(table.schema.set(0, field))


def _required(table: pa.Table) -> pa.Table:
    """Return the table with columns marked as required where they hold no null."""
    filled = [field.with_nullable(table[field.name].null_count > 0) for field in table.schema]
    return table.cast(pa.schema(filled))


def _large(table: pa.Table) -> pa.Table:
    wide = {pa.string(): pa.large_string(), pa.float64(): pa.float32()}
    plain = pa.schema([(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in table.schema])
    return table.cast(plain).cast(pa.schema([(f.name, wide.get(f.type, f.type)) for f in plain]))


VALUES: dict[str, Change] = {
    "in the metadata of the schema": partial(_rewrite, settings={"store_schema": True}, change=_with_metadata),
    "in the number of a field": partial(_rewrite, settings={}, change=_with_field_metadata),
    "in columns that must be filled": partial(_rewrite, settings={}, change=_required),
    "in columns of another type": partial(_rewrite, settings={"store_schema": True}, change=_large),
    "in an empty group": lambda path: _grouped(path, empty=True),
}


def _grouped(path: Path, empty: bool = False, at: int = -1) -> None:
    """Write rows in two groups, the second maybe empty, with unreferenced bytes before one of them or the footer."""
    table = labelled(pq.read_table(path))
    half = table.num_rows if empty else table.num_rows // 2
    with pa.OSFile(str(path), "wb") as sink:
        writer = pq.ParquetWriter(sink, table.schema, compression="zstd", store_schema=False)
        for number, piece in enumerate((table.slice(0, half), table.slice(half))):
            if number == at:
                sink.write(SECRET)
            writer.write_table(piece)
        if at == 2:
            sink.write(SECRET)
        writer.close()


def _hide_before_footer(path: Path) -> None:
    data = path.read_bytes()
    size = struct.unpack("<I", data[-8:-4])[0] + 8
    path.write_bytes(data[:-size] + SECRET + data[-size:])


def _hide_in_creator(path: Path) -> None:
    """Change the name of the writing software in the footer; any text of the same length is valid."""
    data = path.read_bytes()
    at = data.rindex(b"parquet-cpp")
    path.write_bytes(data[:at] + SECRET[:11] + data[at + 11 :])


def _hide_in_footer(path: Path) -> None:
    """Append bytes to the footer, which its length includes."""
    data = path.read_bytes()
    size = struct.unpack("<I", data[-8:-4])[0] + len(SECRET)
    path.write_bytes(data[:-8] + SECRET + struct.pack("<I", size) + MAGIC)


def _behind(path: Path) -> None:
    path.write_bytes(path.read_bytes() + SECRET)


def _twice(path: Path) -> None:
    """Put a whole copy in front: readers begin at the end, and count positions from the start."""
    data = path.read_bytes()
    path.write_bytes(data + data)


def _footer_twice(path: Path) -> None:
    data = path.read_bytes()
    size = struct.unpack("<I", data[-8:-4])[0] + 8
    path.write_bytes(data + SECRET + data[-size:])


BYTES: dict[str, Change] = {
    "behind the end": _behind,
    "in front of the footer": _hide_before_footer,
    "behind the footer's own": _hide_in_footer,
    "in the name of the software": _hide_in_creator,
    "in front of the first group": lambda path: _grouped(path, at=0),
    "between two groups": lambda path: _grouped(path, at=1),
    "behind the last group": lambda path: _grouped(path, at=2),
    "the file twice": _twice,
    "the footer twice": _footer_twice,
    "another name of a column": lambda path: _rewrite(path, {}, _renamed),
    "another magic": lambda path: path.write_bytes(b"PARE" + path.read_bytes()[4:]),
    "a huge footer": lambda path: path.write_bytes(path.read_bytes()[:-8] + b"\xff\xff\xff\x7f" + MAGIC),
}


def _renamed(table: pa.Table) -> pa.Table:
    return table.rename_columns([NOTE, *table.column_names[1:]])
