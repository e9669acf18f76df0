"""The image of an attested position's charges: each difference between it and the tables is found, and each damage of
the image leads to the journal's first line."""

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.errors import LedgerRefused, VerificationFailed
from crowdgate.ledger import contents, lazy_mapping, position
from crowdgate.ledger import ledger as ledgers
from crowdgate.ledger.charge_image import IMAGED, ChargeImage
from crowdgate.ledger.heads import head_of
from crowdgate.ledger.lazy_mapping import LazyMapping
from crowdgate.ledger.ledger import ChargeRequest, Ledger, Spend, State, create, open_ledger
from crowdgate.ledger.position import AttestedPosition, position_file, read_position
from crowdgate.ledger.replay import JournalMismatch, JournalReplay
from crowdgate.ledger.schema import COLUMNS, ENTRIES, KEYS, SERIES, select
from crowdgate.ledger.sqlite import SqliteDatabase
from crowdgate.ledger.store import Database
from crowdgate.signing import keys
from crowdgate.signing.keys import SigningKey
from tests.examples import examples
from tests.ledger.books import BUDGET, edit, followed_lines
from tests.ledger.test_filters import RENYI
from tests.ledger.test_series import asked as asked_of_series

TOWN = replace(BUDGET, population="town")
PART = Spend(Fraction(1, 4), Fraction("1e-10"))


