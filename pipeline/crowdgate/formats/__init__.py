"""Output formats: one table for every kind of release and for verification. A new one is a file here and a line below.

The name of a format is the ending of its files.
"""

from typing import TYPE_CHECKING

from crowdgate.formats.format import Format, as_read
from crowdgate.later import Module

if TYPE_CHECKING:
    from crowdgate.formats import csv as _csv
    from crowdgate.formats import parquet as _parquet
else:
    _csv, _parquet = Module("crowdgate.formats.csv"), Module("crowdgate.formats.parquet")

FORMATS: dict[str, Format] = {
    "parquet": Format(_parquet.write, _parquet.read, _parquet.same_anew),
    "csv": Format(_csv.write, _csv.read),
}

__all__ = ["FORMATS", "Format", "as_read"]
