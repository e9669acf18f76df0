"""Changes of a ledger's file behind its back are refused at the next charge."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import LedgerRefused, VerificationFailed
from crowdgate.ledger import contents
from crowdgate.ledger.journal import chain_line
from crowdgate.ledger.ledger import ChargeRequest, Ledger, State, create, open_ledger
from crowdgate.ledger.replay import JournalReplay
from crowdgate.ledger.signatures import is_signed_by
from crowdgate.signing import keys
from crowdgate.signing.keys import SigningKey
from tests.ledger.books import BUDGET, ONE, append, asked, cells, edit


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/ledger.db"


@pytest.fixture
def ledger(url: str) -> Ledger:
    """Make a ledger with two releases, one of them published, a raise, a freeze and a thaw."""
    made = open_ledger(url, create(url, "test"))
    for slot in ("2030-01-01", "2030-01-02"):
        made.reserve(asked(f"a/1/{slot}", "flow"))
    made.begin_reading("a/1/2030-01-01")
    made.commit("a/1/2030-01-01", State.COMMITTED, "sha256:ab", "releases", "salted")
    made.published("a/1/2030-01-01")
    made.raise_budget("us-cps", None, 400_000, "more people")
    made.freeze("us-cps", True, "a complaint")
    made.freeze("us-cps", False, "settled")
    return made


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    keys.create(tmp_path / "own.key")
    return keys.signing_key((tmp_path / "own.key").read_bytes(), "own.key")


def other(column: str, value: object) -> object:
    if column in ("reading", "frozen"):
        return not value
    return value + 100 if isinstance(value, int) else "x" if value is None else f"{value}0"


def test_tables_are_compared_in_the_same_order_whatever_letters_the_names_have(url: str) -> None:
    """Python and SQLite must order them alike, also above the 65,536 first code points."""
    made = open_ledger(url, create(url, "test"))
    names = ("zoo", "Zoo", "\u00e4rzte", "\uff5e", "\U0001f600", "zo")
    for at, name in enumerate(names):
        made.reserve(ChargeRequest(f"a/{at}/1", "d", f"of-{name}", replace(BUDGET, population=name), ONE))
    again = open_ledger(url, None)
    again.verify()
    assert {each.population for each in again.budgets()} == {*names}


@pytest.mark.thorough
def test_every_cell_that_was_changed_is_noticed_before_the_next_charge(url: str, ledger: Ledger) -> None:
    """Covers a ledger that is opened anew, and one that has compared everything before."""
    path, whole = ledger.path, ledger.path.with_suffix(".whole")
    shutil.copy(path, whole)
    ledger.attest()
    for table, column, rowid, value in cells(path):
        edit(path, f"UPDATE {table} SET {column} = ? WHERE rowid = ?", other(column, value), rowid)
        with pytest.raises(LedgerRefused):
            open_ledger(url, None).reserve(asked("a/1/2030-01-03"))
        with pytest.raises(LedgerRefused):
            open_ledger(url, None).entries()
        shutil.copy(whole, path)
    open_ledger(url, None).reserve(asked("a/1/2030-01-03"))


@pytest.mark.thorough
@pytest.mark.parametrize("table", ["entries", "populations", "contracts", "totals", "freezes", "journal"])
def test_rows_that_were_taken_away_are_noticed(url: str, ledger: Ledger, table: str) -> None:
    edit(ledger.path, f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})")
    with pytest.raises(LedgerRefused) as refused:
        open_ledger(url, None).reserve(asked("a/1/2030-01-03"))
    assert refused.value.code == "edited"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE totals SET epsilon = '0/1'",
        "UPDATE populations SET epsilon = '400/1'",
        "DELETE FROM entries WHERE number = 1",
        "UPDATE entries SET state = 'void' WHERE number = 1",
        "UPDATE contracts SET population = 'us-cps' WHERE 1",
        "DELETE FROM journal WHERE number > 4",
        "UPDATE freezes SET frozen = 1",
    ],
)
def test_rows_that_decide_are_looked_at_again_under_the_lock(ledger: Ledger, statement: str) -> None:
    """The ledger object had already compared everything before the rows were changed."""
    ledger.attest()
    edit(ledger.path, "PRAGMA foreign_keys = OFF")
    edit(ledger.path, statement)
    if "contracts" in statement:
        edit(ledger.path, "UPDATE contracts SET contract = 'other'")
    with pytest.raises(LedgerRefused):
        ledger.reserve(asked("a/1/2030-01-01"))


ACTING = {
    "a trigger": "CREATE TRIGGER cheaper AFTER INSERT ON entries BEGIN UPDATE totals SET epsilon = '0/1'; END",
    "a view": "CREATE VIEW more AS SELECT * FROM entries",
    "a table": "CREATE TABLE more (number INTEGER)",
    "an index less": "DROP INDEX one_live_entry",
    "a column more": "ALTER TABLE entries ADD COLUMN more TEXT",
}


@pytest.mark.thorough
@pytest.mark.parametrize("what", ACTING)
def test_what_is_no_part_of_a_ledger_is_refused(url: str, ledger: Ledger, what: str) -> None:
    edit(ledger.path, ACTING[what])
    with pytest.raises(LedgerRefused, match="differ from those that Crowdgate makes"):
        open_ledger(url, None).reserve(asked("a/1/2030-01-03"))
    with pytest.raises(VerificationFailed):
        open_ledger(url, None).verify()


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", ["1e999999999", "0.5", "1", "-1/1", "1/0", "1" * 301 + "/1"])
def test_amounts_of_another_form_are_refused_and_never_computed(url: str, ledger: Ledger, epsilon: str) -> None:
    """The chain agrees; computing 1e999999999 would take hours."""
    row = {"population": "us-cps", "epsilon": epsilon, "delta": "1/100000000", "people": 500_000, "unit": "row"}
    row["relation"] = "add-remove"
    append(ledger, "budget.raised", "us-cps", [("populations", row)], reason="more")
    with pytest.raises(LedgerRefused):
        open_ledger(url, None).reserve(asked("a/1/2030-01-04"))


ODD = [
    "", "[1]", "{}", "null", '{"rows":1}', '{"rows":[1]}', '{"rows":[{"table":"entries","row":{}}]}', "[" * 20_000,
    '{"rows":[{"table":"nope","row":{}}]}', '{"rows":[{"table":"entries","row":{"number":[1]}}]}', '{"a":1}x',
]  # fmt: skip


def test_a_trigger_that_comes_while_a_release_runs_or_under_another_name_is_refused(url: str, ledger: Ledger) -> None:
    ledger.attest()
    edit(ledger.path, ACTING["a trigger"])
    with pytest.raises(LedgerRefused, match="triggers or views"):
        ledger.record("note", "x")
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute("PRAGMA writable_schema=1")
        change = "UPDATE sqlite_master SET name = 'sqlite_t', sql = replace(sql, 'TRIGGER cheaper', 'TRIGGER sqlite_t')"
        connection.execute(f"{change} WHERE type = 'trigger'")
    with pytest.raises(LedgerRefused):
        open_ledger(url, None).record("note", "x")
    with pytest.raises(VerificationFailed):
        open_ledger(url, None).verify()


@pytest.mark.thorough
@pytest.mark.parametrize("detail", ODD, ids=range(len(ODD)))
def test_lines_that_follow_and_say_nothing_that_can_be_read_are_refused(url: str, ledger: Ledger, detail: str) -> None:
    """The lines are written by a forger who knows how the chain is computed."""
    last = ledger.head()
    line = chain_line(last.digest, last.number + 1, "entry.reserved", "a/1/2030-01-03", None, detail)
    edit(ledger.path, "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)", *line)
    for look in (lambda: open_ledger(url, None).reserve(asked("a/1/2030-01-04")), open_ledger(url, None).journal):
        with pytest.raises(LedgerRefused):
            look()
    with pytest.raises(VerificationFailed):
        open_ledger(url, None).verify()


def test_a_writer_that_does_not_add_up_writes_nothing(
    ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "spent", lambda *_: ONE - ONE)
    with pytest.raises(LedgerRefused, match="a ledger can't take"):
        ledger.reserve(asked("a/1/2030-01-03"))
    monkeypatch.undo()
    open_ledger(url, None).verify()
    ledger.reserve(asked("a/1/2030-01-03"))


@pytest.mark.usefixtures("ledger")
def test_what_others_wrote_in_the_meantime_is_followed(url: str) -> None:
    one, two = open_ledger(url, None), open_ledger(url, None)
    for at in range(3, 5):
        for each in (one, two):
            if each.spent("us-cps").epsilon < 4:
                each.reserve(asked(f"a/1/2030-01-{at:02}-{id(each)}"))
    assert one.verify() == two.verify()


def test_only_what_is_new_is_followed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.attest()
    seen: list[int] = []
    honest = JournalReplay.add

    def add(self: JournalReplay, number: int, *said: Any) -> None:
        seen.append(number)
        honest(self, number, *said)

    monkeypatch.setattr(JournalReplay, "add", add)
    before = ledger.head().number
    ledger.record("note", "x")
    ledger.record("note", "y")
    assert seen == [before + 1, before + 2]


def test_with_a_key_the_last_line_must_be_signed(url: str, ledger: Ledger, key: SigningKey) -> None:
    keyed = open_ledger(url, None, signer=key, trusted=[key.public])
    with pytest.raises(LedgerRefused, match="ledger sign"):
        keyed.reserve(asked("a/1/2030-01-03"))
    keyed.sign()
    keyed.reserve(asked("a/1/2030-01-03"))
    assert keyed.verify() == ledger.head()
    with pytest.raises(LedgerRefused, match="is signed, and no key signs here"):
        ledger.record("note", "by a working copy that names no key")
    append(ledger, "note", "by somebody without the key")
    with pytest.raises(LedgerRefused, match="ledger sign"):
        keyed.reserve(asked("a/1/2030-01-04"))
    with pytest.raises(VerificationFailed, match="signed by no trusted key"):
        keyed.verify()


def test_a_chain_that_was_computed_anew_is_told_by_key_and_anchor_alone(
    url: str, ledger: Ledger, key: SigningKey
) -> None:
    keyed = open_ledger(url, None, signer=key, trusted=[key.public])
    anchor = keyed.sign()
    path = ledger.path
    moved = path.with_name("moved.db")
    shutil.move(path, moved)
    forged = create(url, "test")
    first = open_ledger(url, forged).head()
    said = (first.detail or "").replace(forged, ledger.id)
    anew_line = chain_line("", 1, first.event, ledger.id, None, said)
    edit(path, "UPDATE ledger SET id = ?", ledger.id)
    edit(path, "UPDATE journal SET subject = ?, detail = ?, digest = ?", ledger.id, said, anew_line.digest)
    anew = open_ledger(url, ledger.id)
    anew.attest()
    assert not anew.holds(anchor.number, anchor.digest)
    with pytest.raises(LedgerRefused):
        open_ledger(url, None, trusted=[key.public]).attest()


@pytest.mark.usefixtures("ledger")
def test_nothing_is_written_where_it_would_be_refused_for_its_missing_signature(url: str, key: SigningKey) -> None:
    open_ledger(url, None, signer=key, trusted=[key.public]).sign()
    before = open_ledger(url, None).head()
    with pytest.raises(LedgerRefused, match="none of these keys signs here"):
        open_ledger(url, None, trusted=[key.public]).reserve(asked("a/1/2030-01-03"))
    assert open_ledger(url, None).head() == before


@pytest.mark.usefixtures("ledger")
def test_a_signature_is_of_this_ledger_and_this_line(url: str, key: SigningKey, tmp_path: Path) -> None:
    keyed = open_ledger(url, None, signer=key, trusted=[key.public])
    line = keyed.sign()
    keys.create(tmp_path / "other.key")
    stranger = keys.signing_key((tmp_path / "other.key").read_bytes(), "other.key")
    with keyed._reading() as database:
        assert is_signed_by(database, keyed.id, line, [key.public])
        assert not is_signed_by(database, keyed.id, line, [stranger.public])
        assert not is_signed_by(database, "another-00000000", line, [key.public])
        assert not is_signed_by(database, keyed.id, line._replace(digest="0" * 64), [key.public])
