"""The exact distribution of people in bins, in fractions: all numbers of people in all bins."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import factorial


def law(probabilities: Sequence[Fraction], people: int, size: int) -> list[Fraction]:
    """Return P(exactly s bins hold exactly `size`) for s from 0 to people // size."""
    ways = {(0, 0): Fraction(1)}
    for p in probabilities:
        further: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for (placed, found), weight in ways.items():
            for here in range(people - placed + 1):
                further[placed + here, found + (here == size)] += weight * p**here / factorial(here)
        ways = further
    return [ways.get((people, s), Fraction(0)) * factorial(people) for s in range(people // size + 1)]


def mean_and_variance(law: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Return mean and variance of a distribution of whole numbers from 0 on."""
    mean = sum((s * p for s, p in enumerate(law)), Fraction(0))
    return mean, sum((s * s * p for s, p in enumerate(law)), Fraction(0)) - mean**2
