"""An oracle for the filter: the joint cost of releases of one law, whose number and parameters are fixed beforehand.

Each release is dominated by one pair: that of its curve, with the supremum over sizes of classes at each epsilon
(`joint`), which may differ from release to release. The product of these pairs dominates the series, whatever its
tables are, and other releases may come between, as its parameters do not depend on them. A release with parameters that
are chosen by outputs does not belong to a series. One that is dropped does, and is paid for: dropping is
post-processing, but giving its part back would be a choice by outputs (README.md, "A lifetime: the filter").
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdgate.accounting.dominating_pairs import DominatingPair, both_sides, composed
from crowdgate.accounting.joint import JointLaw
from crowdgate.arrays import Floats


@dataclass(frozen=True, eq=False)
class ReleaseSeries:
    """`releases` releases with the law `law`, all fixed in advance."""

    law: JointLaw
    releases: int

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on the delta of all releases together at `epsilon`, from 0 on."""
        return max(float(pair.delta(np.array([epsilon]))[0]) for pair in self._pairs)

    @cached_property
    def _pairs(self) -> list[DominatingPair]:
        return [composed([pair] * self.releases) for pair in _release_pairs(self.law)]


def _release_pairs(law: JointLaw) -> tuple[DominatingPair, DominatingPair]:
    """Return the pairs of one release, for a person that is removed and added."""
    if law.sampled is None:
        pair = composed([*law.others, *([] if law.choice is None else [law.choice])])
        return pair, pair.swapped
    knots = law.sampled.knots()
    removed, added = (_curve(law, knots, add=add) for add in (False, True))
    return both_sides(knots, removed, added), both_sides(knots, added, removed)


def _curve(law: JointLaw, knots: Floats, *, add: bool) -> Floats:
    return np.array([law.direction(epsilon, add=add) for epsilon in knots.tolist()])
