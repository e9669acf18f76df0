"""The candidate of a release of rows, and the content of its files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.arrays import Codes, Integers
from crowdgate.candidate import Candidate
from crowdgate.histogram import Histogram
from crowdgate.kinds.rows.manifest_fields import UseFields
from crowdgate.mechanisms.rows.margins import DrawnMargins
from crowdgate.noisy_counts.recount import CountCells
from crowdgate.publish.dictionary import DictionaryEntry
from crowdgate.publish.levels import CoarserLine

Lookup = Mapping[tuple[str, str], Codes]
"""Maps a column and its level in the margins to an array: the code of each released value at that level."""
Sizes = Mapping[tuple[str, str], int]
"""Maps a column and its level in the margins to the number of values of that level."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedMargin(CountCells):
    """A published table of counts of the full table, whose axes are columns at levels. Its cells are whole numbers,
    with the least-squares estimates before clipping at 0 and rounding, standard errors and 95 % intervals."""

    levels: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class ShareLimits:
    """Limits of the share of the full table in each cell of a margin, in whole multiples of 1 / `PARTS`."""

    lower: Integers
    upper: Integers


@dataclass(frozen=True, eq=False)
class CalibratedMargins:
    """Margins of the full table; the weight of each class of released rows, as a whole multiple of 1/`GRID`; the levels
    that only margins have: their values, and for each value of the rows the value at that level; the number of values
    of each level of the margins; and the standard errors around an estimate within which all cells of all margins are
    together with 95 % probability."""

    margins: tuple[PublishedMargin, ...]
    weights: Integers
    entries: tuple[DictionaryEntry, ...]
    coarser: Sequence[CoarserLine]
    lookup: Lookup
    sizes: Sizes
    together: Fraction


@dataclass(frozen=True, eq=False, kw_only=True)
class RowsCandidate(Candidate):
    """Released rows, their weights and margins if any, the margins as drawn, and the table and the sample at the
    released levels."""

    rows: Histogram
    table: Histogram
    sample: Histogram
    weighting: CalibratedMargins | None = None
    drawn: DrawnMargins | None = None


@dataclass(frozen=True, eq=False)
class PublishedRows:
    """Rows by class, with the columns and all their values; which columns are numbers or days in order; margins and
    weights, if the policy has margins, what the weighted rows can be used for, and limits of shares in each margin of
    one or two columns. Earlier releases have no limits."""

    rows: Histogram
    columns: tuple[DictionaryEntry, ...]
    ordered: tuple[bool, ...]
    weighting: CalibratedMargins | None = None
    use: UseFields | None = None
    shares: tuple[ShareLimits, ...] | None = None

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """The values of each column, in the order of their codes."""
        return {column.column: column.labels for column in self.columns}
