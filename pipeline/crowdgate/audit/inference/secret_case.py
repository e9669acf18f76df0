"""One secret of one table: what is known of its targets, what the baselines guess, and what a release comes to.

Nothing is drawn for a target: everybody in the table is one, and shares are exact. Of targets that an attack can't tell
apart it predicts as many as the coverage asks for, which counts for them all alike.
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
"""Shares of the targets for whom a guess is made: those of whom it is surest. No truth is looked at to find them, so
that a threshold on confidence is not chosen by what is estimated."""
GROUPS = ("all targets", "alone with what is known")
"""Whose figures there are: everybody's, and those of the targets that nobody else agrees with in all that is known
(section 3.1: unique in its block)."""
STATS = ("predicted", "attack", "baseline of these", "baseline")
"""Shares of the targets: for whom the attack guesses, of whom it is right; of whom the baseline is right among exactly
these (the paper's estimand), and among as many that it is surest of itself (equal coverage: as many as the attack does
guess for, by the baseline that is best at just so many)."""
LEAST_CHOOSING = 20
"""Targets by whom a baseline is chosen, at least: of fewer the best one is so by chance."""
DIGITS = 9
"""Of shares: they are rounded the same way everywhere, so that a part stays a part."""
Part = slice


@dataclass(frozen=True, eq=False)
class CoverageCurve:
    """Targets in the order in which a guess is surest: how many so far, and of how many it was right, as shares."""

    targets: Floats
    right: Floats

    def at(self, share: Floats) -> Floats:
        """Of how many it is right, if it guesses for that share of the targets."""
        return np.asarray(np.interp(share, self.targets, self.right), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class SecretCase:
    """A secret, all that is known of targets (at the finest level), and the baselines."""

    original: SourceTable
    secret: Secret
    tuples: DistinctTuples
    held: Sequence[BaselineGuesses]
    _views: dict[tuple[tuple[str, str], ...], "TargetView"] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def codes(self) -> Integers:
        """The label of every cell."""
        return self.original.secret_codes(self.secret)

    @cached_property
    def prior(self) -> Floats:
        """The share of every label in the population."""
        public = self.original.public
        labels = public.codes(self.secret.name, self.secret.level)
        rows = np.bincount(labels, public.cells.counts, len(self.secret))
        return np.asarray(rows / rows.sum(), dtype=np.float64)

    @cached_property
    def unique_cells(self) -> Bools:
        """The cells whose targets nobody else agrees with (a person may have several rows there)."""
        found: Bools = self.original.holders(self.tuples)[self.tuples.of_cell] == 1
        return found

    def rows(self, group: int) -> Integers:
        """Targets of a group by cells and blocks."""
        return self.original.rows if group == 0 else np.where(self.unique_cells[:, None], self.original.rows, 0)

    def targets(self, group: int) -> int:
        """How many units are targets of a group, on the blocks that numbers are estimated on."""
        cells = np.ones_like(self.unique_cells) if group == 0 else self.unique_cells
        return self.original.units_in(cells, self.original.estimate)

    def right(self, baseline: BaselineGuesses, group: int) -> Integers:
        """Of how many targets a baseline is right, by cells and blocks."""
        labels = baseline.labels[self.tuples.of_cell]
        return self.rows(group) * self.secret.right(labels, self.codes[:, None])

    def curve(self, baseline: BaselineGuesses, group: int, part: Part) -> CoverageCurve:
        """A baseline's precision against its coverage."""
        rows, right = self.rows(group)[:, part].ravel(), self.right(baseline, group)[:, part].ravel()
        sure = baseline.confidence[self.tuples.of_cell][:, part].ravel()
        return coverage_curve(sure, rows.astype(np.float64), right.astype(np.float64))

    @cached_property
    def choosing(self) -> list[list[CoverageCurve]]:
        """The curves of all baselines, by groups, on the blocks that choose."""
        return self._curves(self.original.choose)

    @cached_property
    def estimating(self) -> list[list[CoverageCurve]]:
        """The same on the blocks that numbers are estimated on."""
        return self._curves(self.original.estimate)

    def _curves(self, part: Part) -> list[list[CoverageCurve]]:
        return [[self.curve(each, group, part) for each in self.held] for group in range(len(GROUPS))]

    def chosen(self, group: int, share: float = 1.0) -> int:
        """The baseline that is best, on the blocks that choose, when it guesses for that share of the targets; for at
        least LEAST_CHOOSING of them."""
        cells = np.ones_like(self.unique_cells) if group == 0 else self.unique_cells
        few = LEAST_CHOOSING / max(1, self.original.units_in(cells, self.original.choose))
        at = np.round(min(1.0, max(share, few)), DIGITS)
        return int(np.argmax([curve.at(at) for curve in self.choosing[group]]))

    def equal(self, group: int, share: float) -> float:
        """Of how many targets that baseline is right among that share of them."""
        return float(self.estimating[group][self.chosen(group, share)].at(np.asarray(share)))

    def view(self, levels: Mapping[str, Level]) -> "TargetView":
        """The targets as they are seen by who knows these attributes at these levels."""
        key = tuple((name, level.name) for name, level in levels.items())
        if key not in self._views:
            self._views[key] = TargetView(self, self.original.population.tuples(levels))
        return self._views[key]


@dataclass(frozen=True, eq=False)
class TargetView:
    """Targets by what a release can tell of what is known of them."""

    case: SecretCase
    tuples: DistinctTuples
    _sums: dict[tuple[int, int, int], tuple[Floats, Floats]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def target(self) -> TargetAttributes:
        """As attacks are shown it."""
        codes = dict(zip(self.tuples.levels, self.tuples.codes, strict=True))
        return TargetAttributes(self.tuples.levels, codes, len(self.tuples))

    def shares(self, guesses: Guesses, part: Part) -> Floats:
        """What guesses come to: groups by coverages by STATS."""
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
                found[group, at, 0] = min(found[group, at, 0], coverage)  # sums of floats are off by their last bits
                found[group, at, 1:3] = np.minimum(found[group, at, 1:3], found[group, at, 0])
                share = float(found[group, at, 0])
                found[group, at, 3] = min(self.case.equal(group, share), share)
        return found

    def _sums_of(self, group: int, part: Part) -> tuple[Floats, Floats]:
        """Targets of each tuple by labels, and of how many the baseline is right that is best for everybody."""
        key = (group, part.start, part.stop)
        if key not in self._sums:
            case, rows = self.case, self.case.rows(group)[:, part].sum(axis=1)
            best = case.held[case.chosen(group)]
            right = case.right(best, group)[:, part].sum(axis=1)
            self._sums[key] = self.tuples.by_label(case.codes, len(case.secret), rows), self.tuples.total(right)
        return self._sums[key]


def guessed_shares(confidence: Floats, targets: Floats, most: float) -> Floats:
    """For which share of each tuple's targets a guess is made, if it is made for those that are surest, `most` in all:
    of tuples that are equally sure, for an equal share."""
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
    """Targets and right guesses added up from the surest on, with equally sure ones together."""
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
    """A secret with its baselines, which are fitted here."""
    known = original.known_attributes(secret)
    tuples = original.population.tuples(original.finest(known))
    as_known = KnownAttributes(tuples.codes, tuple(numbers[name] for name in known))
    held = baselines(original, secret, as_known, tuples.of_cell, rng, every)
    return SecretCase(original, secret, tuples, held)
