"""The nearest point to a base within bounds whose linear figures lie in intervals, or as near to them as possible.

    minimise  sum_c q_c (g_c - 1)^2 / 2 + ridge |z - t|^2 / 2   over   a <= g <= b,  l <= z <= u,  B (q g) - z = s,

with s the shift of least norm for which such g and z exist. For multipliers y of the equations the minimum over g and z
is closed: g(y) = clip(1 - B'y, a, b), z(y) = clip(t + y / ridge, l, u). For each y, (g(y), z(y)) solves the problem
with the shift s(y) = B (q g(y)) - z(y) exactly; only |s| must be minimised. The proximal method on the dual (augmented
Lagrangians; Rockafellar 1976) minimises it, whether or not s = 0 is possible (Chiche and Gilbert 2016). Each of its
steps minimises a smooth convex function of y by Newton's method with the derivative of the clipped parts (Li, Sun, Toh
2018).

A lower bound of |s|^2 / 2 by duality, -|s|^2 / 2 + min s'B (q g) - max s'z, bounds the distance from the minimum:
`gap`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from crowdgate.arrays import Floats

MOST_DENSE = 3000
"""Up to this number the equations of a Newton step are solved by a factorisation, above by conjugate gradients."""
_STEPS, _ROUNDS = 300, 60
_SEARCH, _SHORTEST = 1e-3, 1e-9
"""Relative and absolute tolerance of the length of a step."""
_FIRST, _LAST = 1e3, 1e5
"""The first and the greatest weight of a squared shift."""
_INNER, _ITERATIONS, _REGULAR = 1e-3, 2000, 1e-9
_EXACT, _FLOAT = 1e-7, 1e-15
_RELATIVE, _MET = 1e-5, 1e-4
"""Relative tolerance of the least squared shift; and the largest shift of a figure that counts as no shift."""


@dataclass(frozen=True, eq=False)
class ProjectionProblem:
    """The data of the problem, named as in the module: B (`matrix`; sparse, a row for each figure), q > 0 (`base`),
    targets t, intervals [l, u] of figures, bounds [a, b] of ratios with 0 < a <= 1 <= b, ridge > 0.

    Figures are in the units in which shifts are compared: standard errors. `coarse` (sparse, one row for each figure,
    possibly no columns) spans combinations in which B' nearly vanishes: only speed depends on it.
    """

    matrix: Any
    base: Floats
    target: Floats
    lower: Floats
    upper: Floats
    least: float
    most: float
    ridge: float
    coarse: Any

    @cached_property
    def transposed(self) -> Any:
        """B', the transpose of the matrix B of figures by classes."""
        return self.matrix.T.tocsr()

    def ratios(self, y: Floats) -> Floats:
        """Return the ratio of each class to its base at the multipliers y: g(y) = clip(1 - B'y, a, b)."""
        return np.asarray(np.clip(1 - self.transposed @ y, self.least, self.most))

    def figures(self, y: Floats) -> Floats:
        """Return for each figure the point of its interval at the multipliers y: z(y) = clip(t + y / ridge, l, u)."""
        return np.clip(self.target + y / self.ridge, self.lower, self.upper)

    def shift(self, y: Floats) -> Floats:
        """Return for each figure the shift at the multipliers y, its value minus the point of its interval: s(y) = B (q
        g(y)) - z(y)."""
        return np.asarray(self.matrix @ (self.base * self.ratios(y)) - self.figures(y))

    def rounding(self, y: Floats) -> float:
        """Return a bound on the floating-point rounding error of the shifts s(y) at the multipliers y."""
        sums = self.matrix @ (self.base * (1 + self.transposed @ np.abs(y)))
        return _FLOAT * float(sums.max(initial=0.0))

    def gap(self, y: Floats, direction: Floats) -> float:
        """Return an upper bound of |s(y)|^2, the squared shift at the multipliers y, minus the least squared shift. It
        follows from the dual bound at `direction`, which is near s(y)."""
        pull = self.base * (self.transposed @ direction)
        ends = np.where(pull > 0, self.least, self.most)
        reach = np.maximum(direction * self.lower, direction * self.upper) - direction * self.figures(y)
        apart = self.shift(y) - direction
        return 2 * float(pull @ (self.ratios(y) - ends) + reach.sum()) + float(apart @ apart)


@dataclass(frozen=True, eq=False)
class NearestPoint:
    """A solution: the ratio g of each class, the shift s of each figure, and an upper bound of |s|^2 minus its minimum
    (`gap`)."""

    ratios: Floats
    shift: Floats
    gap: float


def nearest_point(problem: ProjectionProblem) -> NearestPoint:
    """Return the ratios that solve the problem, their shifts and the gap. Raises ArithmeticError if the method does not
    converge."""
    start, stiffness = np.zeros(len(problem.target)), _FIRST
    for _ in range(_ROUNDS):
        y = _proximal(problem, start, stiffness)
        shift, gap = problem.shift(y), problem.gap(y, (y - start) / stiffness)
        if np.abs(shift).max(initial=0.0) <= _MET or gap <= _RELATIVE * float(shift @ shift):
            return NearestPoint(problem.ratios(y), shift, gap)
        start, stiffness = y, min(10 * stiffness, _LAST)
    raise ArithmeticError("weights did not converge")


