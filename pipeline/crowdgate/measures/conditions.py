"""Conditions on the classes of the release: how much a class reveals about one sensitive attribute.

A class here is the set of rows that are equal in all released attributes but the sensitive one, which the policy names
with `of`. n rows of a class, c of them with value s; N rows of the release, C of them with s; p = c/n, q = C/N. Only
the released histogram is read. An empty release has no class and so no violation: the diversities have their greatest
value, the distances are 0.

None of these conditions prevents singling out: the failure of k-anonymity extends to l-diversity and t-closeness
(Cohen, Nissim 2020, "Policy implications"). The mechanism's guarantee prevents it; these conditions address harm by
inference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log2, prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import AnyIntegers, Array, Integers
from crowdgate.candidate import Measurement, OutputType, Range, Static
from crowdgate.histogram import Histogram, project
from crowdgate.measures.base import (
    NOT_NEGATIVE,
    SHARE,
    UNBOUNDED,
    Aspect,
    BetterSide,
    Measure,
    MeasureClass,
    of_rows,
)

if TYPE_CHECKING:
    from crowdgate.policy.policy import GateRule

ROUNDING = 1e-11
"""Bound on the relative error of float64 logarithms, their sums and exponentials."""
BLOCK_CELLS = 1 << 20
_LARGEST = 1 << 62
FROM_1: Range = (1, inf)


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The release by classes of rows that are equal in all attributes but the sensitive one: class `of[i]` has
    `counts[i]` rows of the sensitive value `values[i]`.

    Entries of one class are adjacent, from `starts`. `sizes` are the rows of each class, `totals` the rows of each
    value in the whole release (some may be 0).
    """

    of: AnyIntegers
    values: AnyIntegers
    counts: Integers
    starts: AnyIntegers
    sizes: Integers
    totals: Integers

    @property
    def rows(self) -> int:
        """Number of rows of the release."""
        return int(self.totals.sum())


