"""Subject of a prediction: a contract's attributes at their levels, the number of people, and group sizes."""

from pathlib import Path

from crowdgate.contracts.contract import Attribute, Contract, Role
from crowdgate.contracts.reading import read_contract
from crowdgate.domain import parse_number
from crowdgate.errors import ConfigurationError, Problem, expected_names, nearest
from crowdgate.hierarchy import EXACT, Level
from crowdgate.limits import MOST_PEOPLE
from crowdgate.planning.bundle import KNOWN
from crowdgate.policy.files import budget_of_contract, working_copy
from crowdgate.public_counts.figures import PriorSubject


def option_problem(where: str, found: str, expected: str, instead: str | None = None) -> Problem:
    """Return a problem of the command-line option `where`: the text found, the expected text, and a word to write
    instead."""
    return Problem("command line", None, where, found, expected, instead)


def subject_of(path: Path, of: str | None, population: str | None) -> PriorSubject:
    """Return the subject that a contract's file and the options `--of` and `--population` state: by default all
    quasi-identifiers, exact, and as many people as the budget of the contract's population states.

    Raises ConfigurationError that lists every problem.
    """
    contract = read_contract(path, KNOWN.servers)
    return PriorSubject(contract, _root(path), _population(contract, path, population), levels_of(contract, of))


def _root(path: Path) -> Path | None:
    try:
        return working_copy(path)
    except ConfigurationError:
        return None


def _population(contract: Contract, path: Path, stated: str | None) -> int:
    if stated is not None:
        return whole("--population", stated, MOST_PEOPLE)
    try:
        return budget_of_contract(path, contract)[0].spec.people
    except ConfigurationError as error:
        found = f"no budget of the population {contract.population} states how many people it has"
        raise ConfigurationError(
            [*error.problems, option_problem("--population", found, "the number of people, such as 300000")]
        ) from None


def whole(option: str, text: str, most: int) -> int:
    """Return the whole number from 1 to `most` that an option states. Raises ConfigurationError."""
    number = parse_number(text.strip())
    if number is None or number.denominator != 1 or not 1 <= number <= most:
        raise ConfigurationError(option_problem(option, f"{text.strip()!r}", f"a whole number from 1 to {most}"))
    return int(number)


def groups_of(people: str | None, population: int) -> tuple[int, ...]:
    """Return the group sizes, in people, that `--people` lists: by default one group, the whole population. Raises
    ConfigurationError."""
    if people is None:
        return (population,)
    return tuple(dict.fromkeys(whole("--people", each, population) for each in people.split(",")))


def levels_of(contract: Contract, of: str | None) -> dict[str, Level]:
    """Return the attributes at levels that `--of` lists (`age=10 years,sex`). Raises ConfigurationError for unknown
    ones."""
    names = [each.name for each in contract.attributes if each.role is Role.QUASI_IDENTIFIER and each.releasable]
    asked = [
        tuple(map(str.strip, each.partition("=")[::2])) for each in (",".join(names) if of is None else of).split(",")
    ]
    problems: list[Problem] = []
    levels = {name: _level(contract, name, level or EXACT, problems) for name, level in asked}
    if of is not None and len(levels) < len(asked):
        problems.append(option_problem("--of", "an attribute is listed twice", "each attribute once"))
    if problems:
        raise ConfigurationError(problems)
    return {name: level for name, level in levels.items() if level is not None}


def _level(contract: Contract, name: str, level: str, problems: list[Problem]) -> Level | None:
    known = {each.name: each for each in contract.attributes if each.releasable}
    if name not in known:
        found, expected = (
            f"{name!r} is not an attribute of contract {contract.id} with a domain",
            expected_names(list(known), name, "an attribute", f"contract {contract.id}"),
        )
        problems.append(option_problem("--of", found, expected, nearest(name, list(known))))
        return None
    names = level_names(known[name])
    if level not in names:
        expected = f"one of {', '.join(names)}"
        problems.append(option_problem("--of", f"{name!r} has no level {level!r}", expected, nearest(level, names)))
        return None
    hierarchy = known[name].hierarchy
    return None if hierarchy is None else hierarchy.level(level)


def level_names(attribute: Attribute) -> tuple[str, ...]:
    """Return the names of the levels that an attribute has, finest first."""
    return () if attribute.hierarchy is None else attribute.hierarchy.names
