"""estimates.csv of releases of format 1, which had no margins: read for verification, no longer written.

Each person was sampled with probability beta, so c published rows estimate c / beta persons, with standard error sqrt(c
(1 - beta)) / beta from sampling. Suppression biases: rows of classes below k are missing, so an estimate is too small
by the suppressed part of its cell, and the estimates of a column add up to too little.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from crowdgate.formats.byte_compare import Writer
from crowdgate.histogram import Histogram
from crowdgate.publish.dictionary import write_lines

COLUMNS = ("column", "label", "count", "estimate", "standard_error")


@dataclass(frozen=True)
class PersonsEstimate:
    """A cell of a one-way margin: published rows, estimated persons and standard error, both in hundredths."""

    column: str
    label: str
    count: int
    persons_hundredths: int
    error_hundredths: int

    @property
    def persons(self) -> str:
        """The estimated number of persons, as text with two decimals."""
        return _decimal(self.persons_hundredths)

    @property
    def error(self) -> str:
        """The standard error of the estimated number of persons, as text with two decimals."""
        return _decimal(self.error_hundredths)


def files(release: Histogram, beta: Fraction, labels: Mapping[str, Sequence[str]]) -> Mapping[str, Writer]:
    """Return the writer of estimates.csv: each published value of each column, with its estimated number of persons."""
    found = estimates(release, beta, labels)
    lines = [(each.column, each.label, each.count, each.persons, each.error) for each in found]
    return {"estimates.csv": lambda into: write_lines(into, COLUMNS, lines)}


def estimates(release: Histogram, beta: Fraction, labels: Mapping[str, Sequence[str]]) -> list[PersonsEstimate]:
    """Return an estimate for each value of each column that occurs in the release, in the public order of values."""
    return [found for name, own in labels.items() for found in _column_estimates(release, name, beta, own)]


def _column_estimates(
    release: Histogram, name: str, beta: Fraction, labels: Sequence[str]
) -> Iterator[PersonsEstimate]:
    margin = np.zeros(len(labels), dtype=np.int64)
    np.add.at(margin, release.codes[release.names.index(name)], release.counts)
    cells = np.flatnonzero(margin)
    for code, count in zip(cells.tolist(), margin[cells].tolist(), strict=True):
        persons, variance = (count / beta) ** 2, count * (1 - beta) / beta**2
        yield PersonsEstimate(name, labels[code], count, _root_hundredths(persons), _root_hundredths(variance))


def largest_cells(found: Iterable[PersonsEstimate], most: int = 3) -> list[PersonsEstimate]:
    """Return for each column the estimate of its most frequent value, the largest first; at most `most` of these."""
    best: dict[str, PersonsEstimate] = {}
    for each in found:
        if each.column not in best or each.count > best[each.column].count:
            best[each.column] = each
    return sorted(best.values(), key=lambda each: -each.count)[:most]


def example_line(each: PersonsEstimate) -> dict[str, object]:
    """Return an estimate as the values of one line of the README's table of examples."""
    middle, half = each.persons_hundredths / 100, 1.96 * each.error_hundredths / 100
    ends = f"{middle - half:.0f} to {middle + half:.0f}"
    return {"column": each.column, "label": each.label, "rows": each.count, "persons": each.persons,
            "error": each.error, "interval": ends}  # fmt: skip


def _root_hundredths(square: Fraction) -> int:
    """Return 100 sqrt(square), rounded exactly, halves up: floor((floor(2 x) + 1) / 2) is the whole number nearest to
    x."""
    return (isqrt(int(40000 * square)) + 1) // 2


def _decimal(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02}"
