"""Distribution of people over classes: by counts that relate the attributes, and as if attributes were independent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.anonymity.predict.independence_bounds import bounds_from_margins, bounds_from_range
from crowdgate.anonymity.predict.subject import option_problem
from crowdgate.arrays import Floats
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.kind.forecast import Axes, Basis
from crowdgate.kind.prior import ExpectedCounts, ExpectedRange, Prior, coarsened
from crowdgate.limits import MOST_CELLS_FITTED
from crowdgate.public_counts.unknown_shares import UnknownShares, alternatives, unknown_shares
from crowdgate.risk.bins import Bins
from crowdgate.risk.products import product
from crowdgate.risk.singletons import expected, variance

if TYPE_CHECKING:
    from crowdgate.public_counts.figures import PriorFigures, PriorSubject

JOINT, INDEPENDENT = "joint figures", "independence"
LEAST_SPREAD = 2.0
"""Least half-width of a range of the expected number of singletons, in standard deviations of the number of
singletons."""
FITTED = 0.4
"""Additional half-width of a range from fitted counts, as a share of the expected number of singletons: noise in sparse
counts makes it too large more often than too small (tests/benchmarks/prediction.py)."""


_GUESSES = {
    Basis.MARGINS: "expected from the contract's public margins, as if attributes were independent",
    Basis.PARTLY: "expected from given counts; attributes that they do not relate are taken as independent",
}


@dataclass(frozen=True, eq=False)
class Laws:
    """Distribution of people over classes, i.e. combinations of values of attributes at levels (`axes`): expected
    people in every cell by joint counts (None without counts), and the share of each value of each attribute. `table`
    means that the counts are those of a public table, from which groups are drawn."""

    axes: Axes
    joint: ExpectedCounts | None
    shares: Mapping[str, Floats]
    table: bool = False

    @cached_property
    def independent(self) -> Bins:
        """Probabilities of the classes as if attributes were independent."""
        return product(Bins.from_counts(self.shares[name]) for name in self.axes)

    @cached_property
    def related(self) -> Bins | None:
        """Probabilities of the classes by joint counts; None without joint counts."""
        if self.joint is None:
            return None
        counted = self.table and self.joint.basis is Basis.COUNTED
        return (Bins.of_table if counted else Bins.from_counts)(self.joint.people)

    @property
    def best(self) -> Bins:
        """Probabilities of the classes by joint counts, or as if attributes were independent if there are none."""
        return self.independent if self.related is None else self.related

    @property
    def basis(self) -> Basis:
        """Basis of `best`: that of the joint counts, or margins only."""
        return Basis.MARGINS if self.joint is None else self.joint.basis

    @property
    def basis_text(self) -> str:
        """The basis as a phrase."""
        return _GUESSES.get(self.basis, str(self.basis))

    def bins(self) -> dict[str, Bins]:
        """Return the probabilities of the classes by the name of their basis: joint figures (if there are joint
        counts), then independence."""
        both = {JOINT: self.related, INDEPENDENT: self.independent}
        return {name: each for name, each in both.items() if each is not None}

    def at(self, axes: Axes) -> Laws:
        """Return the distribution over the classes of some of these attributes, at the same or coarser levels."""
        joint = None if self.joint is None else self.joint.summed(axes)
        shares = {name: coarsened(self.shares[name], {name: self.axes[name]}, {name: axes[name]}) for name in axes}
        return Laws(axes, joint, shares, self.table)

    def bounds(self, basis: str, people: int) -> Mapping[str, float]:
        """Return the bounds of the expected number of singletons among `people` people, by name: the range of the joint
        counts or, for independence, the least and the greatest under any joint distribution with these margins."""
        if basis == INDEPENDENT:
            return bounds_from_margins([self.shares[name] for name in self.axes], people)
        if self.related is not None and self.related.table is not None:
            found, spread = expected(self.related, people), LEAST_SPREAD * sqrt(variance(self.related, people))
            return {"low": max(0.0, found - spread), "high": min(float(people), found + spread)}
        return bounds_from_range(None if self.joint is None else range_of(self.joint, people, Bins.from_counts))


def range_of(joint: ExpectedCounts, people: int, classes: Callable[[Floats], Bins]) -> ExpectedRange:
    """Return the range of the expected number of singletons (people who are alone in their class) among `people`
    people. `classes` computes the probabilities of classes from the expected people in each cell of a table."""
    slack = LEAST_SPREAD * sqrt(variance(classes(joint.people), people))
    share = 0.0 if joint.basis is Basis.COUNTED else FITTED
    singles = (lambda cells: expected(classes(cells), people)), (lambda found: slack + share * found)
    return joint.range_of(*singles, float(people))


def laws(subject: PriorSubject, figures: PriorFigures) -> Laws:
    """Return the distribution of people over the classes of a subject's attributes at its levels. Raises
    ConfigurationError for attributes with unknown shares, and for counts over too many classes."""
    prior, axes = figures.prior, subject.levels
    joint = None
    if figures.source is not None:
        check_classes(axes)
        joint = prior.joint(axes)
    unknown = [*unknown_shares(prior, axes)]
    if unknown:
        raise ConfigurationError([_unknown_shares_problem(each) for each in unknown])
    bare = Prior(prior.people, prior.attributes)
    shares = {name: bare.shares(name, level) for name, level in axes.items()}
    known = {name: _shares_from_joint(joint, axes, name) if share is None else share for name, share in shares.items()}
    return Laws(axes, joint, known, figures.table)


def check_classes(axes: Axes) -> None:
    """Raise ConfigurationError if these attributes have more than MOST_CELLS_FITTED classes (combinations of values),
    which is too many for a joint table."""
    cells = prod(map(len, axes.values()))
    if cells > MOST_CELLS_FITTED:
        fewer = f"at most {MOST_CELLS_FITTED} classes to relate counts: coarser levels or fewer attributes"
        raise ConfigurationError(option_problem("--from", f"{cells} classes", fewer))


def _unknown_shares_problem(shares: UnknownShares) -> Problem:
    return option_problem("attributes", shares.found, alternatives(*shares.ways, "a prediction without it"))


def _shares_from_joint(joint: ExpectedCounts | None, axes: Axes, name: str) -> Floats:
    """Return the share of people with each value of an attribute, by the joint counts."""
    assert joint is not None, "all shares are known, and not by margins"
    own = coarsened(joint.people, axes, {name: axes[name]})
    return np.asarray(own / own.sum(), dtype=np.float64)


def with_decline(cells: Floats, declines: Sequence[float]) -> Floats:
    """Return a table of people with one more value on every axis, for those who decline this question. `declines` are
    their shares of the people, one for each axis; they decline independently of their answers."""
    for axis, decline in enumerate(declines):
        if decline:
            declined = cells.sum(axis=axis, keepdims=True) * decline
            cells = np.concatenate([cells * (1 - decline), declined], axis=axis)
    return cells
