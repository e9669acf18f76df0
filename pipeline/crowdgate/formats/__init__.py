"""Output formats: one table for every kind of release and for verification. A new one is a file here and a line below.

The name of a format is the ending of its files.
"""

from crowdgate.formats import csv, parquet
from crowdgate.formats.format import Format, as_read

FORMATS: dict[str, Format] = {
    "parquet": parquet.FORMAT,
    "csv": csv.FORMAT,
}

__all__ = ["FORMATS", "Format", "as_read"]
