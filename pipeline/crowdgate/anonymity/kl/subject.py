"""Subject of an entry: attributes of a contract at levels, of the people with given values of other attributes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crowdgate.anonymity.kl.entry import AttributeFields, Restriction, Vocabulary
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError, Problem, expected_names, nearest
from crowdgate.hierarchy import EXACT, Level
from crowdgate.histogram import View
from crowdgate.limits import MOST_BINS
from crowdgate.planning.bundle import KNOWN


@dataclass(frozen=True)
class ValueRestriction:
    """Restriction to people whose attribute has this value of this level."""

    level: Level
    code: int

    @property
    def value(self) -> str:
        """Label of the required value at its level."""
        return self.level.labels[self.code]


@dataclass(frozen=True, eq=False)
class EntrySubject:
    """Subject of an entry: attributes of a contract at levels, in the order of their names (`view`), and restrictions
    of the population to people with given values of other attributes (`where`)."""

    contract: Contract
    view: View
    where: dict[str, ValueRestriction]

    @property
    def counted(self) -> View:
        """View of all attributes that are read: those of the entry, then the restricted ones."""
        return View({**self.view.levels, **{name: only.level for name, only in self.where.items()}})

    def vocabulary(self) -> Vocabulary:
        """Return the subject's attributes and levels as fields of an entry."""
        said = (
            AttributeFields(name=name, level=level.name, values=len(level)) for name, level in self.view.levels.items()
        )
        return Vocabulary(contract=self.contract.id, version=self.contract.version, attributes=tuple(said))

    def restrictions(self) -> tuple[Restriction, ...]:
        """Return the subject's restrictions to given values as fields of an entry."""
        return tuple(
            Restriction(name=name, level=only.level.name, value=only.value) for name, only in self.where.items()
        )


def read_entry_subject(path: Path, attributes: Sequence[str], where: Sequence[str]) -> EntrySubject:
    """Return the subject that `ATTRIBUTE[=LEVEL]` and `ATTRIBUTE=VALUE` select in the contract in a file.

    Raises ConfigurationError that lists every attribute, level and value that the contract does not have.
    """
    contract = read_contract(path, KNOWN.servers)
    problems: list[Problem] = []
    levels = dict(_levels(contract, attributes, problems))
    only = dict(_value_restrictions(contract, where, problems))
    both = sorted(levels.keys() & only.keys())
    if both:
        problems.append(_problem("--where", f"{both[0]!r} is in --of as well", "an attribute that is not in --of"))
    if not levels and not problems:
        problems.append(_problem("--of", "no attribute", "ATTRIBUTE or ATTRIBUTE=LEVEL, with commas between"))
    found = EntrySubject(contract, View(dict(sorted(levels.items()))), dict(sorted(only.items())))
    if not problems and found.view.cells > MOST_BINS:
        problems.append(_problem("--of", "more values together than an entry can have", f"at most {MOST_BINS}"))
    if found.view.levels and not problems and found.view.cells == 1:
        told = f"one value in all ({levels_option(found.view)}), of which everything is known: KL is 0"
        problems.append(_problem("--of", told, "an attribute at a level of two values at least"))
    if problems:
        raise ConfigurationError(problems)
    return found


def levels_option(view: View) -> str:
    """Return the attributes of a view with their levels as the text of the option `--of`."""
    return ",".join(f"{name}={level.name}" for name, level in view.levels.items())


def split_options(words: Sequence[str]) -> list[str]:
    """Return the single parts of options that may be repeated, each of which may list several, separated by commas."""
    return [part.strip() for word in words for part in word.split(",") if part.strip()]


def _levels(contract: Contract, asked: Sequence[str], problems: list[Problem]) -> Iterator[tuple[str, Level]]:
    seen = set[str]()
    for word in split_options(asked):
        name, _, wanted = word.partition("=")
        attribute = _attribute(contract, name, "--of", problems)
        if name in seen:
            problems.append(_problem("--of", f"{name!r} is named twice", "each attribute once"))
        seen.add(name)
        if attribute is None or attribute.hierarchy is None:
            continue
        level, names = wanted or EXACT, attribute.hierarchy.names
        if level not in names:
            found = f"{name!r} has no level {level!r}"
            problems.append(_problem("--of", found, f"one of {', '.join(names)}", nearest(level, names)))
        else:
            yield name, attribute.hierarchy.level(level)


def _value_restrictions(
    contract: Contract, asked: Sequence[str], problems: list[Problem]
) -> Iterator[tuple[str, ValueRestriction]]:
    seen = set[str]()
    for word in asked:
        name, equals, value = word.partition("=")
        if not equals or name in seen:
            problems.append(_problem("--where", f"{word!r}", "ATTRIBUTE=VALUE, each attribute once"))
            continue
        seen.add(name)
        attribute = _attribute(contract, name, "--where", problems)
        levels = attribute.hierarchy.levels if attribute is not None and attribute.hierarchy is not None else ()
        found = next((level for level in levels if value in level.labels), None)
        if found is not None:
            yield name, ValueRestriction(found, found.labels.index(value))
        elif levels:
            known = [label for level in levels for label in level.labels]
            told = f"{name!r} has no value {value!r} at any level"
            problems.append(
                _problem("--where", told, "a value as `crowdgate contract show` lists it", nearest(value, known))
            )


def _attribute(contract: Contract, name: str, option: str, problems: list[Problem]) -> Attribute | None:
    found = contract.by_name.get(name)
    if found is not None and found.releasable:
        return found
    known = [each.name for each in contract.attributes if each.releasable]
    why = (
        "has no public domain, or is a direct identifier"
        if found is not None
        else f"is not an attribute of {contract.id}"
    )
    expected = expected_names(known, name, "an attribute", f"contract {contract.id}")
    problems.append(_problem(option, f"{name!r} {why}", expected, nearest(name, known)))
    return None


def _problem(option: str, found: str, expected: str, instead: str | None = None) -> Problem:
    return Problem("command line", None, option, found, expected, instead)
