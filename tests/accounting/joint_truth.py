"""The joint delta of a release in 60 digits, by sums over all outcomes of products of laws, without code of the
library."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Any

import mpmath as mp

Real = Any
Pair = list[tuple[Real, Real]]
"""Masses with the person and without, of each outcome."""


def laplace(epsilon: Real, change: int) -> Pair:
    a = mp.exp(-mp.mpf(epsilon) / change)
    ends = 1 / (1 + a)
    inner = [((1 - a) / (1 + a) * a ** (change - y), (1 - a) / (1 + a) * a**y) for y in range(1, change)]
    return [(a**change * ends, ends), *inner, (ends, a**change * ends)]


def opaque(epsilon: Real, delta: Real) -> Pair:
    great = (1 - mp.mpf(delta)) / (1 + mp.exp(-mp.mpf(epsilon)))
    small = great * mp.exp(-mp.mpf(epsilon))
    return [(small, great), (great, small), (mp.mpf(delta), mp.mpf(0)), (mp.mpf(0), mp.mpf(delta))]


def gaussian(change: int, squared: Real, deviations: int = 15) -> Pair:
    last = int(mp.ceil(deviations * mp.sqrt(squared)))
    mass = {y: mp.exp(-(mp.mpf(y) ** 2) / (2 * mp.mpf(squared))) for y in range(-last - change, last + change + 1)}
    total = mp.fsum(mass.values())
    return [(mass[y - change] / total, mass[y] / total) for y in range(-last, last + change + 1)]


def exponential_mechanism(t: Real, eta: Real) -> Pair:
    """Return the pair of losses t and t - eta."""
    p = (mp.exp(eta - t) - 1) / (mp.exp(eta - t) - mp.exp(-t))
    return [(p, p * mp.exp(-t)), (1 - p, (1 - p) * mp.exp(eta - t))]


def sampled(pair: Pair, beta: Real) -> Pair:
    return [((1 - beta) * q + beta * p, q) for p, q in pair]


def swapped(pair: Pair) -> Pair:
    return [(q, p) for p, q in pair]


def together(pairs: Sequence[Pair]) -> Pair:
    return [(mp.fprod(p for p, _ in each), mp.fprod(q for _, q in each)) for each in product(*pairs)]


def sampled_class(n: int, k: int, beta: Real, rows: int = 1) -> Pair:
    """Return the masses of the released sizes of a class of n rows, and of suppression."""

    def law(size: int) -> list[Real]:
        b = mp.mpf(beta)
        return [mp.binomial(size, j) * b**j * (1 - b) ** (size - j) if j <= size else mp.mpf(0) for j in range(n + 1)]

    more, less = law(n), law(n - rows)
    shown = list(zip(more, less, strict=True))[k:]
    return [(mp.fsum(more[:k]), mp.fsum(less[:k])), *shown] if k else shown


@dataclass(frozen=True)
class Curve:
    """The divergence of a pair at any factor, by sums over its outcomes in the order of their ratios, with a Gaussian
    of mean square `variance` beside it."""

    ratios: list[Real]
    above: list[Real]
    others: list[Real]
    only: Real
    pair: Pair
    variance: Real = 0

    @classmethod
    def of(cls, pair: Pair, variance: Real = 0) -> "Curve":
        finite = sorted((each for each in pair if each[1] > 0 and each[0] > 0), key=lambda each: each[0] / each[1])
        above, others = ([*accumulate((each[i] for each in reversed(finite)), initial=mp.mpf(0))][::-1] for i in (0, 1))
        only = mp.fsum(p for p, q in pair if q == 0)
        return cls([p / q for p, q in finite], above, others, only, finite, variance)

    def at(self, factor: Real) -> Real:
        if self.variance:
            return mp.fsum(p * _normal(factor * q / p, self.variance) for p, q in self.pair) + self.only
        place = bisect_right(self.ratios, factor)
        return self.above[place] - factor * self.others[place] + self.only


def _normal(factor: Real, variance: Real) -> Real:
    mu, x = mp.sqrt(variance), mp.log(factor)
    low = x / mu - mu / 2
    return (mp.erfc(low / mp.sqrt(2)) - factor * mp.erfc((low + mu) / mp.sqrt(2))) / 2


def with_class(shown: Pair, others: Curve, factor: Real) -> Real:
    """Return the divergence of a class's outcomes together with the other steps."""
    whole = others.at(mp.mpf(0))
    return mp.fsum(p * (others.at(factor * q / p) if q else whole) for p, q in shown if p)


def deltas(
    sizes: Sequence[int], k: int, beta: Real, others: Pair, choice: Pair, epsilon: Real, *, variance: Real = 0
) -> Iterator[Real]:
    """Yield delta of a release in each direction: for each outcome of the choice, the worst of the class sizes."""
    for turn in (list, swapped):
        curve = Curve.of(turn(others), variance)
        classes = [turn(sampled_class(n, k, beta)) for n in sizes]
        found = mp.mpf(0)
        for p, q in turn(choice):
            if p:
                factor = mp.exp(mp.mpf(epsilon)) * q / p
                found += p * max(with_class(shown, curve, factor) for shown in classes)
        yield found
