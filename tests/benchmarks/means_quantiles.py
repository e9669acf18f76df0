"""Quantiles and means by the method of tables and by published ones, at the same privacy cost.

`python -m tests.benchmarks.means_quantiles` prints root mean square errors. Those of three quartiles are in percent of
the people (the distance of the published value's rank), those of a mean in percent of the range. Noise has rho 0.0005
for all three quartiles or for the mean: a thirtieth of epsilon 1 at delta 1e-9. It is continuous.

Quantiles: from a flat noisy histogram (tables), and from a hierarchical one, whose levels are made to agree (levels);
by the exponential mechanism (Smith 2011), which states no interval, and by a third of it, where both limits are bought
in the same way (limits); by binary search with noisy counts; from a tree of noisy counts (Hay, others 2010).

Means: a sum around the middle of the bounds over a count (tables); a sum around 0 over a count; a clipping range found
by a first part of the budget, then a sum around its middle (after CoinPress: Biswas and others 2020); and a sum over a
count that is known, which no table of people has.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil, log2

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.hierarchy import Level
from crowdgate.mechanisms.tables.coarse_to_fine import whole_tables
from crowdgate.mechanisms.tables.consistency import consistent_tables
from crowdgate.mechanisms.tables.quantiles import quantile_bins
from tests.benchmarks.options import parse

RHO = 0.0005
PROBABILITIES = (0.25, 0.5, 0.75)
Quantile = Callable[[Floats, np.random.Generator], list[int]]
Average = Callable[[Floats, np.random.Generator], float]


def sigma(rho: float) -> float:
    """Return the standard deviation of Gaussian noise on counts."""
    return float(1 / np.sqrt(2 * rho))


def by_histogram(counts: Floats, random: np.random.Generator) -> list[int]:
    return _by_levels([_level(len(counts), 1)], counts, random)


def by_levels(counts: Floats, random: np.random.Generator) -> list[int]:
    """Each level has a quarter of the values of the next finer one, down to at least 2."""
    widths = [4**at for at in range(ceil(log2(len(counts)) / 2))]
    return _by_levels([_level(len(counts), width) for width in widths], counts, random)


def _level(bins: int, width: int) -> Level:
    codes = np.arange(bins) // width
    return Level(f"{width}", tuple(map(str, range(int(codes[-1]) + 1))), codes.astype(np.int32))


def _by_levels(levels: Sequence[Level], counts: Floats, random: np.random.Generator) -> list[int]:
    """Return the quantiles of the finest level, by the steps of a release of tables."""
    noise = sigma(RHO / len(levels))
    true = [np.bincount(level.codes, counts) for level in levels]
    noisy = [np.rint(each + random.normal(0, noise, each.shape)).astype(np.int64) for each in true]
    axes, spread = [{"x": level} for level in levels], [noise**2] * len(levels)
    values = whole_tables(axes, consistent_tables(axes, noisy, spread).tables, spread)[0].astype(np.float64)
    return [int(quantile_bins(values, Fraction(p))) for p in PROBABILITIES]


def by_exponential_mechanism(counts: Floats, random: np.random.Generator, draws: int = 1) -> list[int]:
    """Bounded range epsilon is epsilon^2 / 8 of rho; a row moves the score by at most max(p, 1 - p). `draws` are those
    that a quantile's part of rho pays for."""
    below, found = np.cumsum(counts), []
    for p in PROBABILITIES:
        low, high = below - counts, below
        score = -np.maximum(np.maximum(low - p * below[-1], p * below[-1] - high), 0)
        rate = np.sqrt(8 * RHO / len(PROBABILITIES) / draws) / (2 * max(p, 1 - p))
        found.append(int(np.argmax(rate * score + random.gumbel(size=counts.shape))))
    return found


def by_exponential_with_limits(counts: Floats, random: np.random.Generator) -> list[int]:
    return by_exponential_mechanism(counts, random, 3)


def by_binary_search(counts: Floats, random: np.random.Generator) -> list[int]:
    steps, below = max(1, ceil(log2(len(counts)))), np.cumsum(counts)
    noise, found = sigma(RHO / len(PROBABILITIES) / steps), []
    for p in PROBABILITIES:
        low, high = 0, len(counts) - 1
        while low < high:
            middle = (low + high) // 2
            balance = below[middle] - p * below[-1] + random.normal(0, noise * max(p, 1 - p))
            low, high = (low, middle) if balance >= 0 else (middle + 1, high)
        found.append(low)
    return found


