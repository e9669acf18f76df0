"""One secret of one table: the known attributes of its targets, the guesses of the baselines, and the shares of a
release.

Everybody in the table is a target, and shares are exact. Among targets that an attack can't tell apart it predicts as
many as the coverage requires, which counts as an equal share of each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.audit.common.population import Rng
from crowdgate.audit.common.tuples import DistinctTuples
from crowdgate.audit.inference.attacker_view import TargetAttributes
from crowdgate.audit.inference.baselines import BASELINES, BaselineGuesses, Baselines, baselines
from crowdgate.audit.inference.models import KnownAttributes
from crowdgate.audit.inference.secret import Guesses, Secret
from crowdgate.audit.inference.source_table import SourceTable
from crowdgate.hierarchy import Level
from crowdgate.risk import inference as risk

COVERAGES = tuple(map(float, risk.COVERAGES))
"""Shares of the targets for whom a guess is made: those with the greatest confidence. The true values play no part in
that choice, so that no threshold is fitted to the targets that are estimated."""
GROUPS = ("all targets", "alone with what is known")
"""Groups with figures of their own: all targets, and targets that are unique in the known attributes (section 3.1:
unique in its block)."""
STATS = ("predicted", "attack", "baseline of these", "baseline")
"""Shares of the targets: for whom the attack guesses, and for whom it is right; for whom the baseline is right among
exactly these (the paper's estimand), and among as many with its own greatest confidence (equal coverage, by the
baseline that is best at that number)."""
LEAST_CHOOSING = 20
"""Least number of targets on which a baseline is chosen: with fewer the best one is best by chance."""
DIGITS = 9
"""Decimal digits of shares. All shares are rounded alike, so that a part never exceeds its whole."""
Part = slice


@dataclass(frozen=True, eq=False)
class CoverageCurve:
    """Targets in descending order of confidence: cumulative shares of all targets, and of right guesses."""

    targets: Floats
    right: Floats

    def at(self, share: Floats) -> Floats:
        """Return the share of all targets with a right guess, if guesses are made for that share of them."""
        return np.asarray(np.interp(share, self.targets, self.right), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class SecretCase:
    """A secret, all known attributes of targets (at the finest level), and the baselines."""

    original: SourceTable
    secret: Secret
    tuples: DistinctTuples
    held: Sequence[BaselineGuesses]
    _views: dict[tuple[tuple[str, str], ...], "TargetView"] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def codes(self) -> Integers:
        """Label of every cell."""
        return self.original.secret_codes(self.secret)

    @cached_property
    def prior(self) -> Floats:
        """Share of every label in the population."""
        public = self.original.public
        labels = public.codes(self.secret.name, self.secret.level)
        rows = np.bincount(labels, public.cells.counts, len(self.secret))
        return np.asarray(rows / rows.sum(), dtype=np.float64)

    @cached_property
    def unique_cells(self) -> Bools:
        """Mask of the cells whose known attributes belong to a single unit (a person may have several rows there)."""
        found: Bools = self.original.holders(self.tuples)[self.tuples.of_cell] == 1
        return found

    def rows(self, group: int) -> Integers:
        """Return the targets of a group, by cells and blocks."""
        return self.original.rows if group == 0 else np.where(self.unique_cells[:, None], self.original.rows, 0)

    def targets(self, group: int) -> int:
        """Return the number of units that are targets of a group, in the estimating blocks."""
        cells = np.ones_like(self.unique_cells) if group == 0 else self.unique_cells
        return self.original.units_in(cells, self.original.estimate)

    def right(self, baseline: BaselineGuesses, group: int) -> Integers:
        """Return the number of targets for whom a baseline is right, by cells and blocks."""
        labels = baseline.labels[self.tuples.of_cell]
        return self.rows(group) * self.secret.right(labels, self.codes[:, None])

    def curve(self, baseline: BaselineGuesses, group: int, part: Part) -> CoverageCurve:
        """Return the curve of a baseline's right guesses against its coverage."""
        rows, right = self.rows(group)[:, part].ravel(), self.right(baseline, group)[:, part].ravel()
        sure = baseline.confidence[self.tuples.of_cell][:, part].ravel()
        return coverage_curve(sure, rows.astype(np.float64), right.astype(np.float64))

    @cached_property
    def choosing(self) -> list[list[CoverageCurve]]:
        """Curves of all baselines, by groups, on the choosing blocks."""
        return self._curves(self.original.choose)

    @cached_property
    def estimating(self) -> list[list[CoverageCurve]]:
        """Curves of all baselines, by groups, on the estimating blocks."""
        return self._curves(self.original.estimate)

    def _curves(self, part: Part) -> list[list[CoverageCurve]]:
        return [[self.curve(each, group, part) for each in self.held] for group in range(len(GROUPS))]

    def chosen(self, group: int, share: float = 1.0) -> int:
        """Return the index of the baseline that is best, on the choosing blocks, if it guesses for that share of the
        targets, and for at least LEAST_CHOOSING of them."""
        cells = np.ones_like(self.unique_cells) if group == 0 else self.unique_cells
        few = LEAST_CHOOSING / max(1, self.original.units_in(cells, self.original.choose))
        at = np.round(min(1.0, max(share, few)), DIGITS)
        return int(np.argmax([curve.at(at) for curve in self.choosing[group]]))

    def equal(self, group: int, share: float) -> float:
        """Return the share of targets for whom the best baseline at that coverage is right."""
        return float(self.estimating[group][self.chosen(group, share)].at(np.asarray(share)))

    def view(self, levels: Mapping[str, Level]) -> "TargetView":
        """Return the targets as seen by an attacker who knows these attributes at these levels."""
        key = tuple((name, level.name) for name, level in levels.items())
        if key not in self._views:
            self._views[key] = TargetView(self, self.original.population.tuples(levels))
        return self._views[key]


