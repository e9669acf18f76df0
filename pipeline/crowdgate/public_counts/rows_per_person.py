"""Rows per person as a published release counts them, and what a bound on rows per person would leave out.

All is computed from published numbers: unbiased counts of people by their number of rows, with noise. A count
distinguishes numbers up to `most`, so rows beyond the first `most` of a person are in no number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.interval import Interval
from crowdgate.limits import MOST_ROWS_EACH
from crowdgate.public_counts.ratio_intervals import ratio_interval

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.kind.one_way_counts import OneWayCounts

MISS = 0.05
"""The probability that any of the intervals of an answer misses."""
PER_BOUND = 4
"""The number of intervals for each bound on rows."""


@dataclass(frozen=True)
class Truncation:
    """The effect of a bound of `rows` rows per person: the number and the share of people who have more rows, the share
    of rows that is left out, and the number of these rows. Rows are the first `most` of each person."""

    rows: int
    truncated: Interval
    people: Interval
    row_share: Interval
    left_out: Interval


@dataclass(frozen=True, eq=False)
class RowsPerPerson:
    """Counts of people by their number of rows: the release that published them, its population, the column whose valid
    cells count as rows, and the greatest number that is distinguished."""

    release: str
    population: str
    column: str
    most: int
    counts: OneWayCounts

    @cached_property
    def numbers(self) -> Floats:
        """The numbers of rows, from 0 to `most`."""
        return np.arange(self.most + 1, dtype=np.float64)

    def people(self, bounds: int) -> Interval:
        """Return the number of people, in an answer for so many bounds."""
        return self._number(np.ones_like(self.numbers), self._width(bounds))

    def truncations(self, bounds: Sequence[int]) -> list[Truncation]:
        """Return what each of these bounds, from 1 to `most` - 1, leaves out. All intervals of the answer hold together
        with probability 1 - MISS, by Bonferroni's inequality."""
        width = self._width(len(bounds))
        return [self._truncation(rows, width) for rows in bounds]

    def _width(self, bounds: int) -> float:
        """Return half of the width of all intervals of an answer for so many bounds, in standard errors: those of each
        bound, and that of the number of people."""
        return float(self.counts.width(MISS / (PER_BOUND * bounds + 1)))

    def _truncation(self, rows: int, width: float) -> Truncation:
        beyond = np.maximum(self.numbers - rows, 0)
        more = (beyond > 0).astype(np.float64)
        people, row_share = self._share(more, np.ones_like(more), width), self._share(beyond, self.numbers, width)
        return Truncation(rows, self._number(more, width), people, row_share, self._number(beyond, width))

    def variance_left_out(self, rows: int) -> float:
        """Return the variance of the estimated number of rows that a bound leaves out."""
        beyond = np.maximum(self.numbers - rows, 0)
        return self._covariance(beyond, beyond)

    def _covariance(self, one: Floats, other: Floats) -> float:
        return float(one @ self.counts.covariance @ other)

    def _number(self, part: Floats, width: float) -> Interval:
        """Return a weighted sum of counts, from 0 on."""
        found, spread = float(part @ self.counts.estimates), width * self._covariance(part, part) ** 0.5
        return Interval(*(max(each, 0.0) for each in (found, found - spread, found + spread)))

    def _share(self, part: Floats, whole: Floats, width: float) -> Interval:
        """Return a weighted sum of counts as a share of another one, from 0 to 1."""
        top, bottom = (float(each @ self.counts.estimates) for each in (part, whole))
        variances = self._covariance(part, part), self._covariance(whole, whole)
        low, high = ratio_interval(top, bottom, variances, self._covariance(part, whole), width)
        value = top / bottom if bottom > 0 else 0.0
        return Interval(*(min(max(each, 0.0), 1.0) for each in (value, low, high)))


def read_rows_per_person(folder: Path) -> RowsPerPerson:
    """Return the rows per person that a verified release of persons counts.

    Of several such counts the one that distinguishes most numbers is taken. Raises VerificationFailed for a folder that
    is no release, ConfigurationError for a release without such counts.
    """
    from crowdgate.attachments import ATTACHMENTS
    from crowdgate.kinds import KINDS
    from crowdgate.verification.steps import Verification

    run = Verification(folder, KINDS, ATTACHMENTS)
    said = run.run()
    made = {} if said.estimand is None else said.estimand.persons or {}
    rules = {name: rule for name, rule in made.items() if rule.rule == "count" and rule.values is None}
    found = [
        RowsPerPerson(said.release.id, said.contract.population, rules[each.attribute].column, most, each)
        for each in run.kind.one_way_counts(said, run.contents)
        if each.attribute in rules
        and 1 < (most := rules[each.attribute].most or 0) <= MOST_ROWS_EACH
        and len(each.estimates) == most + 1
    ]
    if not found:
        raise ConfigurationError(_problem(folder, said.mechanism.kind, [*rules]))
    return max(found, key=lambda each: each.most)


def _problem(folder: Path, kind: str, counted: Sequence[str]) -> Problem:
    """Return the problem of a release without counts of people by their number of rows."""
    name = counted[0] if counted else "rows_a_person"
    found = f"this release ({kind}) has no table of people by their number of rows"
    rule = f"{name}: {{count: COLUMN, most: 30}} (most from 2 to {MOST_ROWS_EACH})"
    line = f"by a policy of dp_tables with the line {{attributes: {{{name}: exact}}}}, without sampling and suppress"
    expected = f"a release from a contract whose personValues state {rule}, {line}"
    return Problem("command line", None, f"--rows-per-person {folder}", found, expected)
