"""Dominating pairs: the privacy loss of one step of a release, as two distributions.

(P, Q) dominates a step if for each factor a > 0 the hockey-stick divergence of the step's outputs with a unit and
without it, sum of (with - a without)+, is at most H_a(P, Q) = sum of (P - a Q)+ (Zhu, Dong, Wang 2022). Because this
includes a < 1, (Q, P) then dominates the outputs without the unit against those with it. Products of dominating pairs
dominate steps with independent randomness, of which each may depend on the outputs before it.

A pair is held as atoms of privacy loss l = ln(P / Q), as masses that only P or only Q has, and as one Gaussian of mean
square `variance`: P = N(mu, 1), Q = N(0, 1), mu^2 = variance. Two operations make pairs coarser, and both only enlarge
each divergence, as the pair before is a post-processing of the pair after:

* an atom (p, q) is split into two atoms whose p and q add up to it (`coarser`: at the ends of a grid step);
* an atom is split into (p, 0) and (0, q), as tails are.

Rounding. Divergences are sums of positive terms, of which each is rounded upwards by more than its error (`slack`), and
epsilon is lowered by more than the error of all losses (`lowered`). tests/accounting/test_joint_digits.py compares
2,000 random sets of parts with 60 digits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from crowdgate.arrays import Floats, Integers

MOST_ATOMS = 8192
"""Atoms up to which a product is exact; beyond, it is on a grid of `_GRID` losses, without tails of mass `_TAIL`."""
_GRID = 8192
_TAIL = 1e-24
_MOST_SHIFTS = 64
"""Atoms beside which a Gaussian is evaluated exactly; beside more it is split to atoms itself."""
_DEVIATIONS = 14.0
"""Standard deviations of a Gaussian that are split to atoms; the tails beyond, below 1e-43, are infinite losses."""
_ROOT_HALF = math.sqrt(0.5)
_GREATEST_LOSS = 600.0
_FAR_SCORE = 12.0


@dataclass(frozen=True, eq=False)
class DominatingPair:
    """Two distributions P and Q: `masses` of P at `losses`, where Q has mass times e^-loss; `only_p`, the mass of P
    where Q has none; `only_q` likewise; and a Gaussian of mean square `variance`.

    `looseness` t states that the pair dominates up to factors e^t of all probabilities: H_a <= e^t H_(a e^-2t).
    """

    losses: Floats = field(default_factory=lambda: np.zeros(1))
    masses: Floats = field(default_factory=lambda: np.ones(1))
    only_p: float = 0.0
    only_q: float = 0.0
    variance: float = 0.0
    looseness: float = 0.0

    @property
    def swapped(self) -> "DominatingPair":
        """The pair (Q, P): for the opposite direction."""
        others = self.masses * np.exp(-self.losses)
        return DominatingPair(-self.losses[::-1], others[::-1], self.only_q, self.only_p, self.variance, self.looseness)

    @property
    def slack(self) -> float:
        """Relative slack above the rounding errors of `delta`: of each atom's logarithm, in each sum."""
        span = float(np.max(np.abs(self.losses), initial=1.0))
        return 1e-12 + 3e-16 * len(self.losses) * (span + 50)

    def delta(self, epsilons: Floats) -> Floats:
        """Return H_a(P, Q) at a = e^epsilon for each of `epsilons`, which may be negative, rounded up."""
        at = epsilons - 2 * self.looseness
        if not self.variance:
            found = self._of_atoms(at)
        elif len(self.losses) <= _MOST_SHIFTS:
            found = np.zeros(len(at))
            for loss, mass in zip(self.losses.tolist(), self.masses.tolist(), strict=True):
                found += mass * _gaussian_delta(at - loss, self.variance)
        else:
            found = self.in_atoms._of_atoms(at)
        return np.minimum((found + self.only_p) * (math.exp(self.looseness) + self.slack), 1.0)

    @cached_property
    def in_atoms(self) -> "DominatingPair":
        """The pair with its Gaussian split to atoms."""
        if not self.variance:
            return self
        return composed((replace(self, variance=0.0), _gaussian_atoms(self.variance)))

    @cached_property
    def _knots(self) -> tuple[Floats, Floats]:
        """At each loss, the logarithm of Q's mass at it and above, and the divergence there without `only_p`: a sum of
        the positive steps from each loss to the next."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.masses) - self.losses
        above = np.logaddexp.accumulate(logs[::-1])[::-1]
        steps = np.exp(above[1:] + self.losses[1:]) * -np.expm1(self.losses[:-1] - self.losses[1:])
        return above, np.append(np.cumsum(steps[::-1])[::-1], 0.0)

    def _of_atoms(self, at: Floats) -> Floats:
        """Return sum of masses (1 - e^(at - loss))+: at `at`, a step beyond the next loss's divergence."""
        if not len(self.losses):
            return np.zeros(len(at))
        above, there = self._knots
        place = np.searchsorted(self.losses, at, side="right")
        inside = np.minimum(place, len(self.losses) - 1)
        gap = np.minimum(at - self.losses[inside], 0.0)
        found = there[inside] + np.exp(above[inside] + self.losses[inside]) * -np.expm1(gap)
        return np.where(place < len(self.losses), found, 0.0)


