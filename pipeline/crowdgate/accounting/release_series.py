"""The joint cost of a series: releases of one law whose number and parameters are fixed before the first.

Theorem. Let the number of releases and the law of each be fixed beforehand, and let (P, Q) dominate one release, for a
person that is removed, on every pair of neighbouring tables. Then the series keeps each point of the divergence of
(P x ... x P) from (Q x ... x Q), and of the swapped pair for a person that is added, whatever is seen of earlier
releases, whatever the tables of later ones are, and whatever other releases come between: it counts as one release of
that (epsilon, delta), made when it is declared.

Proof. Draw x_1, ..., x_N from P, or all from Q, when the series is declared. Tables, and the person's rows in them,
may be chosen by all that was seen. Given them, release i is dominated by (P, Q). So a random map, which depends on what
was seen and on both tables, turns P into its law with the person and Q into that without (Blackwell 1951). Applied to
x_i, it produces release i. So all that is seen of the series is a post-processing of x_1, ..., x_N, which are one
release, made before all that follows. Adaptive composition with other releases is then that of single releases.

So a series may end early, skip slots and drop releases, and nothing is given back for it: x_i is drawn whether it is
used or not. What may not be chosen after the first release was seen is the number of releases and their law: the sum
over what was seen would then hold the best of several products (LIFETIME.md). The pair of one release is that of its
curve, with the supremum over sizes of classes at each epsilon (`joint`), which may differ from slot to slot.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from crowdgate.accounting.dominating_pairs import DominatingPair, both_sides, composed
from crowdgate.accounting.joint import JointLaw, least_epsilon
from crowdgate.accounting.numbers import down
from crowdgate.arrays import Floats

_DIGITS = 10**4
_NEAR = 1e-5


@dataclass(frozen=True, eq=False)
class ReleaseSeries:
    """`releases` releases with the law `law`, all fixed in advance."""

    law: JointLaw
    releases: int

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on the delta of all releases together at `epsilon`, from 0 on."""
        return max(float(pair.delta(np.array([epsilon]))[0]) for pair in self._pairs)

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """Return an epsilon, rounded up to four decimals, at which all releases together keep `delta`; None if there is
        none up to 50."""
        try:
            found = least_epsilon(self.delta, down(delta) / (1 + 1e-6), near=_NEAR)
        except ValueError:
            return None
        return Fraction(math.ceil(Fraction(found) * _DIGITS), _DIGITS)

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