@dataclass(frozen=True)
class Desk:
    """A ledger with rows in every table, some of them older than its position."""

    file: Path
    key: SigningKey

    def open(self) -> Ledger:
        """Open the ledger as a new process does."""
        return open_ledger(f"sqlite:///{self.file}", None, signer=self.key, trusted=[self.key.public])

    @property
    def position(self) -> Path:
        """The file of the position."""
        return position_file(self.file, self.open().id)

    def read(self) -> AttestedPosition:
        """Return the position as a new process reads it."""
        found = read_position(self.file, self.open().id, [self.key.public])
        assert found is not None
        return found

    @contextmanager
    def replay(self) -> Iterator[tuple[JournalReplay, SqliteDatabase]]:
        """Yield a replay from the position to the last line, and a transaction with its image that is rolled back."""
        with closing(sqlite3.connect(self.file, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            seen, database = self.read().replay(), SqliteDatabase(connection)
            assert seen is not None
            assert seen.held.image is not None
            assert database.attach(seen.held.image.data)
            seen.follow(database)
            yield seen, database
            connection.execute("ROLLBACK")


def town(slot: str, sample: str | None = None) -> ChargeRequest:
    return ChargeRequest(f"b/1/{slot}", "d", "of-town", TOWN, PART, sample, holder="flow")


def charge_all(ledger: Ledger, part: str) -> None:
    """Charge slots of a series, in divergences, and three releases: one is given back, one published, one a lease."""
    for slot in (1, 2) if part == "old" else (3,):
        ledger.reserve(asked_of_series(slot, budget=RENYI))
        ledger.begin_reading(f"a/1/{slot}")
    for end in ("given", "read", "lease"):
        ledger.reserve(town(f"{part}-{end}", f"{part}-{end}" if end == "read" else None))
    ledger.void(f"b/1/{part}-given")
    ledger.begin_reading(f"b/1/{part}-read")
    ledger.commit(f"b/1/{part}-read", State.COMMITTED, "digest", f"there/b/1/{part}-read", "salted")
    if part == "new":
        ledger.published("b/1/old-read")


def make_desk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    keys.create(folder / "own")
    key = keys.signing_key((folder / "own").read_bytes(), "own")
    create(f"sqlite:///{folder}/ledger.db", "desk", key)
    desk = Desk(folder / "ledger.db", key)
    charge_all(desk.open(), "old")
    monkeypatch.setattr(ledgers, "POSITION_STEP", 1)
    desk.open().attest()
    monkeypatch.setattr(ledgers, "POSITION_STEP", 1000)
    return desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Make a ledger with lines after its position: new charges, and one of the position's that was given back."""
    made = make_desk(tmp_path, monkeypatch)
    charge_all(made.open(), "new")
    made.open().void("b/1/old-lease")
    return made


def refusal(compare: Callable[[], None]) -> str | None:
    try:
        compare()
    except JournalMismatch as found:
        return str(found)
    return None


def compare_both(seen: JournalReplay, database: Database, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Return the refusal of a comparison with the image; one row by row must say the same."""
    said = []
    for attached in (True, False):
        with monkeypatch.context() as patch:
            patch.setattr(SqliteDatabase, "attach", lambda *_, attached=attached: attached)
            said.append(refusal(lambda: seen.compare(database)))
    assert said[0] == said[1]
    return said[0]


def rows_of(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    return {table: [*database.rows(select(table, f"ORDER BY {KEYS[table]}"))] for table in IMAGED}


def others(value: object, column: list[object]) -> list[object]:
    """Return other values of a cell: of another type, null, larger, of another row."""
    text = str(value)
    return [
        None, "", text + "0", text.upper(), text.encode(), 0, 1, -1, 7.5, 2**62, f"{text}\0", "\U0001f600",
        *dict.fromkeys(column),
    ]  # fmt: skip


@pytest.mark.parametrize("table", IMAGED)
def test_every_cell_that_differs_from_the_position_is_found_as_without_an_image(
    desk: Desk, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is refused that the tables hold unchanged: a value that SQLite keeps as the same one."""
    with desk.replay() as (seen, database):
        assert compare_both(seen, database, monkeypatch) is None
        rows, changes = rows_of(database)[table], 0
        assert len(rows) > 2
        for row in rows:
            for at, column in enumerate(COLUMNS[table]):
                for value in others(row[at], [each[at] for each in rows]):
                    database.change("SAVEPOINT one")
                    with suppress(sqlite3.IntegrityError, OverflowError):
                        database.change(f"UPDATE {table} SET {column} = ? WHERE {KEYS[table]} = ?", value, row[0])
                        changed = rows_of(database)[table] != rows
                        changes += changed
                        assert (compare_both(seen, database, monkeypatch) is not None) == changed, (row, column, value)
                    database.change("ROLLBACK TO one")
        assert changes > 5 * len(rows) * len(COLUMNS[table])


damages = st.lists(
    st.tuples(
        st.sampled_from(IMAGED),
        st.sampled_from(["delete", "copy", "swap", "position's", "move"]),
        st.integers(1, 14),
        st.integers(-1, 14),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=examples(400), deadline=None)
@given(damages=damages)
def test_rows_that_were_removed_added_or_taken_back_to_the_position_are_found(
    damages: list[tuple[str, str, int, int]], prepared: Desk
) -> None:
    with prepared.replay() as (seen, database), pytest.MonkeyPatch.context() as patch:
        before = rows_of(database)
        for damage in damages:
            with suppress(sqlite3.IntegrityError):
                change_rows(seen, database, *damage)
        assert (compare_both(seen, database, patch) is not None) == (rows_of(database) != before)


@pytest.fixture(scope="module")
def prepared() -> Iterator[Desk]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        made = make_desk(Path(folder), patch)
        charge_all(made.open(), "new")
        made.open().void("b/1/old-lease")
        yield made


def change_rows(seen: JournalReplay, database: Database, table: str, how: str, key: int, other: int) -> None:
    names, own = COLUMNS[table], KEYS[table]
    rest = ", ".join(names[1:])
    if how == "delete":
        database.change(f"DELETE FROM {table} WHERE {own} = ?", key)
    elif how == "copy":
        database.change(f"INSERT INTO {table} SELECT ?, {rest} FROM {table} WHERE {own} = ?", other, key)
    elif how == "move":
        database.change(f"UPDATE {table} SET {own} = ? WHERE {own} = ?", other, key)
    elif how == "swap":
        taken = f"(SELECT {rest} FROM {table} WHERE {own} = ?)"
        database.change(f"UPDATE {table} SET ({rest}) = {taken} WHERE {own} = ?", other, key)
    elif seen.held.image is not None:
        for row in seen.held.image.table(table, f"WHERE {own} = ?", key):
            database.change(f"REPLACE INTO {table} VALUES ({', '.join('?' * len(names))})", *row)


def test_a_row_that_stands_twice_in_the_pages_is_refused(desk: Desk) -> None:
    """No statement writes this: the number of the first row in a page becomes that of the second."""
    with closing(sqlite3.connect(desk.file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((page,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'series'")
        ((size,),) = database.execute("PRAGMA page_size")
    data = bytearray(desk.file.read_bytes())
    start = (page - 1) * size
    cell = start + int.from_bytes(data[start + 8 : start + 10], "big")
    assert (data[start], data[cell + 1]) == (13, 1), "a leaf whose first row has the number 1"
    data[cell + 1] = 2
    desk.file.write_bytes(data)
    with pytest.raises(LedgerRefused, match="its file is damaged"):
        desk.open().reserve(town("next"))


@pytest.mark.parametrize("index", ["one_live_entry", "one_live_sample"])
def test_an_index_that_lacks_a_row_of_its_table_is_refused(desk: Desk, index: str) -> None:
    _remove_from(desk.file, index)
    with pytest.raises(LedgerRefused, match="its indexes are damaged"):
        desk.open().reserve(town("next"))


@pytest.mark.parametrize("index", ["one_live_entry", "one_live_sample"])
def test_no_charge_relies_on_a_wrong_entry_of_an_index(desk: Desk, index: str) -> None:
    """The number of entries is right, so another release is charged. A second charge of the same release or sample is
    refused by the journal, and a comparison of the whole ledger finds the entry."""
    held, end = "b/1/old-read", {"one_live_entry": "release_id)", "one_live_sample": "sample)"}[index]
    wrong = end.replace(")", " || 'x')")
    with closing(sqlite3.connect(desk.file)) as database:
        row = database.execute("SELECT * FROM entries WHERE release_id = ?", (held,)).fetchone()
    edit(desk.file, "DELETE FROM entries WHERE release_id = ?", held)
    _define(desk.file, index, end, wrong)
    edit(desk.file, f"INSERT INTO entries VALUES ({', '.join('?' * len(row))})", *row)
    _define(desk.file, index, wrong, end)
    desk.open().void(desk.open().reserve(town("next")).release_id)
    if index == "one_live_entry":
        with pytest.raises(LedgerRefused, match="entries differ from its journal"):
            desk.open().reserve(town(held.removeprefix("b/1/")))
    with pytest.raises(LedgerRefused, match="was already released by"):
        desk.open().reserve(town("other", "old-read"))
    with pytest.raises(VerificationFailed, match="its indexes are damaged, perhaps not its rows"):
        desk.open().verify()
    edit(desk.file, "REINDEX")
    desk.open().verify()


def _remove_from(file: Path, index: str) -> None:
    """Write a row again while the index has another definition, so that the table is the same as before."""
    with closing(sqlite3.connect(file)) as database:
        row = database.execute("SELECT * FROM entries WHERE number = 2").fetchone()
    edit(file, "DELETE FROM entries WHERE number = 2")
    _define(file, index, "!= 'void'", "== 'none'")
    edit(file, f"INSERT INTO entries VALUES ({', '.join('?' * len(row))})", *row)
    _define(file, index, "== 'none'", "!= 'void'")


def _define(file: Path, index: str, *words: str) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("PRAGMA writable_schema=1")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ?", (*words, index))


# --- an image that is damaged ---


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    return followed_lines(monkeypatch)


DAMAGES: dict[str, Callable[[bytes, int], bytes]] = {
    "absent": lambda data, at: data[:at],
    "the byte before it absent": lambda data, at: data[: at - 1],
    "cut": lambda data, _: data[:-4096],
    "longer": lambda data, _: data + b"\0",
    "a flag flipped": lambda data, at: data[: at + 5000] + bytes([data[at + 5000] ^ 1]) + data[at + 5001 :],
    "cells swapped": lambda data, at: data[:at] + data[at:].replace(b"committed", b"withheld!").replace(b"d", b"e", 1),
    "zeros": lambda data, at: data[:at] + bytes(len(data) - at),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_image_is_not_used_and_the_journal_is_followed_from_its_first_line(
    desk: Desk, how: str, followed: list[int]
) -> None:
    data = desk.position.read_bytes()
    at = data.index(b"SQLite format 3\0")
    desk.position.write_bytes(DAMAGES[how](data, at))
    assert not desk.read().has_state
    assert desk.read().rows() == {}
    desk.open().reserve(town("next"))
    assert followed[0] == 1
    edit(desk.file, "UPDATE entries SET destination = 'x' WHERE number = 2")
    desk.position.write_bytes(DAMAGES[how](data, at))
    with pytest.raises(LedgerRefused, match="its rows of entries differ"):
        desk.open().reserve(town("another"))


@pytest.mark.parametrize("image", [b"", b"no database", bytes(8192), "of another table"])
def test_an_image_that_is_signed_and_no_image_is_not_used(
    desk: Desk, image: bytes | str, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(":memory:")) as other:
        other.execute("CREATE TABLE entries (number INTEGER PRIMARY KEY)")
        stored = other.serialize() if isinstance(image, str) else image
    saved = position.state_bytes
    monkeypatch.setattr(position, "state_bytes", lambda held: saved(held).partition(b"\n")[0] + b"\n" + stored)
    monkeypatch.setattr(ledgers, "POSITION_STEP", 1)
    desk.position.unlink()
    desk.open().attest()
    monkeypatch.setattr(ledgers, "POSITION_STEP", 1000)
    assert desk.read().has_state
    assert desk.read().replay() is None
    followed.clear()
    desk.open().reserve(town("next"))
    assert followed[0] == 1


def test_a_position_that_can_not_be_replaced_stays_whole(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process dies before the new file takes the place of the old one: JSON and image are one file."""
    before = desk.position.read_bytes()
    monkeypatch.setattr(ledgers, "POSITION_STEP", 1)
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", _fail)
        patch.setattr("os.rename", _fail)
        desk.open().attest()
    assert desk.position.read_bytes() == before
    assert desk.read().replay() is not None


def _fail(*_: object, **__: object) -> None:
    raise OSError


def test_where_sqlite_can_not_attach_an_image_rows_are_compared_one_by_one(
    desk: Desk, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    last = desk.read().stated.number
    monkeypatch.setattr("crowdgate.ledger.sqlite.ATTACHED", "main")  # attached under this name already
    desk.open().reserve(town("next"))
    assert followed[0] == last + 1
    edit(desk.file, "UPDATE entries SET destination = 'x' WHERE number = 2")
    with pytest.raises(LedgerRefused, match="its rows of entries differ"):
        desk.open().reserve(town("another"))


def test_where_sqlite_can_not_attach_an_image_all_indexes_are_checked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    _remove_from(desk.file, "one_live_entry")
    monkeypatch.setattr("crowdgate.ledger.sqlite.ATTACHED", "main")
    with pytest.raises(LedgerRefused, match="is damaged"):
        desk.open().reserve(town("next"))


# --- lookups ---


def test_a_state_that_sqlite_would_change_has_no_image() -> None:
    good = (1, "a/1/1", "d", "p", "1/1", "1/9", "reserved", False, *[None] * 6)
    rows: dict[str, dict[int, tuple[Any, ...]]] = {table: {} for table in IMAGED}
    assert ChargeImage.of({**rows, ENTRIES: {1: good}}).table(ENTRIES) == [good]
    for at, value in ((2, 5), (7, 2), (1, None)):
        with pytest.raises((ValueError, sqlite3.Error)):
            ChargeImage.of({**rows, ENTRIES: {1: (*good[:at], value, *good[at + 1 :])}})


def test_a_row_is_found_by_a_key_of_its_type_alone_as_in_a_dictionary(desk: Desk) -> None:
    seen = desk.read().replay()
    assert seen is not None
    held: Any = seen.held
    for key in ("1", b"1", 1.5, None, 99):
        assert held.rows[ENTRIES].get(key) is None
        assert held.rows[SERIES].get(key) is None
    assert held.rows[ENTRIES][1] == held.rows[ENTRIES][1.0]
    assert held.rows[ENTRIES][1][7] is True
    assert (held.charged.get("b/1/old-given"), held.charged.get(b"a/1/1")) == (None, None)
    assert held.samples == {("town", "old-read"): "b/1/old-read"}
    assert held.samples.get(("town", None)) is None


def test_a_release_that_was_given_back_and_charged_again_counts_with_its_last_digest(desk: Desk) -> None:
    ledger = desk.open()
    first = ledger.reserve(replace(town("again"), policy_digest="other"))
    ledger.void(first.release_id)
    ledger.reserve(town("again"))
    for start in (desk.open(), ledger):
        held = start.state()
        assert held.other_digest("b/1", "d") is None
        assert held.other_digest("b/1", "e") == "b/1/again"
        assert held.other_digest("b", "e") is None
    assert [each.number for each in desk.open().last_entries("b", 2, lambda _: True)] == [
        first.number,
        first.number + 1,
    ]


def test_whatever_is_read_from_an_image_is_what_the_whole_journal_says(desk: Desk) -> None:
    whole = desk.open()
    whole.attest()
    followed = whole.state()
    assert followed.image is None
    with desk.replay() as (seen, _):
        head = [head_of(whole.id, (seen.number, seen.digest), "2030-01-01", held) for held in (seen.held, followed)]
        assert head[0] == head[1]
        assert len(head[0].open) == 4
        places = [sorted(contents.destinations(held)) for held in (seen.held, followed)]
        assert places[0] == places[1]
        assert {state for *_, state in places[0]} == {"committed", "published"}
        assert contents.charges(seen.held).get("b/1/old-read") == contents.charges(followed)["b/1/old-read"]
        assert contents.charges(seen.held) == contents.charges(followed)
        for name, population in ((None, None), ("b", None), (None, "town"), ("a", "us-cps"), ("c", None), ("", "town")):
            for most in (1, 4, 20):
                last = [contents.last_entries(held, name, most, bool, population) for held in (seen.held, followed)]
                assert last[0] == last[1]
                assert bool(last[0]) == (name in (None, "a", "b"))
        for part in ("rows", "charged", "samples", "accesses", "last"):
            assert getattr(seen.held, part) == getattr(followed, part)


steps = st.lists(
    st.tuples(st.sampled_from(["set", "del", "get", "all"]), st.sampled_from("abcd"), st.integers(1, 3)), max_size=12
)


@settings(max_examples=examples(200), deadline=None)
@given(first=st.dictionaries(st.sampled_from("abc"), st.integers(1, 3)), steps=steps, most=st.integers(0, 4))
def test_a_lazy_mapping_is_a_dictionary(first: dict[str, int], steps: list[tuple[str, str, int]], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy_mapping, "MOST_LOOKUPS", most)
        lazy, plain = LazyMapping(first.get, lambda: dict(first)), dict(first)
        for what, key, value in steps:
            if what == "set":
                lazy[key] = plain[key] = value
            elif what == "del" and key in plain:
                del lazy[key], plain[key]
            elif what == "del":
                with pytest.raises(KeyError):
                    del lazy[key]
            elif what == "all":
                assert (dict(lazy), sorted(lazy.values()), len(lazy)) == (plain, sorted(plain.values()), len(plain))
            assert (lazy.get(key), key in lazy) == (plain.get(key), key in plain)
        assert lazy == plain
