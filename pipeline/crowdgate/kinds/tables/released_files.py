"""Content of the files of a release of tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from crowdgate.kinds.tables.manifest_fields import TableFields
from crowdgate.publish.dictionary import DictionaryEntry
from crowdgate.publish.levels import CoarserLine


@dataclass(frozen=True, eq=False)
class PublishedTables:
    """The tables as published and, if the policy says so, as drawn; their columns with all values, and the value of
    each coarser level for each value."""

    said: tuple[TableFields, ...]
    tables: tuple[pa.Table, ...]
    raw: tuple[pa.Table, ...]
    columns: tuple[DictionaryEntry, ...]
    coarser: Sequence[CoarserLine]
