"""A private record is kept for a stated time and then deleted: journalled first, its values nowhere, the cost kept."""

import json
import shutil
from datetime import date, datetime, timedelta
from itertools import count
from pathlib import Path
from unittest.mock import Mock

import pytest

from crowdgate.errors import LedgerRefused
from crowdgate.ledger.access_log import RECORD_DELETED
from crowdgate.ledger.ledger import Ledger, open_ledger
from crowdgate.ledger.private import PART, private_file
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases import record_retention
from crowdgate.releases.record_retention import delete_record
from tests.conformance.lives import say
from tests.releases.killing import finish_until
from tests.workshop import Workshop, crowdgate, make_workshop

SLOT = "2030-01-01"
ID = f"clinic/1/{SLOT}"
VALUE = "ZZVALUEZZ"


@pytest.fixture
def ended(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Make a working copy with one release, whose record holds a marked value as that of a crash may."""
    monkeypatch.chdir(workshop.root)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    mark(workshop)
    return workshop


def mark(workshop: Workshop) -> Path:
    path = record(workshop)
    path.write_text(path.read_text().replace('"published"', f'"{VALUE}"'))
    path.with_name(PART).write_text(VALUE)
    assert VALUE in path.read_text()
    return path


def record(workshop: Workshop) -> Path:
    ledger = open_ledger(workshop.ledger, None)
    return private_file(ledger.path, ledger.id, ID)


def everything(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


def deletions(workshop: Workshop) -> list[str]:
    return [each.subject for each in open_ledger(workshop.ledger, None).journal() if each.event == RECORD_DELETED]


def test_the_values_of_a_deleted_record_are_nowhere_and_the_cost_stays(ended: Workshop) -> None:
    ledger = open_ledger(ended.ledger, None)
    spent, before = ledger.spent("clinic-patients"), ledger.entry(ID)
    assert VALUE.encode() in everything(ended.root)
    assert say("record", "delete", ID).code == 0
    assert VALUE.encode() not in everything(ended.root)
    assert (ledger.spent("clinic-patients"), ledger.entry(ID)) == (spent, before)
    assert deletions(ended) == [ID]
    assert say("ledger", "verify").code == 0
    assert f"private record of {ID} deleted (line" in say("ledger", "show").out
    shown = say("record", "show", ID)
    assert shown.code == 5
    assert "was deleted on" in shown.err
    assert say("report", "release", ID).code == 0


def test_a_second_deletion_says_so_and_adds_no_line(ended: Workshop) -> None:
    assert say("record", "delete", ID).code == 0
    again = say("record", "delete", ID)
    assert (again.code, deletions(ended)) == (0, [ID])
    assert "was deleted before" in again.out


def test_nothing_is_removed_if_the_deletion_cant_be_recorded(ended: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise LedgerRefused("full")

    monkeypatch.setattr(Ledger, "record", refuse)
    assert say("record", "delete", ID).code == 5
    assert record(ended).exists()


def test_a_record_that_the_ledger_does_not_know_is_not_deleted(ended: Workshop) -> None:
    ledger = open_ledger(ended.ledger, None)
    stranger = private_file(ledger.path, ledger.id, "clinic/1/2031-01-01")
    shutil.copy(record(ended), stranger)
    stranger.write_text("{}")
    with pytest.raises(LedgerRefused) as refused:
        delete_record("clinic/1/2031-01-01", ledger)
    assert refused.value.code == "edited"
    assert stranger.exists()
    assert say("record", "delete", "clinic/1/2032-01-01").code == 5


def test_a_deletion_informs_no_policy(ended: Workshop) -> None:
    assert say("record", "delete", ID).code == 0
    ended.edit(ended.policy, "version: 1,", "version: 2,")
    assert say("release", ended.policy, "--as-of", "2030-01-02").code == 0
    said = json.loads((ended.root / "releases" / "clinic" / "2" / "2030-01-02" / "manifest.json").read_bytes())
    assert "informed" not in said["facts"]


def test_a_record_expires_on_its_day_and_is_then_deleted(ended: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = say("record", "delete", "--expired")
    assert (missing.code, "private_record_days = 365" in missing.err) == (2, True)
    text = (ended.root / "crowdgate.toml").read_text()
    (ended.root / "crowdgate.toml").write_text(text + "private_record_days = 30\n")
    (listed,) = say("record", "list", "--json").json()["records"]
    expiry = datetime.fromisoformat(f"{listed['expires']}T00:00:00Z")
    assert (listed["record"], expiry.date() - date.fromisoformat(listed["written"])) == (ID, timedelta(days=30))
    monkeypatch.setattr(record_retention, "datetime", Mock(now=lambda _: expiry - timedelta(seconds=1)))
    assert say("record", "delete", "--expired").out == "No private record has expired.\n"
    assert record(ended).exists()
    monkeypatch.setattr(record_retention, "datetime", Mock(now=lambda _: expiry))
    assert say("record", "delete", "--expired").code == 0
    assert deletions(ended) == [ID]
    assert not record(ended).exists()


@pytest.mark.thorough
@pytest.mark.parametrize("days", ["0", "-1", "true", '"30"', "1.5"])
def test_a_retention_that_is_no_number_of_days_is_refused(ended: Workshop, days: str) -> None:
    text = (ended.root / "crowdgate.toml").read_text()
    (ended.root / "crowdgate.toml").write_text(f"{text}private_record_days = {days}\n")
    refused = say("record", "list")
    assert (refused.code, "a whole number of days" in refused.err) == (2, True)


def test_an_audits_record_is_listed_and_deleted_with_its_page(ended: Workshop) -> None:
    ledger = open_ledger(ended.ledger, None)
    name = "anonymity/clinic/0123"
    path = private_file(ledger.path, ledger.id, name)
    path.write_text(f'{{"salt": "{VALUE}"}}')
    path.with_suffix(".html").write_text(VALUE)
    ledger.record("confidential-anonymity-recorded", "clinic", record_retention._digest(path))
    assert {each["record"] for each in say("record", "list", "--json").json()["records"]} == {ID, name}
    assert say("record", "delete", name).code == 0
    assert not path.exists()
    assert not path.with_suffix(".html").exists()


def _delete(home: Path) -> None:
    delete_record(ID, ledger_at(home, None))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["fsync", "unlink", "open"])
def test_a_deletion_that_is_killed_at_any_call_is_finished_by_the_same_call(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_workshop(tmp_path / "made")
    assert crowdgate("release", made.policy, "--as-of", SLOT) == 0
    for nth in count(1):
        workshop = Workshop(Path(shutil.copytree(made.root, tmp_path / str(nth))))
        mark(workshop)
        if not finish_until(_delete, (workshop.root,), name, nth):
            break
        assert record(workshop).exists() or deletions(workshop) == [ID]
        monkeypatch.chdir(workshop.root)
        assert say("record", "delete", ID).code == 0
        assert deletions(workshop) == [ID]
        assert VALUE.encode() not in everything(workshop.root)
        assert open_ledger(workshop.ledger, None).spent("clinic-patients").epsilon == 2
    assert nth > 1
