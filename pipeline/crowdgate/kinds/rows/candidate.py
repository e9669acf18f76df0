"""The candidate of a release of rows, and what its files hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crowdgate.arrays import Codes, Integers
from crowdgate.candidate import Candidate
from crowdgate.histogram import Histogram
from crowdgate.mechanisms.rows.margins import DrawnMargins
from crowdgate.noisy_counts.recount import CountCells
from crowdgate.publish.dictionary import DictionaryEntry
from crowdgate.publish.levels import CoarserLine

Lookup = Mapping[tuple[str, str], Codes]
"""For every column at a level that margins have it at: the value's place there, for every value of the rows."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RowsCandidate(Candidate):
    """Released rows with noisy margins, if there are any; with the table and the sample at the released levels."""

    rows: Histogram
    table: Histogram
    sample: Histogram
    margins: DrawnMargins | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedMargin(CountCells):
    """A published table of counts of the full table, whose axes are columns at levels. Its cells are whole numbers,
    with the least-squares estimates before they were cut at 0 and rounded, standard errors and 95 % intervals."""

    levels: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class CalibratedMargins:
    """Margins of the full table, the weight of every class of rows in `UNIT`s, and the levels of the margins that are
    not those of the rows: their values, and which value of a row belongs to which."""

    margins: tuple[PublishedMargin, ...]
    weights: Integers
    entries: tuple[DictionaryEntry, ...]
    coarser: Sequence[CoarserLine]
    lookup: Lookup


@dataclass(frozen=True, eq=False)
class PublishedRows:
    """Rows by class, with the columns and all their values; which columns are numbers or days in order; margins and
    weights, where they were bought."""

    rows: Histogram
    columns: tuple[DictionaryEntry, ...]
    ordered: tuple[bool, ...]
    weighting: CalibratedMargins | None = None

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """The values of every column, in the order of their codes."""
        return {column.column: column.labels for column in self.columns}
