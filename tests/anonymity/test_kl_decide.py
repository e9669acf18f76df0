"""Contracts are checked against recorded decisions, and decisions against the ledger; inventory of who holds and asks
for which attributes."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from crowdgate.anonymity.kl import decide as job
from crowdgate.anonymity.kl.decide import CollectionChoice, decide
from crowdgate.errors import ConfigurationError
from crowdgate.ledger.ledger import open_ledger
from crowdgate.planning.decisions import DECIDED, require_known_decisions
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.decisions import in_force, read_decisions
from crowdgate.signing import keys
from tests.workshop import Workshop, crowdgate

DAY = date(2030, 1, 1)


@pytest.fixture(autouse=True)
def at_home(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workshop.root)
    monkeypatch.setattr("crowdgate.cli.kl.today", lambda: DAY)


def decided(workshop: Workshop, decision: str, *options: str, of: str = "age", why: str = "enough") -> int:
    said = ("--reason", why, "--by", "board", "--rests-on", "prediction of 2029-12-31")
    return crowdgate("kl", "decide", workshop.contract, "--of", of, "--decision", decision, *said, *options)


def files(workshop: Workshop) -> list[Path]:
    return sorted((workshop.root / "policies" / "decisions").glob("*"))


def digests(workshop: Workshop) -> list[str | None]:
    return [line.commitment for line in open_ledger(workshop.ledger, None).journal() if line.event == DECIDED]


def refused(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error of `check` on the policy; `release` gives the same, and neither reads nor charges anything."""
    capsys.readouterr()
    assert crowdgate("check", workshop.policy) == 2
    told = capsys.readouterr().err
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 2
    assert capsys.readouterr().err == told
    assert open_ledger(workshop.ledger, None).entries() == []
    return told


