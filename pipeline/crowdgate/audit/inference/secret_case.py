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
STATS = ("predicted", "attack", "baseline of these", "baseline", "both of these")
"""Shares of the targets: for whom the attack guesses, and for whom it is right; for whom the baseline is right among
exactly these (the paper's estimand), and among as many with its own greatest confidence (equal coverage, by the
baseline that is best at that number); for whom both the attack and the baseline of these are right."""
LEAST_CHOOSING = 20
"""Least number of targets on which a baseline is chosen: with fewer the best one is best by chance."""
DIGITS = 9
"""Decimal digits of shares. All shares are rounded alike, so that a part never exceeds its whole."""
Part = slice


@dataclass(frozen=True, eq=False)
class CoverageCurve:
    """Success of guesses by coverage, with targets (the people attacked) in descending order of confidence: cumulative
    shares of all targets (`targets`), and of targets with a right guess (`right`)."""

    targets: Floats
    right: Floats

    def at(self, share: Floats) -> Floats:
        """Return the share of all targets that have a right guess, if guesses are made for the share `share` of all
        targets."""
        return np.asarray(np.interp(share, self.targets, self.right), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class SecretCase:
    """A secret attribute of a table, with the targets' known attributes at the finest level (`tuples`) and the guesses
    of the baselines (`held`)."""

    original: SourceTable
    secret: Secret
    tuples: DistinctTuples
    held: Sequence[BaselineGuesses]
    _views: dict[tuple[tuple[str, str], ...], "TargetView"] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def codes(self) -> Integers:
        """Label of the secret in every cell of the population."""
        return self.original.secret_codes(self.secret)

    @cached_property
    def prior(self) -> Floats:
        """Share of every label of the secret among the rows of the public population."""
        public = self.original.public
        labels = public.codes(self.secret.name, self.secret.level)
        rows = np.bincount(labels, public.cells.counts, len(self.secret))
        return np.asarray(rows / rows.sum(), dtype=np.float64)

    @cached_property
    def unique_cells(self) -> Bools:
        """Mask of the cells whose tuple of known attributes belongs to a single unit of the table (a person may have
        several rows there)."""
        found: Bools = self.original.holders(self.tuples)[self.tuples.of_cell] == 1
        return found

    def rows(self, group: int) -> Integers:
        """Return the number of target rows in a group of targets (index in GROUPS), by cells and blocks of the
        table."""
        return self.original.rows if group == 0 else np.where(self.unique_cells[:, None], self.original.rows, 0)

    def targets(self, group: int) -> int:
        """Return the number of units with target rows in a group of targets (index in GROUPS), in the blocks that
        estimate figures."""
        cells = np.ones_like(self.unique_cells) if group == 0 else self.unique_cells
        return self.original.units_in(cells, self.original.estimate)

    def right(self, baseline: BaselineGuesses, group: int) -> Integers:
        """Return the number of target rows for which a baseline guesses right, by cells and blocks, in a group of
        targets (index in GROUPS)."""
        labels = baseline.labels[self.tuples.of_cell]
        return self.rows(group) * self.secret.right(labels, self.codes[:, None])

    def curve(self, baseline: BaselineGuesses, group: int, part: Part) -> CoverageCurve:
        """Return the curve of a baseline's right guesses against its coverage, for a group of targets in some blocks
        (`part`)."""
        rows, right = self.rows(group)[:, part].ravel(), self.right(baseline, group)[:, part].ravel()
        sure = baseline.confidence[self.tuples.of_cell][:, part].ravel()
        return coverage_curve(sure, rows.astype(np.float64), right.astype(np.float64))

    @cached_property
    def choosing(self) -> list[list[CoverageCurve]]:
        """Curves of right guesses against coverage, by groups and baselines, on the blocks that choose baselines."""
        return self._curves(self.original.choose)

    @cached_property
    def estimating(self) -> list[list[CoverageCurve]]:
        """Curves of right guesses against coverage, by groups and baselines, on the blocks that estimate figures."""
        return self._curves(self.original.estimate)

    def _curves(self, part: Part) -> list[list[CoverageCurve]]:
        return [[self.curve(each, group, part) for each in self.held] for group in range(len(GROUPS))]

    def chosen(self, group: int, share: float = 1.0) -> int:
        """Return the index of the baseline with most right guesses on the choosing blocks, if guesses are made for the
        share `share` of a group's targets, and for at least LEAST_CHOOSING of them."""
        at = np.round(min(1.0, max(share, self._least_shares[group])), DIGITS)
        return int(np.argmax([curve.at(at) for curve in self.choosing[group]]))

    @cached_property
    def _least_shares(self) -> list[float]:
        """LEAST_CHOOSING as a share of the targets on the choosing blocks, by groups."""
        groups = np.ones_like(self.unique_cells), self.unique_cells
        return [LEAST_CHOOSING / max(1, self.original.units_in(cells, self.original.choose)) for cells in groups]

    def equal(self, group: int, share: float) -> float:
        """Return the share of a group's targets for whom the baseline chosen for the coverage `share` is right, at that
        coverage, on the estimating blocks."""
        return float(self.estimating[group][self.chosen(group, share)].at(np.asarray(share)))

    def view(self, levels: Mapping[str, Level]) -> "TargetView":
        """Return the targets as an attacker sees them who knows the attributes in `levels`, at these levels."""
        key = tuple((name, level.name) for name, level in levels.items())
        if key not in self._views:
            self._views[key] = TargetView(self, self.original.population.tuples(levels))
        return self._views[key]


@dataclass(frozen=True, eq=False)
class TargetView:
    """Targets of a secret's case, grouped by their known attributes at the levels of a release."""

    case: SecretCase
    tuples: DistinctTuples
    _sums: dict[tuple[int, int, int], "_TargetSums"] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def target(self) -> TargetAttributes:
        """Known attributes of the targets as distinct tuples, in the form that attacks receive."""
        codes = dict(zip(self.tuples.levels, self.tuples.codes, strict=True))
        return TargetAttributes(self.tuples.levels, codes, len(self.tuples))

    def shares(self, guesses: Guesses, part: Part) -> Floats:
        """Return the shares of targets that STATS lists (guessed for, guessed right, and right by two baselines), as an
        array of groups by coverages by STATS, for guesses on some blocks (`part`)."""
        found = np.zeros((len(GROUPS), len(COVERAGES), len(STATS)))
        ranked, place = RankedTuples.of(guesses.confidence), np.arange(len(guesses.label))
        for group in range(len(GROUPS)):
            sums = self._sums_of(group, part)
            total = sums.targets.sum()
            if not total:
                continue
            right, both = (each[place, guesses.label] for each in (sums.right, sums.both))
            for at, coverage in enumerate(COVERAGES):
                taken = ranked.guessed_shares(sums.targets, coverage * total)
                stats = (taken * sums.targets, taken * right, taken * sums.baseline)
                found[group, at, :3] = [each.sum() / total for each in stats]
                found[group, at, 0] = min(found[group, at, 0], coverage)  # rounding errors of float sums
                found[group, at, 1:3] = np.minimum(found[group, at, 1:3], found[group, at, 0])
                share = float(found[group, at, 0])
                found[group, at, 3] = min(self.case.equal(group, share), share)
                found[group, at, 4] = min((taken * both).sum() / total, *found[group, at, 1:3])
        return found

    def _sums_of(self, group: int, part: Part) -> "_TargetSums":
        """Return the numbers of target rows of a group in some blocks. The baseline is the best one at coverage 1."""
        key = (group, part.start, part.stop)
        if key not in self._sums:
            case, rows = self.case, self.case.rows(group)[:, part].sum(axis=1)
            best = case.held[case.chosen(group)]
            right = case.right(best, group)[:, part].sum(axis=1)
            labels, known = (self.tuples.by_label(case.codes, len(case.secret), each) for each in (rows, right))
            both = case.secret.hits(known)
            self._sums[key] = _TargetSums(labels.sum(axis=1), case.secret.hits(labels), self.tuples.total(right), both)
        return self._sums[key]


@dataclass(frozen=True, eq=False)
class _TargetSums:
    """Numbers of target rows by tuple of known attributes: all (`targets`), those for whom each label would be a right
    guess (`right`: tuples by labels), those for whom the baseline is right, and for whom both are (`both`)."""

    targets: Floats
    right: Floats
    baseline: Floats
    both: Floats


@dataclass(frozen=True, eq=False)
class RankedTuples:
    """Tuples of known attributes in the order of decreasing confidence (`order`), the rank of each in that order
    (`tie`; tuples of equal confidence share a rank), and a mask of those that are guessed at all."""

    order: Integers
    tie: Integers
    guessed: Bools

    @classmethod
    def of(cls, confidence: Floats) -> "RankedTuples":
        """Return the ranks of tuples by the confidence of their guesses (0: no guess)."""
        order = np.argsort(-confidence, kind="stable")
        sorted_confidence = confidence[order]
        tie = np.cumsum(np.concatenate([[0], sorted_confidence[1:] != sorted_confidence[:-1]]))
        return cls(order, tie.astype(np.int64), confidence > 0)

    def guessed_shares(self, targets: Floats, most: float) -> Floats:
        """Return, for each tuple, the share of its targets for whom a guess is made: `most` targets in all, those of
        greatest confidence. Tuples of equal confidence get equal shares."""
        held = np.bincount(self.tie, targets[self.order])
        left = np.clip(most - np.concatenate([[0.0], np.cumsum(held)[:-1]]), 0, None)
        share = np.minimum(1.0, np.divide(left, held, out=np.zeros_like(held), where=held > 0))
        found = np.zeros(len(targets))
        found[self.order] = share[self.tie]
        return np.where(self.guessed, found, 0.0)


def coverage_curve(confidence: Floats, targets: Floats, right: Floats) -> CoverageCurve:
    """Return the curve of right guesses against coverage, from the confidence, the number of targets and the number of
    right guesses of each tuple. Tuples of equal confidence are one step."""
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
    """Fit the baselines for a secret attribute, and return the secret with the known attributes and the baselines'
    guesses."""
    known = original.known_attributes(secret)
    tuples = original.population.tuples(original.finest(known))
    as_known = KnownAttributes(tuples.codes, tuple(numbers[name] for name in known))
    held = baselines(original, secret, as_known, tuples.of_cell, rng, every)
    return SecretCase(original, secret, tuples, held)
