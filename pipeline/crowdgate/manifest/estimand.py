"""The estimand: rules for the rows that a release's numbers describe.

Counts are published only if they were charged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from crowdgate.contracts.contract import NO, YES, Attribute, Contract, PersonRule, PersonValue
from crowdgate.contracts.person_text import person_value_text
from crowdgate.hierarchy import ANY_LABEL, INVALID_LABEL
from crowdgate.limits import MOST_ROWS_EACH
from crowdgate.manifest.values import Label, ManifestFields

Columns = Annotated[tuple[Label, ...], Field(max_length=10_000)]


class PersonValueFields(ManifestFields):
    """How one value a person is made of the cells that all of the person's rows have in a column."""

    rule: Literal["any", "all", "count", "same", "least", "greatest"]
    """any, all: yes if at least one row, or every row, has one of `values`. count: the number of rows that have one.
    same: the value on which all rows agree. least, greatest: the first or the last in the order of the domain."""
    column: Label
    """The column of the source table."""
    values: Annotated[tuple[Label, ...], Field(min_length=1, max_length=10_000)] | None = None
    """The values that any, all and count look for. Absent: every valid value."""
    most: Annotated[int, Field(ge=1)] | None = None
    """The greatest number that count distinguishes."""

    @classmethod
    def of_value(cls, made: PersonValue) -> "PersonValueFields":
        """Return how a contract makes a value."""
        return cls(rule=made.rule.value, column=made.column.name, values=made.labels, most=made.most)

    @property
    def keeps_domain(self) -> bool:
        """True if the value is one of the column's own values."""
        return self.rule in ("same", "least", "greatest")

    def problems(self) -> Iterator[str]:
        """Yield contradictions, in words."""
        if (self.most is not None) != (self.rule == "count") or (self.keeps_domain and self.values is not None):
            yield "the manifest's estimand states values or a greatest number for a rule that has none"
        if self.rule in ("any", "all") and self.values is None:
            yield "the manifest's estimand does not state the values that any or all look for"


