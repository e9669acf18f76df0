"""What a new policy publishes of a contract: first columns at coarse levels, for the owner to change."""

from collections.abc import Iterator
from dataclasses import dataclass

from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError, Problem, nearest
from crowdgate.hierarchy import ANY, Level


@dataclass(frozen=True)
class Reach:
    """How much a template takes of a contract: columns (at least `least`) and values of each, at the coarsest level if
    `coarse`, else at the finest that fits; and, of rows of real people, classes of all together: at most `classes`, one
    for so many `people`."""

    least: int
    columns: int
    values: int
    coarse: bool
    classes: int | None = None
    people: int = 1


def chosen(contract: Contract, reach: Reach, people: int, names: list[str] | None) -> dict[str, str]:
    """Levels by column: of the columns that are named, or of the first ones that fit. Raises ConfigurationError."""
    known = {each.name: _level(each.hierarchy.levels, reach)
             for each in contract.attributes if each.releasable and each.hierarchy is not None}  # fmt: skip
    if names is not None:
        _refuse_others(names, list(known), contract.id)
    found = {name: known[name].name for name in names} if names is not None else dict(_fitting(known, reach, people))
    if len(found) < reach.least:
        asked = f"{len(found)} columns that a release could have"
        raise ConfigurationError(Problem("command line", None, "--attributes", asked, f"{reach.least} or more"))
    return found


def _level(levels: tuple[Level, ...], reach: Reach) -> Level:
    shown = [level for level in levels if level.name != ANY]
    if reach.coarse:
        return shown[-1]
    return next((level for level in shown if len(level) <= reach.values), shown[-1])


def _fitting(known: dict[str, Level], reach: Reach, people: int) -> Iterator[tuple[str, str]]:
    room = None if reach.classes is None else max(2 * reach.values, min(reach.classes, people // reach.people))
    taken, classes = 0, 1
    for name, level in known.items():
        fits = len(level) <= reach.values and (room is None or classes * len(level) <= room)
        if fits and taken < reach.columns:
            taken, classes = taken + 1, classes * len(level)
            yield name, level.name


def _refuse_others(names: list[str], known: list[str], contract: str) -> None:
    wrong = [name for name in names if name not in known]
    if wrong or len(set(names)) != len(names):
        found = f"{', '.join(wrong)} can't be published" if wrong else "a column twice"
        meant = nearest(wrong[0], known) if wrong else None
        expected = f"columns of {contract}: {', '.join(known)}"
        raise ConfigurationError(Problem("command line", None, "--attributes", found, expected, meant))
