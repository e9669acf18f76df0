"""The contract: the columns and the population of a table, and the public facts about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from crowdgate.contracts.cell_form import USUAL, CellForm
from crowdgate.errors import FileFault
from crowdgate.histogram import Histogram, View, split
from crowdgate.system.short_repr import short_repr

if TYPE_CHECKING:
    from crowdgate.arrays import Bools
    from crowdgate.domain import Domain
    from crowdgate.hierarchy import Hierarchy, Level


@dataclass(frozen=True)
class InheritedSample:
    """The sample that a table is, as its contract attests: Bernoulli at rate `beta`, its draw secret and its size
    unpublished.

    A sample does not compose with anything: it serves one release permanently.
    """

    name: str
    beta: Fraction


class Role(StrEnum):
    """The privacy role of an attribute."""

    DIRECT_IDENTIFIER = "direct-identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    OTHER = "other"


@dataclass(frozen=True)
class PrivacyUnit:
    """The privacy unit: a row (one person each), or a person identified by a column, with at most `rows` rows."""

    person: str | None = None
    rows: int = 1

    def __str__(self) -> str:
        return "row" if self.person is None else f"person:{self.person}"


NO, YES = "no", "yes"
"""The values of an attribute of persons that asks whether any or all rows have a value."""


class PersonRule(StrEnum):
    """The rules that make one value of all rows of a person."""

    ANY = "any"
    ALL = "all"
    COUNT = "count"
    SAME = "same"
    LEAST = "least"
    GREATEST = "greatest"


@dataclass(frozen=True, eq=False)
class PersonValue:
    """One value a person, made of the cells that all of the person's rows have in one column of the table.

    `matches` marks the codes of the column's domain that `any`, `all` and `count` look for, and `labels` are these
    values in words (None: every value). `most` is the greatest number that `count` distinguishes.
    """

    rule: PersonRule
    column: Attribute
    matches: Bools | None = None
    labels: tuple[str, ...] | None = None
    most: int | None = None

    @property
    def keeps_domain(self) -> bool:
        """True if the value is one of the column's own values: the same, the least or the greatest."""
        return self.rule in (PersonRule.SAME, PersonRule.LEAST, PersonRule.GREATEST)


@dataclass(frozen=True, eq=False)
class Attribute:
    """One column of a contract's table. `accepted` marks the domain codes that the row rules accept; `margins` are
    public counts of the domain's values.

    `known_to_attackers` and `secret` are the contract's statements about inference (None: the role decides).
    `of_person` is set in a table of persons: how a person's value is made of the person's rows. `form` is that of the
    column's cells.
    """

    name: str
    role: Role
    description: str = ""
    domain: Domain | None = None
    hierarchy: Hierarchy | None = None
    invalid: Literal["drop", "level"] = "drop"
    accepted: Bools | None = None
    margins: tuple[int, ...] | None = None
    known_to_attackers: bool | None = None
    secret: bool | None = None
    of_person: PersonValue | None = None
    form: CellForm = USUAL

    @property
    def is_known(self) -> bool:
        """True if an attacker may know this attribute of a target: as the contract states, else for every
        quasi-identifier.
        """
        return self.role is Role.QUASI_IDENTIFIER if self.known_to_attackers is None else self.known_to_attackers

    @property
    def is_secret(self) -> bool:
        """True if this attribute should not be inferable: as the contract states, else for every sensitive
        attribute.
        """
        return self.role is Role.SENSITIVE if self.secret is None else self.secret

    @property
    def releasable(self) -> bool:
        """True if a policy may publish this attribute: it has a public domain and is no direct identifier."""
        return self.domain is not None and self.role is not Role.DIRECT_IDENTIFIER


@dataclass(frozen=True, eq=False)
class JointCounts:
    """Public joint counts of several attributes, each at one of its levels: the number of people or rows in each
    combination of values.
    """

    levels: Mapping[str, Level]
    counts: Histogram

    def coarser_than(self, name: str, level: Level) -> bool:
        """Return whether the attribute `name` is counted at a level with fewer values than `level`; False if it is not
        counted.
        """
        return name in self.levels and len(self.levels[name]) < len(level)

    def at(self, levels: Mapping[str, Level]) -> Histogram:
        """Return the joint counts at these levels of the attributes in `levels`, summed over all others and over those
        that are counted at a coarser level.
        """
        wanted = {
            name: levels[name] for name in self.levels if name in levels and not self.coarser_than(name, levels[name])
        }
        return split(self.counts, View(self.levels), {"": View(wanted)})[""]


@dataclass(frozen=True)
class Analysis:
    """A table, share or ratio that users of releases need: its columns, and the labels that it names of each."""

    columns: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]


class Engine(StrEnum):
    """The engine that judges a rule of type custom."""

    CROWDGATE = "crowdgate"
    GREAT_EXPECTATIONS = "greatExpectations"


