"""A column of a table, and the public description of a table, as they are known without cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crowdgate.contracts.contract import Role
from crowdgate.domain import parse_number
from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.review.templates.column_words import AGE, DAYS, LONGEST_NAME, NO_FIRST_WORDS, NO_YEARS, column_words
from crowdgate.review.templates.survey_weights import is_survey_weight
from crowdgate.sources.table_header import CellType

NO_TABLE = "the table's file, relative to the contract, in the format beside it"
"""Words about the path of a table that its description does not name."""
Values = tuple[tuple[str, str], ...]
"""The values of a column in a codebook, each with its label (an empty text: none)."""

GREATEST_AGE = 150
"""The greatest number that can end a range of ages in years."""
MOST_QUOTED = 300
"""The greatest length of what a draft quotes of a codebook that is not read."""
UNGUESSED = Role.QUASI_IDENTIFIER
"""The role of a column whose name suggests none: the one that grants attackers most."""


@dataclass(frozen=True)
class DraftColumn:
    """A column as it is known without its cells. `values` are all of them by a codebook, `bounds` the least and the
    greatest number or day that it calls valid, `missing` the codes that it calls missing. The bounds are not
    `is_designed` if they may be the extremes of the table. `unread` is what a codebook says of values that is no full
    list of them, `decimals` the number of decimals of its numbers, `physical` its name in a database; a column `is_key`
    if it identifies rows. `day_form` is the form of its days by a codebook; it `has_comma` if its range is
    written with decimal commas there, and is `without_decimals` where only other ranges are written with decimals. The
    codebook states its `role`, and that the `top` of its range stands for all greater numbers. `remark` is what stands
    in the place of its values, and is not understood; `range_form` the form of days in which its range is written. The
    `bottom` of its range stands for all smaller numbers; `unread_role` is what it says of a role and is not understood.
    Its numbers are the least one and those at each `step`; a check of its cells says that they `may_have_decimals`; its
    role is guessed by the `role_words` in place of its description, if it has some; the codebook describes it first in
    `row` (0: in none). Its range begins `from_zero` by a guess, as only its greatest number is stated.
    `withheld` are the words of the codebook that it is not to be published.
    """

    name: str
    type: CellType
    description: str = ""
    values: Values = ()
    bounds: tuple[str, str] | None = None
    direct: bool = False
    missing: tuple[str, ...] = ()
    is_designed: bool = True
    unread: str = ""
    decimals: int | None = None
    physical: str = ""
    is_key: bool = False
    day_form: str = ""
    has_comma: bool = False
    without_decimals: bool = False
    role: Role | None = None
    top: bool = False
    remark: str = ""
    range_form: str = ""
    bottom: bool = False
    unread_role: str = ""
    step: str = ""
    may_have_decimals: bool = False
    role_words: str = ""
    from_zero: bool = False
    withheld: str = ""
    row: int = field(default=0, compare=False)

    @property
    def is_age(self) -> bool:
        """True if the name, or the description, says that these are ages in years, and no list of values contradicts
        it: a codebook may name a few ages only, such as 95 or more.
        """
        is_number = self.type in (CellType.WHOLE, CellType.NUMBER, CellType.UNKNOWN)
        name, words = column_words(self.name), column_words(self.description)
        named = name & AGE or (words & AGE and len(words) <= LONGEST_NAME)
        in_years = not (name | words) & NO_YEARS
        oldest = parse_number(self.bounds[1]) if self.bounds is not None else 0
        can_be = oldest is not None and oldest <= GREATEST_AGE
        return bool(named) and in_years and is_number and can_be and (not self.values or self.bounds is not None)

    @property
    def is_weight(self) -> bool:
        """True if its words, or its name, say that these are weights of a survey, and no values contradict it."""
        return not self.values and is_survey_weight(self.name, self.description)

    @property
    def is_day(self) -> bool:
        """True if the type, or where no type is known the name or the first word of the description, says that these
        are days.
        """
        first = column_words(self.description.partition(" ")[0]) if self.bounds is None and not self.unread else set()
        named = column_words(self.name) & DAYS or first & DAYS - NO_FIRST_WORDS
        ranged = self.bounds is not None and parse_number(self.bounds[0]) is None
        return self.type in (CellType.DAY, CellType.MOMENT) or (
            self.type is CellType.UNKNOWN and not self.values and (ranged or (bool(named) and self.bounds is None))
        )


@dataclass(frozen=True)
class DraftSource:
    """The public description of a table: where the table is, its columns, and what was read, in words. `codebook` is
    what states their values, if it is something else than what was `read`; `server` another server than a file's.
    """

    read: str
    path: str
    format: str
    columns: tuple[DraftColumn, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    codebook: str = ""
    server: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    """The headings of the codebook that were used, and those that were not."""
    table: str = ""
    """The name of the table, if it has another than its file."""
    physical: str = ""
    """The name of the table in its database, if it has one there."""

    @property
    def values_from(self) -> str:
        """The file or text that states the values of the columns, in words."""
        return self.codebook or self.read


def cannot_draft(path: Path, found: str, expected: str) -> ConfigurationError:
    """Return the error that a file is no description that a draft can be made from."""
    return ConfigurationError(Problem(str(path), None, "table", found, expected, code=Code.HEADER))