@dataclass(frozen=True, eq=False)
class TargetView:
    """Targets by their known attributes at the levels of a release."""

    case: SecretCase
    tuples: DistinctTuples
    _sums: dict[tuple[int, int, int], tuple[Floats, Floats]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def target(self) -> TargetAttributes:
        """The known attributes in the form that attacks receive."""
        codes = dict(zip(self.tuples.levels, self.tuples.codes, strict=True))
        return TargetAttributes(self.tuples.levels, codes, len(self.tuples))

    def shares(self, guesses: Guesses, part: Part) -> Floats:
        """Return the shares that result from guesses: groups by coverages by STATS."""
        found = np.zeros((len(GROUPS), len(COVERAGES), len(STATS)))
        for group in range(len(GROUPS)):
            labels, baseline = self._sums_of(group, part)
            total = labels.sum()
            if not total:
                continue
            right = self.case.secret.hits(labels)[np.arange(len(labels)), guesses.label]
            for at, coverage in enumerate(COVERAGES):
                taken = guessed_shares(guesses.confidence, labels.sum(axis=1), coverage * total)
                stats = (taken * labels.sum(axis=1), taken * right, taken * baseline)
                found[group, at, :3] = [each.sum() / total for each in stats]
                found[group, at, 0] = min(found[group, at, 0], coverage)  # rounding errors of float sums
                found[group, at, 1:3] = np.minimum(found[group, at, 1:3], found[group, at, 0])
                share = float(found[group, at, 0])
                found[group, at, 3] = min(self.case.equal(group, share), share)
        return found

    def _sums_of(self, group: int, part: Part) -> tuple[Floats, Floats]:
        """Return the targets of each tuple by labels, and the number for whom the best baseline at coverage 1 is
        right."""
        key = (group, part.start, part.stop)
        if key not in self._sums:
            case, rows = self.case, self.case.rows(group)[:, part].sum(axis=1)
            best = case.held[case.chosen(group)]
            right = case.right(best, group)[:, part].sum(axis=1)
            self._sums[key] = self.tuples.by_label(case.codes, len(case.secret), rows), self.tuples.total(right)
        return self._sums[key]


def guessed_shares(confidence: Floats, targets: Floats, most: float) -> Floats:
    """Return the share of each tuple's targets for whom a guess is made: those with the greatest confidence, `most` in
    all. Tuples of equal confidence get equal shares."""
    sure = -confidence
    order = np.argsort(sure, kind="stable")
    _, tie = np.unique(sure[order], return_inverse=True)
    held = np.bincount(tie, targets[order])
    left = np.clip(most - np.concatenate([[0.0], np.cumsum(held)[:-1]]), 0, None)
    share = np.minimum(1.0, np.divide(left, held, out=np.zeros_like(held), where=held > 0))
    found = np.zeros(len(targets))
    found[order] = share[tie]
    return np.where(confidence > 0, found, 0.0)


def coverage_curve(confidence: Floats, targets: Floats, right: Floats) -> CoverageCurve:
    """Return the cumulative targets and right guesses in descending order of confidence, with ties together."""
    levels, tie = np.unique(-confidence, return_inverse=True)
    guessed = levels < 0
    total = max(1.0, targets.sum())
    held, hit = (np.cumsum(np.bincount(tie, each, len(levels))[guessed]) / total for each in (targets, right))
    return CoverageCurve(np.concatenate([[0.0], held]), np.concatenate([[0.0], hit]))


def secret_case(
    original: SourceTable,
    secret: Secret,
    numbers: Mapping[str, Floats | None],
    rng: Rng,
    every: Baselines = BASELINES,
) -> SecretCase:
    """Fit the baselines of a secret, and return its case."""
    known = original.known_attributes(secret)
    tuples = original.population.tuples(original.finest(known))
    as_known = KnownAttributes(tuples.codes, tuple(numbers[name] for name in known))
    held = baselines(original, secret, as_known, tuples.of_cell, rng, every)
    return SecretCase(original, secret, tuples, held)
