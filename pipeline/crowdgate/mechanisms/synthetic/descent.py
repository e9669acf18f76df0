"""Minimising a smooth convex function of many variables: limited-memory BFGS (Nocedal 1980) with halved steps.

Instead of SciPy's, as the threads that its linear algebra starts for these small vectors cost more than the fit, and
as here the same numbers follow whatever number of threads there is: a release's fit can be repeated.
"""

from collections import deque
from collections.abc import Callable

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.mechanisms.synthetic.exact_arithmetic import dot

_MEMORY = 20
_ENOUGH = 1e-4
"""Of the decrease that the slope promises, a step must bring (Armijo)."""
_HALVINGS = 30

Function = Callable[[Floats], tuple[float, Floats]]
"""The value and the gradient at a point."""


def minimum(function: Function, start: Floats, most_steps: int, near: float) -> Floats:
    """A point at which the gradient's length is at most `near`, or of that many steps the one of the smallest
    gradient: where a function still falls slowly towards what is infinitely far, single steps have large ones.

    Values only fall. What is not finite is never stepped to: `start` itself is returned where nothing better is found.
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
    """The inverse of the Hessian, as steps and changes of the gradient tell it, times the gradient: two loops."""
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
    """The length of the first step: at most 1 in all."""
    return min(1.0, 1 / float(np.sqrt(dot(gradient, gradient))))