def _proximal(problem: ProjectionProblem, start: Floats, stiffness: float) -> Floats:
    """Return the multipliers y of one proximal step from `start`, at which the shift s(y) is (y - start) /
    stiffness."""
    y = start
    for _ in range(_STEPS):
        slope = (y - start) / stiffness - problem.shift(y)
        if np.abs(slope).max(initial=0.0) <= _EXACT + problem.rounding(y):
            return y
        step = -_newton(problem, y, slope, stiffness)
        y = y + _length(problem, y, step, start, stiffness) * step
    raise ArithmeticError("a step of the weights did not converge")


def _length(problem: ProjectionProblem, y: Floats, step: Floats, start: Floats, stiffness: float) -> float:
    """Return the factor, at most 1, by which the Newton step is multiplied to minimise the proximal step's function
    along it."""

    def slope(t: float) -> float:
        there = y + t * step
        return float(((there - start) / stiffness - problem.shift(there)) @ step)

    first, last = slope(0.0), slope(1.0)
    return 1.0 if last <= 0 or first >= 0 else _root(slope, first, last)


def _root(slope: Callable[[float], float], first: float, last: float) -> float:
    """Return the root between 0 and 1 of an increasing function with the values first < 0 < last at 0 and 1.

    The method is the Illinois method. Importing SciPy's root finders takes longer than most verifications.
    """
    low, high = 0.0, 1.0
    while high - low > _SEARCH * high + _SHORTEST:
        t = low - first * (high - low) / (last - first)
        value = slope(t)
        if value == 0 or not low < t < high:
            return t
        if value < 0:
            low, first, last = t, value, last / 2
        else:
            high, last, first = t, value, first / 2
    return (low + high) / 2


def _newton(problem: ProjectionProblem, y: Floats, slope: Floats, stiffness: float) -> Floats:
    """Return the Newton direction (E + B K B')^-1 slope at the multipliers y. K is diagonal, q for ratios strictly
    inside their bounds, else 0. E is 1 / stiffness, plus 1 / ridge for figures strictly inside their intervals."""
    raw = 1 - problem.transposed @ y
    free = (raw > problem.least) & (raw < problem.most)
    inner = problem.target + y / problem.ridge
    own = 1 / stiffness + ((inner > problem.lower) & (inner < problem.upper)) / problem.ridge
    matrix, base = problem.matrix[:, free], problem.base[free]
    if free.sum() <= min(len(y), MOST_DENSE):
        return _by_classes(matrix, base, own, slope)
    if len(y) <= MOST_DENSE:
        return _by_figures(matrix, base, own, slope)
    return _by_gradients(matrix, base, own, slope, problem.coarse)


def _by_classes(matrix: Any, base: Floats, own: Floats, slope: Floats) -> Floats:
    """Return the Newton direction by Woodbury's identity, from as many equations as there are classes with a ratio
    inside its bounds."""
    from scipy.linalg import cho_factor, cho_solve

    scaled = slope / own
    if not len(base):
        return scaled
    inner = (matrix.T.multiply(1 / own) @ matrix).toarray()
    inner[np.diag_indices(len(base))] += 1 / base
    half = cho_solve(cho_factor(inner, check_finite=False), matrix.T @ scaled, check_finite=False)
    return np.asarray(scaled - (matrix @ half) / own)


def _by_figures(matrix: Any, base: Floats, own: Floats, slope: Floats) -> Floats:
    from scipy.linalg import cho_factor, cho_solve

    whole = (matrix.multiply(base) @ matrix.T).toarray()
    whole[np.diag_indices(len(own))] += own
    return np.asarray(cho_solve(cho_factor(whole, check_finite=False), slope, check_finite=False))


def _by_gradients(matrix: Any, base: Floats, own: Floats, slope: Floats, coarse: Any) -> Floats:
    """Return the Newton direction by conjugate gradients. The preconditioner solves the equations exactly among the
    combinations of `coarse`, then by the diagonal, then among these combinations again."""
    from scipy.sparse.linalg import LinearOperator, cg

    back, diagonal = matrix.T.tocsr(), matrix.multiply(matrix) @ base + own

    def whole(z: Floats) -> Floats:
        return np.asarray(matrix @ (base * (back @ z)) + own * z)

    sums = _sums(back @ coarse, base, coarse, own)

    def smoothed(z: Floats) -> Floats:
        first = sums(z)
        second = (z - whole(first)) / diagonal
        return np.asarray(first + second - sums(whole(second)))

    shape = (len(own), len(own))
    operators = (LinearOperator(shape, matvec=of, dtype=np.float64) for of in (whole, smoothed))
    return np.asarray(cg(next(operators), slope, rtol=_INNER, maxiter=_ITERATIONS, M=next(operators))[0])


def _sums(pulled: Any, base: Floats, coarse: Any, own: Floats) -> Callable[[Floats], Floats]:
    """Return a function that maps the right-hand side of the Newton equations to their solution among combinations of
    `coarse` alone."""
    from scipy.linalg import cho_factor, cho_solve

    if not coarse.shape[1]:
        return lambda z: np.zeros(len(z))
    inner = (pulled.T @ pulled.multiply(base[:, None]) + coarse.T @ coarse.multiply(own[:, None])).toarray()
    # sums of sums are among the sums: a hair on the diagonal makes the matrix regular
    inner[np.diag_indices(len(inner))] *= 1 + _REGULAR
    factor = cho_factor(inner, check_finite=False)
    back = coarse.T.tocsr()
    return lambda z: np.asarray(coarse @ cho_solve(factor, back @ z, check_finite=False))
