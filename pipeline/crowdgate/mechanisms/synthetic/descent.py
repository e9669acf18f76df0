"""Minimise a smooth convex function of many variables: limited-memory BFGS (Nocedal 1980) with halved steps.

It replaces SciPy's method for two reasons. The threads that SciPy's linear algebra starts for these small vectors cost
more than the fit. And here the numbers do not depend on the number of threads, so a release's fit can be repeated.
"""

from collections import deque
from collections.abc import Callable

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.mechanisms.synthetic.exact_arithmetic import dot

_MEMORY = 20
_ENOUGH = 1e-4
"""The part of the decrease promised by the slope that a step must reach (Armijo)."""
_HALVINGS = 30

Function = Callable[[Floats], tuple[float, Floats]]
"""The value and the gradient at a point."""


def minimum(function: Function, start: Floats, most_steps: int, near: float) -> Floats:
    """Return a point whose gradient has length at most `near`, or else the point of the smallest gradient within
    `most_steps` steps: single steps have large gradients where a function falls slowly towards infinity.

    Values never rise. A point with a value or gradient that is not finite is never taken: `start` is returned if no
    better point is found.
    """
    point, (value, gradient) = start, function(start)
    known: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    best, least = point, dot(gradient, gradient)
    for _ in range(most_steps):
        if not least > near * near:
            break
        along = -_newton(gradient, known)
        found = _stepped(function, point, value, along, dot(along, gradient), 1.0 if known else _first(gradient))
        if found is None:
            break
        new, value, slope = found
        step, change = new - point, slope - gradient
        point, gradient = new, slope
        if (curved := dot(step, change)) > 0:
            known.append((step, change, curved))
        if (length := dot(gradient, gradient)) <= least:
            best, least = point, length
    return best


def _stepped(
    function: Function, point: Floats, value: float, along: Floats, slope: float, length: float
) -> tuple[Floats, float, Floats] | None:
    for _ in range(_HALVINGS):
        new = point + length * along
        found, gradient = function(new)
        if found <= value + _ENOUGH * length * slope and np.isfinite(gradient).all():
            return new, found, gradient
        length /= 2
    return None


def _newton(gradient: Floats, known: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Return an approximate inverse Hessian times the gradient, from earlier steps and changes of the gradient
    (two-loop recursion)."""
    out = gradient.copy()
    weights = []
    for step, change, curved in reversed(known):
        weights.append(dot(step, out) / curved)
        out -= weights[-1] * change
    if known:
        _, change, curved = known[-1]
        out *= curved / dot(change, change)
    for step, change, curved in known:
        out += (weights.pop() - dot(change, out) / curved) * step
    return out


def _first(gradient: Floats) -> float:
    """Return the factor of the gradient in the first step: at most 1, and such that the step has a length of at most
    1."""
    return min(1.0, 1 / float(np.sqrt(dot(gradient, gradient))))
