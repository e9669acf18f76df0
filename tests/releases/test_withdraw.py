"""A withdrawn release: its data are gone, a tombstone says why, the cost stays, and every command knows it."""

import json
import re
import shutil
from itertools import count
from pathlib import Path

import pytest

from crowdgate.errors import VerificationFailed
from crowdgate.ledger.ledger import State, open_ledger
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.publish.file_names import STAGING
from crowdgate.releases.withdraw import withdraw
from crowdgate.verification.release import verify
from tests.ledger.books import cut_after
from tests.releases.killing import finish_until
from tests.workshop import Workshop, crowdgate, make_workshop

SLOT = "2030-01-01"
ID = f"clinic/1/{SLOT}"
REASON = "The ward north was coded wrongly"


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Make a working copy with one release."""
    workshop = make_workshop(tmp_path / "w")
    monkeypatch.chdir(workshop.root)
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    return workshop


@pytest.fixture
def signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Make a working copy with a key and one release."""
    workshop = make_workshop(tmp_path / "w")
    monkeypatch.chdir(workshop.root)
    assert crowdgate("keys", "create", "own.key") == 0
    workshop.edit(workshop.root / "crowdgate.toml", "ledger =", 'signing_key = "own.key"\nledger =')
    assert crowdgate("ledger", "sign") == 0
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    return workshop


def names(workshop: Workshop) -> set[str]:
    return {path.name for path in workshop.release_dir(SLOT).iterdir()}


def bury() -> int:
    return crowdgate("withdraw", ID, "--reason", REASON)


