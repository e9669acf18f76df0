"""The candidate of a release of rows."""

from dataclasses import dataclass

from crowdgate.candidate import Candidate
from crowdgate.histogram import Histogram


@dataclass(frozen=True, eq=False, kw_only=True)
class RowsCandidate(Candidate):
    """Released rows, with the table and the sample at the released levels."""

    rows: Histogram
    table: Histogram
    sample: Histogram
