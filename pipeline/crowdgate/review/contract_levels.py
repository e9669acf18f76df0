"""Levels of a contract's columns: every group of every level, before anything is released or charged."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError, Problem, expected_names, nearest
from crowdgate.hierarchy import EXACT, INVALID_LABEL, LevelValue, value_groups
from crowdgate.planning.bundle import KNOWN


@dataclass(frozen=True)
class LevelGroups:
    """A level of a column, with its groups of values in the level's order."""

    name: str
    groups: tuple[LevelValue, ...]


@dataclass(frozen=True)
class ReleasableColumn:
    """A column of a contract that can be published, with its role and levels. `invalid` is the treatment of a cell
    outside the domain: `drop` its row, or count it as a value of the `level`."""

    name: str
    role: str
    invalid: str
    levels: tuple[LevelGroups, ...]
    made: str = ""
    """In a table of persons, a sentence on how a person's value is made of rows."""


def show_contract(path: Path) -> tuple[Contract, list[ReleasableColumn]]:
    """Return a contract and the columns that policies may publish. Raises ConfigurationError; reads no data."""
    contract = read_contract(path, KNOWN.servers)
    return contract, [_column(each) for each in contract.attributes if each.releasable]


def chosen_column(columns: list[ReleasableColumn], name: str) -> ReleasableColumn:
    """Return the column of this name. Raises ConfigurationError if there is none."""
    names = [each.name for each in columns]
    if name not in names:
        expected = expected_names(names, name, "a column", "`contract show` without --column")
        raise ConfigurationError(Problem("command line", None, "--column", repr(name), expected, nearest(name, names)))
    return columns[names.index(name)]


def contract_json(contract: Contract, columns: list[ReleasableColumn]) -> dict[str, Any]:
    """Return the object that `--json` prints: the contract with its columns."""
    shown = [
        {"name": each.name, "role": each.role, "invalid": each.invalid, "levels": list(map(_level_json, each.levels))}
        for each in columns
    ]
    return {"contract": contract.id, "version": contract.version, "population": contract.population, "columns": shown}


def _level_json(level: LevelGroups) -> dict[str, Any]:
    found = [{"label": each.label, "values": each.values, "members": list(each.members)} for each in level.groups]
    return {"name": level.name, "groups": found}


def _column(attribute: Attribute) -> ReleasableColumn:
    made = "" if attribute.of_person is None else attribute.description
    return ReleasableColumn(attribute.name, attribute.role, attribute.invalid, tuple(_levels(attribute)), made)


def _levels(attribute: Attribute) -> Iterator[LevelGroups]:
    domain, hierarchy = attribute.domain, attribute.hierarchy
    assert domain is not None, "a column that can be published has a domain"
    assert hierarchy is not None, "a domain has levels"
    for level in hierarchy.levels:
        yield LevelGroups(level.name, tuple(value_groups(domain, level)))


SHOWN_GROUPS, SHOWN_MEMBERS, SCREEN = 12, 8, 24
"""The greatest numbers of groups of a level, of values of a group, and of lines of a column, unless all are wanted."""


def lines(column: ReleasableColumn, *, everything: bool) -> Iterator[str]:
    """Yield the description of a column: the values of its domain, and the members of every group of every further
    level. Unless `everything` is wanted, it fits a screen, and tells how much is left out.
    """
    outside = "leaves its row out" if column.invalid == "drop" else "counts as (invalid)"
    yield f"{column.name} ({column.role}): {column.made or f'a cell outside its domain {outside}'}"
    *further, whole = column.levels
    more = f" and {INVALID_LABEL}" if column.invalid == "level" else ""
    shown = len(whole.groups[0].members) if everything else SHOWN_MEMBERS
    groups = SHOWN_GROUPS if len(further) <= 2 else max(2, (SCREEN - len(further)) // len(further) - 1)
    for level in further:
        if level.name == EXACT:
            members = _group_members(whole.groups[0], shown)
            yield f"  {EXACT}: {_counted(len(level.groups), 'value')}{more}: {members}"
            continue
        yield f"  {level.name}: {_counted(len(level.groups), 'group')}{more}"
        yield from _groups(level, shown, len(level.groups) if everything else groups)


def _groups(level: LevelGroups, members: int, most: int) -> Iterator[str]:
    left = len(level.groups) - most
    for each in level.groups if left <= 1 else level.groups[:most]:
        yield f"    {_group(each, members)}"
    if left > 1:
        yield f"    and {left} more groups (--all shows them)"


def _group(group: LevelValue, members: int) -> str:
    held = "" if group.members == (group.label,) else f": {_group_members(group, members)}"
    return f"{group.label}: {_counted(group.values, 'value')}{held}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _group_members(group: LevelValue, most: int) -> str:
    left = len(group.members) - most
    return ", ".join(group.members if left <= 1 else (*group.members[:most], f"and {left} more"))
