"""Entries that answer a question: exact ones, and more or less specific ones.

Levels of an attribute nest, so that of two levels of one contract the one with more values is the finer. An entry is
more specific than the question if it has all its attributes, none coarser, and all its restrictions of the population,
and is not equal to it; less specific the other way round (Koot 2012, 7.1.3).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from crowdgate.anonymity.kl.entry import NEAR, FigureInterval, KlEntry
from crowdgate.anonymity.kl.reading import SignedEntry


@dataclass(frozen=True)
class RepositoryQuestion:
    """A question: attributes of a contract with the numbers of values of their levels, and a population (None: any).

    `restrictions` map an attribute to its level and required value.
    """

    contract: str
    attributes: Mapping[str, int]
    population: str | None
    restrictions: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class MatchingEntries:
    """Entries that match a question. `conflicts` are pairs of exact entries of one population whose intervals are
    disjoint."""

    exact: tuple[SignedEntry, ...]
    more: tuple[SignedEntry, ...]
    less: tuple[SignedEntry, ...]
    conflicts: tuple[tuple[SignedEntry, SignedEntry], ...]

    @property
    def outcome(self) -> str:
        """exact | related | conflicting | none. If entries conflict, none of them is chosen."""
        if self.exact:
            return "conflicting" if self.conflicts else "exact"
        return "related" if self.more or self.less else "none"


def match_entries(question: RepositoryQuestion, entries: Sequence[SignedEntry]) -> MatchingEntries:
    """Return the entries that answer a question: exact, more specific and less specific ones, each in the order of
    KL."""
    of_contract = [each for each in entries if _is_of_population(each.entry, question)]
    own = [(each, _covers_question(each.entry, question), _is_covered_by(each.entry, question)) for each in of_contract]
    exact = _sorted_by_kl(each for each, above, below in own if above and below)
    more = _sorted_by_kl(each for each, above, below in own if above and not below)
    less = _sorted_by_kl(each for each, above, below in own if below and not above)
    return MatchingEntries(exact, more, less, tuple(conflicting_pairs(exact)))


def conflicting_pairs(entries: Sequence[SignedEntry]) -> Iterator[tuple[SignedEntry, SignedEntry]]:
    """Yield the pairs of entries on the same attributes of the same population with contradictory figures."""
    for first, second in combinations(entries, 2):
        one, other = first.entry, second.entry
        if _entry_key(one) == _entry_key(other) and (
            _disjoint(one.kl, other.kl) or _disjoint(one.collision, other.collision)
        ):
            yield first, second


def _sorted_by_kl(found: Iterator[SignedEntry]) -> tuple[SignedEntry, ...]:
    return tuple(sorted(found, key=lambda each: (each.entry.kl.value, each.digest)))


def _is_of_population(entry: KlEntry, question: RepositoryQuestion) -> bool:
    of_population = question.population in (None, entry.population.id)
    return entry.vocabulary.contract == question.contract and of_population


def _sizes(entry: KlEntry) -> dict[str, int]:
    return {each.name: each.values for each in entry.vocabulary.attributes}


def _restrictions(entry: KlEntry) -> dict[str, tuple[str, str]]:
    return {each.name: (each.level, each.value) for each in entry.population.restrictions}


def _covers_question(entry: KlEntry, question: RepositoryQuestion) -> bool:
    """Return True if the entry has all attributes of the question, none at a coarser level, and all its
    restrictions."""
    sizes = _sizes(entry)
    every = all(sizes.get(name, 0) >= values for name, values in question.attributes.items())
    return every and question.restrictions.items() <= _restrictions(entry).items()


def _is_covered_by(entry: KlEntry, question: RepositoryQuestion) -> bool:
    """Return True if the question has all attributes of the entry, none at a coarser level, and all its
    restrictions."""
    asked = question.attributes
    every = all(asked.get(name, 0) >= values for name, values in _sizes(entry).items())
    return every and _restrictions(entry).items() <= question.restrictions.items()


def _entry_key(entry: KlEntry) -> tuple[object, ...]:
    population = entry.population
    return entry.vocabulary.contract, entry.vocabulary.attributes, population.id, population.restrictions


def _disjoint(one: FigureInterval, other: FigureInterval) -> bool:
    return _is_below(one.high, other.low) or _is_below(other.high, one.low)


def _is_below(high: float, low: float) -> bool:
    return low - high > NEAR * (1 + low)
