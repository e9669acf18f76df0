"""An audit from its policy file to its record: played once, resumed, counted, refused."""

import json
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crowdgate.audit.common import stored_records
from crowdgate.audit.common.levels import level
from crowdgate.audit.common.run import AuditRequest
from crowdgate.audit.common.saved_progress import TrialBatch
from crowdgate.audit.common.stored_records import AuditRuntime, partial_file
from crowdgate.audit.common.trials import Executor, Schedule, serial
from crowdgate.audit.confidential_table import ENDED, audit_table
from crowdgate.audit.singling_out.play import IsolationTally, SinglingOutGame
from crowdgate.audit.singling_out_audit import SINGLING_OUT
from crowdgate.errors import ConfigurationError, Crashed, VerificationFailed
from crowdgate.gate import Outcome
from crowdgate.ledger.ledger import open_ledger
from crowdgate.planning.plan import plan_policy
from crowdgate.publish import publisher
from tests.audit.workshop import GATES, SECTION, SEED, Town, make_town, only_few_controls, unplayed
from tests.workshop import MARK, crowdgate, good_rows, write_parquet

OTHER = "f" * 32


@pytest.fixture(scope="module", autouse=True)
def few_controls() -> Iterator[None]:
    with only_few_controls():
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    town = make_town(tmp_path_factory.mktemp("made") / "town")
    town.audit("2030-01-01")
    return town.root


@pytest.fixture
def town(made: Path, tmp_path: Path) -> Town:
    """A working copy with a finished audit."""
    shutil.copytree(made, tmp_path / "town")
    return Town(tmp_path / "town")


@pytest.fixture
def fresh(tmp_path: Path) -> Town:
    """A working copy without an audit."""
    return make_town(tmp_path / "town")


def stopped(of: Schedule, missing: Sequence[TrialBatch]) -> Iterator[tuple[TrialBatch, IsolationTally]]:
    """Raise KeyboardInterrupt after the first batch."""
    yield from serial(of, missing[:1])
    raise KeyboardInterrupt


@pytest.mark.thorough
def test_a_killed_run_goes_on_to_the_record_of_one_that_was_not(town: Town, fresh_elsewhere: Town) -> None:
    with pytest.raises(KeyboardInterrupt):
        fresh_elsewhere.audit("2030-01-01", executor=stopped)
    assert not fresh_elsewhere.records
    resumed = fresh_elsewhere.audit("2030-01-01", seed=OTHER)
    assert resumed.record.seed == SEED
    assert resumed.record.attempt == 1
    mine, other = json.loads(town.records[0].read_text()), json.loads(resumed.path.read_text())
    assert mine["played"] == other["played"]
    assert not partial_file(resumed.path).exists()


