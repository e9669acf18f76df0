"""What the journal says, line by line as its chain holds, and whether the other tables hold just that.

Everything is looked at once, and then only what was written since: under the ledger's lock that is what others wrote in
the meantime. Of a row its hash is kept, which whoever edits rows can't aim at: Python draws its key for each process.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Table, select

from crowdgate.ledger.journal import KEYS, Line, chained, line_at, lines, rows_of
from crowdgate.ledger.schema import entries, totals
from crowdgate.ledger.values import State

_COLUMNS = {table.name: tuple(column.name for column in table.columns) for table in KEYS}
_KEYS = {table.name: key for table, key in KEYS.items()}


class Changed(Exception):
    """What a ledger holds that its journal does not say, in words."""


class Attested:
    """A ledger as far as its journal was followed: `number` and `digest` of the last line."""

    def __init__(self) -> None:
        self.number, self.digest = 0, ""
        self._said: dict[str, dict[Hashable, int]] = {name: {} for name in _COLUMNS}
        self._charged: dict[str, int] = {}

    def follow(self, connection: Connection) -> None:
        """All lines since the last one that was seen, each of which must follow from those before. Raises Changed."""
        if self.number:
            last = line_at(connection, self.number)
            if last is None or last.digest != self.digest:
                raise Changed(f"line {self.number} of its journal is not there any more, or was changed")
        for line in lines(connection, self.number):
            self._add(line)

    def _add(self, line: Line) -> None:
        if line != chained(self.digest, self.number + 1, *line[1:5]):
            raise Changed(f"line {self.number + 1} of its journal was changed")
        self.number, self.digest = line.number, line.digest
        for name, row in rows_of(line.said):
            self._said[name][row[_KEYS[name]]] = hash(tuple(map(row.get, _COLUMNS[name])))
            if name == entries.name:
                self._note(row)

    def _note(self, row: Mapping[str, Any]) -> None:
        if row["state"] != State.VOID:
            self._charged[row["release_id"]] = row["number"]
        elif self._charged.get(row["release_id"]) == row["number"]:
            del self._charged[row["release_id"]]

    def compare(self, connection: Connection) -> None:
        """Every row of every table with what the journal says, and totals with what they sum up. Raises Changed."""
        self.compare_rows(connection)
        if sums(connection) != _stated(connection):
            raise Changed("its running totals are not the sums of what was charged")

    def compare_rows(self, connection: Connection) -> None:
        """Every row of every table with what the journal says. Raises Changed."""
        wrong = [table.name for table in KEYS if not self._agrees(connection, table)]
        if wrong:
            raise Changed(f"{', '.join(sorted(wrong))} differ from its journal")

    def _agrees(self, connection: Connection, table: Table) -> bool:
        at = _COLUMNS[table.name].index(_KEYS[table.name])
        held = {row[at]: hash(tuple(row)) for row in connection.execute(select(table))}
        return held == self._said[table.name]

    def row(self, connection: Connection, table: Table, key: Hashable) -> None:
        """One row, or that there is none. Raises Changed."""
        found = connection.execute(select(table).where(table.c[_KEYS[table.name]] == key)).all()
        said = self._said[table.name].get(key)
        if [hash(tuple(row)) for row in found] != ([] if said is None else [said]):
            raise Changed(f"{table.name} differ from its journal")

    def charge(self, connection: Connection, release_id: str, live: int | None) -> None:
        """The charge of a release, as it was found there (None: none). Raises Changed."""
        if live != self._charged.get(release_id):
            raise Changed(f"{entries.name} differ from its journal")
        if live is not None:
            self.row(connection, entries, live)


Sums = dict[str, tuple[Fraction, Fraction]]


def sums(connection: Connection) -> Sums:
    """What the charged entries of each population add up to, but for those that nothing was taken from."""
    columns = (entries.c.population, entries.c.epsilon, entries.c.delta)
    charged = select(*columns).where(entries.c.state != State.VOID.value)
    found: Sums = {}
    for (population, epsilon, delta), times in Counter(map(tuple, connection.execute(charged))).items():
        one, other = found.get(population, (Fraction(0), Fraction(0)))
        found[population] = one + times * Fraction(epsilon), other + times * Fraction(delta)
    return {population: lost for population, lost in found.items() if any(lost)}


def _stated(connection: Connection) -> Sums:
    """The same as the running totals state it, but for populations of which all was given back."""
    found = {row.population: (Fraction(row.epsilon), Fraction(row.delta)) for row in connection.execute(select(totals))}
    return {population: lost for population, lost in found.items() if any(lost)}