def test_what_is_not_to_be_collected_is_a_problem_of_the_contract(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("check", workshop.policy) == 0
    assert decided(workshop, "do-not-collect", of="note") == 0
    told = refused(workshop, capsys)
    line = next(at for at, text in enumerate(workshop.contract.read_text().splitlines(), 1) if "name: note" in text)
    assert f"clinic.yaml:{line}:9: attribute 'note': collected; expected a contract without it" in told
    assert "do not collect, decided by board on 2030-01-01: enough" in told
    text = workshop.contract.read_text(encoding="utf-8")
    workshop.contract.write_text(text[: text.index("      - name: note")], encoding="utf-8")
    assert crowdgate("check", workshop.policy) == 0


def test_finer_than_was_decided_is_a_problem_and_as_coarse_is_none(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert decided(workshop, "coarsen", "--to-level", "10 years") == 0
    told = refused(workshop, capsys)
    assert "attribute 'age': collected in 100 values; expected a domain of at most the 10 values of level" in told
    domain = "{from: 0, to: 99, top: true, source: clinic handbook}"
    workshop.edit(workshop.contract, domain, "{from: 0, to: 90, step: 10, top: true, source: clinic handbook}")
    assert crowdgate("check", workshop.policy) == 0
    assert decided(workshop, "coarsen", "--to-level", "50 years") == 0
    assert "collected in 10 values; expected a domain of at most the 2 values" in refused(workshop, capsys)


def test_a_later_decision_replaces_an_earlier_one_and_both_stay(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert decided(workshop, "do-not-collect") == 0
    assert decided(workshop, "collect", why="needed after all") == 0
    assert crowdgate("check", workshop.policy) == 0
    assert decided(workshop, "collect", why="needed after all") == 0  # repeating it changes nothing
    assert (len(files(workshop)), len(digests(workshop))) == (2, 2)
    assert decided(workshop, "do-not-collect") == 0  # a third file, which replaces the second
    assert (len(files(workshop)), len(set(digests(workshop)))) == (3, 3)
    assert "do not collect" in refused(workshop, capsys)


def edited(workshop: Workshop) -> None:
    workshop.edit(files(workshop)[0], "do-not-collect", "collect")


def removed(workshop: Workshop) -> None:
    files(workshop)[0].unlink()


def forged(workshop: Workshop) -> None:
    text = files(workshop)[0].read_text(encoding="utf-8")
    (files(workshop)[0].parent / "other.yaml").write_text(text.replace("attribute: age", "attribute: ward"))


def not_yaml(workshop: Workshop) -> None:
    (files(workshop)[0].parent / "notes.txt").write_text("x")


@pytest.mark.thorough
@pytest.mark.parametrize("spoil", [edited, removed, forged, not_yaml])
def test_a_decision_that_the_ledger_does_not_know_is_refused(
    spoil: Any, workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert decided(workshop, "do-not-collect") == 0
    spoil(workshop)
    told = refused(workshop, capsys)
    assert "policies/decisions" in told or "other.yaml" in told
    assert decided(workshop, "collect") == 2


def test_forged_decisions_are_told_beside_what_is_collected_against_others_and_files_that_are_none(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert decided(workshop, "do-not-collect") == 0
    forged(workshop)
    told = refused(workshop, capsys)
    assert "attribute 'age': collected; expected a contract without it" in told
    assert "other.yaml: file: the ledger" in told
    not_yaml(workshop)
    told = refused(workshop, capsys)
    assert "notes.txt: file: this file is not a decision" in told
    assert "other.yaml: file: the ledger" in told


def gone(workshop: Workshop) -> None:
    (workshop.root / "ledger" / "ledger.db").rename(workshop.root / "elsewhere.db")


def damaged(workshop: Workshop) -> None:
    (workshop.root / "ledger" / "ledger.db").write_bytes(b"no database" * 100)


def another(workshop: Workshop) -> None:
    workshop.edit(workshop.budget, "ledger: clinic-", "ledger: other-")


def not_named(workshop: Workshop) -> None:
    (workshop.root / "crowdgate.toml").unlink()


@pytest.mark.thorough
@pytest.mark.parametrize("spoil", [gone, damaged, another, not_named])
def test_decisions_that_no_ledger_can_hold_are_said_to_be_so_and_nothing_is_released(
    spoil: Any, workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if no file is left: otherwise the removal of a decision would go unnoticed."""
    assert decided(workshop, "do-not-collect") == 0
    removed(workshop)
    spoil(workshop)
    capsys.readouterr()
    assert crowdgate("check", workshop.policy) == 0
    told = capsys.readouterr().out
    assert "decisions on columns are not compared: " in told
    assert crowdgate("check", workshop.policy, "--json") == 0
    why = json.loads(capsys.readouterr().out)["policies"][0]["decisions_not_held"]
    assert why
    assert why in told
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") in (1, 2, 5)
    assert not (workshop.root / "releases").exists()


def test_a_folder_of_decisions_that_cannot_be_seen_is_not_taken_for_none(workshop: Workshop) -> None:
    contract, unseen = plan_policy(workshop.policy).bundle.contract, Path("x" * 300)  # no file name can be so long
    with pytest.raises(ConfigurationError, match="a folder of decisions that can be read"):
        require_known_decisions(unseen, contract, open_ledger(workshop.ledger, None))


def test_decisions_that_were_held_are_not_spoken_of(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("check", workshop.policy, "--json") == 0
    assert json.loads(capsys.readouterr().out)["policies"][0]["decisions_not_held"] is None
    assert crowdgate("check", workshop.policy) == 0
    assert "held to the ledger" not in capsys.readouterr().out


@pytest.fixture
def copied(workshop: Workshop) -> Workshop:
    """Copy the contract under another id, which the policy names instead."""
    text = workshop.contract.read_text(encoding="utf-8").replace("id: clinic\n", "id: hospice\n")
    (workshop.contract.parent / "hospice.yaml").write_text(text, encoding="utf-8")
    workshop.edit(workshop.policy, "contract: clinic\n", "contract: hospice\n")
    return workshop


def test_a_copy_of_a_contract_under_another_id_is_held_to_what_was_decided(
    copied: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("check", copied.policy) == 0
    assert decided(copied, "do-not-collect") == 0
    name = files(copied)[0].name
    copied.contract.unlink()
    told = refused(copied, capsys)
    assert "hospice.yaml:18:9: attribute 'age': collected; expected a contract without it" in told
    assert f"({name}: do not collect, decided by board on 2030-01-01: enough; on contract 'clinic' of" in told
    assert crowdgate("kl", "inventory", "--json") == 0
    (holder,) = json.loads(capsys.readouterr().out)["holders"]
    (age,) = [line["decided"] for line in holder["attributes"] if line["attribute"] == "age"]
    assert age.startswith("do not collect")
    removed(copied)
    assert "is missing, which the ledger" in refused(copied, capsys)


def test_a_contract_of_the_population_may_have_a_decision_of_its_own(
    copied: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert decided(copied, "do-not-collect") == 0
    hospice = copied.contract.parent / "hospice.yaml"
    said = ("--reason", "needed", "--by", "board", "--rests-on", "entry")
    assert crowdgate("kl", "decide", hospice, "--of", "age", "--decision", "collect", *said) == 0
    assert crowdgate("check", copied.policy) == 0
    copied.edit(copied.policy, "contract: hospice\n", "contract: clinic\n")
    assert "attribute 'age': collected" in refused(copied, capsys)
    assert decided(copied, "collect") == 0
    assert crowdgate("check", copied.policy) == 0


def test_contracts_of_another_population_are_not_held(copied: Workshop) -> None:
    assert decided(copied, "do-not-collect") == 0
    copied.edit(copied.contract.parent / "hospice.yaml", "value: clinic-patients", "value: hospice-patients")
    copied.edit(copied.policy, "budget: clinic-patients", "budget: hospice-patients")
    copied.edit(copied.budget, "name: clinic-patients", "name: hospice-patients")
    assert crowdgate("check", copied.policy) == 0


def test_two_decisions_neither_of_which_replaces_the_other_are_refused_without_a_ledger(workshop: Workshop) -> None:
    assert decided(workshop, "collect") == 0
    forged_text = files(workshop)[0].read_text(encoding="utf-8").replace("enough", "other")
    (files(workshop)[0].parent / "other.yaml").write_text(forged_text)
    (workshop.root / "ledger" / "ledger.db").rename(workshop.root / "elsewhere.db")
    assert crowdgate("check", workshop.policy) == 2


@pytest.mark.parametrize(
    ("subject", "other"), [("attribute: note", "attribute: age"), ("contract: clinic", "contract: ward")]
)
def test_a_decision_replaces_none_on_another_subject(workshop: Workshop, subject: str, other: str) -> None:
    assert decided(workshop, "do-not-collect", of="note") == 0
    assert decided(workshop, "collect", of="note") == 0
    (replacing,) = (each for each in files(workshop) if "replaces: " in each.read_text(encoding="utf-8"))
    workshop.edit(replacing, subject, other)
    with pytest.raises(ConfigurationError, match="has the digest"):
        in_force(read_decisions(workshop.root), plan_policy(workshop.policy).bundle.contract)


def test_a_decision_that_stopped_between_line_and_file_is_made_whole_by_the_same_call(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    choice = CollectionChoice(workshop.contract, "age", "collect", None, "enough", "board", "prediction of 2029-12-31")
    with monkeypatch.context() as patch:
        patch.setattr(job, "_write", lambda *_: (_ for _ in ()).throw(RuntimeError()))
        with pytest.raises(RuntimeError):
            decide(choice, DAY)
    assert (files(workshop), len(digests(workshop))) == ([], 1)
    assert "is missing, which the ledger" in refused(workshop, capsys)
    decide(choice, DAY)
    assert (len(files(workshop)), len(digests(workshop))) == (1, 1)
    assert crowdgate("check", workshop.policy) == 0


@pytest.mark.parametrize(
    ("decision", "options", "of", "why"),
    [
        ("coarsen", (), "age", "--to-level: missing"),
        ("collect", ("--to-level", "exact"), "age", "--to-level: given"),
        ("coarsen", ("--to-level", "10 yeers"), "age", "write '10 years'"),
        ("coarsen", ("--to-level", "exact"), "note", "'note' has no level 'exact'"),
        ("keep", (), "age", "expected one of collect, coarsen, do-not-collect"),
        ("collect", (), "agee", "write 'age'"),
        ("collect", ("--reason", " "), "age", "printable characters"),
    ],
)
def test_what_cannot_be_decided_leaves_nothing(
    decision: str, options: tuple[str, ...], of: str, why: str, workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert decided(workshop, decision, *options, of=of) == 2
    assert why in capsys.readouterr().err
    assert (files(workshop), digests(workshop)) == ([], [])


FORM = """\
apiVersion: crowdgate/v1
kind: Questionnaire
metadata: {name: visitors, title: Visitors}
spec:
  contract: clinic
  population: {people: 400, who: visitors of the ward}
  questions:
    - {name: age, attribute: age, level: LEVEL}
    - {name: ward, attribute: ward}
    - {name: mood, answers: {good: 0.5, bad: 0.5}}
"""


def test_the_inventory_says_who_holds_and_who_asks_what_and_which_entries_speak_of_it(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    keys.create(workshop.root / "holder.key")
    settings = workshop.root / "crowdgate.toml"
    settings.write_text(settings.read_text() + 'signing_key = "holder.key"\n', encoding="utf-8")
    ledger_at(workshop.root, None).sign()
    flag = "{property: public, value: true}\n      - "
    workshop.edit(workshop.contract, "{property: rowsAtMost", flag + "{property: rowsAtMost")
    said = ("--words", "Patients", "--coverage", "1", "--error", "0", "--as-of", "2030-01-01", "--public", "--to", "kl")
    assert crowdgate("kl", "publish", workshop.contract, "--of", "age=50 years,ward", *said) == 0
    assert decided(workshop, "coarsen", "--to-level", "10 years") == 0
    folder = workshop.root / "policies" / "questionnaires"
    folder.mkdir(exist_ok=True)
    form = folder / "visitors.yaml"
    form.write_text(FORM.replace("LEVEL", "50 years"), encoding="utf-8")
    capsys.readouterr()
    assert crowdgate("kl", "inventory", "--from", "kl", "--key", "holder.key.pub", "--json") == 0
    contract, asked = json.loads(capsys.readouterr().out)["holders"]
    held = {line["attribute"]: line for line in contract["attributes"]}
    assert [*held] == ["patient", "age", "ward", "note"]
    assert held["age"]["decided"].startswith("coarsen to level '10 years'")
    assert (len(held["age"]["entries"]), len(held["note"]["entries"])) == (1, 0)
    assert contract["together"]["outcome"] == "related"
    assert [(line["attribute"], line["level"]) for line in asked["attributes"]] == [
        ("age", "50 years"),
        ("ward", "exact"),
        ("mood", "(answers of its own)"),
    ]
    assert (asked["together"]["outcome"], asked["population"]) == ("exact", "visitors of the ward")
    assert crowdgate("kl", "inventory") == 0
    assert "form visitors" in capsys.readouterr().out
    form.write_text(FORM.replace("LEVEL", "50 yeers"), encoding="utf-8")
    assert crowdgate("kl", "inventory") == 2
    assert "visitors.yaml:8:35: spec.questions.0.level: '50 yeers' is no level of clinic" in capsys.readouterr().err


@pytest.mark.parametrize("spoil", [edited, removed, forged])
def test_the_inventory_shows_no_decision_that_the_ledger_does_not_know(
    spoil: Any, workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert decided(workshop, "do-not-collect") == 0
    spoil(workshop)
    capsys.readouterr()
    assert crowdgate("kl", "inventory") == 2
    told = capsys.readouterr()
    assert "policies/decisions" in told.err
    assert "decided by board" not in told.out


@pytest.mark.thorough
@pytest.mark.parametrize("spoil", [gone, damaged, another, not_named])
def test_the_inventory_says_where_decisions_are_not_held_to_the_ledger(
    spoil: Any, workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert decided(workshop, "do-not-collect") == 0
    capsys.readouterr()
    assert crowdgate("kl", "inventory") == 0
    assert "held to the ledger" not in capsys.readouterr().out
    edited(workshop)
    spoil(workshop)
    assert crowdgate("kl", "inventory") == 0
    told = capsys.readouterr().out
    assert "contract clinic: Decisions on what is collected are not held to the ledger: " in told
    assert crowdgate("kl", "inventory", "--json") == 0
    (holder,) = json.loads(capsys.readouterr().out)["holders"]
    assert holder["decisions_not_held"] in told


def test_how_many_groups_a_claim_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("kl", "groups", "--probability", "0.02", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"outcome": "counted", "groups": 18824, "hits": 385}
    for probability in ("0", "1.5", "x"):
        assert crowdgate("kl", "groups", "--probability", probability) == 2
    assert "--probability" in capsys.readouterr().err