NOTHING = DominatingPair()
"""The pair of a step that reveals nothing."""


def composed(pairs: Sequence[DominatingPair]) -> DominatingPair:
    """Return the product of pairs: a step that reveals the outputs of all of them. Exactly while it has few atoms; on a
    grid if it has more."""
    found, many = NOTHING, []
    for pair in sorted(pairs, key=lambda pair: len(pair.losses)):
        if len(found.losses) * len(pair.losses) <= MOST_ATOMS:
            found = _product(found, pair)
        else:
            many.append(pair)
    return _on_a_grid([found, *many]) if many else found


def _gaussian_delta(epsilons: Floats, variance: float) -> Floats:
    """Return H of N(mu, 1) against N(0, 1), mu^2 = `variance`, at each epsilon: Phi(-a) - e^epsilon Phi(-a - mu), a =
    epsilon/mu - mu/2 (Balle, Wang 2018). Rounded up."""
    mu = math.sqrt(variance)
    low = epsilons / mu - mu / 2
    with np.errstate(under="ignore"):
        found = np.exp(-np.square(np.maximum(low, 0.0)) / 2)  # a bound, below 1e-31 from the score 12 on
    near = np.flatnonzero(low < _FAR_SCORE)
    a, x = low[near], epsilons[near]
    first, second = _normal_tails(a), _normal_tails(a + mu)
    error = 1e-15 * (4 + np.maximum(a, 0) ** 2) * first
    found[near] = np.maximum(first - np.exp(np.minimum(x, _GREATEST_LOSS)) * second, 0.0) + error
    return found


def _gaussian_atoms(variance: float, atoms: int = 1024) -> DominatingPair:
    """Return atoms that dominate N(mu, 1) against N(0, 1), mu^2 = `variance`: the masses between grid losses, split to
    both ends."""
    mu = math.sqrt(variance)
    grid = np.linspace(-_DEVIATIONS * mu - variance / 2, _DEVIATIONS * mu + variance / 2, atoms)
    low, high = grid / mu - mu / 2, grid / mu + mu / 2  # standard scores under P and under Q
    return intervals(grid, _between(low), _between(high), _outside(low), _outside(high))


def intervals(grid: Floats, p: Floats, q: Floats, only_p: float, only_q: float) -> DominatingPair:
    """Return a pair whose masses `p` and `q` lie between neighbouring losses of `grid`: they are split to both."""
    losses, masses = _split(grid, np.arange(len(p)), p, q)
    return DominatingPair(losses, masses, only_p, only_q)


def from_curve(epsilons: Floats, deltas: Floats) -> DominatingPair:
    """Return a pair whose divergence at each of `epsilons` is at most `deltas` and at least each convex curve below
    them: the greatest convex function of e^epsilon at or below them, 1 at 0."""
    x, y = np.append(0.0, np.exp(epsilons)), np.append(1.0, deltas)
    kept = _hull(x.tolist(), y.tolist())
    x, y = x[kept], y[kept]
    above = np.append((y[:-1] - y[1:]) / np.diff(x), 0.0)  # Q's mass above each knot
    others = np.maximum(above[:-1] - above[1:], 0.0)
    return DominatingPair(np.log(x[1:]), others * x[1:], float(y[-1]), max(0.0, 1 - float(above[0])))


def both_sides(knots: Floats, ahead: Floats, back: Floats) -> DominatingPair:
    """Return the pair (`from_curve`) of a step with the divergences `ahead` at the epsilons `knots`, which rise from 0,
    and `back` in the opposite direction: H_a(P, Q) = 1 - a + a H_(1/a)(Q, P)."""
    below = np.exp(-knots[:0:-1])
    return from_curve(np.concatenate([-knots[:0:-1], knots]), np.concatenate([1 - below + below * back[:0:-1], ahead]))


