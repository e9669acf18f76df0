"""An attested position saves reads from following old lines, and does not change their results."""

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.errors import LedgerRefused, VerificationFailed
from crowdgate.ledger import ledger as ledgers
from crowdgate.ledger import position
from crowdgate.ledger.access_log import RECORD_OPENED, TABLE_AUDITED, is_informed
from crowdgate.ledger.journal import digest_of, lines
from crowdgate.ledger.journal_rules import JournalState
from crowdgate.ledger.ledger import Budget, ChargeRequest, Ledger, Spend, State, create, open_ledger
from crowdgate.ledger.position import position_file, read_position
from crowdgate.ledger.private import FOLDER
from crowdgate.ledger.replay import JournalReplay
from crowdgate.ledger.schema import ENTRIES
from crowdgate.ledger.sqlite import SqliteStore
from crowdgate.ledger.store import Database
from crowdgate.planning.outside_findings import _attested
from crowdgate.signing import keys
from crowdgate.signing.keys import SigningKey
from tests.examples import examples
from tests.ledger.books import BUDGET, ONE, append, asked, edit, followed_lines

POPULATIONS, DIGESTS = ("p", "q"), ("old", "new")
RELEASES = tuple(f"{policy}/{version}/{slot}" for policy in "ab" for version in "12" for slot in "12")
NAMES = ("own", "retired", "stranger")


@pytest.fixture(scope="module")
def signers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SigningKey]:
    folder = tmp_path_factory.mktemp("keys")
    for name in NAMES:
        keys.create(folder / name)
    return {name: keys.signing_key((folder / name).read_bytes(), name) for name in NAMES}


@pytest.fixture(autouse=True)
def every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a position after each line."""
    monkeypatch.setattr(ledgers, "POSITION_STEP", 1)


@dataclass(frozen=True)
class Desk:
    """A ledger in a folder, and the trusted keys of its working copy; the first one signs."""

    folder: Path
    trusted: tuple[SigningKey, ...]

    @classmethod
    def create(cls, folder: Path, *trusted: SigningKey) -> "Desk":
        folder.mkdir(mode=0o700)
        create(f"sqlite:///{folder}/ledger.db", "desk", trusted[0])
        return cls(folder, trusted)

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder}/ledger.db"

    def open(self, reading: bool = False) -> Ledger:
        """Open the ledger as a new process does."""
        signer = None if reading else self.trusted[0]
        return open_ledger(self.url, None, signer=signer, trusted=[key.public for key in self.trusted], reading=reading)

    @property
    def position(self) -> Path:
        return position_file(self.folder / "ledger.db", self.open(reading=True).id)

    def attest(self) -> bytes:
        """Return the position that a process leaves after following the whole journal."""
        self.open().attest()
        return self.position.read_bytes()


# --- histories, and what a ledger says ---

Step = tuple[str, str, str, str]
steps = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "reserve", "read", "publish", "withhold", "void", "raise", "freeze", "thaw"])
        | st.sampled_from(["opened", "audited", "note", "private"]),
        st.sampled_from(RELEASES),
        st.sampled_from(POPULATIONS),
        st.sampled_from(DIGESTS),
    ),
    max_size=14,
)


def budget(population: str) -> Budget:
    return replace(BUDGET, population=population)


def write(ledger: Ledger, history: list[Step]) -> None:
    """Run each step, as far as the ledger allows it."""
    for step in history:
        with suppress(LedgerRefused):
            _write(ledger, *step)


def _write(ledger: Ledger, what: str, release: str, population: str, digest: str) -> None:
    sample = "spring" if release.endswith("2") else None
    cost = Spend(Fraction(1, 3), Fraction("1e-9"))
    request = ChargeRequest(release, digest, f"of-{population}", budget(population), cost, sample, holder="flow")
    does: dict[str, Callable[[], object]] = {
        "reserve": lambda: ledger.reserve(request),
        "read": lambda: ledger.begin_reading(release),
        "publish": lambda: ledger.commit(release, State.COMMITTED, "ab", "releases", None),
        "withhold": lambda: ledger.commit(release, State.WITHHELD, None, None, "salted"),
        "void": lambda: ledger.void(release),
        "raise": lambda: ledger.raise_budget(population, None, len(ledger.journal()) + 300_000, "more people"),
        "freeze": lambda: ledger.freeze(population, True, "a complaint"),
        "thaw": lambda: ledger.freeze(population, False, "settled"),
        "opened": lambda: ledger.record(RECORD_OPENED, release),
        "audited": lambda: ledger.record(TABLE_AUDITED, population),
        "note": lambda: ledger.record("note", population, digest),
        "private": lambda: ledger.note_private(release, digest),
    }
    does[what]()


def answers(desk: Desk, reading: bool = True) -> list[object]:
    """Return all results of a process's reads, or the text of its refusal."""
    try:
        ledger = desk.open(reading)
    except LedgerRefused as refused:
        return [str(refused)]
    asks: list[Callable[[], object]] = [ledger.entries, ledger.budgets, partial(ledger.recorded, "note")]
    for population in POPULATIONS:
        asks += [partial(ledger.spent, population), partial(ledger.frozen, population)]
        for digest in DIGESTS:
            asks.append(partial(ledger.informed, population, digest))
            for version in ("a/1", "b/2"):
                asks.append(
                    partial(ledger.check, f"of-{population}", budget(population), version, digest, sample="spring")
                )
    asks += [partial(ask, release) for release in RELEASES for ask in (ledger.entry, ledger.place)]
    asks.append(partial(ledger.last_entries, "a", 2, lambda each: each.state is not State.VOID))
    asks += [partial(ledger.last_entries, None, 3, lambda each: not each.lease, each) for each in POPULATIONS]
    return [_answer(ask) for ask in asks]