def by_tree(counts: Floats, random: np.random.Generator) -> list[int]:
    branches, levels = 4, [counts]
    while len(levels[-1]) > 1:
        own = np.pad(levels[-1], (0, -len(levels[-1]) % branches))
        levels.append(own.reshape(-1, branches).sum(axis=1))
    noise = sigma(RHO / len(levels))
    noisy = [each + random.normal(0, noise, each.shape) for each in levels]
    better, variance = [noisy[0]], 1.0
    for each in noisy[1:]:  # upwards: each node is averaged with the sum of its children
        sums = np.pad(better[-1], (0, -len(better[-1]) % branches)).reshape(-1, branches).sum(axis=1)
        better.append((each * variance * branches + sums) / (1 + variance * branches))
        variance = variance * branches / (1 + variance * branches)
    found = better[-1]
    for each in better[-2::-1]:  # downwards: what is left is spread evenly
        own = np.pad(each, (0, -len(each) % branches)).reshape(-1, branches)
        found = (own + (found - own.sum(axis=1))[:, None] / branches).reshape(-1)[: len(each)]
    below = np.maximum.accumulate(np.cumsum(found))
    return [int(np.argmax(below >= p * below[-1])) for p in PROBABILITIES]


def centred(values: Floats, random: np.random.Generator) -> float:
    return _ratio(values - 0.5, len(values), 0.5, random) + 0.5


def around_zero(values: Floats, random: np.random.Generator) -> float:
    return _ratio(values, len(values), 1.0, random)


def _ratio(values: Floats, rows: int, most: float, random: np.random.Generator) -> float:
    count = max(1.0, rows + random.normal(0, sigma(RHO / 2)))
    return float(np.clip((values.sum() + random.normal(0, most * sigma(RHO / 2))) / count, -most, most))


def narrowed(values: Floats, random: np.random.Generator) -> float:
    part = RHO / 3
    count = max(1.0, len(values) + random.normal(0, sigma(part)))
    rough = 0.5 + (values - 0.5).sum() / count + random.normal(0, 0.5 * sigma(part / 2)) / count
    square = max(0.0, (((values - 0.5) ** 2).sum() + random.normal(0, 0.25 * sigma(part / 2))) / count)
    half = min(0.5, 3 * np.sqrt(max(square - (rough - 0.5) ** 2, 0)) + 2 * sigma(part / 2) / count)
    moved = np.clip(values - rough, -half, half)
    return float(np.clip(rough + (moved.sum() + random.normal(0, half * sigma(part))) / count, 0, 1))


def known_count(values: Floats, random: np.random.Generator) -> float:
    return 0.5 + float((values - 0.5).sum() + random.normal(0, 0.5 * sigma(RHO))) / len(values)


QUANTILES: Mapping[str, Quantile] = {
    "tables": by_histogram, "levels": by_levels, "exponential": by_exponential_mechanism,
    "limits": by_exponential_with_limits, "search": by_binary_search, "tree": by_tree,
}  # fmt: skip
MEANS: Mapping[str, Average] = {
    "tables": centred, "around 0": around_zero, "narrowed": narrowed, "count known": known_count,
}  # fmt: skip


def rank_error(counts: Floats, bins: list[int]) -> list[float]:
    """Return the distance of each wanted share from the shares below and up to the published bin, in percent."""
    below, total = np.cumsum(counts), counts.sum()
    pairs = zip(bins, PROBABILITIES, strict=True)
    return [100 * max(0.0, (below[at] - counts[at]) / total - p, p - below[at] / total) for at, p in pairs]


def people(rows: int, bins: int, random: np.random.Generator) -> tuple[Floats, Integers]:
    """Return numbers from 0 to 1, skewed as incomes are, and their counts by bin."""
    values = np.clip(random.gamma(2, 0.1, rows), 0, 1)
    return values, np.bincount(np.minimum((values * bins).astype(int), bins - 1), minlength=bins)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parse(parser, draws=1)
    random = np.random.default_rng(options.seed)
    print(f"{'quartiles, % of people':28}" + "".join(f"{name:>13}" for name in QUANTILES))
    for rows in (1000, 10_000, 100_000):
        for bins in (10, 40, 200, 2000):
            counts = people(rows, bins, random)[1].astype(float)
            errors = [
                [rank_error(counts, method(counts, random)) for _ in range(options.draws)]
                for method in QUANTILES.values()
            ]
            found = "".join(f"{np.sqrt(np.mean(np.square(each))):13.2f}" for each in errors)
            print(f"{f'{rows:,} rows, {bins} bins':28}{found}")
    print(f"{'mean, % of the range':28}" + "".join(f"{name:>13}" for name in MEANS))
    for rows in (300, 1000, 10_000, 100_000):
        values = people(rows, 10, random)[0]
        off = [[method(values, random) - values.mean() for _ in range(options.draws)] for method in MEANS.values()]
        print(f"{f'{rows:,} rows':28}" + "".join(f"{100 * np.sqrt(np.mean(np.square(each))):13.2f}" for each in off))


if __name__ == "__main__":
    main()