def test_the_data_are_removed_and_the_cost_stays(published: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    spent = open_ledger(published.ledger, None).spent("clinic-patients")
    digest = open_ledger(published.ledger, None).entry(ID)
    assert bury() == 0
    assert names(published) == {"withdrawn.json"}
    stone = json.loads((published.release_dir(SLOT) / "withdrawn.json").read_bytes())
    ledger = open_ledger(published.ledger, None)
    entry = ledger.entry(ID)
    assert entry is not None
    assert digest is not None
    assert stone["subject"] == [{"name": ID, "digest": {"sha256": digest.manifest_digest}}]
    assert stone["predicate"]["reason"] == REASON
    assert (entry.state, ledger.spent("clinic-patients")) == (State.WITHDRAWN, spent)
    assert ledger.holds(stone["predicate"]["ledger"]["line"], stone["predicate"]["ledger"]["digest"])
    assert crowdgate("ledger", "verify") == 0
    capsys.readouterr()
    assert crowdgate("ledger", "show") == 0
    assert f"{ID} withdrawn: {REASON}" in capsys.readouterr().out


def test_a_second_run_says_so_and_keeps_the_first_reason(
    published: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bury() == 0
    lines = len(open_ledger(published.ledger, None).journal())
    capsys.readouterr()
    assert crowdgate("withdraw", ID, "--reason", "another", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["repeated"], told["reason"]) == (True, REASON)
    assert len(open_ledger(published.ledger, None).journal()) == lines


def test_the_id_is_never_released_again(published: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert bury() == 0
    assert crowdgate("release", published.policy, "--as-of", SLOT) == 5
    assert REASON in capsys.readouterr().err
    assert names(published) == {"withdrawn.json"}
    assert crowdgate("release", published.policy, "--as-of", "2030-01-02") == 0


def test_verification_fails_and_says_why(published: Workshop, tmp_path: Path) -> None:
    copy = shutil.copytree(published.release_dir(SLOT), tmp_path / "copy")
    assert bury() == 0
    with pytest.raises(VerificationFailed, match=REASON) as failed:
        verify(published.release_dir(SLOT))
    assert failed.value.code == "withdrawn"
    assert verify(copy)
    with pytest.raises(VerificationFailed, match=f"withdrawn on .*{REASON}"):
        verify(copy, ledger=published.ledger)


def test_pages_show_that_it_was_withdrawn(published: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert bury() == 0
    for name in (ID, str(published.release_dir(SLOT))):
        capsys.readouterr()
        assert crowdgate("report", "release", name) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert "WITHDRAWN" in told
        assert REASON in told
    assert crowdgate("report", "index", "pages") == 0
    page = (published.root / "pages" / "index.html").read_text()
    assert "1 withdrawn" in page
    assert REASON in page
    assert crowdgate("replay", published.policy) in (0, 3, 6)
    assert crowdgate("check", published.policy) == 0
    assert crowdgate("report", "budget", "clinic-patients") == 0


def test_an_older_ledger_is_refused_by_the_tombstone(
    published: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = shutil.copytree(published.root / "ledger", tmp_path / "older")
    assert bury() == 0
    shutil.rmtree(published.root / "ledger")
    shutil.copytree(older, published.root / "ledger")
    assert crowdgate("release", published.policy, "--as-of", "2030-01-02") == 5
    assert "withdrawn.json" in capsys.readouterr().err
    assert crowdgate("ledger", "verify") == 6


def test_a_key_signs_the_tombstone_and_the_catalogue_lists_it(signed: Workshop) -> None:
    folder, public = signed.release_dir(SLOT), signed.root / "own.key.pub"
    assert crowdgate("release", signed.policy, "--as-of", "2030-01-02") == 0
    assert bury() == 0
    assert names(signed) == {"withdrawn.json", "withdrawn.dsse.json"}
    assert crowdgate("catalogue", "verify", "releases", "--key", public) == 0
    assert crowdgate("ledger", "verify") == 0
    with pytest.raises(VerificationFailed, match="a trusted key signed the tombstone"):
        verify(folder, keys=[public])
    (folder / "data.csv").write_text("x")
    assert crowdgate("catalogue", "verify", "releases", "--key", public) == 6
    (folder / "data.csv").unlink()
    text = (folder / "withdrawn.json").read_text()
    (folder / "withdrawn.json").write_text(text.replace(REASON, "No reason"))
    assert crowdgate("catalogue", "verify", "releases", "--key", public) == 6
    with pytest.raises(VerificationFailed, match="is not what was signed"):
        verify(folder, keys=[public])
    assert bury() == 0
    assert (folder / "withdrawn.json").read_text() == text
    shutil.rmtree(folder)
    assert crowdgate("catalogue", "verify", "releases", "--key", public) == 6


def test_the_last_release_of_a_destination_is_listed_as_withdrawn(signed: Workshop) -> None:
    assert bury() == 0
    assert crowdgate("catalogue", "verify", "releases", "--key", signed.root / "own.key.pub") == 0


def test_an_older_ledger_is_refused_by_a_signed_tombstone(
    signed: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = shutil.copytree(signed.root / "ledger", tmp_path / "older")
    assert bury() == 0
    (signed.root / "releases" / "catalogue.dsse.json").unlink()
    shutil.rmtree(signed.root / "ledger")
    shutil.copytree(older, signed.root / "ledger")
    assert crowdgate("release", signed.policy, "--as-of", "2030-01-02") == 5
    assert "withdrawn.dsse.json" in capsys.readouterr().err


def test_what_is_not_published_is_not_withdrawn(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workshop.root)
    assert bury() == 5
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 900")
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 3
    lines = len(open_ledger(workshop.ledger, None).journal())
    assert bury() == 5
    assert len(open_ledger(workshop.ledger, None).journal()) == lines


def test_what_cant_be_removed_is_not_withdrawn(published: Workshop) -> None:
    (published.release_dir(SLOT) / "notes").mkdir()
    before, lines = names(published), len(open_ledger(published.ledger, None).journal())
    assert bury() == 1
    assert (names(published), len(open_ledger(published.ledger, None).journal())) == (before, lines)


def test_a_release_whose_files_are_gone_gets_its_tombstone(published: Workshop) -> None:
    shutil.rmtree(published.release_dir(SLOT))
    assert bury() == 1
    assert open_ledger(published.ledger, None).withdrawal(ID) is None
    assert crowdgate("withdraw", ID, "--reason", REASON, "--lost") == 0
    assert names(published) == {"withdrawn.json"}


def test_another_working_copy_of_the_same_ledger_withdraws_nothing(
    published: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = make_workshop(tmp_path / "other")
    monkeypatch.chdir(other.root)
    before = names(published)
    assert crowdgate("withdraw", ID, "--reason", REASON, "--ledger", published.ledger) == 1
    assert "Run this in the working copy that published the release" in capsys.readouterr().err
    assert open_ledger(published.ledger, None).withdrawal(ID) is None
    assert names(published) == before


@pytest.mark.thorough
@pytest.mark.parametrize("keyed", [False, True])
def test_a_withdrawal_that_an_older_copy_lacks_is_restored(
    keyed: bool, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop: Workshop = request.getfixturevalue("signed" if keyed else "published")
    file = workshop.root / "ledger" / "ledger.db"
    older, whole = file.read_bytes(), open_ledger(workshop.ledger, None).spent("clinic-patients")
    assert bury() == 0
    for end in ("-wal", "-shm"):
        Path(f"{file}{end}").unlink(missing_ok=True)
    file.write_bytes(older)
    assert crowdgate("ledger", "verify") == 6
    assert crowdgate("ledger", "restore") == 0
    ledger = open_ledger(workshop.ledger, None)
    entry = ledger.entry(ID)
    assert entry is not None
    assert entry.state is State.WITHDRAWN
    assert ledger.spent("clinic-patients") == whole
    assert crowdgate("ledger", "verify") == 0
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 5
    capsys.readouterr()
    assert crowdgate("withdraw", ID, "--reason", "another reason") == 0
    assert REASON in (workshop.release_dir(SLOT) / "withdrawn.json").read_text(encoding="utf-8")
    assert crowdgate("ledger", "verify") == 0


@pytest.mark.thorough
def test_a_tombstone_that_states_no_cost_is_booked_at_that_of_its_policy(published: Workshop) -> None:
    """Without keys anybody who can write the destination can lower what a file there states."""
    file, whole = published.root / "ledger" / "ledger.db", open_ledger(published.ledger, None)
    spent = whole.spent("clinic-patients")
    assert bury() == 0
    stone = published.release_dir(SLOT) / "withdrawn.json"
    stone.write_bytes(re.sub(rb'("(?:epsilon|delta)": ?)"[^"]*"', rb'\1"0"', stone.read_bytes()))
    cut_after(file, 1)
    (published.root / "releases" / STAGING / f"{whole.id}.head").unlink()
    for path in (file.parent / "private").iterdir():
        path.unlink()
    assert crowdgate("ledger", "restore") == 0
    assert spent.within(open_ledger(published.ledger, None).spent("clinic-patients"))


def _withdraw(home: Path) -> None:
    withdraw(ID, REASON, home, ledger_at(home, None))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["fsync", "replace", "unlink", "open"])
def test_a_withdrawal_that_is_killed_at_any_call_is_finished_by_the_same_call(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_workshop(tmp_path / "made")
    assert crowdgate("release", made.policy, "--as-of", SLOT) == 0
    for nth in count(1):
        home = Path(shutil.copytree(made.root, tmp_path / str(nth)))
        workshop = Workshop(home)
        if not finish_until(_withdraw, (home,), name, nth):
            break
        ledger = open_ledger(workshop.ledger, None)
        ledger.verify()
        entry = ledger.entry(ID)
        assert entry is not None
        assert ledger.spent("clinic-patients").epsilon == 2
        whole = {"manifest.json", "data.csv", "data.parquet"} <= names(workshop)
        assert entry.state is State.WITHDRAWN or (whole and verify(workshop.release_dir(SLOT), workshop.ledger))
        monkeypatch.chdir(home)
        assert bury() == 0
        assert names(workshop) == {"withdrawn.json"}
        assert sum(line.event == "release.withdrawn" for line in ledger.journal()) == 1
        assert crowdgate("ledger", "verify") == 0
    assert nth > 1