def _answer(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except LedgerRefused as refused:
        return str(refused)


def whole(desk: Desk) -> list[object]:
    """Return the results of the reads without a position file."""
    place = desk.position
    if place.is_dir():
        place.rmdir()
    place.unlink(missing_ok=True)
    return answers(desk)


# --- tampering with a position ---


@dataclass(frozen=True)
class Positions:
    """Genuine positions of the ledger, current and earlier, and of other ledgers."""

    latest: bytes
    earlier: bytes
    other_ledger: bytes
    stranger: bytes


TAMPERINGS = (
    *("none", "earlier", "other ledger", "stranger", "flipped", "cut", "swapped", "edited", "empty", "folder", "link"),
)
tamperings = st.tuples(st.sampled_from(TAMPERINGS), st.floats(0, 1), st.integers(1, 255))
modes = st.sampled_from([0o600, 0o660, 0o666, 0o400, 0o000])


def put(path: Path, found: Positions, how: str, share: float, mask: int, mode: int) -> None:
    """Put a tampered position in its place."""
    path.unlink(missing_ok=True)
    if how == "folder":
        path.mkdir()
        return
    if how == "link":
        path.symlink_to(path.with_name("nowhere"))
        return
    at = int(share * (len(found.latest) - 1))
    data = {
        "none": found.latest,
        "earlier": found.earlier,
        "other ledger": found.other_ledger,
        "stranger": found.stranger,
        "flipped": found.latest[:at] + bytes([found.latest[at] ^ mask]) + found.latest[at + 1 :],
        "cut": found.latest[:at],
        "swapped": b"\n}\n".join([found.latest.partition(b"\n}\n")[0], found.earlier.partition(b"\n}\n")[2]]),
        "edited": found.latest.replace(b'"note":[', b'"note":[["forged",null],'),
        "empty": b"",
    }[how]
    path.write_bytes(data)
    path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, 41_001 if mask % 2 else 0, -1)


EDITS = (
    "UPDATE entries SET state = 'void' WHERE number = 1",
    "UPDATE entries SET epsilon = '0/1'",
    "UPDATE totals SET epsilon = '0/1'",
    "DELETE FROM populations WHERE population = 'p'",
    "UPDATE populations SET epsilon = '400/1'",
    "UPDATE freezes SET frozen = 1 - frozen",
    "INSERT INTO contracts VALUES ('of-p', 'q') ON CONFLICT DO UPDATE SET population = 'q'",
    "DELETE FROM signatures",
    "CREATE TABLE more (number INTEGER)",
    "CREATE VIEW more AS SELECT * FROM entries",
    "DROP INDEX one_live_entry",
)
edits = st.none() | st.sampled_from(EDITS)