def _hull(x: list[float], y: list[float]) -> list[int]:
    """Return the places of the points on the lower convex hull, for rising x."""
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2:]
            if (y[b] - y[a]) * (x[i] - x[b]) < (y[i] - y[b]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    return kept


def coarser(pair: DominatingPair, atoms: int = MOST_ATOMS) -> DominatingPair:
    """Return a pair with at most `atoms` atoms that dominates `pair`: each is split to its neighbours on a grid."""
    if len(pair.losses) <= atoms:
        return pair
    losses, masses = _split_at(pair, np.linspace(float(pair.losses[0]), float(pair.losses[-1]), atoms))
    return replace(pair, losses=losses, masses=masses)


def lowered(epsilon: float, span: float) -> float:
    """Return an epsilon below `epsilon` by more than the rounding error of losses of at most `span`."""
    return epsilon - 1e-14 * (1 + abs(epsilon) + span)


def _product(one: DominatingPair, two: DominatingPair) -> DominatingPair:
    losses = np.add.outer(one.losses, two.losses).reshape(-1)
    order = np.argsort(losses, kind="stable")
    masses = np.multiply.outer(one.masses, two.masses).reshape(-1)
    return _beside(one, two, losses[order], masses[order])


def _beside(one: DominatingPair, two: DominatingPair, losses: Floats, masses: Floats) -> DominatingPair:
    """Return the product with these atoms of two pairs."""
    only_p, only_q = (a + b - a * b for a, b in ((one.only_p, two.only_p), (one.only_q, two.only_q)))
    return DominatingPair(losses, masses, only_p, only_q, one.variance + two.variance, one.looseness + two.looseness)


def _on_a_grid(pairs: Sequence[DominatingPair]) -> DominatingPair:
    """Return a pair that dominates the product, on a grid of losses: convolutions of masses, all terms positive."""
    trimmed = [_without_tails(pair) for pair in pairs]
    step = sum(float(pair.losses[-1] - pair.losses[0]) for pair in trimmed) / _GRID
    found = NOTHING
    for pair in trimmed:
        low = float(pair.losses[0])
        count = int((float(pair.losses[-1]) - low) / step) + 2
        grid = low + step * np.arange(count, dtype=np.float64)
        masses = _split_at(pair, grid)[1] if count > 1 else pair.masses
        sums = np.convolve(found.masses, masses).astype(np.float64)
        found = _beside(found, pair, float(found.losses[0]) + low + step * np.arange(len(sums), dtype=np.float64), sums)
    return found


def _without_tails(pair: DominatingPair) -> DominatingPair:
    """Return a pair without atoms at its ends of negligible mass, which is made an infinite loss of either sign."""
    below, above = np.cumsum(pair.masses), np.cumsum(pair.masses[::-1])[::-1]
    kept = (below > _TAIL) & (above > _TAIL)
    gone = ~kept & (pair.masses > 0)
    logs = np.log(pair.masses[gone])
    only_p, only_q = (min(1.0, one + float(np.exp(own).sum())) for one, own in (
        (pair.only_p, logs), (pair.only_q, np.minimum(logs - pair.losses[gone], 0.0))))  # fmt: skip
    return replace(pair, losses=pair.losses[kept], masses=pair.masses[kept], only_p=only_p, only_q=only_q)


def _split_at(pair: DominatingPair, grid: Floats) -> tuple[Floats, Floats]:
    place = np.clip(np.searchsorted(grid, pair.losses, side="right") - 1, 0, len(grid) - 2)
    return _split(grid, place, pair.masses, pair.masses * np.exp(-pair.losses))


def _split(grid: Floats, place: Integers, p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return losses and masses: (p, q) at `place`, between grid[place] and grid[place + 1], split to both so that p and
    q stay."""
    low, high = grid[place], grid[place + 1]
    part = np.clip((p - q * np.exp(low)) / -np.expm1(low - high), 0.0, p)
    masses = np.bincount(place, p - part, len(grid)) + np.bincount(place + 1, part, len(grid))
    return grid, np.asarray(masses, dtype=np.float64)


def _between(scores: Floats) -> Floats:
    """Return the standard normal mass between neighbouring scores, accurate in both tails."""
    upper, lower = _normal_tails(scores), _normal_tails(-scores)
    return np.where(scores[:-1] > 0, upper[:-1] - upper[1:], lower[1:] - lower[:-1])


def _outside(scores: Floats) -> float:
    """Return the standard normal mass below the first and above the last score."""
    return float(_normal_tails(-scores[:1])[0] + _normal_tails(scores[-1:])[0])


def _normal_tails(scores: Floats) -> Floats:
    """Return P(Z > score) of the standard normal law for each score."""
    return np.fromiter(map(math.erfc, (scores * _ROOT_HALF).tolist()), np.float64, len(scores)) / 2
