"""Root mean square distance of published quantiles from the true ones, given the noisy counts of all groups.

The true histogram of a group has n rows and a shape s with concentration k: each bin has n s_j rows on average, with
variance n s_j + n^2 s_j / (k + 1), as the counts of a Dirichlet-multinomial distribution. The prior is a mixture.
Shapes are that of all other groups together, this shape moved towards lower or higher bins, and flat ones, so that a
group unlike the others is not taken for one of them. The number of rows is known from its noisy count, and by those of
other groups. Weights are learnt from all groups; those of a group are without what the group itself added.

Given a component, bins are Normal with sum n, so counts of bins and of groups of bins give the posterior of the balance
of each bin (`quantiles`) in closed form (`bin_tree`). The true bin is at most j if the balance of j is not negative.
Balances are whole multiples of 1/d for a probability m/d, so half of this step is added; for one row, the mean of both
of its balances.

No guarantee depends on these approximations: intervals are computed without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.mechanisms.tables.bin_tree import tree_estimates
from crowdgate.system import lazy_libraries

_POWERS = (1.0, 0.5, 2.0, 0.25, 4.0)
"""Powers of the distribution function F, and of 1 - F, of the shapes made of the one of the other groups."""
_FLAT_POWERS = (1.0, 0.3)
"""Those of flat shapes: from one fifth to four fifths of the rows are in the lower half of the bins."""
_CONCENTRATIONS = (1.0, 10.0, 100.0, np.inf)
_SMOOTHED = 0.01
"""The part of a flat shape in that of the other groups."""
_FLAT_PART = 0.05
"""The part of a flat shape in variances of bins."""
_SIZES, _FARTHEST, _OCTAVES = 5, 3.5, 32
"""Numbers of rows considered for a group, to so many standard errors from its noisy number; and the number of powers of
2 between which the prior of this number is even."""
_PRIOR_GROUPS = 1.0
"""The weight of even weights, in groups."""
_ROUNDS = 15
_LEARNT = 1 << 11
"""The number of groups, about, from which weights are learnt if there are more."""
_CELLS_AT_ONCE = 1 << 14
_CERTAIN = 1e-6
"""The variance of the number of rows given a component."""
_NEGLIGIBLE = 1e-6
"""Components of a smaller posterior probability in all groups are left out."""


@dataclass(frozen=True, eq=False)
class NoisyBins:
    """Noisy counts of the bins of each group, with bins along the last axis.

    `levels` are counts with independent noise: of bins, then of groups of bins, finest first, with the variance of the
    noise on each number (`variances`), and the group of each bin or smaller group at the next level (`parents`).
    """

    levels: Sequence[Floats]
    variances: Sequence[Floats]
    parents: Sequence[Integers]


@dataclass(frozen=True, eq=False)
class NoisyRows:
    """Estimates of the number of rows of each group by all tables, with their variance."""

    rows: Floats
    variance: float


def quantile_errors(
    noisy: NoisyBins,
    bins: Integers,
    probabilities: Sequence[Fraction],
    rate: float = 1.0,
    rows: NoisyRows | None = None,
) -> Floats:
    """Return the root mean square distances of published `bins` from the true ones, in bins; NaN for bin -1.

    The shape of `bins` is that of the groups, then the number of probabilities. Counts are of a sample at `rate`.
    Groups are taken to have a row.
    """
    groups, flat = _Groups.of(noisy, rows, rate), bins.reshape(-1, len(probabilities))
    every = max(1, len(groups) // _LEARNT)
    learnt = _Weights.learnt([_evidence(each) for each in groups[::every].parts()], every)
    errors = [_errors(each, learnt, probabilities, flat[each.places]) for each in groups.parts()]
    return np.where(bins < 0, np.nan, np.concatenate(errors).reshape(bins.shape))


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups in a row: noisy counts; unbiased counts of bins (`counts`), and their sums over all groups (`whole`); the
    logarithm of the likelihood of the numbers of rows considered (`sizes`) by other tables, and the widths of their
    intervals on a logarithmic scale (number, group); and the places of the groups among all."""

    levels: Sequence[Floats]
    variances: Sequence[Floats]
    parents: Sequence[Integers]
    counts: Floats
    whole: Floats
    others: Floats
    sizes: Floats
    widths: Floats
    rate: float
    places: Integers

    @classmethod
    def of(cls, noisy: NoisyBins, rows: NoisyRows | None, rate: float) -> _Groups:
        levels, variances = (
            [each.reshape(-1, each.shape[-1]) for each in part] for part in (noisy.levels, noisy.variances)
        )
        parents, own = list(noisy.parents), tree_estimates(levels, variances, noisy.parents)
        number, variance = own.counts.sum(axis=-1), own.total_variance[:, 0]
        precision = 1 / variance if rows is None else np.maximum(1 / rows.variance, 1 / variance)
        known = number if rows is None else rows.rows.reshape(-1)
        sizes, widths = _sizes(known, np.sqrt(1 / precision), rate)
        others = _log_normal(known - sizes, 1 / precision) - _log_normal(number - sizes, variance)
        places, whole = np.arange(len(number), dtype=np.int64), own.counts.sum(axis=0)
        return cls(levels, variances, parents, own.counts, whole, others, sizes, widths, rate, places)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, part: slice) -> _Groups:
        return replace(
            self, levels=[each[part] for each in self.levels], variances=[each[part] for each in self.variances],
            counts=self.counts[part], places=self.places[part],
            others=self.others[:, part], sizes=self.sizes[:, part], widths=self.widths[:, part],
        )  # fmt: skip

    def parts(self) -> Iterator[_Groups]:
        """Yield some groups at a time."""
        step = max(1, _CELLS_AT_ONCE // self.counts.shape[-1])
        for start in range(0, len(self), step):
            yield self[start : start + step]

    @property
    def octaves(self) -> Integers:
        """Return the power of 2 below each number of rows considered."""
        return np.clip(np.floor(np.log2(self.sizes / self.rate)), 0, _OCTAVES - 1).astype(np.int64)

    def shapes(self) -> list[Floats]:
        """Return the shapes of the prior: for each group the probabilities of the bins."""
        bins = self.counts.shape[-1]
        flat = np.broadcast_to(np.arange(1, bins + 1) / bins, self.counts.shape)
        others = np.cumsum(self.whole - self.counts, axis=-1)
        rising = np.maximum.accumulate(others, axis=-1)
        rising = (rising + np.minimum.accumulate(others[:, ::-1], axis=-1)[:, ::-1]) / 2
        shares = np.where(others[:, -1:] > 0, np.clip(rising / np.maximum(others[:, -1:], 1.0), 0, 1), flat)
        shares = np.where(np.arange(bins) == bins - 1, 1.0, (1 - _SMOOTHED) * shares + _SMOOTHED * flat)
        found = [*_moved(shares, _POWERS), *_moved(flat, _FLAT_POWERS)]
        return [np.diff(np.maximum.accumulate(each, axis=-1), axis=-1, prepend=0.0) for each in found]


def _sizes(rows: Floats, deviation: Floats, least: float) -> tuple[Floats, Floats]:
    low = np.maximum(rows - _FARTHEST * deviation, least)
    high = np.maximum(rows + _FARTHEST * deviation, np.maximum(1.02 * low, deviation))
    ends = np.linspace(np.log(low), np.log(high), _SIZES + 1)
    return np.exp((ends[1:] + ends[:-1]) / 2), np.diff(ends, axis=0)


def _moved(shares: Floats, powers: Sequence[float]) -> list[Floats]:
    """Return distribution functions made of one by powers of it and of its complement."""
    return [*(shares**each for each in powers), *(1 - (1 - shares) ** each for each in powers[1:])]


@dataclass(frozen=True, eq=False)
class _Component:
    """A component of the prior of some groups: their shape, and its concentration."""

    groups: _Groups
    shape: Floats
    concentration: float

    def moments(self) -> tuple[Floats, Floats]:
        """Return means and variances of the counts of bins for each number of rows (number, group, bin)."""
        rows = self.groups.sizes[:, :, None]
        spread = (1 - _FLAT_PART) * self.shape + _FLAT_PART / self.shape.shape[-1]
        return rows * self.shape, rows * spread * (1 + rows / (self.concentration + 1))

    def bins(self) -> tuple[Floats, Floats, Floats]:
        """Return means and variances of bins given their own noisy counts, and the logarithm of the likelihood of these
        counts for each number of rows."""
        mean, variance = self.moments()
        noise = self.groups.variances[0]
        weight = variance / (variance + noise)
        off = self.groups.levels[0] - mean
        fit = _log_normal(off, variance + noise).sum(axis=-1) - _log_normal(0.0, variance.sum(axis=-1))
        return mean + weight * off, weight * noise, fit

    def evidence(self) -> Floats:
        """Return the logarithm of the likelihood of all noisy counts for each number of rows (number, group)."""
        mean, variance, fit = self.bins()
        known = self.groups
        for counts, noise, parent in zip(known.levels[1:], known.variances[1:], known.parents, strict=True):
            starts = np.flatnonzero(np.diff(parent, prepend=-1))
            mean, variance = np.add.reduceat(mean, starts, axis=-1), np.add.reduceat(variance, starts, axis=-1)
            fit = fit + _log_normal(counts - mean, variance + noise).sum(axis=-1)
            weight = variance / (variance + noise)
            mean, variance = mean + weight * (counts - mean), weight * noise
        of_size = _log_normal(known.sizes - mean.sum(axis=-1), variance.sum(axis=-1))
        return np.asarray(fit + of_size + known.others)

    def reached(self, probabilities: Sequence[Fraction]) -> Iterator[Floats]:
        """Yield for each probability the probability that the true bin is at most each (number, group, bin)."""
        mean, variance, _ = self.bins()
        known, sizes = self.groups, self.groups.sizes[..., None]
        levels = [mean, *(np.broadcast_to(each, (*mean.shape[:2], each.shape[-1])) for each in known.levels[1:]), sizes]
        noise = [
            variance,
            *(np.broadcast_to(own, each.shape) for own, each in zip(known.variances[1:], levels[1:-1], strict=True)),
        ]
        top = np.zeros(levels[-2].shape[-1], dtype=np.int64)
        tree = tree_estimates(levels, [*noise, np.full(sizes.shape, _CERTAIN)], [*known.parents, top])
        below, expected = np.cumsum(tree.counts, axis=-1), sizes * np.cumsum(self.shape, axis=-1)
        for each in probabilities:
            p = float(each)
            balance, spread = below - p * sizes, tree.balance_variance(p)
            if known.rate < 1:
                balance, spread = self._of_all(balance, spread, expected - p * sizes, expected * (1 - expected / sizes))
            deviation = np.sqrt(np.maximum(spread, np.finfo(np.float64).tiny))
            step = np.where(sizes < 1.5 * known.rate, p - 0.5, 1 / (2 * each.denominator))
            found = lazy_libraries.special.ndtr((balance + known.rate * step) / deviation)
            found = np.maximum.accumulate(found, axis=-1)
            found[..., -1] = 1.0
            yield found

    def _of_all(self, balance: Floats, spread: Floats, expected: Floats, chance: Floats) -> tuple[Floats, Floats]:
        """Return means and variances of the balances of all rows times the rate, from those of the sample: sampling
        adds (1 - rate) of the `chance` of independent rows, of which all rows have the rate."""
        rate, between = self.groups.rate, self.groups.sizes[..., None] / (self.concentration + 1)
        weight = (rate + between) / (1 + between)
        return expected + weight * (balance - expected), weight**2 * spread + weight * (1 - rate) * chance


def _log_normal(off: Floats | float, variance: Floats) -> Floats:
    return np.asarray(-0.5 * (np.square(off) / variance + np.log(variance)))


def _components(groups: _Groups) -> list[_Component]:
    return [_Component(groups, shape, each) for shape in groups.shapes() for each in _CONCENTRATIONS]


@dataclass(frozen=True, eq=False)
class _Evidence:
    """The likelihood of each component and number of rows (component, number, group), the greatest 1, times the width
    of the number's interval; and the power of 2 below the number of rows (number, group)."""

    likelihoods: Floats
    octaves: Integers

    def shares(self, weights: Floats, sizes: Floats) -> Floats:
        """Return posterior probabilities, given the weights of components and of powers of 2: of all groups, or with
        groups along the last axis."""
        groups = np.arange(self.octaves.shape[-1])
        of_size = sizes[self.octaves] if sizes.ndim == 1 else sizes[self.octaves, groups]
        found = self.likelihoods * weights.reshape(len(weights), 1, -1) * of_size
        return np.asarray(found / found.sum(axis=(0, 1)))

    def by_octave(self, shares: Floats) -> Floats:
        """Return the sums of posterior probabilities by power of 2 (power, group)."""
        of_size, out = shares.sum(axis=0), np.zeros((_OCTAVES, self.octaves.shape[-1]))
        for octaves, own in zip(self.octaves, of_size, strict=True):
            out[octaves, np.arange(len(own))] += own
        return out


def _evidence(groups: _Groups) -> _Evidence:
    found = np.stack([each.evidence() for each in _components(groups)])
    return _Evidence(np.exp(found - found.max(axis=(0, 1))) * groups.widths, groups.octaves)


@dataclass(frozen=True, eq=False)
class _Weights:
    """The expected numbers of groups of each component, and of each power of 2 of the number of rows."""

    components: Floats
    sizes: Floats

    @classmethod
    def learnt(cls, parts: Sequence[_Evidence], times: int) -> _Weights:
        """Return the weights by expectation and maximisation, with each group counted so many `times`."""
        number = len(parts[0].likelihoods)
        found = cls(np.zeros(number), np.zeros(_OCTAVES))
        for _ in range(_ROUNDS):
            shares = [each.shares(*found.normal()) for each in parts]
            components = times * np.asarray(sum(each.sum(axis=(1, 2)) for each in shares))
            pairs = zip(parts, shares, strict=True)
            found = cls(components, times * np.asarray(sum(each.by_octave(own).sum(axis=-1) for each, own in pairs)))
        return found

    def normal(self) -> tuple[Floats, Floats]:
        """Return weights of components and of powers of 2, with those of even weights added."""
        pair = (each + _PRIOR_GROUPS / len(each) for each in (self.components, self.sizes))
        first, second = (each / each.sum(axis=0) for each in pair)
        return first, second

    def without(self, own: _Evidence) -> _Weights:
        """Return the weights for each group (last axis) without what the group itself added."""
        shares = own.shares(*self.normal())
        components = np.maximum(self.components[:, None] - shares.sum(axis=1), 0)
        return _Weights(components, np.maximum(self.sizes[:, None] - own.by_octave(shares), 0))


def _errors(groups: _Groups, learnt: _Weights, probabilities: Sequence[Fraction], bins: Integers) -> Floats:
    """Return the errors of some groups (group, probability)."""
    evidence = _evidence(groups)
    shares = evidence.shares(*learnt.without(evidence).normal())
    reached = np.zeros((len(probabilities), *groups.counts.shape))
    for component, own in zip(_components(groups), shares, strict=True):
        if own.max() >= _NEGLIGIBLE:
            for at, found in enumerate(component.reached(probabilities)):
                reached[at] += (own[:, :, None] * found).sum(axis=0)
    chances = np.diff(reached / reached[..., -1:], axis=-1, prepend=0.0)
    distances = np.arange(chances.shape[-1]) - bins.T[:, :, None]
    return np.asarray(np.sqrt((chances * np.square(distances)).sum(axis=-1))).T
