"""A ledger that lacks what is kept outside of it is refused by every command, before anything is read or charged."""

import os
import re
import shutil
from pathlib import Path

import pytest

from crowdgate.errors import EnvironmentFault, LedgerRefused
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.heads import head_bytes, read_head
from crowdgate.ledger.ledger import HeadWarning
from crowdgate.ledger.private import private_file
from crowdgate.planning import anchors, outside_state
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases import release as job
from tests.ledger.books import append, compute_anew, head_at
from tests.planning.histories import HEADS, POPULATION, History
from tests.workshop import Workshop, crowdgate

ENTRY = ("--of", "ward", "--to", "kl", "--words", "Patients", "--coverage", "1", "--error", "0", "--epsilon", "0.1",
         "--as-of", "2020-01-01")  # fmt: skip
LAST_TRACE = 29
"""The last line after which a cut leaves the trace of a lost charge or reading, other than a head."""


def commands(workshop: Workshop) -> dict[tuple[str, ...], int]:
    """Return each command, with the exit code by which it refuses a ledger. `kl publish` needs a key."""
    policy, contract = str(workshop.policy), str(workshop.contract)
    keyed: dict[tuple[str, ...], int] = (
        {("kl", "publish", contract, *ENTRY): 5} if (workshop.root / "own.key").exists() else {}
    )
    return {
        **keyed,
        ("ledger", "verify"): 6,
        ("release", policy, "--as-of", "2030-02-01"): 5,
        ("release", policy, "--as-of", "2030-02-01", "--to", "elsewhere"): 5,
        ("ledger", "free", "clinic/2/2030-01-07"): 5,
        ("ledger", "budget", POPULATION, "--raise", "--epsilon", "99", "--reason", "more"): 5,
        ("ledger", "freeze", POPULATION, "--reason", "a complaint"): 5,
        ("record", "show", "clinic/1/2030-01-01"): 5,
        ("audit", policy, "--on-confidential", "--units", "20", "--trials", "20"): 5,
        ("anonymity", contract, "--of", "age"): 5,
    }


def assert_refused(
    history: History, capsys: pytest.CaptureFixture[str], named: str, first: int = 0, every: int = 1
) -> None:
    """Every command refuses the ledger, in words that match `named`, and changes nothing.

    Of the commands, take each `every`-th from `first`.
    """
    root, before = history.workshop.root, history.file.read_bytes()
    files = contents(root)
    for command, code in list(commands(history.workshop).items())[first % every :: every]:
        capsys.readouterr()
        assert crowdgate(*command) == code, command
        said = capsys.readouterr()
        assert re.search(named, said.err), f"{command}: {said.err}"
        assert said.out == ""
    assert history.file.read_bytes() == before
    assert contents(root) == files


def contents(root: Path) -> dict[Path, bytes]:
    """Return the bytes of all files of a working copy but the ledger's."""
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and "ledger.db" not in path.name}


def lost_after(history: History, number: int, heads: str) -> str:
    """Return the pattern of what a refusal names after a cut."""
    keyed = (history.workshop.root / "own.key").exists()
    ids = {line.subject for line in history.ledger.journal()[number:] if line.event.startswith("entry.")}
    assert ids or heads != "none"
    known = "|".join(map(re.escape, sorted(ids)))
    named = f"lacks line {history.lines}" if heads != "none" else f"{known}|left .*private"
    return f"signed by no trusted key|{named}" if keyed else named


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "heads"), [(6, "folder"), (12, "none"), (20, "destination"), (31, "folder")])
def test_a_ledger_that_was_cut_is_refused_and_what_it_lacks_is_named(
    history: History, number: int, heads: str, capsys: pytest.CaptureFixture[str]
) -> None:
    named = lost_after(history, number, heads)
    history.cut(number, heads)
    assert_refused(history, capsys, named)