@dataclass(frozen=True)
class RowRule:
    """A rule that reads one cell: its value must be one of `labels`. Other cells are invalid, so after cleaning the
    rule holds.
    """

    name: str
    attribute: str
    labels: tuple[str, ...]


class Fact(StrEnum):
    """The facts that a table rule can limit."""

    ROWS = "rows"
    INVALID_SHARE = "invalid_share"
    DUPLICATE_SHARE = "duplicate_share"
    MEAN = "mean"


@dataclass(frozen=True)
class TableRule:
    """A rule about the whole table: low <= fact <= high (None: no limit). A table rule advises and never decides a
    release.
    """

    name: str
    fact: Fact
    attribute: str | None
    low: float | None
    high: float | None

    @property
    def column(self) -> str:
        """The name of the limited fact, such as `mean of age`: the key of its value in `TableFacts.values`."""
        return self.fact if self.attribute is None else f"{self.fact} of {self.attribute}"


@dataclass(frozen=True, eq=False)
class Expectation:
    """An expectation that Great Expectations judges, about the values of one column or the pairs of two. It
    advises, as a table rule does.

    `type` and `kwargs` are its name and its arguments in Great Expectations, as values of JSON.
    """

    name: str
    type: str
    columns: tuple[str, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True)
class Server:
    """The location of a contract's table. `reader` names its source, `base` is the contract's folder, `file_key` the
    setting that names a file of this machine.
    """

    reader: str
    settings: Mapping[str, str]
    base: Path
    file_key: str = "path"

    @property
    def file(self) -> Path | None:
        """The file or folder that holds the table or its database; None for a server of tables or objects."""
        return self.base / self.settings[self.file_key] if self.file_key in self.settings else None

    @property
    def path(self) -> Path:
        """The path of the table; a relative path in the contract counts from the contract's folder.

        Raises FileFault for a table that is not in files of this machine.
        """
        if "path" not in self.settings:
            raise FileFault(f"{self.title}: this needs a table in files of this machine")
        return self.base / self.settings["path"]

    @property
    def title(self) -> str:
        """The name of the table in messages: of its file, or else of its source."""
        return Path(self.settings["path"]).name if "path" in self.settings else f"the table of type {self.reader}"


@dataclass(frozen=True)
class JoinedTable:
    """A table that gives each row of the contract's table further columns, from its one row with the same key.

    `key` is its own column, `by` the column of the contract, of an earlier join or of the contract's table that states
    the key; `columns` are its columns by their names in the contract. `is_of_unit` is True if each of its rows belongs
    to one person, False if it describes groups and no row of it depends on one person.
    """

    name: str
    is_view: bool
    key: str
    by: str
    columns: Mapping[str, str]
    is_of_unit: bool


@dataclass(frozen=True)
class DatabaseTable:
    """A contract's table in a database: its name there, its columns by their names in the contract, and the tables
    that are joined to it.
    """

    name: str
    is_view: bool
    columns: Mapping[str, str]
    joins: tuple[JoinedTable, ...] = ()


@dataclass(frozen=True, eq=False)
class Contract:
    """A validated data contract. `files` are all files that it was read from, for the policy digest.

    In a table of persons `attributes` describe persons, one row each, and `row_attributes` the columns of the source
    table; elsewhere the latter are empty. `database` is set if the table is in a database.
    """

    __repr__ = short_repr

    id: str
    version: str
    population: str
    unit: PrivacyUnit
    server: Server
    attributes: tuple[Attribute, ...]
    public: bool = False
    sample: InheritedSample | None = None
    rows_at_most: int | None = None
    row_rules: tuple[RowRule, ...] = ()
    table_rules: tuple[TableRule, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    files: tuple[Path, ...] = ()
    joint: tuple[JointCounts, ...] = ()
    analyses: tuple[Analysis, ...] = ()
    row_attributes: tuple[Attribute, ...] = ()
    database: DatabaseTable | None = None

    @property
    def is_in_files(self) -> bool:
        """True if the table is in files of this machine, which hold no other table."""
        return self.database is None and self.server.file is not None

    @cached_property
    def by_name(self) -> dict[str, Attribute]:
        """The attributes by column name."""
        return {attribute.name: attribute for attribute in self.attributes}

    @property
    def is_of_persons(self) -> bool:
        """True if the contract makes one row of all rows of a person."""
        return bool(self.row_attributes)

    @cached_property
    def columns(self) -> dict[str, Attribute]:
        """The columns of the source table by name, as attributes of its rows."""
        return {attribute.name: attribute for attribute in self.row_attributes or self.attributes}

    def columns_of(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the columns of the source table that attributes of these names are read from, each once. A column's
        own name stays."""
        return tuple(dict.fromkeys(self._column_of(name) for name in names))

    def _column_of(self, name: str) -> str:
        made = self.by_name[name].of_person if name in self.by_name else None
        return name if made is None else made.column.name
