"""First levels of a new policy: columns of a contract at coarse levels, for the owner to change."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from math import prod

from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError, Problem, nearest
from crowdgate.hierarchy import ANY, Level

SECRETS = 2
"""The largest number of secret columns in a first guess."""


@dataclass(frozen=True)
class TemplateScope:
    """How much of a contract a template publishes.

    `least` is the least number of columns, `columns` and `values` the greatest numbers of columns and of values of
    each. Levels are the coarsest if `coarse`, else the finest that fit. For rows of real people there are at most
    `classes` classes, one per `people` people.
    """

    least: int
    columns: int
    values: int
    coarse: bool
    classes: int | None = None
    people: int = 1


def choose_levels(
    contract: Contract,
    reach: TemplateScope,
    people: int,
    names: list[str] | None,
    counted: Collection[str] | None = None,
) -> dict[str, str]:
    """Return the name of a level for each published column: the columns `names`, or (None) those of the contract's
    analyses that fit the template's scope, or of all columns if it lists none (`_by_role`). `people` bounds the
    population. With `counted` only these are guessed, as forecasts know nothing of others. Levels have the labels that
    analyses name. Raises ConfigurationError."""
    levels = {each.name: _with_labels(each.hierarchy.levels, contract, each.name)
              for each in contract.attributes if each.releasable and each.hierarchy is not None}  # fmt: skip
    if names is None:
        needed = [name for each in contract.analyses for name in each.columns]
        possible = [name for name in needed or _by_role(contract) if counted is None or name in counted]
        known = {name: _level(levels[name], reach) for name in possible if name in levels}
        fitting = dict(_fitting(known, reach, _most_classes(reach, people)))
        found = {name: fitting[name] for name in levels if name in fitting}
    else:
        _refuse_others(names, list(levels), contract.id)
        found = _coarsen_to_fit({name: levels[name] for name in names}, reach, _most_classes(reach, people))
    if len(found) < reach.least:
        asked, more = f"{len(found)} columns that a release could have", f"{reach.least} or more"
        if names is None:
            more += f", each with a level of at most {reach.values} values in the contract; or --attributes with others"
        raise ConfigurationError(Problem("command line", None, "--attributes", asked, more))
    return found


def _by_role(contract: Contract) -> list[str]:
    """Return the columns in the order in which they are chosen: a column that people know of each other and a secret
    one, the other known ones, a second secret one, and the others."""
    known = [each.name for each in contract.attributes if each.is_known]
    secret = [each.name for each in contract.attributes if each.is_secret and not each.is_known]
    others = [each.name for each in contract.attributes if not each.is_known and not each.is_secret]
    return [*known[:1], *secret[:1], *known[1:], *secret[1:SECRETS], *others]


def _with_labels(levels: tuple[Level, ...], contract: Contract, name: str) -> tuple[Level, ...]:
    """Return the levels of a column that have all the labels that analyses name; all levels if none has all."""
    labels = {label for each in contract.analyses for label in each.labels.get(name, ())}
    return tuple(level for level in levels if labels <= {*level.labels}) or levels


def _level(levels: tuple[Level, ...], reach: TemplateScope) -> Level:
    shown = [level for level in levels if level.name != ANY]
    if reach.coarse:
        return shown[-1]
    return next((level for level in shown if len(level) <= reach.values), shown[-1])


def _most_classes(reach: TemplateScope, people: int) -> int | None:
    """Return the greatest number of classes (combinations of values) that a template allows for a population of
    `people`; None without a limit."""
    return None if reach.classes is None else max(2 * reach.values, min(reach.classes, people // reach.people))


def _coarsen_to_fit(levels: dict[str, tuple[Level, ...]], reach: TemplateScope, room: int | None) -> dict[str, str]:
    """Return the name of a level for each of these columns, with at most `room` classes (combinations of values) in
    all. The column with most groups is coarsened repeatedly.

    Raises ConfigurationError if the coarsest levels have more classes.
    """
    found = {name: _level(each, reach) for name, each in levels.items()}
    while room is not None and prod(len(level) for level in found.values()) > room:
        coarser = {name: level for name in found if (level := _next(levels[name], found[name])) is not None}
        if not coarser:
            classes = prod(len(level) for level in found.values())
            said = f"{classes} classes of {', '.join(found)} at their coarsest levels"
            expected = f"fewer or coarser columns: at most {room} classes for so many people"
            raise ConfigurationError(Problem("command line", None, "--attributes", said, expected))
        largest = max(coarser, key=lambda name: len(found[name]))
        found[largest] = coarser[largest]
    return {name: level.name for name, level in found.items()}


def _next(levels: tuple[Level, ...], level: Level) -> Level | None:
    """Return the next coarser level with fewer groups, except `any`; None if there is none."""
    coarser = [each for each in levels[levels.index(level) + 1 :] if each.name != ANY and len(each) < len(level)]
    return coarser[0] if coarser else None


def _fitting(known: dict[str, Level], reach: TemplateScope, room: int | None) -> Iterator[tuple[str, str]]:
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
