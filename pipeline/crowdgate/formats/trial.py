"""Reads Parquet files of strangers, in a process of its own: a program, started by `parquet.py`.

A flipped bit in a footer can end the process that reads it, inside the library and past any `except`. So a file is
first read here to its end. Each line of the input is a path and a bound on rows (JSON); each line of the output says
whether the file could be read, as far as it is not refused for its rows or its compression. No value leaves Arrow, so
NumPy, which pyarrow imports where it is installed, is left out: it takes half of the time until the first answer.
"""

import json
import sys


def _read(path: bytes, most: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open(path, "rb") as raw, pq.ParquetFile(raw) as plain:
        labels = [field.name for field in plain.schema_arrow if pa.types.is_string(field.type)]
    with open(path, "rb") as raw, pq.ParquetFile(raw, read_dictionary=labels, pre_buffer=False) as file:
        if file.metadata.num_rows > most:
            return
        for at in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(at)
            if any(group.column(i).compression != "UNCOMPRESSED" for i in range(group.num_columns)):
                return
        for _ in file.iter_batches(1 << 18, use_threads=False):
            pass


def _answer(line: str) -> str:
    try:
        path, most = json.loads(line)
        _read(path.encode(errors="surrogateescape"), most)
    except Exception:  # whatever reading dies of: the file is refused, and its reader goes on with the next
        return "no"
    return "yes"


if __name__ == "__main__":
    sys.modules["numpy"] = None  # type: ignore[assignment]
    for asked in sys.stdin:
        print(_answer(asked), flush=True)
