"""Measured unit costs of a release, for estimates of its time, memory and traffic.

`python -m tests.benchmarks.unit_costs` measures them again, and `python -m tests.benchmarks.cluster --persons` those of
people on a cluster. Other machines differ by a factor of two or so.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class UnitCosts:
    """CPU seconds (user + system) and bytes of one unit of work each."""

    start: float
    """CPU seconds before the table is read."""
    cell: float
    """CPU seconds of a cell that is read, cleaned and counted."""
    view: float
    """CPU seconds of a row that is counted in a further view."""
    addition: float
    """CPU seconds of a combination in a sum that is added to another."""
    sampled_row: float
    """CPU seconds of a row of the table that is sampled, judged and written."""
    noisy_cell: float
    """CPU seconds of a cell with noise."""
    stored_cell: float
    """Bytes of a cell in a Parquet file."""
    sent_combination: float
    """Bytes of a combination that is sent, packed."""
    held_combination: float
    """Bytes of a combination in memory."""
    dense_cell: float
    """Bytes of a cell that has a counter of its own."""
    process: float
    """Bytes of a process that counts a table with few combinations."""
    held_entry: float
    """Bytes of memory for a combination with a person, whose id is a whole number, while such are sorted."""
    spilled_entry: float
    """Bytes of such a combination in temporary files, or on its way between processes, as counted and merged."""
    shuffled_entry: float
    """CPU seconds of a cluster's worker for such a combination: it is counted, divided into buckets and merged."""
    taken_entry: float
    """CPU seconds of the run's process for such a combination: it is taken from the cluster and bounded."""


MEASURED = "2026-11-30 (x86_64, 2 cores, Python 3.11.7)"
UNITS = UnitCosts(
    start=0.5,
    cell=7.5e-9,
    view=2.4e-9,
    addition=7.2e-8,
    sampled_row=4.6e-8,
    noisy_cell=7.7e-6,
    stored_cell=0.82,
    sent_combination=9,
    held_combination=88,
    dense_cell=8,
    process=3e8,
    held_entry=30,
    spilled_entry=30,
    shuffled_entry=6e-7,
    taken_entry=1.7e-7,
)
