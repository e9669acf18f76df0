"""Confidential figures about all people of a table, which those of disjoint groups of people add up to."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from crowdgate.sources.people import RowsByPerson


@dataclass(frozen=True)
class PeopleFigures:
    """Figures about people: how many there are, the rows that name them, those of them that cleaning retains, and the
    people with an invalid cell in any column and in each watched one. `truncated` people have `excess` rows beyond
    those that the bound retains of each."""

    people: int
    named: int
    clean: int
    faulty: tuple[int, ...]
    truncated: int
    excess: int


def figures_of(people: RowsByPerson, most: int) -> PeopleFigures:
    """Return the figures about some people, of whom at most `most` rows each are retained."""
    excess = people.rows - most
    over = excess[excess > 0]
    faulty = tuple(int(np.count_nonzero(line)) for line in people.faults)
    return PeopleFigures(len(people.ids), people.named, people.clean, faulty, len(over), int(over.sum()))


def sum_of(figures: Iterable[PeopleFigures]) -> PeopleFigures:
    """Return the figures about all people of disjoint groups (at least one)."""
    found = list(figures)
    faulty = tuple(map(sum, zip(*(each.faulty for each in found), strict=True)))
    people, named, clean, truncated, excess = (
        sum(getattr(each, name) for each in found) for name in ("people", "named", "clean", "truncated", "excess")
    )
    return PeopleFigures(people, named, clean, faulty, truncated, excess)
