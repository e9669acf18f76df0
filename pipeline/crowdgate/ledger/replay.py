"""Replay of the journal: its chain is followed line by line, and the other tables are compared with its state.

The first replay reads everything; later ones, under the ledger's lock, read only lines that others wrote in the
meantime. New lines are replayed before they are written, so no line is written that would be refused later.
"""

from collections.abc import Hashable, Iterable
from itertools import starmap, zip_longest
from operator import eq, itemgetter

from crowdgate.ledger.charge_image import DAMAGED_INDEXES, IMAGED, comparison
from crowdgate.ledger.journal import digest_of, line_at, parse_detail, rows_after
from crowdgate.ledger.journal_rules import JournalState
from crowdgate.ledger.lazy_mapping import LazyMapping
from crowdgate.ledger.schema import ENTRIES, KEYS, select, tables
from crowdgate.ledger.store import Database


class JournalMismatch(Exception):
    """An error: a difference between a ledger and its journal, described in words."""


class JournalReplay:
    """The replay of a ledger up to a line of its journal: `number` and `digest` of the line, and the state.

    A replay is `whole` if it began at line 1. One that continues from an attested position, at the line `start`, has
    read no older line.
    """

    def __init__(self, number: int = 0, digest: str = "", held: JournalState | None = None) -> None:
        self.number, self.digest, self.held = number, digest, held or JournalState()
        self.start, self.whole = number, number == 0

    def has_followed(self, places: Iterable[tuple[int, str]]) -> bool:
        """Return whether no line of these, each a number and a digest, is older than the first one that was read."""
        return all(number >= self.start for number, _ in places)

    def follow(self, database: Database) -> None:
        """Read and apply all journal lines after the last one that was read. Raises JournalMismatch unless each line
        follows the one before.
        """
        if self.number:
            last = line_at(database, self.number)
            if last is None or last.digest != self.digest:
                raise JournalMismatch(f"line {self.number} of its journal is not there any more, or was changed")
        for line in rows_after(database, self.number):
            self.add(*line)

    def add(
        self, number: int, event: str, subject: str, commitment: str | None, detail: str | None, digest: str
    ) -> None:
        """Apply the next line of the journal to the state. Raises JournalMismatch for an invalid line; the replay is
        unusable afterwards.
        """
        at = self.number + 1
        try:
            if number != at or digest != digest_of(self.digest, number, event, subject, commitment, detail):
                raise JournalMismatch(f"line {at} of its journal was changed")
            self.held.add(event, subject, commitment, parse_detail(detail))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError, RecursionError):
            raise JournalMismatch(
                f"line {at} of its journal is a step that a ledger can't take at this point"
            ) from None
        self.number, self.digest = number, digest

    def check_chain(self, database: Database, number: int) -> None:
        """Check that the line with this number and all later ones are those that the last line followed commits to.

        No state is replayed, so this takes a third of the time. Raises JournalMismatch.
        """
        before = line_at(database, number - 1)
        digest = "" if before is None else before.digest
        for at, *said, stored in rows_after(database, number - 1):
            digest = digest_of(digest, at, *said)
            if digest != stored:
                raise JournalMismatch(f"line {at} of its journal was changed")
        if digest != self.digest:
            raise JournalMismatch(f"line {self.number} of its journal is not there any more, or was changed")

    def compare(self, database: Database) -> None:
        """Compare every row of every table with the journal's state. Raises JournalMismatch."""
        image = self.held.image
        attached = IMAGED if image is not None and database.attach(image.data) else ()
        wrong = [
            table
            for table in tables(self.held.form)
            if not (self._agrees_with_image if table in attached else self._agrees)(database, table)
        ]
        if wrong:
            raise JournalMismatch(f"its rows of {', '.join(sorted(wrong))} differ from its journal")

    def _agrees(self, database: Database, table: str) -> bool:
        """Return whether the rows of a table are those of the state. Both are in the order of the key: in SQLite, too,
        texts have the order of their code points. So no second set of rows is held in memory.
        """
        expected = map(itemgetter(1), sorted(self.held.rows[table].items(), key=itemgetter(0)))
        found = database.rows(select(table, f"ORDER BY {KEYS[table]}"))
        return all(starmap(eq, zip_longest(found, expected)))

    def _agrees_with_image(self, database: Database, table: str) -> bool:
        """Return whether the rows of a table are those of the state, by the attached image of an older state.

        The database compares each row with the image. Rows that were changed or added since are compared one by one. No
        row is missing if the number of all is right: no key occurs twice, as the file was checked for damage. Entries
        of indexes are only counted, as each is compared when it is used.
        """
        rows = self.held.rows[table]
        assert isinstance(rows, LazyMapping), "it was restored from an image"
        ((old, count, indexed, different),) = database.rows(comparison(table))
        new = sum(1 for key in rows.changed if rows.first(key) is None)
        known = different is None or {*map(int, different.split(","))} <= rows.changed.keys()
        if not indexed:
            raise JournalMismatch(DAMAGED_INDEXES)
        return known and count == old + new and all(self._row_agrees(database, table, key) for key in rows.changed)

    def row(self, database: Database, table: str, key: Hashable) -> None:
        """Compare the row of `table` with this key, or its absence, with the journal's state. Raises
        JournalMismatch.
        """
        if not self._row_agrees(database, table, key):
            raise JournalMismatch(f"{table} differ from its journal")

    def _row_agrees(self, database: Database, table: str, key: Hashable) -> bool:
        found = list(database.rows(select(table, f"WHERE {KEYS[table]} = ?"), key))
        said = self.held.rows[table].get(key)
        return bool(found == ([] if said is None else [said]))

    def charge(self, database: Database, release_id: str) -> None:
        """Compare the charge of a release, or its absence, with the journal. Raises JournalMismatch."""
        live = f"SELECT number FROM {ENTRIES} WHERE release_id = ? AND state <> 'void'"
        found, said = list(database.rows(live, release_id)), self.held.charged.get(release_id)
        if found != ([] if said is None else [(said,)]):
            raise JournalMismatch(f"{ENTRIES} differ from its journal")
        if said is not None:
            self.row(database, ENTRIES, said)
