"""A ledger of format 1, as that version wrote it, is upgraded to the newest format without loss."""

import copy
import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from crowdgate.errors import LedgerRefused
from crowdgate.ledger.journal_rules import InvalidLine, JournalState
from crowdgate.ledger.ledger import Spend, State, open_ledger
from crowdgate.ledger.upgrade import upgrade
from tests.ledger.books import asked, edit
from tests.workshop import crowdgate

OLD = Path(__file__).with_name("format_1.sql")


@pytest.fixture
def url(tmp_path: Path) -> str:
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        connection.executescript(OLD.read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode=WAL")
    (tmp_path / "ledger.db").chmod(0o600)
    return f"sqlite:///{tmp_path}/ledger.db"


def test_it_is_refused_until_it_is_upgraded_and_then_goes_on(url: str) -> None:
    with pytest.raises(LedgerRefused, match="ledger upgrade"):
        open_ledger(url, None)
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        before = connection.execute("SELECT number, digest FROM journal").fetchall()
    assert crowdgate("ledger", "upgrade", "--ledger", url) == 0
    ledger = open_ledger(url, None)
    assert ledger.spent("us-cps") == Spend(Fraction(7, 3), Fraction("2e-9"))
    assert [(line.number, line.digest) for line in ledger.journal()][: len(before)] == before
    assert ledger.journal()[-1].event == "ledger.upgraded"
    assert ledger.informed("us-cps", "digest-new")
    assert crowdgate("ledger", "verify", "--ledger", url) == 0
    assert crowdgate("ledger", "show", "--ledger", url) == 0
    ledger.reserve(asked("a/2/2030-01-03"))  # its lease had run out: it is given back, and charged anew
    assert ledger.spent("us-cps") == Spend(Fraction(7, 3), Fraction("2e-9"))
    states = [entry.state for entry in ledger.entries()]
    assert states == [State.PUBLISHED, State.VOID, State.VOID, State.RESERVED, State.RESERVED]
    with pytest.raises(LedgerRefused, match="of format 4 already"):
        upgrade(url)


def test_no_line_upgrades_another_ledger(url: str) -> None:
    upgrade(url)
    *before, line = open_ledger(url, None).journal()
    held = JournalState()
    for each in before:
        held.add(each.event, each.subject, each.commitment, each.detail_values)
    said = json.loads(json.dumps(line.detail_values).replace(line.subject, "another-0123abcd"))
    assert said != line.detail_values
    with pytest.raises(InvalidLine):
        copy.deepcopy(held).add(line.event, "another-0123abcd", line.commitment, said)
    held.add(line.event, line.subject, line.commitment, line.detail_values)


def test_one_that_was_edited_is_not_upgraded(url: str) -> None:
    edit(Path(url.removeprefix("sqlite:///")), "UPDATE entries SET epsilon = '1/100' WHERE number = 1")
    before = Path(url.removeprefix("sqlite:///")).read_bytes()
    with pytest.raises(LedgerRefused, match="not upgraded: its rows of entries differ"):
        upgrade(url)
    assert Path(url.removeprefix("sqlite:///")).read_bytes() == before
