"""Which entries answer a question: exact ones, and those that say more or less than is asked.

Levels of an attribute nest, so of two levels of one contract the one of more values is the finer. An entry is more
specific than the question if it has all its attributes, none coarser, and all its restrictions of the population, and
something beside; less specific the other way round (Koot 2012, 7.1.3).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from crowdgate.repository.entry import NEAR, Ends, Entry
from crowdgate.repository.reading import Signed


@dataclass(frozen=True)
class Question:
    """What is asked: attributes of a contract with the numbers of values of their levels, and whose (None: anybody's).

    `restrictions` map an attribute to its level and the one value that is meant.
    """

    contract: str
    attributes: Mapping[str, int]
    population: str | None
    restrictions: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Found:
    """What answers. `conflicts` are pairs of exact entries of one population whose intervals are disjoint."""

    exact: tuple[Signed, ...]
    more: tuple[Signed, ...]
    less: tuple[Signed, ...]
    conflicts: tuple[tuple[Signed, Signed], ...]

    @property
    def outcome(self) -> str:
        """exact | related | conflicting | none. Where entries conflict, none of them is chosen."""
        if self.exact:
            return "conflicting" if self.conflicts else "exact"
        return "related" if self.more or self.less else "none"


def answers(question: Question, entries: Sequence[Signed]) -> Found:
    """The entries that answer, those of KL in order."""
    of_contract = [each for each in entries if _speaks(each.entry, question)]
    own = [(each, _above(each.entry, question), _below(each.entry, question)) for each in of_contract]
    exact = _ordered(each for each, above, below in own if above and below)
    more = _ordered(each for each, above, below in own if above and not below)
    less = _ordered(each for each, above, below in own if below and not above)
    return Found(exact, more, less, tuple(conflicts(exact)))


def conflicts(entries: Sequence[Signed]) -> Iterator[tuple[Signed, Signed]]:
    """Pairs that say of the same attributes of the same population what can't both hold."""
    for first, second in combinations(entries, 2):
        one, other = first.entry, second.entry
        if _subject(one) == _subject(other) and (
            _disjoint(one.kl, other.kl) or _disjoint(one.collision, other.collision)
        ):
            yield first, second


def _ordered(found: Iterator[Signed]) -> tuple[Signed, ...]:
    return tuple(sorted(found, key=lambda each: (each.entry.kl.value, each.digest)))


def _speaks(entry: Entry, question: Question) -> bool:
    of_population = question.population in (None, entry.population.id)
    return entry.vocabulary.contract == question.contract and of_population


def _sizes(entry: Entry) -> dict[str, int]:
    return {each.name: each.values for each in entry.vocabulary.attributes}


def _restrictions(entry: Entry) -> dict[str, tuple[str, str]]:
    return {each.name: (each.level, each.value) for each in entry.population.restrictions}


def _above(entry: Entry, question: Question) -> bool:
    """Whether the entry says at least all that is asked."""
    sizes = _sizes(entry)
    every = all(sizes.get(name, 0) >= values for name, values in question.attributes.items())
    return every and question.restrictions.items() <= _restrictions(entry).items()


def _below(entry: Entry, question: Question) -> bool:
    """Whether all that the entry says is asked."""
    asked = question.attributes
    every = all(asked.get(name, 0) >= values for name, values in _sizes(entry).items())
    return every and _restrictions(entry).items() <= question.restrictions.items()


def _subject(entry: Entry) -> tuple[object, ...]:
    population = entry.population
    return entry.vocabulary.contract, entry.vocabulary.attributes, population.id, population.restrictions


def _disjoint(one: Ends, other: Ends) -> bool:
    return _apart(one.high, other.low) or _apart(other.high, one.low)


def _apart(high: float, low: float) -> bool:
    return low - high > NEAR * (1 + low)
