"""Levels of a contract's columns: every group of every level, before anything is released or charged."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.contracts.reading import read_contract
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


def show_contract(path: Path) -> tuple[Contract, list[ReleasableColumn]]:
    """Return a contract and the columns that policies may publish. Raises ConfigurationError; reads no data."""
    contract = read_contract(path, KNOWN.servers)
    return contract, [_column(each) for each in contract.attributes if each.releasable]


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
    return ReleasableColumn(attribute.name, attribute.role, attribute.invalid, tuple(_levels(attribute)))


def _levels(attribute: Attribute) -> Iterator[LevelGroups]:
    domain, hierarchy = attribute.domain, attribute.hierarchy
    assert domain is not None, "a column that can be published has a domain"
    assert hierarchy is not None, "a domain has levels"
    for level in hierarchy.levels:
        yield LevelGroups(level.name, tuple(value_groups(domain, level)))


def lines(column: ReleasableColumn) -> Iterator[str]:
    """Yield the description of a column: the values of its domain, and the members of every group of every further
    level.
    """
    outside = "leaves its row out" if column.invalid == "drop" else "counts as (invalid)"
    yield f"{column.name} ({column.role}): a cell outside its domain {outside}"
    *further, whole = column.levels
    more = f" and {INVALID_LABEL}" if column.invalid == "level" else ""
    for level in further:
        if level.name == EXACT:
            yield f"  {EXACT}: {_counted(len(level.groups), 'value')}{more}: {_group_members(whole.groups[0])}"
            continue
        yield f"  {level.name}: {_counted(len(level.groups), 'group')}{more}"
        yield from (f"    {_group(each)}" for each in level.groups)


def _group(group: LevelValue) -> str:
    held = "" if group.members == (group.label,) else f": {_group_members(group)}"
    return f"{group.label}: {_counted(group.values, 'value')}{held}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _group_members(group: LevelValue) -> str:
    return ", ".join(group.members)
