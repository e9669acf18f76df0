"""Differences between two versions of a contract, each breaking or not, in words.

A change is breaking if a policy, a release's reader or the supplier of the table can rely on what it takes away or
alters. Another source, description or rule breaks nothing, nor does a new column or level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdgate.contracts.person_text import person_value_text
from crowdgate.number_text import exact_text

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Attribute, Contract, TableRule
    from crowdgate.domain import Domain

SHOWN = 5
"""The greatest number of names that a sentence lists."""


@dataclass(frozen=True)
class ContractChange:
    """One difference: the column that it is about (None: the table), a sentence, and True if it is breaking."""

    column: str | None
    words: str
    breaking: bool

    def __str__(self) -> str:
        return f"{'breaking' if self.breaking else 'not breaking'}: {self.column or 'table'}: {self.words}"

    def to_json(self) -> dict[str, Any]:
        """Return the change as an object of JSON."""
        return {"column": self.column, "change": self.words, "breaking": self.breaking}


def contract_changes(old: Contract, new: Contract) -> list[ContractChange]:
    """Return the differences between two versions of a contract, the breaking ones first."""
    found = [*_table_changes(old, new), *_columns(old, new), *_version(old, new)]
    return sorted(found, key=lambda each: not each.breaking)


def advice(old: Contract, new: Contract, found: Sequence[ContractChange]) -> str:
    """Return the first line: whether the change is breaking, and which version the new contract should have."""
    breaking = sum(each.breaking for each in found)
    if not found:
        return "no difference"
    if not breaking:
        return "not breaking: policies, readers and the table's supplier can go on"
    raised = _major(new.version) > _major(old.version)
    told = f"breaking: {breaking} of {len(found)} differences"
    return told if raised else f"{told}; write a new major version, after {old.version}"


def _major(version: str) -> int:
    first = version.partition(".")[0]
    return int(first) if first.isdecimal() else 0


def _table_changes(old: Contract, new: Contract) -> Iterator[ContractChange]:
    breaking = {
        "id": (old.id, new.id),
        "population": (old.population, new.population),
        "privacy unit": (_unit_text(old), _unit_text(new)),
        "statement that the table is public": (_text(old.public), _text(new.public)),
        "sample": (_sample_text(old), _sample_text(new)),
        "format of the table": (old.server.reader, new.server.reader),
    }
    for what, (was, now) in breaking.items():
        if was != now:
            yield ContractChange(None, f"another {what}: {was} before, {now} now", True)
    if old.rows_at_most != new.rows_at_most:
        was, now = _text(old.rows_at_most), _text(new.rows_at_most)
        yield ContractChange(None, f"another bound on rows: {was} before, {now} now", False)
    yield from _rules(old, new)
    harmless = {
        "columns and joins in the database": (old.database, new.database),
        "place of the table": (dict(old.server.settings), dict(new.server.settings)),
        "joint margins": (_joint(old), _joint(new)),
        "numbers that users need (analysis)": (old.analyses, new.analyses),
    }
    for what, (before, after) in harmless.items():
        if before != after:
            yield ContractChange(None, f"other {what}", False)


def _person_values(contract: Contract) -> dict[str, str]:
    """Return for each attribute of persons how its values are made of rows; empty where rows are counted."""
    made = {each.name: each.of_person for each in contract.attributes if each.of_person is not None}
    return {
        name: person_value_text(name, own.rule, own.column.name, own.labels, own.most) for name, own in made.items()
    }


def _person_changes(old: Contract, new: Contract) -> Iterator[ContractChange]:
    """Yield what changes in how values of persons are made, and in the columns that they are made of."""
    before, after = _person_values(old), _person_values(new)
    for name in before.keys() & after.keys():
        if before[name] != after[name]:
            yield ContractChange(name, f"another way to make a person's value: {after[name]}", True)
    if old.is_of_persons != new.is_of_persons:
        counted = "one row of each person" if new.is_of_persons else "rows"
        yield ContractChange(None, f"other units are counted: {counted} now", True)
    elif old.is_of_persons:
        yield from _shared_changes(old.columns, new.columns)


def _rules(old: Contract, new: Contract) -> Iterator[ContractChange]:
    """Yield each table rule and each expectation that is gone, new or has other limits, by its name."""
    before, after = _rule_texts(old), _rule_texts(new)
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            yield ContractChange(None, f"the rule {name!r} is gone", False)
        elif name not in before:
            yield ContractChange(None, f"a new rule {name!r}: {after[name]}", False)
        elif before[name] != after[name]:
            yield ContractChange(None, f"the rule {name!r}: {before[name]} before, {after[name]} now", False)


def _rule_texts(contract: Contract) -> dict[str, str]:
    """Return table rules and expectations by name, in words. The bound on rows is no such rule."""
    rules = {rule.name: _rule_text(rule) for rule in contract.table_rules if rule.name != "rowsAtMost"}
    told = {
        each.name: f"{each.type} with {', '.join(f'{key} {value}' for key, value in each.kwargs.items()) or 'no limit'}"
        for each in contract.expectations
    }
    return rules | told


def _rule_text(rule: TableRule) -> str:
    what = rule.column.replace("_", " ")
    if rule.low is not None and rule.low == rule.high:
        return f"{what} {rule.low:g}"
    limits = [
        f"at least {rule.low:g}" if rule.low is not None else "",
        f"at most {rule.high:g}" if rule.high is not None else "",
    ]
    return f"{what} {' and '.join(filter(None, limits))}"


def _unit_text(contract: Contract) -> str:
    unit = contract.unit
    if unit.person is None:
        return "a row"
    return f"a person by the column {unit.person}, with at most {unit.rows} row{'' if unit.rows == 1 else 's'}"


def _sample_text(contract: Contract) -> str:
    sample = contract.sample
    return "none" if sample is None else f"{sample.name}, drawn with probability {exact_text(sample.beta)}"


def _version(old: Contract, new: Contract) -> Iterator[ContractChange]:
    if old.version != new.version:
        yield ContractChange(None, f"version {old.version} before, {new.version} now", False)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _joint(contract: Contract) -> list[Any]:
    return [
        ({name: level.labels for name, level in each.levels.items()}, each.counts.counts.tolist())
        for each in contract.joint
    ]


def _columns(old: Contract, new: Contract) -> Iterator[ContractChange]:
    yield from _person_changes(old, new)
    yield from _shared_changes(old.by_name, new.by_name)


def _shared_changes(old: Mapping[str, Attribute], new: Mapping[str, Attribute]) -> Iterator[ContractChange]:
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        if now is None:
            yield ContractChange(name, "the column is gone", True)
        elif was is None:
            yield ContractChange(name, "a new column", False)
        else:
            yield from _column_changes(was, now)


def _column_changes(was: Attribute, now: Attribute) -> Iterator[ContractChange]:
    name = was.name
    if was.role is not now.role:
        yield ContractChange(name, f"another privacy role: {was.role} before, {now.role} now", True)
    for what, before, after in (
        ("what attackers know", was.is_known, now.is_known),
        ("what is secret", was.is_secret, now.is_secret),
    ):
        if before != after:
            yield ContractChange(name, f"another statement about {what}", True)
    if was.description != now.description:
        yield ContractChange(name, "another description", False)
    if was.margins != now.margins:
        yield ContractChange(name, "other public margins", False)
    if was.domain is None or now.domain is None:
        if (was.domain is None) != (now.domain is None):
            words = (
                "it can be published now" if was.domain is None else "it can't be published any more: it has no domain"
            )
            yield ContractChange(name, words, now.domain is None)
        return
    yield from _domain_changes(name, was.domain, now.domain)
    if _form(was) != _form(now):
        yield ContractChange(
            name, "cells are read in another form: decimal mark, form of days or firstCharacters", True
        )
    if was.invalid != now.invalid:
        yield ContractChange(name, f"another fate of invalid cells: {was.invalid} before, {now.invalid} now", True)
    if not _same(was.accepted, now.accepted):
        yield ContractChange(name, "row rules accept other values", True)
    yield from _level_changes(was, now)


def _form(attribute: Attribute) -> str | int | None:
    """Return the part of a column's form that its domain reads; None for a value that is made of a person's rows."""
    domain, form = attribute.domain, attribute.form
    if attribute.of_person is not None:
        return None
    if domain is not None and domain.grid is not None:
        return form.decimal_mark
    return form.day if domain is not None and domain.first_day is not None else form.first


def _same(was: Any, now: Any) -> bool:
    return (was is None and now is None) or (was is not None and now is not None and np.array_equal(was, now))


def _domain_changes(name: str, was: Domain, now: Domain) -> Iterator[ContractChange]:
    gone = [label for label in was.labels if label not in set(now.labels)]
    come = [label for label in now.labels if label not in set(was.labels)]
    if gone:
        yield ContractChange(name, f"values are gone: {_listed(gone)}", True)
    if come:
        yield ContractChange(name, f"new values: {_listed(come)}", False)
    shared = set(was.labels) & set(now.labels)
    if [each for each in was.labels if each in shared] != [each for each in now.labels if each in shared]:
        yield ContractChange(name, "another order of values", True)
    if (was.grid is None) != (now.grid is None) or (was.grid is not None and not gone and _reads(was) != _reads(now)):
        yield ContractChange(name, "numbers are read in another way: step, precision, top or bottom", True)
    if _written(was, shared) != _written(now, shared):
        yield ContractChange(name, "other texts in the table have these labels", True)
    if set(was.missing) != set(now.missing):
        yield ContractChange(name, "other texts mean a missing value", True)
    if was.source != now.source:
        yield ContractChange(name, "another source of the domain", False)


def _reads(domain: Domain) -> tuple[Any, ...]:
    grid = domain.grid
    return () if grid is None else (grid.step, grid.precision, grid.whole, grid.top, grid.bottom)


def _written(domain: Domain, shared: set[str]) -> dict[str, str]:
    texts = zip(domain.labels, domain.written or domain.labels, strict=True)
    return {label: text for label, text in texts if label in shared}


def _level_changes(was: Attribute, now: Attribute) -> Iterator[ContractChange]:
    before, after = _groups(was), _groups(now)
    for level in dict.fromkeys([*before, *after]):
        if level not in after:
            yield ContractChange(was.name, f"the level {level!r} is gone", True)
        elif level not in before:
            yield ContractChange(was.name, f"a new level {level!r}", False)
        else:
            moved = [
                each for each in before[level] if after[level].get(each, before[level][each]) != before[level][each]
            ]
            if moved:
                words = f"the level {level!r} has other groups for {_listed(moved)}"
                yield ContractChange(was.name, words, True)


def _groups(attribute: Attribute) -> dict[str, dict[str, str]]:
    """Return by level the group of each value of the domain."""
    domain, tree = attribute.domain, attribute.hierarchy
    if domain is None or tree is None:
        return {}
    found: dict[str, dict[str, str]] = {}
    for name in tree.names:
        level = tree.level(name)
        codes = level.of_values[: len(domain)].tolist()
        found[name] = {label: level.labels[code] for label, code in zip(domain.labels, codes, strict=True)}
    return found


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} others" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more
