"""Summaries of sizes of anonymity sets: over all sets, and by the values of an attribute.

M. Koot, Measuring and predicting anonymity (thesis, 2012), chapter 3, Tables 3.2 to 3.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.histogram import Histogram
from crowdgate.keys import Packing

SIZES = (1, 5, 10, 50, 100)
"""Set sizes up to which people are counted."""


@dataclass(frozen=True)
class SizeSummary:
    """Sizes of anonymity sets, over sets: each counts once, however many people it holds. Quartiles are of type 7 of
    R's `quantile`, as in its `summary`: linear between order statistics. None if there is no set.

    `within` holds for each of SIZES how many of the `people` are in sets of at most this size. A person in several sets
    counts once, by the smallest of them.
    """

    people: int
    sets: int
    least: int | None
    lower: float | None
    median: float | None
    mean: float | None
    upper: float | None
    most: int | None
    within: tuple[int, ...]


@dataclass(frozen=True)
class ValueGroup:
    """One value of an attribute: its number of people, and the sizes of the anonymity sets among them."""

    value: str
    people: int
    summary: SizeSummary


def summary(sizes: Integers) -> SizeSummary:
    """Return the summary of sets of these sizes (positive, in any order)."""
    ordered = np.sort(sizes)
    sets, held = len(ordered), np.concatenate([[0], np.cumsum(ordered)])
    within = tuple(held[np.searchsorted(ordered, SIZES, side="right")].tolist())
    if not sets:
        return SizeSummary(0, 0, None, None, None, None, None, None, within)
    people = int(held[-1])
    lower, median, upper = (quartile(ordered, number) for number in (1, 2, 3))
    return SizeSummary(people, sets, int(ordered[0]), lower, median, people / sets, upper, int(ordered[-1]), within)


def summary_of_people(entries: Histogram) -> SizeSummary:
    """Return the summary of sets of people who may be in several: distinct tuples of a person, in the first column, and
    of a set."""
    words = Packing.of(entries.sizes[1:]).pack(iter(entries.codes[1:]), len(entries))
    order = np.lexsort(words[::-1])
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.logical_or.reduce([np.diff(word[order]) != 0 for word in words])
    sizes = np.diff(np.flatnonzero(np.append(new, True)))
    least = np.full(entries.sizes[0], len(entries) + 1)
    np.minimum.at(least, entries.codes[0][order], np.repeat(sizes, sizes))
    own = np.sort(least[least <= len(entries)])
    within = tuple(np.searchsorted(own, SIZES, side="right").tolist())
    return replace(summary(sizes), people=len(own), within=within)


def quartile(ordered: Integers, number: int) -> float:
    """Return quartile `number` (1 to 3) of sizes in rising order, at least one: linear between the two sizes around
    place (n - 1) number / 4, counted from 0, of n sizes."""
    at, rest = divmod((len(ordered) - 1) * number, 4)
    below = int(ordered[at])
    return below + (int(ordered[at + 1]) - below) * rest / 4 if rest else float(below)


def by_value_of_people(entries: Histogram, labels: Sequence[str]) -> tuple[ValueGroup, ...]:
    """Return the sets of each value of the second column of `entries`, in the order of its codes, with names from
    `labels`. The first column is the person, who may have several values and be in several sets of each."""
    order = np.argsort(entries.codes[1], kind="stable")
    codes, starts = np.unique(entries.codes[1][order], return_index=True)
    groups = []
    for code, rows in zip(codes.tolist(), np.split(order, starts[1:]), strict=False):
        own = [column[rows] for at, column in enumerate(entries.codes) if at != 1]
        sizes = (entries.sizes[0], *entries.sizes[2:])
        found = summary_of_people(Histogram(("", *entries.names[2:]), sizes, tuple(own), entries.counts[rows]))
        groups.append(ValueGroup(labels[code], found.people, found))
    return tuple(groups)


def by_value(cells: Histogram, people: Histogram, labels: Sequence[str]) -> tuple[ValueGroup, ...]:
    """Return the sets of each value of the first column of `cells`, in the order of its codes, with names from
    `labels`. `people` is the histogram of that column only."""
    starts = np.flatnonzero(np.diff(cells.codes[0], prepend=-1))
    held = np.split(cells.counts, starts[1:]) if len(starts) else []
    many = dict(zip(people.codes[0].tolist(), people.counts.tolist(), strict=True))
    codes = cells.codes[0][starts].tolist()
    return tuple(ValueGroup(labels[code], many[code], summary(own)) for code, own in zip(codes, held, strict=True))


def correlation(groups: Sequence[ValueGroup]) -> float | None:
    """Return Pearson's correlation of the groups' numbers of people with the median sizes of their sets; None if either
    does not vary."""
    people = np.array([group.people for group in groups], dtype=np.float64)
    medians = np.array([group.summary.median or 0 for group in groups], dtype=np.float64)
    if len(groups) < 2 or not np.ptp(people) or not np.ptp(medians):
        return None
    return float(np.corrcoef(people, medians)[0, 1])
