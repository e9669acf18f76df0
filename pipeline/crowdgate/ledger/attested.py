"""What the journal says, line by line as its chain holds, and whether the other tables hold just that.

Everything is looked at once, and then only what was written since: under the ledger's lock that is what others wrote in
the meantime. Of a row its hash is kept, which whoever edits texts can't aim at: Python draws its key for each process.
Whole numbers have no key; those that another of the same hash could stand for are bounded where they are read.
"""

from collections import defaultdict
from collections.abc import Hashable
from fractions import Fraction
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Table, func, select

from crowdgate.ledger.journal import KEYS, digest_of, line_at, parsed, raw, rows_of, since
from crowdgate.ledger.schema import entries, totals
from crowdgate.ledger.values import State, amount

_COLUMNS = {table.name: tuple(column.name for column in table.columns) for table in KEYS}
_VALUES = {name: itemgetter(*columns) for name, columns in _COLUMNS.items()}
_ENTRIES = entries.name
_KEYS = {table.name: key for table, key in KEYS.items()}


class Changed(Exception):
    """What a ledger holds that its journal does not say, in words."""


def _cells(name: str, row: dict[str, Any]) -> tuple[Any, ...]:
    """A row in the order of its table's columns; a ledger of format 1 did not have all of them."""
    try:
        found: tuple[Any, ...] = _VALUES[name](row)
    except KeyError:
        found = tuple(map(row.get, _COLUMNS[name]))
    return found


class Attested:
    """A ledger as far as its journal was followed: `number` and `digest` of the last line."""

    def __init__(self) -> None:
        self.number, self.digest = 0, ""
        self._said: dict[str, dict[Hashable, int]] = {name: {} for name in _COLUMNS}
        self._charged: dict[str, int] = {}
        self._digests: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))

    def follow(self, connection: Connection) -> None:
        """All lines since the last one that was seen, each of which must follow from those before. Raises Changed."""
        if self.number:
            last = line_at(connection, self.number)
            if last is None or last.digest != self.digest:
                raise Changed(f"line {self.number} of its journal is not there any more, or was changed")
        try:
            for line in raw(connection, since(self.number)):
                self._add(*line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise Changed(f"line {self.number} of its journal says what nobody can read") from None

    def _add(
        self, number: int, event: str, subject: str, commitment: str | None, detail: str | None, digest: str
    ) -> None:
        if number != self.number + 1 or digest != digest_of(self.digest, number, event, subject, commitment, detail):
            raise Changed(f"line {self.number + 1} of its journal was changed")
        self.number, self.digest = number, digest
        rows = list(rows_of(parsed(detail)))
        if event.startswith("entry.") and [row["release_id"] for name, row in rows if name == _ENTRIES] != [subject]:
            raise Changed(f"line {number} of its journal speaks of a charge and holds none")
        for name, row in rows:
            self._said[name][row[_KEYS[name]]] = hash(_cells(name, row))
            if name == _ENTRIES:
                self._note(row["release_id"], row["number"], row["policy_digest"], row["state"] != State.VOID)

    def _note(self, release_id: str, number: int, policy_digest: str, charged: bool) -> None:
        version = release_id.rpartition("/")[0]
        if charged:
            self._charged[release_id] = number
            self._digests[version][policy_digest].add(release_id)
        elif self._charged.get(release_id) == number:
            del self._charged[release_id]
            self._digests[version][policy_digest].discard(release_id)

    def other_digest(self, version: str, policy_digest: str) -> str | None:
        """A charged release of this version of a policy (`name/version`) whose digest is another one, or None."""
        found = self._digests[version].items() if version in self._digests else ()
        return next((min(charged) for digest, charged in found if digest != policy_digest and charged), None)

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
        return {row[at]: hash(row) for row in raw(connection, select(table))} == self._said[table.name]

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
    charged = select(*columns, func.count()).where(entries.c.state != State.VOID.value).group_by(*columns)
    found: Sums = {}
    for population, epsilon, delta, times in connection.execute(charged).tuples():
        one, other = found.get(population, (Fraction(0), Fraction(0)))
        found[population] = one + times * amount(epsilon), other + times * amount(delta)
    return {population: lost for population, lost in found.items() if any(lost)}


def _stated(connection: Connection) -> Sums:
    """The same as the running totals state it, but for populations of which all was given back."""
    found = {row.population: (amount(row.epsilon), amount(row.delta)) for row in connection.execute(select(totals))}
    return {population: lost for population, lost in found.items() if any(lost)}
