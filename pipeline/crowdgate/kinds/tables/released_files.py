"""What the files of a release of tables hold."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from crowdgate.kinds.tables.manifest_fields import TableFields
from crowdgate.publish.dictionary import DictionaryEntry
from crowdgate.publish.levels import CoarserLine


@dataclass(frozen=True, eq=False)
class PublishedTables:
    """The tables as published and, if asked for, as the noise left them; their columns with all values, and which value
    of a level belongs to which of a coarser one."""

    said: tuple[TableFields, ...]
    tables: tuple[pa.Table, ...]
    raw: tuple[pa.Table, ...]
    columns: tuple[DictionaryEntry, ...]
    coarser: Sequence[CoarserLine]
