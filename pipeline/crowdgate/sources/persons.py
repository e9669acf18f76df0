"""Tables of persons: one row of each person, made of all of the person's rows.

A person's row depends on the rows of that person alone, so adding or removing a person, with any number of rows, adds
or removes one row: each table changes in one cell, by 1. No bound on rows is needed for that. So nothing is truncated
before the rows are summarised; a random choice of m rows would make `any` too rare, `all` too frequent and counts too
small.
"""

import numpy as np

from crowdgate.arrays import AnyIntegers, Bools, Integers
from crowdgate.contracts.contract import Attribute, Contract, PersonRule, PersonValue
from crowdgate.histogram import Histogram, View, collapse
from crowdgate.keys import Packing
from crowdgate.sources.people import RowsByPerson


def row_view(contract: Contract, view: View) -> View:
    """Return the columns of the source table, at their exact values, that the attributes of a view are made of."""
    read = (contract.columns[name] for name in contract.columns_of(view.names))
    return View({each.name: each.hierarchy.finest for each in read if each.hierarchy is not None})


def person_histogram(people: RowsByPerson, contract: Contract, view: View) -> Histogram:
    """Return the histogram of a view over the one row of each person."""
    _, codes, counts = person_entries(people, contract, view)
    return collapse(view.names, view.sizes, codes, counts)


def person_entries(
    people: RowsByPerson, contract: Contract, view: View
) -> tuple[AnyIntegers, list[AnyIntegers], Integers]:
    """Return the one row of each person as entries of a view: the people, their codes (one array per attribute) and a
    number of rows, 1.

    `people` hold the rows that cleaning retains, in the columns of `row_view`. A person without a valid value is left
    out where the contract drops invalid cells.
    """
    columns = dict(zip(people.view.names, Packing.of(people.view.sizes).unpack(people.words), strict=True))
    stays, codes = people.rows > 0, []
    for name, level in view.levels.items():
        attribute = contract.by_name[name]
        made = attribute.of_person
        assert made is not None, "every attribute with levels is one of persons"
        found, valid = _values(people, columns[made.column.name], made)
        if attribute.invalid == "drop":
            stays &= valid
        codes.append(level.codes[np.where(valid, found, _invalid(attribute))])
    of = np.flatnonzero(stays)
    return of, [each[of] for each in codes], np.ones(len(of), dtype=np.int64)


def _invalid(attribute: Attribute) -> int:
    """Return the code of an invalid value; 0 where the person is left out."""
    return attribute.domain.size if attribute.invalid == "level" and attribute.domain is not None else 0


def _values(people: RowsByPerson, codes: AnyIntegers, made: PersonValue) -> tuple[Integers, Bools]:
    """Return the code of each person's value, and True for each person that has a valid one. `codes` are those of the
    column, by entry; the one after its domain is an invalid cell."""
    persons = len(people.ids)
    if made.keeps_domain:
        return _own_value(people.of, codes, made, persons)
    hit = _matches(made)[codes]
    if made.rule is PersonRule.COUNT:
        rows = np.bincount(people.of, people.counts * hit, persons).astype(np.int64)
        return np.minimum(rows, made.most or 1), np.ones(persons, dtype=np.bool_)
    found = np.full(persons, made.rule is PersonRule.ALL, dtype=np.int64)
    decides = hit if made.rule is PersonRule.ANY else ~hit
    found[people.of[decides]] = made.rule is PersonRule.ANY
    return found, np.ones(persons, dtype=np.bool_)


def _matches(made: PersonValue) -> Bools:
    """Return a mark for each code of the column, and for its invalid cells, which have none of the values."""
    size = 0 if made.column.domain is None else made.column.domain.size
    own = np.ones(size, dtype=np.bool_) if made.matches is None else made.matches
    return np.append(own, False)


def _own_value(of: AnyIntegers, codes: AnyIntegers, made: PersonValue, persons: int) -> tuple[Integers, Bools]:
    """Return the least, the greatest or the one code of each person's valid cells, and True where there is one."""
    size = 0 if made.column.domain is None else made.column.domain.size
    valid = codes < size
    least = np.full(persons, size, dtype=np.int64)
    greatest = np.full(persons, -1, dtype=np.int64)
    np.minimum.at(least, of[valid], codes[valid])
    np.maximum.at(greatest, of[valid], codes[valid])
    known = greatest >= 0
    if made.rule is PersonRule.SAME:
        known = known & (least == greatest)
    return (greatest if made.rule is PersonRule.GREATEST else least), known