@pytest.mark.thorough
@pytest.mark.parametrize("heads", HEADS)
def test_a_ledger_that_was_cut_at_any_line_is_refused(
    history: History, heads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line is tried with or without a key, and with a quarter of the commands: eight lines in a row with all."""
    keyed = (history.workshop.root / "own.key").exists()
    for number in range(1 + keyed, LAST_TRACE + 1 if heads == "none" else history.lines, 2):
        copy = history.copy_to(tmp_path / str(number))
        monkeypatch.chdir(copy.workshop.root)
        named = lost_after(copy, number, heads)
        copy.cut(number, heads)
        assert_refused(copy, capsys, named, number // 2, every=4)
        shutil.rmtree(copy.workshop.root)


@pytest.mark.thorough
def test_a_whole_ledger_goes_on(history: History) -> None:
    assert crowdgate("ledger", "verify") == 0
    assert crowdgate("ledger", "free", "clinic/2/2030-01-07") == 0
    assert crowdgate("record", "show", "clinic/1/2030-01-01") == 0
    assert crowdgate("release", history.workshop.policy, "--as-of", "2030-02-01") == 3
    if (history.workshop.root / "own.key").exists():
        published = crowdgate("kl", "publish", history.workshop.contract, *ENTRY)
        assert published in (0, 3)  # 600 patients: withheld but by the noise


@pytest.mark.thorough
@pytest.mark.parametrize("heads", HEADS)
def test_a_chain_that_was_computed_anew_is_refused_whatever_the_policy_names(
    histories: dict[bool, History],
    heads: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = histories[False].copy_to(tmp_path / "own")
    monkeypatch.chdir(history.workshop.root)
    history.leave(heads)
    compute_anew(history.file, history.ledger.id)
    history.workshop.edit(history.workshop.policy, "to: releases", "to: elsewhere")
    assert_refused(history, capsys, "lacks line 32" if heads == "folder" else "does not know clinic/1/2030-01-01")


@pytest.mark.thorough
@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("heads", ["folder", "none"])
def test_a_destination_that_is_gone_stops_a_ledger_without_a_head_elsewhere(
    history: History, heads: str, empty: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk that is not mounted leaves no folder, or an empty one."""
    history.leave(heads)
    (history.workshop.root / "releases").rename(history.workshop.root.parent / "unmounted")
    if empty:
        (history.workshop.root / "releases").mkdir()
    if heads == "none":
        assert_refused(history, capsys, "the destination releases of the ledger .* is gone or empty")
    else:
        assert crowdgate("ledger", "verify") == 0
        assert crowdgate("record", "show", "clinic/1/2030-01-01") == 0


@pytest.mark.thorough
@pytest.mark.parametrize("hidden", ["policy", "folder", "manifest"])
def test_every_command_stops_while_a_policy_or_a_release_can_not_be_read(
    history: History, hidden: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release that the ledger lacks may be hidden there. The patches stand for permissions, as root has all."""
    released = history.workshop.root / "releases" / "clinic" / "1"
    if hidden == "policy":
        (history.workshop.root / "policies" / "other.yaml").write_text("kind: [")
        assert_refused(history, capsys, r"where the policy .*other\.yaml publishes: .* or move it out of policies/")
    elif hidden == "folder":
        forbid(monkeypatch, os, "scandir", released)
        assert_refused(history, capsys, f"{released} can't be read, so which releases lie there is unknown")
    else:
        forbid(monkeypatch, anchors, "read_plain", released / "2030-01-03" / "manifest.json")
        assert_refused(history, capsys, r"2030-01-03/manifest\.json can't be read, so which releases lie there")


def forbid(monkeypatch: pytest.MonkeyPatch, holder: object, name: str, path: Path) -> None:
    """Make a function fail for one path as it does without the permission to read."""
    original = getattr(holder, name)

    def refusing(place: object, *more: object) -> object:
        if str(place) == str(path):
            raise PermissionError(13, "Permission denied")
        return original(place, *more)

    monkeypatch.setattr(holder, name, refusing)


@pytest.mark.thorough
def test_each_source_alone_finds_a_release_that_the_ledger_lacks(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    """The release of the third slot, in a ledger cut before it, with only its files left outside."""
    root, ledger_id = history.workshop.root, history.ledger.id
    later = [f"clinic/{version}/2030-01-0{day}" for version, day in ((1, 3), (2, 6))]
    audits = [path for path in (root / "ledger" / "private").iterdir() if "audit" in path.name or "~any" in path.name]
    history.cut(11, "none")
    for path in [*audits, *(private_file(history.file, ledger_id, name) for name in later)]:
        path.unlink(missing_ok=True)
    for path in (root / "ledger" / "private").glob("*anonymity*"):
        path.unlink()
    assert_refused(history, capsys, "clinic/1/2030-01-03")  # its manifest
    shutil.rmtree(root / "releases" / "clinic" / "1" / "2030-01-03")
    (root / "releases" / "catalogue.dsse.json").unlink(missing_ok=True)
    assert crowdgate("ledger", "verify") == 0
    private_file(history.file, ledger_id, later[0]).write_text("{}")
    assert_refused(history, capsys, "does not know clinic/1/2030-01-03")


@pytest.mark.thorough
def test_only_signed_heads_count_where_keys_are_trusted(
    histories: dict[bool, History], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise write access to a folder of heads would be enough to stop all runs."""
    for keyed, code in ((False, 6), (True, 0)):
        history = histories[keyed].copy_to(tmp_path / str(keyed))
        monkeypatch.chdir(history.workshop.root)
        head = history.workshop.root / "heads" / f"{history.ledger.id}.head"
        stated = read_head(histories[False].workshop.root / "heads" / f"{histories[False].ledger.id}.head",
                           histories[False].ledger.id, ())  # fmt: skip
        assert stated is not None
        forged = stated.model_dump_json(indent=1).replace(stated.ledger, history.ledger.id)
        plain = head_bytes(type(stated).model_validate_json(forged.replace('"line": 32', '"line": 99')), None)
        head.write_bytes(plain)
        assert crowdgate("ledger", "verify") == code


def test_a_folder_of_heads_that_can_not_be_written_stops_a_run_before_its_charge(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(history.workshop.root / "heads")
    before = history.file.read_bytes()
    assert crowdgate("release", history.workshop.policy, "--as-of", "2030-02-01") == 1
    assert "the head of the ledger" in capsys.readouterr().err
    assert history.file.read_bytes() == before


def test_a_head_that_fails_after_the_charge_is_reported_and_written_by_the_next_command(history: History) -> None:
    run = job.prepare(Request(history.workshop.policy, "2030-02-01"))
    assert not isinstance(run, Result)
    (history.workshop.root / "heads").rename(history.workshop.root / "away")
    with pytest.warns(HeadWarning, match="the next command writes it"):
        assert not isinstance(job.reserve(run), Result)
    (history.workshop.root / "away").rename(history.workshop.root / "heads")
    head = history.workshop.root / "heads" / f"{run.ledger.id}.head"
    stale = read_head(head, run.ledger.id, run.ledger.trusted)
    assert stale is not None
    assert stale.line == history.lines
    assert crowdgate("record", "show", "clinic/1/2030-01-01") == 0
    now = read_head(head, run.ledger.id, run.ledger.trusted)
    assert now is not None
    assert now.line == history.lines + 2


def test_two_copies_that_go_on_at_once_are_told_apart_under_the_lock(
    histories: dict[bool, History], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both pass the comparison before either writes; they share a folder of heads."""
    history = histories[False].copy_to(tmp_path / "own")
    monkeypatch.chdir(history.workshop.root)
    first = ledger_at(history.workshop.root, None)
    first.admit()
    kept = history.file.read_bytes()
    second = ledger_at(history.workshop.root, None)
    second.admit()
    second.record("note", "of the original")
    for end in ("-wal", "-shm"):
        Path(f"{history.file}{end}").unlink(missing_ok=True)
    history.file.write_bytes(kept)
    with pytest.raises(LedgerRefused, match="lacks line 33"):
        first.record("note", "of the copy")


def test_a_head_is_not_replaced_by_an_older_line(history: History) -> None:
    late, early = (ledger_at(history.workshop.root, None) for _ in range(2))
    late.admit()
    early.admit()
    line = early.head()
    held = early.state()
    late.record("note", "later")
    early._keep_heads(held, line)
    found = read_head(head_at(history.workshop.root / "releases", late.id), late.id, late.trusted)
    assert found is not None
    assert found.line == history.lines + 1


@pytest.mark.thorough
def test_a_gate_without_both_comparisons_lets_a_cut_ledger_pass(
    history: History, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Releases and private files are all that reveals it here; each alone does (`test_each_source_alone...`)."""
    named = lost_after(history, 12, "none")
    history.cut(12, "none")
    assert_refused(history, capsys, named)
    monkeypatch.setattr(outside_state, "unknown_releases", lambda *_, **__: iter(()))
    monkeypatch.setattr(outside_state, "unknown_private_files", lambda *_: [])
    assert crowdgate("ledger", "verify") == 0


def test_a_garbled_head_at_a_destination_is_replaced(history: History) -> None:
    head = head_at(history.workshop.root / "releases", history.ledger.id)
    head.write_bytes(b"{")
    assert crowdgate("record", "show", "clinic/1/2030-01-01") == 0
    assert read_head(head, history.ledger.id, ()) is not None


def test_a_head_in_a_configured_folder_that_does_not_count_or_can_not_be_read_is_a_fault(history: History) -> None:
    """It may be all that reveals an older copy, so it is neither ignored nor overwritten."""
    head = history.workshop.root / "heads" / f"{history.ledger.id}.head"
    for damaged in (b"{", head.read_bytes()[:-3]):
        head.write_bytes(damaged)
        assert crowdgate("record", "show", "clinic/1/2030-01-01") == 1
        assert crowdgate("ledger", "verify") == 1
        assert head.read_bytes() == damaged
    head.unlink()
    head.mkdir()
    with pytest.raises(EnvironmentFault, match="can't be read there"):
        ledger_at(history.workshop.root, None).admit()


def test_a_line_that_is_appended_without_a_key_keeps_its_place(histories: dict[bool, History], tmp_path: Path) -> None:
    """A head proves a prefix: what follows it is a newer state."""
    history = histories[False].copy_to(tmp_path / "own")
    append(history.ledger, "note", "of somebody")
    assert outside_state.OutsideState(history.workshop.root).problems(history.ledger) == []
