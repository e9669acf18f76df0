"""Divergences by listing all outcomes of both distributions, without using the library."""

from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath as mp

Law = dict[Any, Any]


def binomial(n: int, beta: Any) -> Law:
    return {j: mp.binomial(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(n + 1)}


def seen(law: Law, see: Callable[[Any], Any]) -> Law:
    out: Law = {}
    for outcome, mass in law.items():
        out[see(outcome)] = out.get(see(outcome), 0) + mass
    return out


def suppressed(law: Law, k: int) -> Law:
    return seen(law, lambda j: j if j >= k else -1)


def together(*laws: Law) -> Law:
    out: Law = {}
    for outcomes in product(*(law.items() for law in laws)):
        key = tuple(outcome for outcome, _ in outcomes)
        out[key] = out.get(key, 0) + mp.fprod(mass for _, mass in outcomes)
    return out


def divergence(left: Law, right: Law, epsilon: Any) -> Any:
    """Return sup over events of left(event) - e^epsilon right(event)."""
    ratio = mp.exp(mp.mpf(epsilon))
    return mp.fsum(max(mass - ratio * right.get(outcome, 0), 0) for outcome, mass in left.items())


def deltas(n: int, k: int, beta: float, epsilon: float) -> tuple[Any, Any]:
    """Return (forward, reverse) for a class of n rows against n - 1."""
    with mp.workdps(60):
        b = mp.mpf(beta)
        more, less = suppressed(binomial(n, b), k), suppressed(binomial(n - 1, b), k)
        return divergence(more, less, epsilon), divergence(less, more, epsilon)