@pytest.mark.thorough
@settings(max_examples=examples(20), deadline=None)
@given(before=steps, between=steps, after=steps, tampering=tamperings, mode=modes, damage=edits)
def test_reads_say_what_they_say_when_the_whole_journal_is_followed(
    signers: dict[str, SigningKey],
    before: list[Step],
    between: list[Step],
    after: list[Step],
    tampering: tuple[str, float, int],
    mode: int,
    damage: str | None,
) -> None:
    own, retired, stranger = (signers[name] for name in NAMES)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk.create(Path(folder) / "one", own)
        write(desk.open(), before)
        earlier = desk.attest()
        write(desk.open(), between)
        latest, path = desk.attest(), desk.position
        found = Positions(latest, earlier, _other(Path(folder), own), _signed_by(desk, stranger))
        write(desk.open(), after)
        put(path, found, *tampering, mode)
        if damage is not None:
            edit(desk.folder / "ledger.db", damage)
        said = answers(desk)
        assert said == whole(desk)
        if tampering[0] == "none":
            path.write_bytes(latest)
            _assert_retired_key_counts_for_nothing(desk, retired, said)


@pytest.mark.thorough
@settings(max_examples=examples(20), deadline=None)
@given(before=steps, between=steps, after=steps, tampering=tamperings, mode=modes, damage=edits, then=steps)
def test_changes_do_what_they_do_when_the_whole_journal_is_followed(
    signers: dict[str, SigningKey],
    before: list[Step],
    between: list[Step],
    after: list[Step],
    tampering: tuple[str, float, int],
    mode: int,
    damage: str | None,
    then: list[Step],
) -> None:
    """Every change is made by a process of its own, on one copy from the position and on the other without one."""
    own, _, stranger = (signers[name] for name in NAMES)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        desk = Desk.create(Path(folder) / "one", own)
        write(desk.open(), before)
        earlier = desk.attest()
        write(desk.open(), between)
        latest, path = desk.attest(), desk.position
        found = Positions(latest, earlier, _other(Path(folder), own), _signed_by(desk, stranger))
        write(desk.open(), after)
        put(path, found, *tampering, mode)
        if damage is not None:
            edit(desk.folder / "ledger.db", damage)
        plain = Desk(Path(folder) / "plain", desk.trusted)
        plain.folder.mkdir(mode=0o700)
        shutil.copy(desk.folder / "ledger.db", plain.folder / "ledger.db")
        patch.setattr(ledgers, "POSITION_STEP", 1000)
        patch.setattr(SqliteStore, "now", lambda *_: "2030-01-01T00:00:00Z")
        for step in [*then, ("reserve", RELEASES[0], "p", "old"), ("note", RELEASES[0], "q", "new")]:
            assert _change(desk, step) == _change(plain, step)
        assert answers(desk) == answers(plain)


def _change(desk: Desk, step: Step) -> object:
    """Return what one change returns, without times and digests, or the text of its refusal."""
    try:
        _write(desk.open(), *step)
    except LedgerRefused as refused:
        return str(refused).replace(str(desk.folder), "")
    return None


@pytest.mark.thorough
@pytest.mark.parametrize("how", TAMPERINGS)
def test_every_tampering_is_tried_on_a_ledger_that_holds_a_bit_of_everything(
    signers: dict[str, SigningKey], tmp_path: Path, how: str
) -> None:
    own, _, stranger = (signers[name] for name in NAMES)
    desk = Desk.create(tmp_path / "one", own)
    early, late = ("a/1/1", "p", "old"), ("b/2/2", "p", "new")
    write(desk.open(), [("audited", "a/1/2", "q", "old"), ("reserve", *early), ("read", *early)])
    earlier = desk.attest()
    write(desk.open(), [("opened", *early), ("reserve", *late), ("note", *late)])
    found = Positions(desk.attest(), earlier, _other(tmp_path, own), _signed_by(desk, stranger))
    write(desk.open(), [("read", *late), ("private", *early), ("freeze", *early)])
    put(desk.position, found, how, 0.5, 1, 0o600)
    assert answers(desk) == whole(desk)


def _other(folder: Path, own: SigningKey) -> bytes:
    other = Desk.create(folder / "two", own)
    write(other.open(), [("audited", RELEASES[0], "p", "old"), ("reserve", RELEASES[0], "p", "new")])
    return other.attest()


