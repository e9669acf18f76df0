"""levels.csv: the coarser value of each value, for columns that are published at several levels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa

from crowdgate.arrays import Integers
from crowdgate.contracts.contract import Attribute
from crowdgate.errors import VerificationFailed
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.publish.dictionary import DICTIONARY, DictionaryEntry, read_lines

COARSER = "levels.csv"
COARSER_COLUMNS = ("column", "level", "label", "coarser_level", "coarser_label")
CoarserLine = tuple[str, str, str, str, str]


def coarser(levels: Sequence[tuple[Attribute, Level]]) -> Iterator[CoarserLine]:
    """Yield the lines of levels.csv: for each value of an attribute that tables use at several levels, its value at
    each coarser level.
    """
    for at, (attribute, finer) in enumerate(levels):
        for other, found in levels[at + 1 :]:
            if other.name == attribute.name:
                codes = coarser_codes(finer, found)
                for code, label in enumerate(finer.labels):
                    yield attribute.name, finer.name, label, found.name, found.labels[codes[code]]


@dataclass(frozen=True)
class ReleasedDomains:
    """The values of each released (column, level) as in dictionary.csv, and their coarser values as in levels.csv."""

    listed: Mapping[tuple[str, str], Sequence[str]]
    above: Mapping[tuple[str, str, str], Mapping[str, str]]

    def labels(self, column: str, level: str) -> Sequence[str]:
        """Return all values of a column at a level, in order. Raises KeyError for an unknown column or level."""
        return self.listed[column, level]

    def complete(self, table: pa.Table, axes: Mapping[str, str], further: Sequence[str]) -> bool:
        """Return whether the table has one row for each combination of values, in order. `axes` maps its columns to
        levels; `further` are the values of a last column, `probability` (empty: no such column).
        """
        columns = [*((name, self.labels(*axis)) for name, axis in zip(axes, axes.items(), strict=True))]
        columns += [("probability", further)] if further else []
        shape = [len(labels) for _, labels in columns]
        codes = np.indices(shape).reshape(len(shape), prod(shape))
        expected = [[labels[code] for code in own] for (_, labels), own in zip(columns, codes, strict=True)]
        held = [table[name].to_pylist() for name, _ in columns]
        return held == expected and table.num_rows == prod(shape)

    def refines(self, finer: Mapping[str, str], coarser: Mapping[str, str]) -> bool:
        """Return whether a table with the levels `finer` (by column) has the table with the levels `coarser` as a
        margin.
        """
        return all(
            name in finer and len(self.labels(name, finer[name])) >= len(self.labels(name, level))
            for name, level in coarser.items()
        )

    def cells(self, finer: Mapping[str, str], coarser: Mapping[str, str]) -> Integers:
        """Return, for each cell of the table with the levels `finer` in order, the index of its cell in the margin with
        the levels `coarser`.
        """
        shape = [len(self.labels(*axis)) for axis in finer.items()]
        codes = np.indices(shape).reshape(len(shape), prod(shape))
        out = np.zeros(prod(shape), dtype=np.int64)
        for name, level in coarser.items():
            out = (
                out * len(self.labels(name, level)) + self.codes(name, finer[name], level)[codes[[*finer].index(name)]]
            )
        return out

    def codes(self, name: str, finer: str, coarser: str) -> Integers:
        """Return, for each value of column `name` at level `finer` in order, the index of its value at level
        `coarser`.
        """
        labels = self.labels(name, finer)
        if finer == coarser:
            return np.arange(len(labels))
        above = self.above.get((name, finer, coarser))
        if above is None:  # levels of equally many values: either may be first
            above = {label: own for own, label in self.above[name, coarser, finer].items()}
        place = {label: code for code, label in enumerate(self.labels(name, coarser))}
        return np.array([place[above[label]] for label in labels], dtype=np.int64)


def levels_of(domains: ReleasedDomains) -> dict[tuple[str, str], Level]:
    """Return every published level by (column, level). Its codes are over the finest level of the column, which is
    listed first.
    """
    finest: dict[str, str] = {}
    found: dict[tuple[str, str], Level] = {}
    for (name, level), labels in domains.listed.items():
        first = finest.setdefault(name, level)
        found[name, level] = Level(level, tuple(labels), domains.codes(name, first, level).astype(np.int32))
    return found


def read_coarser(path: Path) -> list[CoarserLine]:
    """Return the lines of levels.csv. Raises VerificationFailed."""
    return [(line[0], line[1], line[2], line[3], line[4]) for line in read_lines(path, COARSER_COLUMNS)]


def domains_of(columns: Sequence[DictionaryEntry], coarser: Sequence[CoarserLine]) -> ReleasedDomains:
    """Return the released domains from the entries of dictionary.csv and the lines of levels.csv. Raises
    VerificationFailed if they do not agree.
    """
    listed: Mapping[tuple[str, str], Sequence[str]] = {(each.column, each.level): each.labels for each in columns}
    above: dict[tuple[str, str, str], dict[str, str]] = {}
    for column, finer, label, level, over in coarser:
        own = above.setdefault((column, finer, level), {})
        if label in own or (column, finer) not in listed or over not in listed.get((column, level), ()):
            raise VerificationFailed(f"{COARSER}: its levels differ from those of {DICTIONARY}")
        own[label] = over
    pairs = [(a[0], a[1], b[1]) for a, b in combinations(listed, 2) if a[0] == b[0]]
    whole = all(list(own) == list(listed[column, finer]) for (column, finer, _), own in above.items())
    if sorted(above) != sorted(pairs) or not whole or not _nested(listed, above):
        raise VerificationFailed(f"{COARSER}: its levels differ from those of {DICTIONARY}")
    return ReleasedDomains(listed, above)


def _nested(listed: Iterable[tuple[str, str]], above: Mapping[tuple[str, str, str], Mapping[str, str]]) -> bool:
    """Return whether every value has the same value at a coarser level directly and through each level between."""
    three = ((a[0], a[1], b[1], c[1]) for a, b, c in combinations(listed, 3) if a[0] == b[0] == c[0])
    return all(
        all(above[column, level, top][over] == above[column, finer, top][label] for label, over in own.items())
        for column, finer, level, top in three
        for own in (above[column, finer, level],)
    )
