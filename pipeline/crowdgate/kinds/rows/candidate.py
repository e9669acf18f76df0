"""The candidate of a release of rows, and what its files hold."""

from collections.abc import Mapping
from dataclasses import dataclass

from crowdgate.candidate import Candidate
from crowdgate.histogram import Histogram
from crowdgate.publish.dictionary import Entry


@dataclass(frozen=True, eq=False, kw_only=True)
class RowsCandidate(Candidate):
    """Released rows, with the table and the sample at the released levels."""

    rows: Histogram
    table: Histogram
    sample: Histogram


@dataclass(frozen=True, eq=False)
class PublishedRows:
    """Rows by class, with the columns and all their values; which columns are numbers or days in order."""

    rows: Histogram
    columns: tuple[Entry, ...]
    ordered: tuple[bool, ...]

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """The values of every column, in the order of their codes."""
        return {column.column: column.labels for column in self.columns}
