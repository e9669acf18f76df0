"""Facts about a whole table, for table rules. They are confidential: they advise, and enter nothing public."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from crowdgate.arrays import AnyIntegers, Bools, Integers, marked_rows
from crowdgate.contracts.contract import Attribute, Contract, Fact, TableRule
from crowdgate.domain import Domain, cell_value
from crowdgate.hierarchy import INVALID_LABEL
from crowdgate.histogram import Column
from crowdgate.sources.encode import EncodedColumn, Reason, invalid_code

Columns = tuple[str, ...]
MOST_BINS = 1 << 20
"""The greatest number of keys that are counted one bin each; more are sorted."""


class TableFacts:
    """Accumulator of facts about a table while a part of it is read; the facts of parts add up.

    They describe the table in its files, before the bound on rows per person. `rows` counts every line or row, `ragged`
    those without the right number of cells (none of their cells is valid), `broken` those with an invalid cell, ragged
    ones included, and `dropped` those among them that cleaning removes. `invalid` counts the invalid cells of each
    column, `reasons` those of each column and reason; a ragged line has no cells.
    """

    def __init__(self) -> None:
        self.rows = self.ragged = self.broken = self.dropped = 0
        self.named = self.people = 0
        self.invalid: Counter[str] = Counter()
        self.reasons: Counter[tuple[str, Reason]] = Counter()
        self._held: dict[str, set[int]] = {}
        self._sums: dict[str, Fraction] = {}
        self._counts: Counter[str] = Counter()
        self._combinations: dict[Columns, Counter[int]] = {}

    def add_ragged(self, rows: int) -> None:
        """Add this number of lines with too few or too many cells."""
        self.rows += rows
        self.ragged += rows
        self.broken += rows
        self.dropped += rows

    def add_rows(self, rows: int, broken: Bools | None, dropped: Bools | None, counts: Integers | None = None) -> None:
        """Add this number of rows, with marks of those that hold an invalid cell and of those that cleaning drops
        (None: no row). Each stands for as many rows as `counts` says (None: one).
        """
        self.rows += rows if counts is None else int(counts.sum())
        self.broken += marked_rows(broken, counts)
        self.dropped += marked_rows(dropped, counts)

    def add_cells(
        self, attribute: Attribute, encoded: EncodedColumn, contract: Contract, counts: Integers | None = None
    ) -> None:
        """Add the encoded cells of one attribute in a batch, each as often as `counts` says (None: once)."""
        invalid = marked_rows(encoded.invalid, counts)
        self.invalid[attribute.name] += invalid
        self.reasons.update({(attribute.name, reason): count for reason, count in encoded.reasons.items()})
        self._held.setdefault(attribute.name, set()).update(_values(attribute, encoded))
        if any(rule.fact is Fact.MEAN and rule.attribute == attribute.name for rule in contract.table_rules):
            self._add_sum(attribute, encoded, invalid, counts)

    def add_combinations(
        self,
        columns: Mapping[str, Column],
        invalid: Mapping[str, Bools],
        contract: Contract,
        counts: Integers | None = None,
    ) -> None:
        """Add the counts of values, or pairs of values, of the columns that the contract's expectations name."""
        for names in dict.fromkeys(each.columns for each in contract.expectations):
            if all(name in columns for name in names):
                keys, size = _keys(names, columns, invalid, contract)
                held = self._combinations.setdefault(names, Counter())
                held.update(_counted(keys, size, counts))

    def weighted_cells(self, contract: Contract) -> dict[Columns, dict[str, Any]]:
        """Return the distinct values or pairs of values of each expectation's columns with their counts, as values of
        JSON. An invalid cell is None, as are the cells of a ragged line.
        """
        return {names: _weighted(names, held, self.ragged, contract) for names, held in self._combinations.items()}

    def add_people(self, named: int, people: int) -> None:
        """Set the number of rows with a person id, and the number of distinct ids, in the whole table; parts do not
        know the latter.
        """
        self.named, self.people = named, people

    def add(self, other: "TableFacts") -> None:
        """Add the facts of other rows."""
        for name in ("rows", "ragged", "broken", "dropped"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.invalid.update(other.invalid)  # `+` would forget columns without an invalid cell
        self.reasons.update(other.reasons)
        self._counts.update(other._counts)
        for name, held in other._held.items():
            self._held.setdefault(name, set()).update(held)
        for names, counts in other._combinations.items():
            self._combinations.setdefault(names, Counter()).update(counts)
        for name, total in other._sums.items():
            self._sums[name] = self._sums.get(name, Fraction(0)) + total

    def distinct(self, contract: Contract, columns: Sequence[str]) -> dict[str, list[str]]:
        """Return the labels that remain in each of the columns after cleaning, in the order of its domain."""
        read = {name: self._held.get(name, set()) for name in columns}
        return {name: _labels(contract.columns[name], held, self.invalid[name]) for name, held in read.items()}

    def values(self, contract: Contract) -> dict[str, float]:
        """Return the facts that the contract's table rules limit, by `TableRule.column`; unknown facts are absent."""
        known = ((str(rule.column), self._value(rule, contract)) for rule in contract.table_rules)
        return {column: value for column, value in known if value is not None}

    def _add_sum(self, attribute: Attribute, encoded: EncodedColumn, invalid: int, counts: Integers | None) -> None:
        domain = attribute.domain
        if domain is None or domain.grid is None:
            return
        codes = encoded.column.codes
        valid = (len(codes) if counts is None else int(counts.sum())) - invalid
        each = codes.astype(np.int64)
        total = int(each.sum() if counts is None else each @ counts) - invalid * invalid_code(attribute, domain)
        before = self._sums.get(attribute.name, Fraction(0))
        self._sums[attribute.name] = before + domain.grid.first * valid + domain.grid.unit * total
        self._counts[attribute.name] += valid

    def _value(self, rule: TableRule, contract: Contract) -> float | None:
        match rule.fact:
            case Fact.ROWS:
                return float(self.rows)
            case Fact.INVALID_SHARE:
                return self._invalid_share(rule.attribute)
            case Fact.DUPLICATE_SHARE:
                of_people = contract.unit.person is not None and rule.attribute in (None, contract.unit.person)
                return 1 - self.people / self.named if of_people and self.named else None
            case Fact.MEAN:
                count = self._counts[rule.attribute or ""]
                return float(self._sums[rule.attribute or ""] / count) if count else None

    def _invalid_share(self, attribute: str | None) -> float | None:
        if attribute is None:
            return self.broken / self.rows if self.rows else None
        if attribute not in self.invalid:
            return None
        return (self.invalid[attribute] + self.ragged) / self.rows


def _bases(names: Columns, contract: Contract) -> list[int]:
    """Return for each column the number of its domain's codes and one more, for an invalid cell."""
    domains = (contract.columns[name].domain for name in names)
    return [1 + (0 if domain is None else domain.size) for domain in domains]


def _keys(
    names: Columns, columns: Mapping[str, Column], invalid: Mapping[str, Bools], contract: Contract
) -> tuple[AnyIntegers, int]:
    """Return one number for each row's cells in the columns, and the number of such numbers. The last code of a column
    is an invalid cell.
    """
    keys: AnyIntegers | None = None
    size = 1
    for name, base in zip(names, _bases(names, contract), strict=True):
        codes: AnyIntegers = columns[name].codes
        codes = np.where(invalid[name], base - 1, codes) if name in invalid else codes
        keys = codes if keys is None else keys.astype(np.int64) * base + codes
        size *= base
    return (np.zeros(0, dtype=np.int64) if keys is None else keys), size


def _counted(keys: AnyIntegers, size: int, rows: Integers | None) -> dict[int, int]:
    if rows is not None:
        distinct, places = np.unique(keys, return_inverse=True)
        totals = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(totals, places, rows)
        return dict(zip(distinct.tolist(), totals.tolist(), strict=True))
    if size > MOST_BINS:
        found, counts = np.unique(keys, return_counts=True)
        return dict(zip(found.tolist(), counts.tolist(), strict=True))
    bins = np.bincount(keys, minlength=size)
    return {int(key): int(bins[key]) for key in np.flatnonzero(bins)}


def _weighted(names: Columns, held: Mapping[int, int], ragged: int, contract: Contract) -> dict[str, Any]:
    bases = _bases(names, contract)
    shown = [
        cache(partial(_cell, contract.columns[name].domain, base)) for name, base in zip(names, bases, strict=True)
    ]
    cells = [_cells(key, bases, shown) for key in sorted(held)]
    more = [[None] * len(names)] if ragged else []
    return {"cells": [*cells, *more], "counts": [*(held[key] for key in sorted(held)), *([ragged] if ragged else [])]}


def _cell(domain: Domain | None, base: int, code: int) -> Any:
    return None if domain is None or code == base - 1 else cell_value(domain, code)


def _cells(key: int, bases: Sequence[int], shown: Sequence[Callable[[int], Any]]) -> list[Any]:
    cells: list[Any] = []
    for base, value in zip(reversed(bases), reversed(shown), strict=True):
        key, code = divmod(key, base)
        cells.append(value(code))
    return cells[::-1]


def _values(attribute: Attribute, encoded: EncodedColumn) -> list[int]:
    """Return the indices, among the domain's labels, of the values that an attribute's valid cells may have. Several
    codes can have one value.
    """
    values = encoded.held if attribute.domain is None else attribute.domain.values[encoded.held]
    found: list[int] = values.tolist()
    return found


def _labels(attribute: Attribute, held: set[int], invalid: int) -> list[str]:
    labels = [] if attribute.domain is None else [attribute.domain.labels[at] for at in sorted(held)]
    return [*labels, INVALID_LABEL] if invalid and attribute.invalid == "level" else labels
