"""Releases that need approvals: whose signature counts, when, and for what. Nothing is charged without them."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdgate.errors import LedgerRefused, VerificationFailed
from crowdgate.kind.run import Request
from crowdgate.ledger.access_log import APPROVED, RECORD_OPENED
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import open_ledger
from crowdgate.number_text import decimal
from crowdgate.pages.release import page_in, page_of, requested_page
from crowdgate.planning import approvals
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.plan import plan_policy
from crowdgate.releases import resume
from crowdgate.releases.release import release
from crowdgate.settings import key_of_file
from crowdgate.signing import keys
from crowdgate.signing.dsse import seal
from crowdgate.signing.statement import PAYLOAD_TYPE, sign_statement
from crowdgate.verification.release import verify
from tests.examples import examples
from tests.releases.boards import ID, SLOT, Board, make_board, statement_in
from tests.workshop import Workshop, crowdgate

NEXT = "2030-02-01"


@pytest.fixture
def board(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Board:
    monkeypatch.chdir(workshop.root)
    return make_board(workshop)


def test_without_an_approval_nothing_is_read_or_charged(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    board.refused("needs an approval before it is charged, by one of board, officer. Nothing was read")
    assert crowdgate("release", board.copy.policy, "--as-of", SLOT) == 5
    assert f"crowdgate approve {ID} --key KEY" in capsys.readouterr().err


def test_an_approved_release_says_who_approved_it(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    assert board.approve("board") == 0
    assert "Privacy cost: epsilon 2, delta 0.01" in capsys.readouterr().out
    assert board.release() == "published"
    folder = board.copy.release_dir(SLOT)
    said = verify(folder, board.copy.ledger, policy=board.copy.policy).manifest
    (given_,) = said.facts.approvals or ()
    assert f"- Approval: board on {given_.day}\n" in page_of(folder).markdown()
    assert (given_.name, given_.key) == ("board", board.key_id("board"))
    ledger = ledger_at(board.root, None)
    assert ledger.recorded(APPROVED) == [(ID, given_.sha256)]
    capsys.readouterr()
    assert crowdgate("ledger", "show") == 0
    assert f"{ID} approved by the signed statement {given_.sha256[:16]} (line " in capsys.readouterr().out
    assert f"Approved before the data were read by board on {given_.day}." in (folder / "README.md").read_text()
    board.refused("clinic/1/2030-02-01 needs an approval", NEXT)


def _other_slot(board: Board) -> None:
    folder = board.file().parent
    shutil.copytree(folder, folder.with_name(NEXT))


def _by_stranger(board: Board) -> None:
    said = statement_in(board.file())
    board.file().write_bytes(sign_statement(said, [key_of_file(board.key("stranger"))]))


def _claimed(board: Board) -> None:
    """A stranger's signature that names the board's key."""
    said = statement_in(board.file())
    data = sign_statement(said, [key_of_file(board.key("stranger"))])
    board.file().write_bytes(data.replace(board.key_id("stranger").encode(), board.key_id("board").encode()))


def _changed_policy(board: Board) -> None:
    board.copy.edit(board.copy.policy, "at_least: 0}", "at_least: 1}")


def _changed_budget(board: Board) -> None:
    board.copy.edit(board.copy.budget, "epsilon: 6", "epsilon: 5")


def _rotated(board: Board) -> None:
    old = board.line("board")
    for path in (board.key("board"), board.key("board").with_suffix(".key.pub")):
        path.unlink()
    keys.create(board.key("board"))
    board.copy.edit(board.copy.policy, old, board.line("board"))


def _revoked(board: Board) -> None:
    with (board.root / "crowdgate.toml").open("a") as file:
        file.write('revoked_keys = ["board.key.pub"]\n')


def _no_envelope(board: Board) -> None:
    board.file().write_bytes(b"{}")


def _other_statement(board: Board) -> None:
    board.file().write_bytes(seal(PAYLOAD_TYPE, b"{}", [key_of_file(board.key("board"))]))


def _day(days: int) -> str:
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


HOSTILE: dict[str, tuple[Callable[[Board], None], str]] = {
    "forged by a stranger": (_by_stranger, "none of these keys is among"),
    "a stranger's signature in the board's name": (_claimed, "does not fit the content"),
    "no envelope": (_no_envelope, "not a signed envelope"),
    "another type of statement": (_other_statement, "not of the expected form"),
    "the policy changed": (_changed_policy, "it approves other files"),
    "the budget changed": (_changed_budget, "it approves other files"),
    "expired": (lambda board: board.forge(day=_day(-31)), r"expired on \d{4}"),
    "dated ahead": (lambda board: board.forge(day=_day(3)), "later than today"),
    "no day": (lambda board: board.forge(day="2026-02-31"), "its day is no day"),
    "another cost": (lambda board: board.forge(epsilon="1"), "another privacy cost"),
    "another population": (lambda board: board.forge(population="town"), "another privacy cost"),
    "before another step": (lambda board: board.forge(before="publication"), "given before publication"),
    "the key was rotated": (_rotated, "none of these keys is among"),
    "the key is revoked": (_revoked, "this key is revoked"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("case", HOSTILE)
def test_approvals_that_do_not_count(board: Board, case: str) -> None:
    attack, why = HOSTILE[case]
    assert board.approve("board") == 0
    attack(board)
    board.refused(why)


def test_an_approval_holds_for_its_slot_only(board: Board) -> None:
    board.approve("board")
    _other_slot(board)
    board.refused(f"it approves {ID}, which is another release", NEXT)


def test_an_approval_lasts_as_long_as_stated(board: Board) -> None:
    board.approve("board")
    board.forge(day=_day(-30))
    assert board.release() == "published"


def test_an_approval_of_another_ledger_does_not_count(board: Board) -> None:
    board.approve("board")
    place = statement_in(board.file()).predicate.ledger
    for changed in ({"id": "other-00000000"}, {"line": place.line + 1}, {"digest": "0" * 64}):
        board.forge(ledger=place.model_copy(update=changed))
        board.refused("beside another ledger")


def test_who_charges_a_release_may_not_approve_it_unless_the_policy_says_so(board: Board) -> None:
    service = f"{{name: service, key: {board.line('service')}}}"
    board.copy.edit(board.copy.policy, "approval: {by: [", f"approval: {{by: [{service}, ")
    assert board.approve("service") == 5
    board.copy.edit(board.copy.policy, "}]}\n", "}], not_requester: false}\n")
    assert board.approve("service") == 0
    assert board.release() == "published"


def test_two_approvals_are_two_people(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    board.asks(at_least=2)
    board.approve("board")
    assert "Next: 1 more approval, by board and officer\n" in capsys.readouterr().out
    shutil.copy(board.file(), board.file().with_name("again.dsse.json"))
    board.refused("needs 2 approvals .* It has that of ")
    board.approve("officer")
    assert "Next: crowdgate release " in capsys.readouterr().out
    assert board.release() == "published"


@pytest.mark.parametrize(("at_least", "who"), [(1, "one of board, officer"), (2, "board and officer")])
def test_check_says_how_many_must_approve(
    board: Board, capsys: pytest.CaptureFixture[str], at_least: int, who: str
) -> None:
    board.asks(at_least=at_least)
    assert crowdgate("check", board.copy.policy) == 0
    assert f"  Approval        each release, before it is charged: by {who}\n" in capsys.readouterr().out


def test_only_the_first_release_of_a_version(board: Board) -> None:
    board.asks(of="first")
    board.refused("needs an approval")
    board.approve("board")
    assert [board.release(), board.release(NEXT)] == ["published", "published"]
    board.copy.edit(board.copy.policy, "version: 1", "version: 2")
    with pytest.raises(LedgerRefused, match="clinic/2/2030-02-01 needs an approval"):
        board.release(NEXT)


@pytest.mark.parametrize(("over", "needed"), [("1.99", True), ("2", False)])
def test_only_releases_of_a_greater_cost(board: Board, over: str, needed: bool) -> None:
    board.asks(over=over)
    if needed:
        board.refused("needs an approval")
    else:
        assert board.release() == "published"
        assert crowdgate("approve", f"clinic/1/{NEXT}", "--key", board.key("board"), "--yes") == 2


@pytest.mark.thorough
def test_an_approval_names_the_cost_of_the_whole_series(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    board.copy.edit(board.copy.policy, "  publish:", "  series: {releases: 3}\n  publish:")
    board.copy.edit(board.copy.policy, "at_most: 1}", "at_most: 1, severity: advise}")
    series = plan_policy(board.copy.policy).series
    assert series is not None
    board.approve("board")
    cost = f"epsilon {decimal(series.epsilon)}, delta 0.03 for a series of 3 releases"
    assert f"Privacy cost: {cost}, charged to clinic-patients" in capsys.readouterr().out
    board.release()
    assert [each.spend.epsilon for each in board.charged()] == [series.epsilon]
    board.refused("needs an approval", NEXT)
    board.approve("board", NEXT)
    board.release(NEXT)
    assert [each.spend.epsilon for each in board.charged()] == [series.epsilon, 0]


@pytest.mark.parametrize("step", ["charge", "publication"])
def test_a_ledger_without_a_key_can_t_say_who_did_what(workshop: Workshop, tmp_path: Path, step: str) -> None:
    """Nothing is charged for what nobody could approve."""
    keys.create(tmp_path / "key")
    line = (tmp_path / "key.pub").read_text().splitlines()[1]
    with workshop.policy.open("a") as file:
        file.write(f"  approval: {{by: [{{name: board, key: {line}}}], before: {step}}}\n")
    with pytest.raises(LedgerRefused, match="approvals need a signed ledger"):
        release(Request(workshop.policy, SLOT), draw_key)
    assert open_ledger(workshop.ledger, None).entries() == []


def test_a_rehearsal_needs_no_approval(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("rehearse", board.copy.policy, "--people", "400") == 0
    assert "needs an approval" not in capsys.readouterr().out


def test_before_publication_the_staged_release_waits(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    board.asks(before="publication")
    assert board.approve("board") == 5  # nothing is there that could be approved
    assert crowdgate("release", board.copy.policy, "--as-of", SLOT) == 3
    said = capsys.readouterr().out
    assert f"waiting {ID}" in said
    assert f"The approver reads it with crowdgate report release {ID}." in said
    assert not board.copy.release_dir(SLOT).exists()
    assert board.release() == "waiting"
    assert [entry.state for entry in board.charged()] == ["committed"]
    assert board.approve("board") == 0
    assert "The staged release, which nobody has received: " in capsys.readouterr().out
    assert board.release() == "published"
    verify(board.copy.release_dir(SLOT), board.copy.ledger, policy=board.copy.policy)
    page = page_in(ledger_at(board.root, None), board.root, ID).markdown()
    given_ = statement_in(board.file()).predicate.day
    assert f"- Approval: board on {given_}, before publication\n" in page
    assert f"| approval | board on {given_}, before publication |" in page
    board.file().unlink()
    page = page_in(ledger_at(board.root, None), board.root, ID).markdown()
    assert "- Approval: an approver whose signed statement is not in this working copy, before publication\n" in page
    assert len(board.charged()) == 1


def test_the_page_of_a_staged_release_says_that_it_waits(board: Board) -> None:
    board.asks(before="publication")
    assert board.release() == "waiting"
    (staged,) = (path.parent for path in (board.root / "releases").glob(".*/*/manifest.json"))
    for release_ in (ID, str(staged)):
        page = requested_page(release_, None).markdown()
        assert "**WAITING.**" in page
        assert "PUBLISHED" not in page
        assert "**Not published.** It is staged, nobody has received it, and it waits for approval." in page
        assert "- Approval: it waits for approval before publication\n" in page
        assert "released_rows" in page  # the rules, so that the approver can judge them
        assert "charged whatever the approver decides" in page


def test_the_page_of_a_staged_release_without_its_policy_is_not_that_of_a_published_one(board: Board) -> None:
    board.asks(before="publication")
    assert board.release() == "waiting"
    (staged,) = (path.parent for path in (board.root / "releases").glob(".*/*/manifest.json"))
    board.copy.policy.unlink()
    for release_ in (ID, str(staged)):
        page = requested_page(release_, None).markdown()
        assert "**CANNOT TELL.**" in page
        assert "PUBLISHED" not in page


def test_the_first_release_waits_although_it_is_charged(board: Board) -> None:
    board.asks(before="publication", of="first")
    assert [board.release(), board.release()] == ["waiting", "waiting"]
    assert board.release(NEXT) == "waiting"  # the first one was charged, and never approved
    board.approve("board")
    assert [board.release(), board.release(NEXT)] == ["published", "published"]


def test_an_approval_of_the_policy_is_none_of_the_manifest(board: Board) -> None:
    board.asks(before="publication")
    assert board.release() == "waiting"
    board.approve("board")
    said = statement_in(board.file())
    digest = said.subject[0].digest.model_copy(update={"sha256": said.predicate.policy_digest})
    changed = said.model_copy(update={"subject": (said.subject[0].model_copy(update={"digest": digest}),)})
    board.file().write_bytes(sign_statement(changed, [key_of_file(board.key("board"))]))
    assert board.release() == "waiting"
    assert not board.copy.release_dir(SLOT).exists()


def _opens_the_record(board: Board, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as held:
        held.setenv("CROWDGATE_SIGNING_KEY", board.key(name).read_text())
        held.setenv("LOGNAME", f"{name}-at-work")
        settings_ = (board.root / "crowdgate.toml").read_text()
        (board.root / "crowdgate.toml").write_text(settings_.replace('"officer', '"service.key.pub", "officer'))
        assert crowdgate("record", "show", ID) == 0
        (board.root / "crowdgate.toml").write_text(settings_)


@pytest.mark.thorough
def test_who_has_seen_the_private_record_may_not_approve(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    board.asks(before="publication")
    assert board.release() == "waiting"
    assert board.approve("board") == 0
    _opens_the_record(board, "board", monkeypatch)
    assert board.release() == "waiting"  # what was signed before the access counts no more
    assert board.approve("board") == 5
    assert board.approve("officer") == 0
    assert board.release() == "published"


def test_who_runs_under_the_name_of_somebody_who_saw_the_record_may_not_approve(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.asks(before="publication")
    assert board.release() == "waiting"
    _opens_the_record(board, "board", monkeypatch)
    monkeypatch.setenv("LOGNAME", "board-at-work")
    assert board.approve("officer") == 5


def test_approvals_before_a_charge_that_was_refused_are_none_before_publication(board: Board) -> None:
    board.approve("board")
    ledger = ledger_at(board.root, None)
    ledger.record(APPROVED, ID, "0" * 64)  # as a run leaves it that was killed before it read
    shutil.rmtree(board.root / approvals.APPROVALS)
    board.asks(before="publication")
    assert board.release() == "waiting"


def test_who_charged_may_not_approve_under_another_signing_key(board: Board) -> None:
    service = f"{{name: service, key: {board.line('service')}}}"
    board.asks(before="publication")
    board.copy.edit(board.copy.policy, "approval: {by: [", f"approval: {{by: [{service}, ")
    trusted = board.root / "crowdgate.toml"
    trusted.write_text(trusted.read_text().replace('"officer', '"service.key.pub", "stranger.key.pub", "officer'))
    assert board.release() == "waiting"
    trusted.write_text(trusted.read_text().replace('signing_key = "service', 'signing_key = "stranger'))
    assert board.approve("service") == 5
    assert board.release() == "waiting"


def test_a_copy_of_the_staged_release_at_its_destination_is_not_published(board: Board) -> None:
    board.asks(before="publication")
    assert board.release() == "waiting"
    (staged,) = (path.parent for path in (board.root / "releases").glob(".*/*/manifest.json"))
    shutil.copytree(staged, board.copy.release_dir(SLOT))
    assert board.release() == "waiting"
    assert [entry.state for entry in board.charged()] == ["committed"]


def test_verification_asks_for_the_approval_before_publication(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    board.asks(before="publication")
    assert board.release() == "waiting"
    with monkeypatch.context() as planted:  # a program that publishes without asking
        planted.setattr(resume, "waiting_release", lambda *_: None)
        assert board.release() == "published"
    with pytest.raises(VerificationFailed, match="asks for 1 approvals before the publication, and the ledger holds 0"):
        verify(board.copy.release_dir(SLOT), board.copy.ledger, policy=board.copy.policy)


@pytest.mark.thorough
@pytest.mark.parametrize("edit", ["UPDATE signatures SET key = 'ab'", "DELETE FROM signatures"])
def test_an_access_without_its_signature_stops_all_approvals(
    board: Board, edit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.approve("board")
    assert board.release() == "published"
    _opens_the_record(board, "board", monkeypatch)
    (line,) = [each.number for each in ledger_at(board.root, None).journal() if each.event == RECORD_OPENED]
    board.approve("officer", NEXT)  # the service key signs a later line
    ledger_at(board.root, None).record("any-event", "any")
    with closing(sqlite3.connect(board.root / "ledger" / "ledger.db")) as database, database:
        database.execute(f"{edit} WHERE number = {line}")
    assert board.approve("board", "2030-03-01") == 5
    board.refused("who saw them is unknown", NEXT)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("{by: []}", "spec.approval.by"),
        ("{by: [{name: x, key: abc}]}", "the line between BEGIN and END"),
        ("{by: [{name: x, key: KEY}, {name: y, key: KEY}]}", "each key once"),
        ("{by: [{name: x, key: KEY}, {name: y, key: OTHER}]}", "each key once"),
        ("{by: [{name: x, key: KEY}], at_least: 2}", "at_least of at most 1"),
        ("{by: [{name: x, key: KEY}], expires: 30}", "such as 30 days"),
        ("{by: [{name: x, key: KEY}], of: some}", "'each' or 'first'"),
        ("{by: [{name: x, key: KEY}], expires: 0 days}", "from 1 to 3650"),
    ],
)
def test_a_wrong_rule_is_one_error(board: Board, wrong: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for line in board.copy.policy.read_text().splitlines() if not line.startswith("  approval:")]
    line = board.line("board")
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = f"{line[:-2]}{digits[digits.index(line[-2]) + 1]}="  # the same key in another spelling of base64
    stated = wrong.replace("KEY", line).replace("OTHER", other)
    board.copy.policy.write_text("\n".join([*lines, f"  approval: {stated}", ""]))
    assert crowdgate("check", board.copy.policy) == 2
    said = capsys.readouterr()
    assert (said.out + said.err).count("spec.approval") == 1
    assert told in said.out + said.err


def test_only_a_listed_key_can_sign_here(board: Board) -> None:
    assert board.approve("stranger") == 5
    assert not (board.root / approvals.APPROVALS).exists()
    os.chmod(board.key("board"), 0o644)
    assert board.approve("board") == 2
    assert crowdgate("approve", f"clinic/7/{SLOT}", "--key", board.key("board"), "--yes") == 2
    assert crowdgate("approve", "clinic", "--key", board.key("board"), "--yes") == 2


def test_what_was_charged_can_t_be_approved_afterwards(board: Board) -> None:
    board.approve("board")
    board.release()
    assert board.approve("officer") == 5
    assert board.release() == "published"  # told again, without another charge
    assert len(board.charged()) == 1


@pytest.mark.thorough
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_every_changed_bit_of_an_approval_is_refused(board: Board, at: float, bit: int) -> None:
    if not (board.root / approvals.APPROVALS).exists():
        board.approve("board")
    good = board.file().read_bytes()
    place = int(at * len(good))
    board.file().write_bytes(good[:place] + bytes([good[place] ^ (1 << bit)]) + good[place + 1 :])
    try:
        board.refused("needs an approval")
    finally:
        board.file().write_bytes(good)


def test_a_restored_release_verifies_though_the_ledger_lost_its_approvals(board: Board) -> None:
    """A copy from before the release lacks the lines of its approvals."""
    board.asks(of="each")
    place = board.root / "ledger" / "ledger.db"
    before = place.read_bytes()
    assert board.approve("board") == 0
    assert board.release() == "published"
    folder = board.copy.release_dir(SLOT)
    assert crowdgate("verify", folder, "--ledger", board.copy.ledger, "--policy", board.copy.policy) == 0
    place.write_bytes(before)
    for path in place.parent.glob("private/*.position"):
        path.unlink()
    assert crowdgate("ledger", "restore") == 0
    assert crowdgate("verify", folder, "--ledger", board.copy.ledger, "--policy", board.copy.policy) == 0