def _signed_by(desk: Desk, stranger: SigningKey) -> bytes:
    """Return a position of this ledger with more than its journal, signed by an untrusted key."""
    ledger, seen = desk.open(), JournalReplay()
    with ledger._transaction(writing=False) as database:
        seen.follow(database)
    seen.held.recorded["note"].append(("forged", None))
    kept = desk.position.read_bytes()
    position.write_position(ledger.path, ledger.id, seen, stranger)
    forged = desk.position.read_bytes()
    desk.position.write_bytes(kept)
    return forged


def _assert_retired_key_counts_for_nothing(desk: Desk, retired: SigningKey, said: list[object]) -> None:
    """Check that a position counts for nothing once the key that signed it is no longer trusted."""
    later = replace(desk, trusted=(retired,))
    assert read_position(desk.folder / "ledger.db", desk.open(reading=True).id, [retired.public]) is None
    with suppress(LedgerRefused):
        later.open().sign()
    assert answers(later) == whole(later)
    assert len(answers(later)) == len(said)


@pytest.mark.thorough
@settings(max_examples=examples(50), deadline=None)
@given(before=steps, after=steps)
def test_a_restored_state_is_the_one_that_was_saved_and_goes_on_as_it_would(
    signers: dict[str, SigningKey], before: list[Step], after: list[Step]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk.create(Path(folder) / "one", signers["own"])
        write(desk.open(), before)
        desk.attest()
        found = read_position(desk.folder / "ledger.db", desk.open().id, [signers["own"].public])
        assert found is not None
        restored = found.replay()
        write(desk.open(), after)
        ledger, followed = desk.open(), JournalReplay()
        assert restored is not None
        with ledger._transaction(writing=False) as database:
            _follow(followed, database, restored.number)
            assert _parts(restored.held) == _parts(followed.held)
            restored.follow(database)
            followed.follow(database)
        assert _parts(restored.held) == _parts(followed.held)
        for population in POPULATIONS:
            for digest in DIGESTS:
                told = is_informed(ledger.journal(), population, digest)
                assert restored.held.accesses.is_informed(population, digest) is told


def test_rows_that_earlier_versions_stored_as_json_are_read_and_never_replayed(
    signers: dict[str, SigningKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, early = Desk.create(tmp_path / "one", signers["own"]), ("a/1/1", "p", "old")
    write(desk.open(), [("reserve", *early), ("read", *early), ("reserve", "b/2/2", "q", "new")])
    found = []
    for stored in (position.state_bytes, *EARLIER.values()):
        monkeypatch.setattr(position, "state_bytes", stored)
        desk.attest()
        kept = read_position(desk.folder / "ledger.db", desk.open().id, [signers["own"].public])
        assert kept is not None
        assert (kept.replay() is None) == (stored in EARLIER.values())
        found.append({name: [*map(tuple, rows)] for name, rows in kept.rows().items()})
        assert replace(kept, data=kept.data[:-1]).rows() == {}
        kept.path.unlink()
    assert found[0] == found[1] == found[2]
    assert len(found[0][ENTRIES]) == 2


@pytest.mark.parametrize("old", [None, "rows", "columns"])
def test_an_older_copy_finds_the_charges_that_a_position_of_any_version_holds(
    old: str | None, signers: dict[str, SigningKey], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, copy = Desk.create(tmp_path / "one", signers["own"]), tmp_path / "older.db"
    write(desk.open(), [("reserve", "a/1/1", "p", "old")])
    shutil.copy(desk.folder / "ledger.db", copy)
    if old is not None:
        monkeypatch.setattr(position, "state_bytes", EARLIER[old])
    write(desk.open(), [("reserve", "b/2/2", "q", "new")])
    desk.attest()
    shutil.copy(copy, desk.folder / "ledger.db")
    ledger = desk.open()
    ledger.ignore_position()
    found = {each.release_id: each.spend for each in _attested(ledger)}
    assert found == dict.fromkeys(("a/1/1", "b/2/2"), Spend(Fraction(1, 3), Fraction("1e-9")))


def state_in_rows(held: JournalState) -> bytes:
    """Return the stored form of a state in an earlier version, which stored rows."""
    return json.dumps({"rows": {name: list(rows.values()) for name, rows in held.rows.items()}}).encode()


def state_in_columns(held: JournalState) -> bytes:
    """Return the stored form of a state in an earlier version, which stored columns, some with positions of values."""
    columns = {name: [_column(cells) for cells in zip(*rows.values(), strict=True)] for name, rows in held.rows.items()}
    return json.dumps({**held.saved(), "columns": columns}).encode()


def _column(cells: Sequence[Any]) -> object:
    values = list(dict.fromkeys(cells))
    return {"values": values, "places": [*map(values.index, cells)]} if len(values) == 1 else cells


EARLIER = {"rows": state_in_rows, "columns": state_in_columns}


def _follow(replay: JournalReplay, database: Database, until: int) -> None:
    for line in lines(database):
        if line.number <= until:
            replay.add(*line)


def _parts(held: JournalState) -> dict[str, Any]:
    """Return everything in a state, with totals as text and without zero ones."""
    spent = {name: tuple(map(str, both)) for name, both in held._spent.items()}
    rest = {"_spent": spent, "recorded": dict(held.recorded), "order": list(held.rows[ENTRIES]), "image": None}
    return {**vars(held), **rest}


# --- when a position is used, and what is still found ---


@pytest.fixture
def desk(tmp_path: Path, signers: dict[str, SigningKey]) -> Desk:
    made = Desk.create(tmp_path / "ledger", signers["own"])
    ledger = made.open()
    for slot in range(1, 4):
        ledger.reserve(asked(f"a/1/{slot}", "flow"))
    ledger.begin_reading("a/1/1")
    made.attest()
    return made


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    return followed_lines(monkeypatch)


def test_reads_and_changes_follow_only_what_came_after_the_position_and_reads_of_lines_everything(
    desk: Desk, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "POSITION_STEP", 1000)
    last = desk.open().head().number
    kept = desk.position.read_bytes()
    desk.open().record("note", "x")
    desk.position.write_bytes(kept)
    ledgers_read = [desk.open(reading=True) for _ in range(6)]
    reads: list[Callable[[], object]] = [
        partial(ledgers_read[0].check, "census", BUDGET),
        partial(ledgers_read[1].spent, "us-cps"),
        partial(ledgers_read[2].informed, "us-cps", "d"),
        partial(ledgers_read[5].place, "a/1/2"),
    ]
    for look in reads:
        followed.clear()
        look()
        assert followed == [last + 1]
    everything: list[Callable[[], object]] = [ledgers_read[3].journal, ledgers_read[4].verify, desk.open().attest]
    for look in everything:
        followed.clear()
        look()
        assert followed == list(range(1, last + 2))
    followed.clear()
    ledger = desk.open()
    ledger.check("census", BUDGET)
    ledger.holds(last, "0")
    assert followed == [last + 1]
    ledger.reserve(asked("a/1/4"))
    assert followed == [last + 1, last + 2]
    followed.clear()
    desk.open(reading=True).holds(last - 1, "0")
    assert followed[-last - 2 :] == list(range(1, last + 3))


def test_a_change_far_behind_the_position_follows_everything_and_keeps_a_new_one(
    desk: Desk, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a change finds an old line that was edited, too, at the latest after so many lines."""
    monkeypatch.setattr(ledgers, "POSITION_STEP", 3)
    kept = desk.position.read_bytes()
    for at in range(3):
        assert desk.position.read_bytes() == kept
        desk.open().record("note", f"{at}")
    followed.clear()
    desk.open().record("note", "x")
    assert followed[0] == 1
    assert desk.position.read_bytes() != kept


def test_a_lease_that_is_older_than_the_position_is_taken_over_only_if_its_line_agrees(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "POSITION_STEP", 1000)
    assert desk.open().reserve(asked("a/1/2", "flow")).line.subject == "a/1/2"
    edit(desk.folder / "ledger.db", "UPDATE journal SET digest = 'x' WHERE subject = 'a/1/2'")
    with pytest.raises(LedgerRefused, match="of its journal was changed"):
        desk.open().reserve(asked("a/1/2", "flow"))


@pytest.mark.parametrize("chained", [False, True])
def test_the_line_of_a_charge_that_is_older_than_the_position_is_compared_with_it_by_the_chain(
    desk: Desk, chained: bool
) -> None:
    """Also if the digests of the lines before the position's were computed anew."""
    honest = desk.open(reading=True).place("a/1/2")
    assert honest.day is not None
    assert honest.number < desk.open().head().number
    edit(desk.folder / "ledger.db", f"UPDATE journal SET detail = replace(detail, '{honest.day}', '2001-01-01')")
    if chained:
        _chain_anew(desk)
    with pytest.raises(LedgerRefused, match="of its journal was changed"):
        desk.open(reading=True).place("a/1/2")


def _chain_anew(desk: Desk) -> None:
    with closing(sqlite3.connect(desk.folder / "ledger.db")) as database:
        digest = ""
        for number, *said in database.execute(
            "SELECT number, event, subject, commitment, detail FROM journal ORDER BY number"
        ).fetchall()[:-1]:
            digest = digest_of(digest, number, *said)
            database.execute("UPDATE journal SET digest = ? WHERE number = ?", (digest, number))
        database.commit()


def test_a_head_that_names_an_older_line_than_the_position_is_compared_with_the_whole_journal(desk: Desk) -> None:
    edit(desk.folder / "ledger.db", "UPDATE journal SET digest = 'x' WHERE number = 2")
    with pytest.raises(LedgerRefused, match="line 2 of its journal was changed"):
        desk.open().missing_lines([(2, "x")])


def test_nothing_is_charged_behind_a_position_in_a_file_with_a_damaged_index(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index against a second charge of a release is emptied in the file, so that the database lets one in."""
    monkeypatch.setattr(ledgers, "POSITION_STEP", 1000)
    _empty_index(desk.folder / "ledger.db", "one_live_entry")
    for slot in ("a/1/2", "a/1/9"):
        with pytest.raises(LedgerRefused, match="its indexes are damaged"):
            desk.open().reserve(asked(slot, "other digest"))


def _empty_index(file: Path, name: str) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((page,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,))
        ((size,),) = database.execute("PRAGMA page_size")
    with file.open("r+b") as pages:
        pages.seek((page - 1) * size)
        pages.write(b"\x0a" + bytes(4) + size.to_bytes(2, "big") + b"\0")  # a leaf of an index without cells


def test_only_who_followed_the_whole_journal_keeps_a_position(desk: Desk) -> None:
    before = desk.position.read_bytes()
    desk.open().record("note", "x")
    desk.position.write_bytes(before)
    desk.open().check("census", BUDGET)
    assert desk.position.read_bytes() == before
    desk.open().attest()
    assert desk.position.read_bytes() != before


def test_what_other_rules_folded_is_followed_anew_and_replaced(
    desk: Desk, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = desk.position.read_bytes()
    monkeypatch.setattr(position, "_rules_digest", lambda: "0" * 64)
    desk.open().check("census", BUDGET)
    assert followed[0] == 1
    assert desk.position.read_bytes() != before
    followed.clear()
    desk.open().check("census", BUDGET)
    assert followed == []


def test_the_rules_are_those_of_every_file_that_folds() -> None:
    names = {Path(str(module.__file__)).stem for module in position._RULES}
    state = {"access_log", "journal", "journal_rules", "replay", "schema", "totals", "transitions", "values"}
    image = {"charge_image", "lazy_mapping"}
    assert names == state | image | {"filter_rules", "filters", "lifetime", "renyi", "renyi_filter", "series"}


def test_without_a_key_there_is_no_position(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    ledger = open_ledger(url, create(url, "plain"))
    ledger.reserve(asked("a/1/1"))
    open_ledger(url, None).attest()
    assert not (tmp_path / FOLDER).exists()


def test_a_key_that_its_own_working_copy_does_not_trust_keeps_none(
    tmp_path: Path, signers: dict[str, SigningKey]
) -> None:
    desk = Desk.create(tmp_path / "ledger", signers["own"])
    trusted = [signers["own"].public]
    open_ledger(desk.url, None, signer=signers["stranger"], trusted=trusted).attest()
    assert not desk.position.exists()


def test_a_ledger_whose_last_line_nobody_signed_is_not_attested(desk: Desk) -> None:
    desk.position.unlink()
    append(desk.open(), "note", "x")
    with pytest.raises(LedgerRefused, match="signed by no trusted key"):
        desk.open().attest()
    with pytest.raises(LedgerRefused, match="signed by no trusted key"):
        desk.open().check("census", BUDGET)
    desk.open().spent("us-cps")
    assert not desk.position.exists()


def test_it_is_its_owners_alone_and_who_may_only_read_writes_none(desk: Desk) -> None:
    assert (desk.position.stat().st_mode & 0o777, desk.position.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    desk.position.unlink()
    desk.open(reading=True).check("census", BUDGET)
    assert not desk.position.exists()


def test_where_it_can_not_be_written_nothing_fails(desk: Desk) -> None:
    shutil.rmtree(desk.position.parent)
    desk.position.parent.write_bytes(b"no folder")
    desk.open().attest()
    desk.open().check("census", BUDGET)
    assert desk.position.parent.read_bytes() == b"no folder"


def test_a_new_position_is_kept_after_so_many_lines(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before = desk.position.read_bytes()
    monkeypatch.setattr(ledgers, "POSITION_STEP", 3)
    for more in range(1, 4):
        desk.open().record("note", f"{more}")
        desk.open().check("census", BUDGET)
        desk.open().attest()
        assert (desk.position.read_bytes() == before) is (more < 3)


def test_one_that_would_be_too_large_is_not_written(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.position.unlink()
    monkeypatch.setattr(position, "LARGEST_POSITION", 1000)
    desk.open().attest()
    assert not desk.position.exists()


def test_an_old_line_that_was_edited_is_found_by_whoever_reads_lines(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Totals come from the attested state in that case, so they stay true, and a charge adds to them."""
    monkeypatch.setattr(ledgers, "POSITION_STEP", 1000)
    said = desk.open(reading=True).spent("us-cps")
    edit(desk.folder / "ledger.db", "UPDATE journal SET subject = 'a/1/9' WHERE number = 4")
    for look in (
        lambda: desk.open().sign(),
        lambda: desk.open().attest(),
        lambda: desk.open(reading=True).journal(),
        lambda: desk.open(reading=True).holds(1, "0"),
        lambda: desk.open(reading=True).place("a/1/1"),
    ):
        with pytest.raises(LedgerRefused, match="line 4 of its journal was changed"):
            look()
    with pytest.raises(VerificationFailed, match="line 4 of its journal was changed"):
        desk.open(reading=True).verify()
    assert desk.open(reading=True).spent("us-cps") == said
    assert desk.open().reserve(asked("a/1/4")).spent == said + ONE


CUT = {
    "check": lambda desk: desk.open(reading=True).check("census", BUDGET),
    "read": lambda desk: desk.open(reading=True).entries(),
    "charge": lambda desk: desk.open().reserve(asked("a/1/9")),
    "lines": lambda desk: desk.open(reading=True).journal(),
}


@pytest.mark.thorough
@pytest.mark.parametrize("look", CUT)
@pytest.mark.parametrize("more", [0, 5])
def test_a_ledger_that_lacks_the_attested_line_is_refused_in_words(desk: Desk, look: str, more: int) -> None:
    """Covers an older copy, also one that continued by itself and has as many lines again."""
    file, older = desk.folder / "ledger.db", desk.folder / "older"
    shutil.copy(file, older)
    for at in range(2):
        desk.open().record("note", f"{at}")
    attested = desk.attest()
    shutil.copy(older, file)
    desk.position.unlink()
    for at in range(more):
        desk.open().record("other", f"{at}")
    desk.position.write_bytes(attested)
    with pytest.raises(LedgerRefused, match="after restoring it, remove that file") as refused:
        CUT[look](desk)
    assert refused.value.code == "edited"
    with pytest.raises(VerificationFailed, match="does not have line"):
        desk.open(reading=True).verify()
    desk.position.unlink()
    CUT[look](desk)


def test_lines_that_were_taken_away_are_refused_as_before(desk: Desk) -> None:
    edit(desk.folder / "ledger.db", "DELETE FROM journal WHERE number = (SELECT max(number) FROM journal)")
    said = answers(desk)
    assert said == whole(desk)
    assert "differ from its journal" in str(said[0])


def test_a_position_that_is_newer_than_what_a_reader_sees_refuses_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others write lines and a position just after the reader's transaction began."""
    honest, racing = SqliteStore.transaction, [True]

    @contextmanager
    def transaction(self: SqliteStore, writing: bool) -> Iterator[Database]:
        with honest(self, writing) as database:
            list(database.rows("SELECT 1 FROM ledger"))
            if racing.pop() if racing else False:
                desk.open().record("note", "x")
                desk.attest()
            yield database

    reader = desk.open(reading=True)
    monkeypatch.setattr(SqliteStore, "transaction", transaction)
    assert reader.recorded("note") == []
    assert reader.recorded("note") == [("x", None)]