def equivalence_classes(release: Histogram, sensitive: str) -> EquivalenceClasses:
    """Return the classes of released rows that are equal in all columns but the sensitive one."""
    others = [name for name in release.names if name != sensitive]
    ordered = project(release, [*others, sensitive])
    new = np.arange(len(ordered)) == 0
    for column in ordered.codes[:-1]:
        new[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(new)
    sizes = np.add.reduceat(ordered.counts, starts) if len(starts) else ordered.counts
    totals = np.zeros(ordered.sizes[-1], dtype=np.int64)
    np.add.at(totals, ordered.codes[-1], ordered.counts)
    return EquivalenceClasses(np.cumsum(new) - 1, ordered.codes[-1], ordered.counts, starts, sizes, totals)


# --- diversity of a class ---


def distinct_diversity(found: EquivalenceClasses) -> int:
    """Return the least number of distinct sensitive values in a class; for an empty release the number of all
    values."""
    return int(np.diff(found.starts, append=len(found.of)).min(initial=len(found.totals)))


def entropy_diversity(found: EquivalenceClasses) -> Measurement:
    """Return exp of the least entropy (in nats) of the sensitive values of a class; exact if this class holds all its
    values equally often."""
    if not len(found.starts):
        return Measurement.exact(len(found.totals))
    weighted = np.add.reduceat(found.counts * np.log(found.counts), found.starts)
    entropies = np.log(found.sizes) - weighted / found.sizes
    least = int(np.argmin(entropies))
    counts = found.counts[found.of == least]
    if (counts == counts[0]).all():
        return Measurement.exact(len(counts))
    value = exp(float(entropies[least]))
    return Measurement(value, max(1.0, value * (1 - ROUNDING)), value * (1 + ROUNDING))


# --- distance of a class from the whole release ---


def total_variation(found: EquivalenceClasses) -> Fraction:
    """Return the greatest total variation distance of a class from the release: the sum of p - q over values with p >
    q, their shares in the class and in the release. It is the earth mover's distance when all values are equally
    far."""
    if not len(found.starts):
        return Fraction(0)
    rows = found.rows
    counts, sizes, totals = _wide(rows * rows, found.counts, found.sizes, found.totals)
    surplus = counts * rows - totals[found.values] * sizes[found.of]
    return _greatest(np.add.reduceat(np.maximum(surplus, 0), found.starts), found.sizes) / rows


def ordered_distance(found: EquivalenceClasses) -> Fraction:
    """Return the greatest earth mover's distance between the sensitive values of a class and of the release, when
    values i and j of m are |i - j| / (m - 1) apart."""
    width, rows = len(found.totals), found.rows
    if not len(found.starts) or width == 1:
        return Fraction(0)
    counts, sizes, totals = _wide(rows * rows * width, found.counts, found.sizes, found.totals)
    below, block = np.cumsum(totals), max(1, BLOCK_CELLS // width)
    greatest = Fraction(0)
    for first in range(0, len(sizes), block):
        inside = sizes[first : first + block]
        entries = slice(*np.searchsorted(found.of, [first, first + len(inside)]))
        table = np.zeros((len(inside), width), dtype=counts.dtype)
        table[found.of[entries] - first, found.values[entries]] = counts[entries]
        moved = np.abs(np.cumsum(table, axis=1) * rows - below * inside[:, None]).sum(axis=1)
        greatest = max(greatest, _greatest(moved, inside))
    return greatest / rows / (width - 1)


def greatest_gain(found: EquivalenceClasses) -> Fraction:
    """Return the greatest (p - q) / q of any value in any class: p is the value's share of the class, q its share of
    the release."""
    return _ratio(found, 1) - 1 if len(found.starts) else Fraction(0)


def greatest_log_ratio(found: EquivalenceClasses) -> Measurement:
    """Return the greatest |log2(p / q)| of any value in any class: p is the value's share of the class, q its share of
    the release. Infinite when a class lacks a value that the release holds."""
    if not len(found.starts):
        return Measurement.exact(0)
    if distinct_diversity(found) < np.count_nonzero(found.totals):
        return Measurement.exact(inf)
    ratio = max(_ratio(found, 1), _ratio(found, -1))
    value = log2(ratio)
    return Measurement(value, value * (1 - ROUNDING), value * (1 + ROUNDING))


def _ratio(found: EquivalenceClasses, power: int) -> Fraction:
    """Return the greatest (p / q) ** power of any value in any class: p is the value's share of the class, q its share
    of the release."""
    inverse = found.sizes[found.of] * (found.totals[found.values] / found.rows)
    floats = (found.counts / inverse) ** power
    near = np.flatnonzero(floats >= floats.max() * (1 - ROUNDING))
    each = np.column_stack([found.counts[near], found.sizes[found.of[near]], found.totals[found.values[near]]])
    return max(Fraction(c * found.rows, n * total) ** power for c, n, total in np.unique(each, axis=0).tolist())


def _greatest(numerators: Array, denominators: Array) -> Fraction:
    """Return the greatest of the fractions numerators / denominators, exactly: floats find the few candidates for
    it."""
    floats = numerators.astype(np.float64) / denominators.astype(np.float64)
    near = np.flatnonzero(floats >= floats.max() * (1 - ROUNDING))
    pairs = set(zip(numerators[near].tolist(), denominators[near].tolist(), strict=True))
    return max(Fraction(numerator, denominator) for numerator, denominator in pairs)


def _wide(largest: int, *columns: Integers) -> list[Array]:
    """Return the columns as integers of a type that can hold `largest`."""
    return [column if largest < _LARGEST else column.astype(object) for column in columns]


# --- measures ---


NO_SHIELD = (
    "It limits what a group of alike rows tells about everybody in it. It does not prevent singling out: Cohen and"
    " Nissim's\nattack on k-anonymity holds for this as well."
)


def _measure(
    name: str,
    summary: str,
    sentence: str,
    reach: Callable[[Static, str], Range],
    value: Callable[[EquivalenceClasses, Static, str], Measurement],
    *,
    better: BetterSide,
    values: Range,
) -> Measure:
    def measured(rows: Histogram, static: Static, rule: GateRule) -> Measurement | None:
        if rule.of is None or rule.of not in rows.names:
            return None
        return value(equivalence_classes(rows, rule.of), static, rule.of)

    def reached(static: Static, rule: GateRule) -> Range:
        return UNBOUNDED if rule.of is None or rule.of not in static.levels else reach(static, rule.of)

    return Measure(
        name=name,
        summary=summary,
        sentence=f"{sentence} {NO_SHIELD}",
        reads=MeasureClass.OUTPUT,
        shape=OutputType.ROWS,
        aspect=Aspect.INFERENCE,
        better=better,
        accumulates=False,
        range=values,
        reach=reached,
        of_candidate=of_rows(measured),
        steady=False,
        of=True,
    )


def _closeness(found: EquivalenceClasses, static: Static, sensitive: str) -> Measurement:
    return Measurement.exact(ordered_distance(found) if static.ordered(sensitive) else total_variation(found))


def _diversity_reach(static: Static, sensitive: str) -> Range:
    return 1, len(static.levels[sensitive])


def _trivial(static: Static, sensitive: str) -> bool:
    """Return whether each class must have the distribution of the release: there is one class, or one value."""
    others = prod(len(level) for name, level in static.levels.items() if name != sensitive)
    return others == 1 or len(static.levels[sensitive]) == 1


def _share(static: Static) -> Fraction:
    """Return the least share of the release that one class can be: it has at least k rows, the release at most
    `most_rows`."""
    return Fraction(static.least_class, max(static.most_rows, static.least_class))


def _closeness_reach(static: Static, sensitive: str) -> Range:
    """Return the least and the greatest closeness that a release can have: a class that is a share w of the release is
    at most 1 - w away, since the release contains it."""
    return 0, 0 if _trivial(static, sensitive) else 1 - _share(static)


def _likeness_reach(static: Static, sensitive: str) -> Range:
    """Return the least and the greatest likeness that a release can have: a class that is a share w of the release has
    q >= w p (p, q: shares of a value in class and release), so (p - q) / q <= 1/w - 1."""
    return 0, 0 if _trivial(static, sensitive) else 1 / _share(static) - 1


def _disclosure_reach(static: Static, sensitive: str) -> Range:
    """Return the range of disclosure that a release can have. An infinite value is inconclusive, so a gate on it can
    always fail."""
    return (0, 0) if _trivial(static, sensitive) else UNBOUNDED


DISTINCT_DIVERSITY = _measure(
    "distinct_diversity",
    "least number of distinct values of the attribute in a class of the others (distinct l-diversity; Machanavajjhala,"
    " Kifer, Gehrke, Venkitasubramaniam 2007)",
    "Of rows that are equal in everything but {of}, it counts how many different values of {of} there are, and takes\n"
    "the group with the fewest.",
    _diversity_reach,
    lambda found, *_: Measurement.exact(distinct_diversity(found)),
    better=BetterSide.LARGER,
    values=FROM_1,
)
ENTROPY_DIVERSITY = _measure(
    "entropy_diversity",
    "how many values of the attribute, as if all were as likely, are mixed in the class of the others that mixes"
    " fewest: exp of its entropy (entropy l-diversity; Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007)",
    "Of rows that are equal in everything but {of}, it takes how many values of {of} are mixed as if all were equally\n"
    "frequent, in the group that mixes fewest.",
    _diversity_reach,
    lambda found, *_: entropy_diversity(found),
    better=BetterSide.LARGER,
    values=FROM_1,
)
T_CLOSENESS = _measure(
    "t_closeness",
    "how far any class departs from the release: greatest earth mover's distance, from 0 to 1, between the"
    " attribute's distribution in a class of the others and in the release. Distance is ordered for numbers and"
    " days, and equal otherwise (Li, Li, Venkatasubramanian 2007)",
    "It measures how far the values of {of} in any group of rows depart from those of the whole release. The rows of"
    " a\ngroup are equal in everything else. 0 is not at all, 1 as far as can be.",
    _closeness_reach,
    _closeness,
    better=BetterSide.SMALLER,
    values=SHARE,
)
BETA_LIKENESS = _measure(
    "beta_likeness",
    "how much more probable a class of the others can make a value of the attribute: greatest gain (p - q) / q, p"
    " its share in the class, q in the release (basic beta-likeness; Cao, Karras 2012)",
    "It takes by how much a value of {of} can be likelier in a group of rows that are equal in everything else than in"
    " the\nwhole release: 1 is twice as likely.",
    _likeness_reach,
    lambda found, *_: Measurement.exact(greatest_gain(found)),
    better=BetterSide.SMALLER,
    values=NOT_NEGATIVE,
)
DELTA_DISCLOSURE = _measure(
    "delta_disclosure",
    "how much a class can reveal of a value, in bits: greatest |log2(p / q)| of a value of the attribute in a class"
    " of the others against the release. It is infinite, so inconclusive, when a class lacks a value (Brickell,"
    " Shmatikov 2008)",
    "It takes by how many doublings or halvings a value of {of} can be likelier or rarer in a group of rows that are"
    " equal\nin everything else than in the whole release. A group that lacks a value leaves it undecided, which"
    " withholds where the rule\nblocks.",
    _disclosure_reach,
    lambda found, *_: greatest_log_ratio(found),
    better=BetterSide.SMALLER,
    values=NOT_NEGATIVE,
)