class EstimandFields(ManifestFields):
    """The rows that are counted, before any sampling.

    `of` is a row of the source table: a person of its own ("row"), or one of several of a "person", who counts with at
    most `rows` of them. A row is left out if a cell of `dropped` is invalid: missing, not in the domain of its column,
    or against a rule of the contract. In `invalid` such a cell counts as the value (invalid). In `raised`, numbers
    below the domain count as its least value; in `lowered`, those above it as its greatest.
    """

    of: Literal["row", "person"]
    """The privacy unit: `row` if each row of the source table is a person of its own, `person` if a person has several.
    """
    rows: Annotated[int, Field(ge=1, le=MOST_ROWS_EACH)]
    """The greatest number of rows with which a person counts."""
    dropped: Columns
    """Columns whose invalid cells drop their row."""
    invalid: Columns
    """Columns whose invalid cells count as (invalid)."""
    raised: Columns
    """Columns in which numbers below the domain count as its least value."""
    lowered: Columns
    """Columns in which numbers above the domain count as its greatest value."""
    persons: dict[Label, PersonValueFields] | None = None
    """In a table of persons, how each attribute is made of all rows of a person. Absent: rows are counted."""

    @classmethod
    def of_contract(cls, contract: Contract, columns: Sequence[str]) -> "EstimandFields":
        """Return the rules for the rows that a release counts if it reads these columns of the contract's table."""
        read = [contract.columns[name] for name in columns]
        return cls(
            of="row" if contract.unit.person is None else "person",
            rows=contract.unit.rows,
            dropped=_names(each for each in read if each.invalid == "drop"),
            invalid=_names(each for each in read if each.invalid == "level"),
            raised=_names(each for each in read if _clamped_ends(each)[0]),
            lowered=_names(each for each in read if _clamped_ends(each)[1]),
            persons=_persons(contract, columns),
        )

    def problems(self, unit: str, rows: int) -> Iterator[str]:
        """Yield, in words, contradictions within the rules, and with a privacy unit (`unit`, a row or a person) of
        `rows` rows."""
        if (self.of, self.rows) != (unit, rows) or (unit == "row" and rows != 1):
            yield "the manifest's estimand counts other rows per privacy unit than the guarantee"
        names = (*self.dropped, *self.invalid)
        if any(len({*each}) != len(each) for each in (names, self.raised, self.lowered)):
            yield "the estimand names a column twice"
        if not {*self.raised, *self.lowered} <= {*names}:
            yield "the manifest's estimand names a column that the release does not read"
        for made in (self.persons or {}).values():
            if self.of != "person" or rows != 1 or made.column not in names:
                yield "the manifest's estimand makes persons of other rows than it counts"
            yield from made.problems()

    def allows(self, column: str, labels: Sequence[str]) -> bool:
        """Return True if the labels of a published column agree with its treatment of invalid cells and, in a table of
        persons, with the rule that makes its values."""
        if self.persons is not None:
            return column in self.persons and self._allows_person(self.persons[column], labels)
        return self._allows_cells(column, labels)

    def _allows_person(self, made: PersonValueFields, labels: Sequence[str]) -> bool:
        if made.keeps_domain:
            return self._allows_cells(made.column, labels)
        if made.rule == "count" or tuple(labels) == (ANY_LABEL,):
            return labels[-1] != INVALID_LABEL
        return tuple(labels) == (NO, YES)

    def _allows_cells(self, column: str, labels: Sequence[str]) -> bool:
        if labels == (ANY_LABEL,):
            return column in (*self.dropped, *self.invalid)
        return column in (self.invalid if labels[-1] == INVALID_LABEL else self.dropped)

    def words(self) -> list[str]:
        """Return the rules for counted rows in sentences."""
        return [*self._units(), *self._cells()]

    def _units(self) -> Iterator[str]:
        if self.persons is not None:
            yield from self._person_values(self.persons)
            return
        if self.of == "row":
            yield "Every row of the source table is a person of its own and counts once."
            return
        if self.rows == 1:
            yield "Every person counts with one row: of several, one is chosen by secret coins."
        else:
            yield (
                f"A person counts with at most {self.rows} rows: of more, {self.rows} are chosen by secret coins. "
                "A number of rows is no number of persons, and where persons have more rows it is too small."
            )
        yield "Rows that name no person are left out."

    def _person_values(self, persons: Mapping[str, PersonValueFields]) -> Iterator[str]:
        """Yield sentences on the one row that each person has."""
        yield (
            "Every person counts once, with one row that is made of all of the person's rows, however many. So numbers "
            "of rows below are numbers of persons."
        )
        for name, made in sorted(persons.items()):
            yield person_value_text(name, PersonRule(made.rule), made.column, made.values, made.most)
        differing = [name for name, made in sorted(persons.items()) if made.rule == "same"]
        for known, then in ((self.dropped, "are left out"), (self.invalid, f"count with the value {INVALID_LABEL}")):
            own = [name for name in differing if persons[name].column in known]
            if own:
                yield f"Persons whose rows differ in {_joined_names(own)} {then}."
        yield "Rows that name no person are left out."

    def _cells(self) -> Iterator[str]:
        if self.dropped:
            yield (
                f"Rows are left out whose {_joined_names(self.dropped)} is missing, not in its domain, or against a "
                "rule of the contract."
            )
        if self.invalid:
            yield (
                f"Where {_joined_names(self.invalid)} is missing, not in its domain, or against a rule of the "
                f"contract, the row counts, with the value {INVALID_LABEL}."
            )
        for columns, beyond, end in ((self.raised, "below", "low"), (self.lowered, "above", "high")):
            if columns:
                yield f"Numbers {beyond} the domain of {_joined_names(columns)} count as its {end} end."
        if self.of == "person" or self.dropped:
            yield "How many rows these rules leave out is confidential, unless a gate below was paid to say it."


def _persons(contract: Contract, columns: Sequence[str]) -> dict[str, PersonValueFields] | None:
    """Return how attributes are made of rows in the columns that a release reads; None unless persons are counted."""
    if not contract.is_of_persons:
        return None
    made = {each.name: each.of_person for each in contract.attributes}
    return {
        name: PersonValueFields.of_value(own)
        for name, own in made.items()
        if own is not None and own.column.name in columns
    }


def _names(attributes: Iterable[Attribute]) -> tuple[str, ...]:
    return tuple(each.name for each in attributes)


def _clamped_ends(attribute: Attribute) -> tuple[bool, bool]:
    """Return a pair of truth values: numbers below the domain count as its least value, numbers above it as its
    greatest."""
    grid = None if attribute.domain is None else attribute.domain.grid
    return (False, False) if grid is None else (grid.bottom, grid.top)


def _joined_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
