"""Bounds on rows per person, by the rows that they leave out and by the noise of a policy's counts.

With a larger bound fewer rows are left out, and noise is larger. The error of a number is the root mean square of both:
the rows that it lacks, and the standard error of its noise. A total lacks all rows that are left out. A typical cell
lacks an equal part of them: the error is the root mean square over all cells of the policy's tables of counts, if rows
are spread evenly over the cells of each table. Larger cells lack more, up to the total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, hypot, sqrt
from typing import TYPE_CHECKING

from crowdgate.errors import Code, ConfigurationError
from crowdgate.interval import Interval
from crowdgate.planning.bundle import kind_of, problem_at
from crowdgate.planning.plan import plan_policy, plan_release
from crowdgate.public_counts.rows_per_person import RowsPerPerson, Truncation, read_rows_per_person

if TYPE_CHECKING:
    from pathlib import Path

    from crowdgate.kind.forecast import CountErrors
    from crowdgate.kind.plan import Plan
    from crowdgate.policy.files import Bundle

EACH = 40
"""Bounds up to this one are all judged."""
STEP = 1.1
"""The greatest ratio of a larger bound to the one before it, rounded up."""


@dataclass(frozen=True)
class BoundError:
    """The error of a number at a bound on rows: the standard error of its noise, and the root mean square of noise and
    rows that are left out."""

    noise: float
    whole: Interval


@dataclass(frozen=True)
class BoundWithErrors:
    """A bound on rows per person: what it leaves out, and the errors of the total and of a typical cell (None: the
    policy publishes no such count)."""

    truncation: Truncation
    total: BoundError | None = None
    cell: BoundError | None = None


@dataclass(frozen=True)
class BestBound:
    """The bound with the least estimated error, and the least and the greatest bound that may have the least error: an
    interval of all bounds whose errors can't be told from the least one. `factor` is an upper limit of the bound's
    error as a multiple of the least one."""

    rows: int
    low: int
    high: int
    factor: float


@dataclass(frozen=True, eq=False)
class RowBounds:
    """The bounds on rows per person of a policy, by the rows per person that a release counts."""

    plan: Plan
    source: RowsPerPerson
    bounds: Sequence[BoundWithErrors]

    @property
    def best_of_total(self) -> BestBound | None:
        """The best bound for the total; None if the policy publishes no counts, or noise hides it."""
        return best_bound([(each.truncation.rows, each.total) for each in self.bounds])

    @property
    def best_of_cells(self) -> BestBound | None:
        """The best bound for a typical cell; None if the policy publishes no table of counts, or noise hides it."""
        return best_bound([(each.truncation.rows, each.cell) for each in self.bounds])

    @property
    def people(self) -> Interval:
        """The number of people that the release counts."""
        return self.source.people(len(self.bounds))

    @property
    def at_most(self) -> Interval:
        """The share of people with `most` rows or more, of whom further rows are unknown."""
        return self.bounds[-1].truncation.people


def row_bounds(policy: Path, folder: Path) -> RowBounds:
    """Return the bounds on rows per person of a policy, by a verified release of persons. Reads no data that are not
    published.

    Raises ConfigurationError if every person of the policy's contract has one row, or must have, or the release has no
    such counts, and VerificationFailed for a folder that is no release.
    """
    plan = plan_policy(policy)
    _check_rows(plan.bundle)
    source = read_rows_per_person(folder)
    bounds = [
        bound_with_errors(each, source.variance_left_out(each.rows), _count_errors(plan.bundle, each.rows))
        for each in source.truncations(candidate_bounds(source.most))
    ]
    return RowBounds(plan, source, bounds)


def candidate_bounds(most: int) -> list[int]:
    """Return the bounds that are judged, from 1 to `most` - 1: all small ones, and larger ones in steps."""
    found = list(range(1, min(EACH, most - 1) + 1))
    while found[-1] < most - 1:
        found.append(min(ceil(found[-1] * STEP), most - 1))
    return found


def _check_rows(bundle: Bundle) -> None:
    contract = bundle.contract
    if contract.unit.person is None or contract.is_of_persons:
        found = f"contract {contract.id}, of which every person counts with one row, so there is no number to choose"
        expected = "a policy whose contract states privacyUnit: {person: COLUMN, rows: m} and no personValues"
        raise ConfigurationError(problem_at(bundle, ("spec", "contract"), found, expected, None, Code.CONTRADICTION))


def bound_with_errors(found: Truncation, variance: float, errors: CountErrors | None) -> BoundWithErrors:
    """Return a bound with the errors of counts, from the variance of the estimated rows left out and the standard
    errors of the noise on counts."""
    if errors is None:
        return BoundWithErrors(found)
    total = _error(found.left_out, variance, 1.0, errors.total)
    cells = sum(cells for cells, _ in errors.tables)
    if not cells:
        return BoundWithErrors(found, total)
    lacking = sqrt(sum(1 / each for each, _ in errors.tables) / cells)
    noise = sqrt(sum(each * error**2 for each, error in errors.tables) / cells)
    return BoundWithErrors(found, total, _error(found.left_out, variance, lacking, noise))


def _count_errors(bundle: Bundle, rows: int) -> CountErrors | None:
    """Return the standard errors of a policy's counts if a person has at most so many rows; None if it publishes no
    counts with noise."""
    contract = replace(bundle.contract, unit=replace(bundle.contract.unit, rows=rows))
    try:
        planned = plan_release(replace(bundle, contract=contract)).protection
    except ConfigurationError as error:
        found = [replace(each, found=f"rows: {rows} can't be judged: {each.found}") for each in error.problems]
        raise ConfigurationError(found) from error
    return kind_of(bundle).count_errors(planned.mechanism)


def _error(left_out: Interval, variance: float, part: float, noise: float) -> BoundError:
    """Return the error of a number that lacks this part of the rows left out, of whose estimate this is the variance.

    The variance is added to the square of the estimate: the expected square of what is left out, given the estimate.
    Without it, noise that hides rows left out would make a small bound the best one.
    """
    expected = hypot(left_out.value, sqrt(variance))
    value, low, high = (hypot(part * each, noise) for each in (expected, left_out.low, left_out.high))
    return BoundError(noise, Interval(min(max(value, low), high), low, high))


def best_bound(errors: Sequence[tuple[int, BoundError | None]]) -> BestBound | None:
    """Return the bound with the least error; None if any bound may have it, so that nothing is known.

    All errors are within their limits at once with the stated probability, and then the least one is that of a bound
    whose lower limit is not above the least upper limit.
    """
    known = [(rows, error.whole) for rows, error in errors if error is not None]
    least = min((whole.high for _, whole in known), default=0.0)
    possible = [rows for rows, whole in known if whole.low <= least]
    if len(possible) == len(known):
        return None
    best, own = min(known, key=lambda each: each[1].value)
    return BestBound(best, min(possible), max(possible), own.high / min(whole.low for _, whole in known))