@pytest.mark.thorough
def test_a_run_that_is_killed_before_the_first_batch_goes_on_with_its_seed(
    fresh: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fitting models takes minutes before anything is played: a run that is killed then is no further attempt."""

    def killed(*_: object) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stored_records, "play_games", killed)
        with pytest.raises(KeyboardInterrupt):
            fresh.audit()
    again = fresh.audit(seed=OTHER)
    assert (again.record.seed, again.record.attempt) == (SEED, 1)


@pytest.fixture
def fresh_elsewhere(tmp_path: Path) -> Town:
    return make_town(tmp_path / "elsewhere")


@pytest.mark.thorough
def test_a_finished_audit_is_reported_and_never_drawn_again(town: Town) -> None:
    before = open_ledger(town.ledger, None).journal()
    again = town.audit(seed=OTHER, executor=unplayed)
    assert (again.record.seed, again.own) == (SEED, True)
    assert open_ledger(town.ledger, None).journal() == before


@pytest.mark.thorough
def test_every_further_attempt_is_counted_and_has_half_the_level(town: Town) -> None:
    second = town.audit(seed=OTHER, trials="50")
    assert (second.record.attempt, second.own) == (2, False)
    assert second.findings.excess.upper > 0
    town.records[0].unlink()
    town.records[0].unlink()
    third = town.audit(seed="a" * 32)
    assert (third.record.attempt, third.own) == (3, True)
    assert [level(attempt) for attempt in (1, 2, 3)] == [level(1), level(1) / 2, level(1) / 4]
    open_ledger(town.ledger, None).verify()


@pytest.mark.thorough
def test_a_record_that_was_edited_is_refused_and_not_replaced(town: Town) -> None:
    path = town.records[0]
    path.write_text(path.read_text().replace('"attempt": 1', '"attempt": 2'))
    edited = path.read_bytes()
    with pytest.raises(VerificationFailed, match="edited"):
        town.audit(seed=OTHER, executor=unplayed)
    assert path.read_bytes() == edited


def test_a_seed_that_the_ledger_does_not_know_is_refused(fresh: Town) -> None:
    with pytest.raises(KeyboardInterrupt):
        fresh.audit(executor=stopped)
    (left,) = (fresh.root / "audits").rglob("*.partial")
    left.write_text(left.read_text().replace(SEED, OTHER))
    with pytest.raises(VerificationFailed, match="no audit was begun with its seed"):
        fresh.audit()


@pytest.mark.thorough
def test_a_run_killed_between_record_and_ledger_is_completed(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    first = town.records[0].read_bytes()
    town.records[0].unlink()
    written = publisher.replace

    def killed(target: Path, data: bytes, dated: float, scratch: Path) -> None:
        written(target, data, dated, scratch)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(publisher, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            town.audit("2030-01-02")
    assert crowdgate("check", town.policy) == 3
    assert town.audit("2030-01-02", executor=lambda *_: iter(())).record.attempt == 1
    assert json.loads(first)["played"] == json.loads(town.records[0].read_bytes())["played"]


WRONG: dict[str, tuple[str, str, str]] = {
    "one unit": ("units: 30", "units: 1", "from 2 to"),
    "no unit": ("units: 30", "units: 0", "from 2 to"),
    "no trial": ("trials: 60", "trials: 0", "from 1 to"),
    "no weight": ("weight: 1e-3", "weight: 0", "above 0"),
    "too light": ("weight: 1e-3", "weight: 1e-20", "2^-64"),
    "too few trials": ("trials: 60", "trials: 5", "28 trials at least, in which a harmless mechanism passes"),
    "no limit": ("limit: 0.3", "limit: 0", "a greater limit"),
    "too small": ("units: 30", "units: 201, replacement: false", "at most 20"),
    "no population": ("population: towns", "population: clinic", "is not public"),
    "unknown population": ("population: towns", "population: town", "write 'towns'"),
    "unknown key": ("trials: 60", "trails: 60", "write 'trials'"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", WRONG)
def test_an_audit_that_can_find_nothing_is_refused_with_its_line(fresh: Town, wrong: str) -> None:
    old, new, expected = WRONG[wrong]
    fresh.edit(fresh.policy, old, new)
    with pytest.raises(ConfigurationError) as refused:
        fresh.audit(executor=unplayed)
    assert expected in str(refused.value), str(refused.value)
    assert any(problem.line == 12 for problem in refused.value.problems)
    assert not [line for line in open_ledger(fresh.ledger, None).journal() if line.event.startswith("audit")]
    assert not [path for path in (fresh.root / "audits").rglob("*") if path.is_file()]


def test_an_empty_population_is_refused(fresh: Town) -> None:
    write_parquet(fresh.root / "data_contracts" / "towns.parquet", [])
    with pytest.raises(ConfigurationError, match="no two units"):
        fresh.audit(executor=unplayed)


def test_a_policy_without_a_section_is_audited_only_on_a_public_table_of_its_own(fresh: Town) -> None:
    fresh.edit(fresh.policy, SECTION, "")
    fresh.edit(fresh.policy, GATES, "")
    assert crowdgate("check", fresh.policy) == 0
    with pytest.raises(ConfigurationError, match=r"clinic\.yaml:5:3: spec\.contract: .* is not public"):
        fresh.audit(executor=unplayed)


def test_the_section_and_the_population_are_part_of_the_digest(fresh: Town) -> None:
    digests = {plan_policy(fresh.policy).bundle.digest}
    fresh.edit(fresh.policy, "trials: 60", "trials: 61")
    digests.add(plan_policy(fresh.policy).bundle.digest)
    fresh.edit(fresh.population, "version: 1.0.0", "version: 1.0.1")
    digests.add(plan_policy(fresh.policy).bundle.digest)
    assert len(digests) == 3


@pytest.mark.parametrize("wrong", [{"units": "1"}, {"trials": "no"}, {"weight": "2"}])
def test_an_override_that_no_policy_could_state_is_refused(fresh: Town, wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="command line: --"):
        fresh.audit(executor=unplayed, **wrong)


# --- the command ---


@pytest.mark.thorough
def test_the_command_says_what_was_found_and_how_much_could_be_seen(
    town: Town, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert crowdgate("audit", town.policy, "--jobs", 1, "--page", page) == 0
    said = capfd.readouterr().out
    for words in (
        "pass clinic/1",
        "trivial hash",
        "Not refuted on this population, by these attackers, at this n.",
        "disqualifies, it never certifies",
        "it would have detected an excess of",
        "if no attacker is better than the baseline",
        str(page),
    ):
        assert words in said
    text = page.read_text()
    # every table is rendered: no line of cells is left as text
    assert not re.search(r"<p>\s*\|", text)
    assert text.count("<table>") >= 3
    assert "<svg" in text
    assert "never certifies" in text
    assert not any(word in text for word in ("<script", "src=", "@import", "<link"))
    assert crowdgate("audit", town.policy, "--jobs", 1, "--json") == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["outcome"], found["read_by_gates"]) == ("pass", True)
    assert found["record"]["setting"]["trials"] == 60
    assert found["excess"]["lower"] <= found["excess"]["value"] <= found["excess"]["upper"]


def winning(isolated: int) -> Executor:
    """Return an executor in which every attacker that does not know all others isolates this often in each of the first
    two batches."""

    def won(of: Schedule, missing: Sequence[TrialBatch]) -> Iterator[tuple[TrialBatch, IsolationTally]]:
        yield from serial(of, [batch for batch in missing if batch.game])
        for batch in missing[:2]:
            game = of[0].game
            assert isinstance(game, SinglingOutGame)
            none = IsolationTally.none(len(game.attackers), len(game.weights))
            none.light[[not each.aside for each in game.attackers], 0] = min(isolated, batch.trials)
            none.any[[not each.aside for each in game.attackers], 0] = min(isolated, batch.trials)
            yield batch, replace(none, trials=batch.trials)

    return won


@pytest.mark.thorough
@pytest.mark.parametrize(("isolated", "said"), [(50, "Refuted: "), (3, "Cannot tell: nothing was found in 60 trials")])
def test_a_limit_that_is_not_kept_ends_with_3(
    fresh: Town, capfd: pytest.CaptureFixture[str], isolated: int, said: str
) -> None:
    """In each of two batches every attacker isolates this often."""
    fresh.edit(fresh.policy, "limit: 0.3", "limit: 0.1")
    fresh.audit(executor=winning(isolated))
    page = fresh.root / "page.html"
    assert crowdgate("audit", fresh.policy, "--jobs", 1, "--page", page) == 3
    printed = capfd.readouterr().out
    assert said in printed
    ended = "cannot tell" if said.startswith("Cannot tell") else "fail"
    assert printed.startswith(f"{ended} clinic/1, singling-out\n")
    shown = {"fail": "FAILED", "cannot tell": "CANNOT TELL"}[ended]
    text = page.read_text(encoding="utf-8")
    assert f'data-fact="outcome">{shown}</p>\n<h1>Audit of clinic, version 1</h1>' in text


@pytest.mark.thorough
def test_an_audit_that_was_too_short_says_what_to_write_also_in_check(
    fresh: Town, capfd: pytest.CaptureFixture[str]
) -> None:
    """60 trials at a limit of .1: attackers with 6 successes are neither significantly above the baseline nor within
    the limit."""
    fresh.edit(fresh.policy, "limit: 0.3", "limit: 0.1")
    assert fresh.audit(executor=winning(3)).findings.outcome is Outcome.INCONCLUSIVE
    assert crowdgate("audit", fresh.policy, "--json") == 3
    said = json.loads(capfd.readouterr().out)
    assert said["outcome"] == "inconclusive"
    (number,) = re.findall(r"write trials: (\d+)$", said["reasons"][0])
    assert crowdgate("check", fresh.policy) == 3
    assert f"write trials: {number}" in capfd.readouterr().out
    fresh.edit(fresh.policy, "trials: 60", f"trials: {number}")
    assert fresh.audit().findings.outcome is Outcome.PASS


def test_the_ledger_lists_every_audit(town: Town, capfd: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("ledger", "show", "--ledger", town.ledger, "--json") == 0
    listed = json.loads(capfd.readouterr().out)
    assert [(each["policy"], each["event"]) for each in listed["audits"]] == [
        ("clinic/1", "begun"),
        ("clinic/1", "recorded"),
    ]


def test_an_override_that_is_refused_is_named_as_such(fresh: Town) -> None:
    with pytest.raises(ConfigurationError, match="command line: --trials: 1 trials") as refused:
        fresh.audit(trials="1")
    (problem,) = refused.value.problems
    assert int(problem.instead or 0) > 1


# --- on the table itself ---


@pytest.mark.thorough
def test_an_audit_on_the_table_shows_one_constant_line_and_marks_later_policies(
    fresh: Town, capfd: pytest.CaptureFixture[str]
) -> None:
    before = set(fresh.root.rglob("*"))
    assert crowdgate("check", fresh.policy, "--json") == 3
    assert not json.loads(capfd.readouterr().out)["policies"][0]["informed"]
    assert crowdgate("audit", fresh.policy, "--on-confidential", "--jobs", 1) == 0
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == (f"{ENDED}\n", "")
    new = [path for path in set(fresh.root.rglob("*")) - before if path.is_file()]
    assert {path.parent.name for path in new} <= {"private", "ledger"}
    (record,) = (path for path in new if path.parent.name == "private")
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert json.loads(record.read_text())["record"]["setting"]["population_size"] == 600
    assert MARK not in record.read_text()
    ledger = open_ledger(fresh.ledger, None)
    ledger.verify()
    assert not any("600" in (line.detail or "") for line in ledger.journal())
    assert crowdgate("check", fresh.policy, "--json") == 3
    assert json.loads(capfd.readouterr().out)["policies"][0]["informed"]


@pytest.mark.thorough
def test_an_audit_on_the_table_is_not_played_twice_and_no_gate_reads_it(fresh: Town) -> None:
    asked = AuditRequest(fresh.policy)
    assert audit_table(SINGLING_OUT, asked) == ENDED
    (kept,) = (fresh.root / "ledger" / "private").glob("*audit*")
    first = json.loads(kept.read_text())["record"]
    assert audit_table(SINGLING_OUT, asked, AuditRuntime(executor=unplayed)) == ENDED
    assert json.loads(kept.read_text())["record"] == first
    assert crowdgate("check", fresh.policy) == 3


@pytest.mark.thorough
@pytest.mark.parametrize("units", [60, 61])
def test_whatever_the_table_holds_the_public_sees_the_same(
    fresh: Town, capfd: pytest.CaptureFixture[str], units: int
) -> None:
    """At most a tenth of 600 rows may be drawn without replacement: 61 can't be played, which only the custodian
    learns."""
    fresh.edit(fresh.policy, "units: 30", f"units: {units}, replacement: false")
    assert crowdgate("audit", fresh.policy, "--on-confidential", "--jobs", 1) == 0
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == (f"{ENDED}\n", "")
    events = [line.event for line in open_ledger(fresh.ledger, None).journal()][-3:]
    assert events[1:] == ["audit-begun", "confidential-audit-recorded"]
    (kept,) = (fresh.root / "ledger" / "private").glob("*audit*")
    assert ("of a population of 600" in kept.read_text()) == (units == 61)
    # again: nothing is played anew
    before = len(open_ledger(fresh.ledger, None).journal())
    assert crowdgate("audit", fresh.policy, "--on-confidential", "--jobs", 1) == 0
    assert len(open_ledger(fresh.ledger, None).journal()) == before + 3


@pytest.mark.thorough
def test_what_was_played_on_the_table_is_for_its_owner_alone_and_goes_on(fresh: Town) -> None:
    with pytest.raises(Crashed):
        audit_table(SINGLING_OUT, AuditRequest(fresh.policy), AuditRuntime(executor=stopped))
    (left,) = (fresh.root / "ledger" / "private").glob("*.partial")
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
    assert audit_table(SINGLING_OUT, AuditRequest(fresh.policy)) == ENDED
    assert not left.exists()


@pytest.mark.thorough
def test_what_was_played_of_another_table_stands_in_no_ones_way(fresh: Town) -> None:
    with pytest.raises(Crashed):
        audit_table(SINGLING_OUT, AuditRequest(fresh.policy), AuditRuntime(executor=stopped))
    fresh.write(good_rows(150))
    assert audit_table(SINGLING_OUT, AuditRequest(fresh.policy)) == ENDED
    (kept,) = (fresh.root / "ledger" / "private").glob("*.json")
    assert json.loads(kept.read_text())["record"]["setting"]["population_size"] == 150
