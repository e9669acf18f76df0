"""Request for measuring a table: attributes and levels, number of attributes together, an attribute to group by, and
the sampling fraction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from crowdgate.accounting.numbers import probability
from crowdgate.contracts.contract import Attribute, Contract, Role
from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError, Problem, nearest
from crowdgate.hierarchy import ANY, Level
from crowdgate.limits import MOST_GROUPINGS
from crowdgate.number_text import exact_text
from crowdgate.planning.bundle import KNOWN
from crowdgate.risk.anonymity_sets import Levels, groupings

UP_TO = 3


@dataclass(frozen=True)
class AnonymityRequest:
    """Options of the command line. `of` are attributes (None: the quasi-identifiers), `by` is one; each may be
    ATTRIBUTE or ATTRIBUTE=LEVEL. `up_to` is the number of attributes that are known together (None: UP_TO, or all if
    there are fewer); `sample` is a sampling fraction (None: the table is no sample)."""

    contract: Path
    input: Path | None = None
    of: str | None = None
    up_to: int | None = None
    by: str | None = None
    sample: str | None = None
    release: Path | None = None
    register: Path | None = None
    wrong: str | None = None
    coverage: str | None = None
    ledger: str | None = None


@dataclass(frozen=True, eq=False)
class AttributeSelection:
    """Attributes of a contract's table to measure, with their levels, finest first; `by` with its one level."""

    contract: Contract
    levels: Levels
    up_to: int
    by: tuple[str, Level] | None
    fraction: Fraction | None

    @property
    def finest(self) -> dict[str, Level]:
        """Every selected attribute at its finest requested level."""
        return {name: each[0] for name, each in self.levels.items()}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns to read: the attributes, and the grouping attribute."""
        return tuple(dict.fromkeys([*self.levels, *([self.by[0]] if self.by else [])]))

    @property
    def several_rows(self) -> bool:
        """True if a person may have several rows, and so be in several sets."""
        return self.contract.unit.person is not None and self.contract.unit.rows > 1


@dataclass
class _OptionProblems:
    """Problems of command-line options, collected to be reported together."""

    found: list[Problem] = field(default_factory=list)

    def add(self, option: str, found: str, expected: str, instead: str | None = None) -> None:
        self.found.append(Problem("command line", None, option, found, expected, instead))


def select_attributes(asked: AnonymityRequest) -> AttributeSelection:
    """Return the attributes that a request selects in the contract's table. Raises ConfigurationError that lists every
    problem; reads no data."""
    contract, wrong = read_contract(asked.contract, KNOWN.servers), _OptionProblems()
    own = {each.name: each for each in contract.attributes if each.releasable}
    levels: dict[str, tuple[Level, ...]] = {}
    for name, level in _requested_levels(asked.of, contract):
        found = _levels(own, name, level, "--of", wrong)
        if name in levels:
            wrong.add("--of", f"{name!r} twice", "each attribute once")
        elif found:
            levels[name] = found
    by = _by_attribute(own, asked.by, wrong)
    if not levels and not wrong.found:
        wrong.add("--of", "no attribute", f"an attribute of {contract.id} with a domain", next(iter(own), None))
    fraction = _sampling_fraction(asked.sample, wrong)
    up_to = min(UP_TO, len(levels)) if asked.up_to is None else asked.up_to
    _check_up_to(levels, up_to, wrong)
    if wrong.found:
        raise ConfigurationError(wrong.found)
    return AttributeSelection(contract, levels, up_to, by, fraction)


def _requested_levels(of: str | None, contract: Contract) -> list[tuple[str, str | None]]:
    if of is None:
        own = contract.attributes
        return [(each.name, None) for each in own if each.releasable and each.role is Role.QUASI_IDENTIFIER]
    return [_split_option(part) for part in of.split(",")]


def _split_option(text: str) -> tuple[str, str | None]:
    name, equals, level = text.partition("=")
    return name.strip(), level.strip() if equals else None


def _levels(
    own: Mapping[str, Attribute], name: str, level: str | None, option: str, wrong: _OptionProblems
) -> tuple[Level, ...] | None:
    """Return, in a tuple, the attribute's level of this name; without a name all its levels except `any`. Add a problem
    and return None for an unknown attribute or level."""
    if name not in own:
        wrong.add(option, f"no attribute {name!r} with a domain", ", ".join(own), nearest(name, list(own)))
        return None
    hierarchy = own[name].hierarchy
    assert hierarchy is not None, "it is releasable"
    known = [each for each in hierarchy.names if each != ANY]
    if level is None:
        return tuple(hierarchy.level(each) for each in known)
    if level not in known:
        wrong.add(option, f"no level {level!r} of {name!r}", ", ".join(known), nearest(level, known))
        return None
    return (hierarchy.level(level),)


def _by_attribute(own: Mapping[str, Attribute], by: str | None, wrong: _OptionProblems) -> tuple[str, Level] | None:
    if by is None:
        return None
    name, level = _split_option(by)
    found = _levels(own, name, level, "--by", wrong)
    return None if found is None else (name, found[0])


def _check_up_to(levels: Levels, up_to: int, wrong: _OptionProblems) -> None:
    if not levels:
        return
    if not 1 <= up_to <= len(levels):
        wrong.add("--up-to", str(up_to), f"1 to {len(levels)}, the number of attributes", str(min(UP_TO, len(levels))))
    elif (many := groupings(levels, up_to)) > MOST_GROUPINGS:
        fewer = next((str(each) for each in range(up_to, 0, -1) if groupings(levels, each) <= MOST_GROUPINGS), None)
        wrong.add("--up-to", f"{up_to}, which makes {many} groupings", f"at most {MOST_GROUPINGS} groupings", fewer)


def _sampling_fraction(text: str | None, wrong: _OptionProblems) -> Fraction | None:
    if text is None:
        return None
    try:
        return probability("the sampling fraction", text, open_low=True)
    except ValueError:
        wrong.add("--sample", f"the sampling fraction {text!r}", "a number above 0 and at most 1", "0.01")
        return None


def error_rates(text: str | None, names: Sequence[str]) -> dict[str, Fraction]:
    """Return the error rate of each attribute, from NAME=RATE,NAME=RATE, each once. Raises ConfigurationError."""
    wrong, found = _OptionProblems(), dict[str, Fraction]()
    for part in () if text is None else text.split(","):
        name, value = _split_option(part)
        if name not in names:
            wrong.add("--wrong", f"{name!r} is not matched", ", ".join(names), nearest(name, list(names)))
            continue
        if name in found:
            wrong.add("--wrong", f"{name!r} twice", "each attribute once")
        try:
            found[name] = probability(name, value or "")
        except ValueError:
            wrong.add("--wrong", f"{part.strip()!r}", f"{name}=RATE, a rate from 0 to 1", f"{name}=0.01")
    if wrong.found:
        raise ConfigurationError(wrong.found)
    return found


def register_coverage(text: str | None) -> Fraction:
    """Return the share of released people whom the register has; 1 by default. Raises ConfigurationError."""
    try:
        return probability("the coverage", "1" if text is None else text.strip(), open_low=True)
    except ValueError:
        wrong = _OptionProblems()
        wrong.add("--coverage", repr(text), "a share above 0 and at most 1", "0.9")
        raise ConfigurationError(wrong.found) from None


def counting_text(chosen: AttributeSelection) -> str:
    """Return a sentence that says whether sets of rows or of people are counted."""
    unit = chosen.contract.unit
    if unit.person is None:
        return "Rows are counted: a row is one person."
    if chosen.contract.is_of_persons:
        return f"People are counted by {unit.person}, each with one row that is made of all rows, as the contract says."
    if unit.rows == 1:
        return f"People are counted by {unit.person}; one row of each counts, as the contract says."
    bound = f"at most {unit.rows} rows of each count, as the contract says"
    return (
        f"People are counted by {unit.person}, not rows: {bound}. A person with several values is in several sets, "
        "once in each, and where people of small sets are counted by the smallest of them."
    )


def fraction_text(fraction: Fraction) -> str:
    """Return the sampling fraction as exact text."""
    return exact_text(fraction)
