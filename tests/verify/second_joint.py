"""The joint curve of a release, computed a second time from its manifest, without code of the library.

Each part's law is a list of masses with a unit and without it. Their privacy losses are rounded to a grid and
convolved; a class of sampled rows is summed over its outcomes, for each size up to three times k/beta. Losses are
rounded to the nearest of a grid of 5e-5. Where a delta falls by a factor of e^20 in one epsilon, the greatest error of
one part changes it by .0005, and the errors of several nearly cancel.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Law = tuple[Floats, Floats]
"""Masses with the unit and without it."""

STEP = 5e-5
NEAR = 0.003
LOOSE = 0.03
"""Bounds for many vectors, and points for persons of several rows, are up to this part above the truth."""


@dataclass(frozen=True)
class Losses:
    """A product of laws: masses at multiples of STEP from `low` on, and the mass of infinite losses."""

    low: int
    masses: Floats
    infinite: float = 0.0

    @classmethod
    def of(cls, law: Law) -> "Losses":
        """Return the losses of a law; outcomes that only the second table has are left out."""
        with_unit, without = law
        there = with_unit > 0
        endless = float(with_unit[there & (without <= 0)].sum())
        there &= without > 0
        at = np.rint(np.log(with_unit[there] / without[there]) / STEP).astype(int)
        low = int(at.min())
        return cls(low, np.bincount(at - low, with_unit[there]).astype(np.float64), endless)

    def times(self, other: "Losses") -> "Losses":
        """Return the product of independent laws."""
        size = len(self.masses) + len(other.masses) - 1
        wide = 1 << (size - 1).bit_length()  # a prime number of points would take long
        found = np.fft.irfft(np.fft.rfft(self.masses, wide) * np.fft.rfft(other.masses, wide), wide)[:size]
        both = self.infinite + other.infinite - self.infinite * other.infinite
        return Losses(self.low + other.low, np.maximum(found, 0.0), both)

    @cached_property
    def above(self) -> tuple[Floats, Floats, Floats]:
        """Losses, and the masses above each, of both tables."""
        losses = (STEP * (self.low + np.arange(len(self.masses)))).astype(np.float64)
        both = (self.masses, self.masses * np.exp(-losses))
        own, other = (np.append(np.cumsum(each[::-1])[::-1], 0.0).astype(np.float64) for each in both)
        return losses, own, other

    def deltas(self, epsilons: Floats) -> Floats:
        """Return sum of masses (1 - e^(epsilon - loss))+ at each epsilon."""
        losses, own, other = self.above
        at = np.searchsorted(losses, epsilons, side="right")
        return own[at] - np.exp(epsilons) * other[at] + self.infinite


NONE = Losses(0, np.ones(1))


def gaussian(change: int, squared: float) -> Law:
    y = np.arange(-math.ceil(13 * math.sqrt(squared)) - change, math.ceil(13 * math.sqrt(squared)) + 2 * change + 1)
    masses = [np.exp(-((y - centre) ** 2) / (2 * squared)) for centre in (change, 0)]
    return masses[0] / masses[0].sum(), masses[1] / masses[1].sum()


def laplace(change: int, epsilon: float) -> Law:
    a = math.exp(-epsilon / change)
    y = np.arange(-math.ceil(50 * change / epsilon), math.ceil(50 * change / epsilon) + change + 1)
    masses = [(1 - a) / (1 + a) * a ** np.abs(y - centre) for centre in (change, 0)]
    return masses[0], masses[1]


def answer(epsilon: float) -> Law:
    """Return the law of a step of which only epsilon is known."""
    yes = 1 / (1 + math.exp(-epsilon))
    return np.array([yes, 1 - yes]), np.array([1 - yes, yes])


def sampled(law: Law, beta: float) -> Law:
    """Return the law of a number that is computed from a sample of rate beta."""
    return beta * law[0] + (1 - beta) * law[1], law[1]


def sampled_class(n: int, k: int, beta: float) -> Law:
    """Return the masses of the released sizes of a class of n rows, suppression first."""

    def law(size: int) -> Floats:
        found = [math.comb(size, j) * beta**j * (1 - beta) ** (size - j) if j <= size else 0.0 for j in range(n + 1)]
        return np.array([sum(found[:k]), *found[k:]])

    return law(n), law(n - 1)


def swapped(law: Law) -> Law:
    return law[1], law[0]


def vectors(mechanism: Mapping[str, Any], times: int = 1) -> Iterator[Law]:
    """Yield the law of each noisy vector, for units of one row."""
    for query in mechanism["queries"]:
        grid, change = query.get("grid"), int(query["sensitivity"])
        if times == 2 and grid is not None and grid["low"] < 0 < grid["high"]:
            own, copies = 2 * change, 1
        else:
            own, copies = change, times
        if mechanism["noise"] == "discrete laplace":
            epsilon = float(Fraction(query["epsilon"]))
            yield from [laplace(own, own / change * epsilon)] * copies
        else:
            yield from [gaussian(own, change**2 / (2 * float(Fraction(query["rho"]))))] * copies


def numbers(said: Mapping[str, Any], times: int = 1) -> list[Law]:
    """Return the laws of all numbers of a release: noisy vectors, together on a sample if there is one, and gates."""
    mechanism = said["mechanism"]
    gates = [answer(times * float(Fraction(each["charge"]))) for each in said["verdicts"] if each.get("charge")]
    if mechanism["kind"] == "safe_k_anonymity":
        margins = mechanism.get("margins")
        return [*gates, *(() if margins is None else vectors(margins, times))]
    if mechanism["beta"] == "1":
        return [*gates, *vectors(mechanism, times)]
    assert times == 1
    return [*gates, sampled(together(list(vectors(mechanism))), float(Fraction(mechanism["beta"])))]


def together(laws: Sequence[Law]) -> Law:
    """Return the product of laws, with masses added up where losses are equal on the grid."""
    found = NONE
    for law in laws:
        found = found.times(Losses.of(law))
    losses = STEP * (found.low + np.arange(len(found.masses)))
    kept = found.masses > 1e-18  # rounding of the transform
    return found.masses[kept], found.masses[kept] * np.exp(-losses[kept])


Curve = Callable[[float], float]


def joint_curve(said: Mapping[str, Any], times: int = 1) -> Curve:
    """Return the curve of delta of a release: of a unit that is added or removed, or (`times` 2) of the numbers of a
    release of tables for a unit that is replaced."""
    mechanism, laws = said["mechanism"], numbers(said, times)
    sides: list[tuple[Losses, list[Law]]] = []
    for turn in (lambda law: law, swapped):
        others, classes = NONE, []
        for law in laws:
            others = others.times(Losses.of(turn(law)))
        if mechanism["kind"] == "safe_k_anonymity":
            k, beta = mechanism["k"], float(Fraction(mechanism["beta"]))
            classes = [turn(sampled_class(n, k, beta)) for n in range(k, math.ceil(3 * k / beta) + 20)]
        sides.append((others, classes))

    def curve(epsilon: float) -> float:
        alone = (float(others.deltas(np.array([epsilon]))[0]) for others, _ in sides)
        return max(*alone, *(_with_class(law, others, epsilon) for others, classes in sides for law in classes))

    return curve


def _with_class(law: Law, others: Losses, epsilon: float) -> float:
    there = (law[0] > 0) & (law[1] > 0)
    losses = np.log(law[0][there] / law[1][there])
    endless = float(law[0][(law[0] > 0) & (law[1] <= 0)].sum())
    return float((law[0][there] * others.deltas(epsilon - losses)).sum()) + endless


def problems(said: Mapping[str, Any]) -> list[str]:
    """Return the points of a manifest's joint cost that a second computation refutes."""
    joint, found, curve = said["guarantee"]["joint"], [], joint_curve(said)
    for epsilon, stated in _points(joint["curve"]):
        true = curve(epsilon)
        if not true * (1 - NEAR) <= stated <= true * (1 + LOOSE):
            found.append(f"curve at {epsilon:g}: {stated:.4g}, and not {true:.4g}")
    total = said["guarantee"]["epsilon"], Fraction(said["guarantee"]["delta"])
    if not any(point["epsilon"] == total[0] and Fraction(point["delta"]) <= total[1] for point in joint["curve"]):
        found.append("no point keeps the total")
    tables = said["mechanism"]["kind"] == "dp_tables" and said["mechanism"]["beta"] == "1"
    least = joint_curve(said, 2) if tables else curve
    points = _points([joint["replaced"], *joint.get("replacements", ())])
    return [*found, *(f"replaced at {at:g}: {stated:.4g}" for at, stated in points if stated < least(at) * (1 - NEAR))]


def _points(stated: Sequence[Mapping[str, str]]) -> Iterator[tuple[float, float]]:
    for point in stated:
        yield float(Fraction(point["epsilon"])), float(Fraction(point["delta"]))
