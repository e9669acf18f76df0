"""Waivers: a named approver lets releases through a failing gate up to a day, visibly to all."""

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from crowdgate.candidate import Measurement
from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.gate import Outcome, is_withheld, judge, verdict
from crowdgate.measures import MEASURES, MeasureClass
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.policy import GateRule
from crowdgate.releases import release as job
from crowdgate.review.check import check
from crowdgate.review.diff.difference import diff
from crowdgate.review.explain import explain_policy
from crowdgate.review.schemas.schemas import schemas
from crowdgate.verification.release import verify
from tests.forging import reseal_with_page, stated
from tests.verify import outsider
from tests.workshop import Workshop, crowdgate

ROOT = Path(__file__).parents[2]
SLOT = "2030-01-01"
WAIVER = "{reason: the town | is small, approved_by: Ada *Board*, expires: 2030-06-30}"
GATE = "    - {measure: released_rows, at_least: 0}\n"
FAILING = (
    f"    - {{measure: released_rows, at_least: 900, reason: users need so many, reference: R-7, waiver: {WAIVER}}}\n"
)
SAID = "fail, waived by Ada *Board* until 2030-06-30: the town | is small"


@pytest.fixture
def waived(workshop: Workshop) -> Workshop:
    """About 300 of 600 rows are released, and 900 are asked for."""
    workshop.edit(workshop.policy, GATE, FAILING)
    return workshop


def released(workshop: Workshop, slot: str = SLOT) -> int:
    return crowdgate("release", workshop.policy, "--as-of", slot)


# --- what a run does ---


def test_a_waived_failure_is_published_and_shows_wherever_the_gate_does(
    waived: Workshop, capfd: pytest.CaptureFixture[str]
) -> None:
    assert released(waived) == 0
    folder = waived.release_dir(SLOT)
    gate = verdict_of(stated(folder), "released_rows")
    assert (gate["outcome"], gate["waived"], gate["waiver"]["approved_by"]) == ("fail", True, "Ada *Board*")
    assert (gate["stated_reason"], gate["reference"]) == ("users need so many", "R-7")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert SAID.replace("|", "\\|") in readme
    assert "reason: users need so many; reference: R-7; waived by Ada" in readme
    assert crowdgate("verify", folder, "--ledger", waived.ledger, "--policy", waived.policy) == 0
    assert f"Not kept: released_rows at least 900: {SAID}." in capfd.readouterr().out
    assert crowdgate("verify", folder, "--json") == 0
    assert [gate["measure"] for gate in json.loads(capfd.readouterr().out)["waived"]] == ["released_rows"]


def test_the_command_says_by_whom_a_failure_was_waived(waived: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    assert released(waived) == 0
    assert f"  {SAID}\n               released_rows at least 900: " in capfd.readouterr().out


@pytest.mark.parametrize("slot", ["2030-06-30", "2030-06-30T2359Z"])
def test_a_waiver_holds_on_its_last_day(slot: str, waived: Workshop) -> None:
    assert released(waived, slot) == 0
    verify(waived.release_dir(slot), policy=waived.policy)


def test_an_expired_waiver_withholds_again(waived: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    assert released(waived, "2030-07-01") == 3
    said = capfd.readouterr().out
    assert "fail         released_rows at least 900" in said
    assert not waived.release_dir("2030-07-01").exists()


def test_an_earlier_slot_brings_no_waiver_back(waived: Workshop) -> None:
    waived.edit(waived.policy, "expires: 2030-06-30", "expires: 2020-06-30")
    assert released(waived, "2020-01-01") == 3


def test_a_gate_that_passes_needs_no_waiver_and_still_states_it(waived: Workshop) -> None:
    waived.edit(waived.policy, "at_least: 900", "at_least: 10")
    assert released(waived) == 0
    gate = verdict_of(stated(waived.release_dir(SLOT)), "released_rows")
    assert (gate["outcome"], "waived" in gate, gate["waiver"]["expires"]) == ("pass", False, "2030-06-30")


def test_a_static_gate_is_waived_before_anything_is_read(workshop: Workshop) -> None:
    limit = "{measure: expected_singletons, at_most: 4, over: [ward]"
    workshop.edit(workshop.policy, limit, f"{limit}, with: {{people: 3}}, waiver: {WAIVER}")
    workshop.edit(workshop.policy, "expected_singletons, at_most: 4", "expected_singletons, at_most: 0.001")
    assert [check(workshop.policy, day).allowed for day in ("2030-06-30", "2030-07-01")] == [True, False]
    waived, expired = (
        [each.words for each in check(workshop.policy, day).warnings if each.code == "CG206"]
        for day in ("2030-06-30", "2030-07-01")
    )
    assert [words.rpartition(": ")[2] for words in waived] == ["its failure is waived"]
    assert [words.rpartition(": ")[2] for words in expired] == ["every release would be withheld"]
    assert released(workshop, "2030-07-01") == 3
    assert released(workshop) == 0
    verify(workshop.release_dir(SLOT), ledger=workshop.ledger)


def test_another_gate_that_fails_withholds_all_the_same(waived: Workshop) -> None:
    waived.edit(waived.policy, "smallest_class, at_least: 1}", "smallest_class, at_least: 900}")
    assert released(waived) == 3


# --- what can be waived ---


def rule_of(name: str, **more: Any) -> GateRule:
    waiver = {"reason": "why", "approved_by": "who", "expires": "2030-06-30"}
    return GateRule.model_validate({"measure": name, "at_most": "1", "waiver": waiver, **more})


def test_neither_the_guarantee_nor_an_audit_nor_advice_can_be_waived() -> None:
    firm = {name for name, measure in MEASURES.items() if not measure.waivable}
    assert firm == {
        "guarantee_epsilon", "guarantee_delta", "pso_bound", "pso_bound_in_sample", "membership_precision_bound",
        "pso_success", "pso_excess", "isolation_rate", "kept_share_in_audit", "inference_gain",
        "inference_precision_above_baseline", "membership_precision", "noise_shortfall",
        *(name for name, measure in MEASURES.items() if measure.reads is MeasureClass.CONFIDENTIAL),
    }  # fmt: skip
    text = (ROOT / "policies" / "reference" / "gates-and-waivers.md").read_text(encoding="utf-8")
    named = {*re.findall(r"`(\w+)`", text.split("can't be waived:")[1].split(".")[0])}
    assert named == {name for name in firm if MEASURES[name].reads is not MeasureClass.CONFIDENTIAL}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("pso_bound, at_most: 1}", f"pso_bound, at_most: 1, waiver: {WAIVER}}}", "which nobody can waive"),
        ("severity: advise}", f"severity: advise, waiver: {WAIVER}}}", "a gate that advises withholds nothing"),
        ("approved_by: Ada *Board*, ", "", "the key is missing"),
        ("2030-06-30", "2030-6-30", "a day as YYYY-MM-DD"),
        ("2030-06-30", "2030-02-30", "a day as YYYY-MM-DD"),
        ("Ada *Board*", '"Ada\\nBoard"', "words on one line, of printable"),
        ("Ada *Board*", '"  "', "words on one line, of printable"),
        ("the town | is small", "x" * 1001, "at most 1000 characters"),
        ("expires:", "until:", "expires"),
    ],
)
def test_a_waiver_that_says_too_little_or_too_much_is_refused(old: str, new: str, said: str, waived: Workshop) -> None:
    waived.edit(waived.policy, old, new)
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        plan_policy(waived.policy)


def test_a_policy_of_waived_gates_alone_is_refused(workshop: Workshop) -> None:
    head, tail = workshop.policy.read_text(encoding="utf-8").split("  gates:\n")
    publish = "  publish:" + tail.split("  publish:")[1]
    workshop.policy.write_text(f"{head}  gates:\n{FAILING}{publish}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="no gate blocks without a waiver"):
        plan_policy(workshop.policy)


def test_what_could_not_be_measured_is_not_waived() -> None:
    rule, measure = rule_of("trusted_share"), MEASURES["trusted_share"]
    found = verdict(rule, measure, None, day="2030-01-01")
    assert (judge(rule, None), found.waived, found.withholds) == (Outcome.INCONCLUSIVE, False, True)


def test_a_failure_of_the_guarantee_withholds_whatever_a_rule_says() -> None:
    failed = verdict(rule_of("pso_bound"), MEASURES["pso_bound"], Measurement.exact(2), day="2030-01-01")
    assert (failed.outcome, failed.withholds) == (Outcome.FAIL, True)


def test_without_a_day_no_waiver_holds_and_no_gate_but_waived_ones_is_no_gate() -> None:
    rule, measure = rule_of("released_rows"), MEASURES["released_rows"]
    failed = Measurement.exact(2)
    firm = verdict(rule_of("released_classes", waiver=None), measure, Measurement.exact(Fraction(1)), day="2030-01-01")
    now, never = verdict(rule, measure, failed, day="2030-06-30"), verdict(rule, measure, failed)
    late = verdict(rule, measure, failed, day="2030-07-01")
    assert [each.withholds for each in (now, never, late)] == [False, True, True]
    assert (is_withheld([now, firm]), is_withheld([never, firm]), is_withheld([now])) == (False, True, True)


# --- what is told beforehand ---


def test_check_and_explain_tell_a_waiver_and_when_it_has_expired(
    waived: Workshop, capfd: pytest.CaptureFixture[str]
) -> None:
    by_measure = {note.gate.split()[0]: note for note in check(waived.policy, "2030-06-30").gates}
    assert (by_measure["released_rows"].waived, by_measure["released_rows"].warning) == (True, None)
    late = {note.gate.split()[0]: note for note in check(waived.policy, "2030-07-01").gates}["released_rows"]
    assert (late.waived, late.warning) == (
        False,
        "its waiver expired on 2030-06-30, so a failure withholds the release again",
    )
    assert crowdgate("check", waived.policy) == 0
    assert SAID.removeprefix("fail, ") in capfd.readouterr().out
    text = explain_policy(waived.policy).markdown()
    assert "Waived by Ada \\*Board\\* until 2030-06-30: the town \\| is small." in text
    assert "Reason: users need so many." in text


def test_a_gate_that_can_not_pass_is_allowed_only_while_it_is_waived(waived: Workshop) -> None:
    waived.edit(waived.policy, "at_least: 900", "at_least: 2000")  # of at most 1,000 people
    assert check(waived.policy, "2030-06-30").allowed
    assert not check(waived.policy, "2030-07-01").allowed


# --- what verify finds ---


def verdict_of(claims: dict[str, Any], measure: str) -> dict[str, Any]:
    return next(gate for gate in claims["verdicts"] if gate["measure"] == measure)


Change = Callable[[dict[str, Any]], object]


def forged(measure: str, **change: Any) -> Change:
    """Return a change of a gate's fields; None removes one."""

    def apply(claims: dict[str, Any]) -> None:
        gate = verdict_of(claims, measure)
        gate.update(change)
        for name in [name for name, value in change.items() if value is None]:
            del gate[name]

    return apply


def resealed_and_verified(folder: Path, change: Change) -> None:
    reseal_with_page(folder, change)
    verify(folder)


FORGED = {"reason": "why", "approved_by": "who", "expires": "2030-06-30"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (forged("released_rows", waived=None), "this blocking gate did not pass"),
        (forged("released_rows", waiver=None), "says wrongly whether this gate was waived"),
        (
            forged("released_rows", waiver={**FORGED, "expires": "2029-12-31"}),
            "says wrongly whether this gate was waived",
        ),
        (forged("released_classes", waived=True, waiver=FORGED), "says wrongly whether this gate was waived"),
        (
            forged("pso_bound", waiver=FORGED),
            "the manifest's gate on this measure has a limit, option or charge that such a gate can't have",
        ),
        (
            forged("released_rows", severity="advise"),
            "the manifest's gate on this measure has a limit, option or charge that such a gate can't have",
        ),
        (forged("released_rows", outcome="pass", waived=None), "the manifest's outcome of this gate does not follow"),
        (forged("released_rows", waived=False), "waived"),
        (forged("released_rows", waiver={**FORGED, "expires": "2030-06-31"}), "a day as YYYY-MM-DD"),
        (
            lambda claims: (
                [gate.update(waiver=FORGED) for gate in claims["verdicts"] if gate["measure"] != "pso_bound"]
                and claims["verdicts"].remove(verdict_of(claims, "pso_bound"))
            ),
            "the release has no blocking gate without a waiver, and must have one",
        ),
    ],
)
def test_a_forged_waiver_that_contradicts_itself_is_found(change: Change, said: str, waived: Workshop) -> None:
    waived.edit(waived.policy, "smallest_class, at_least: 1}", "released_classes, at_least: 1}")
    assert released(waived) == 0
    folder = waived.release_dir(SLOT)
    with pytest.raises(VerificationFailed, match=re.escape(said)):
        resealed_and_verified(folder, change)


def test_a_stranger_s_program_reads_waivers_by_the_readme_alone(waived: Workshop) -> None:
    assert released(waived) == 0
    folder = waived.release_dir(SLOT)
    assert outsider.examine(folder).problems == []
    reseal_with_page(folder, forged("released_rows", waiver={**FORGED, "expires": "2029-12-31"}))
    assert outsider.examine(folder).problems == ["gates: released_rows is waived and its waiver has expired"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        forged("released_rows", waiver={**FORGED, "expires": "2031-06-30"}),
        forged("released_rows", waiver={**FORGED, "approved_by": "somebody else"}),
        forged("released_rows", stated_reason=None),
        forged("released_rows", reference="R-8"),
        forged("smallest_class", waiver=FORGED),
        forged("released_rows", at_least="1", outcome="pass", waived=None),
    ],
)
def test_a_waiver_that_the_policy_does_not_state_is_refused_by_whoever_has_the_policy(
    change: Change, waived: Workshop
) -> None:
    assert released(waived) == 0
    folder = waived.release_dir(SLOT)
    verify(folder, policy=waived.policy)
    reseal_with_page(folder, change)
    verify(folder)  # it fits: only the policy, the ledger or a signature can tell
    with pytest.raises(
        VerificationFailed,
        match="the release has this gate; the policy has none with the same limit, waiver and reasons",
    ):
        verify(folder, policy=waived.policy)
    with pytest.raises(VerificationFailed, match="step 9, ledger"):
        verify(folder, ledger=waived.ledger)


def test_a_gate_that_the_policy_states_and_other_policy_files_are_told(waived: Workshop) -> None:
    assert released(waived) == 0
    folder = waived.release_dir(SLOT)
    reseal_with_page(folder, lambda claims: claims["verdicts"].remove(verdict_of(claims, "smallest_class")))
    with pytest.raises(VerificationFailed, match="the policy has this gate, and the release has none"):
        verify(folder, policy=waived.policy)
    waived.edit(waived.policy, "owner: board", "owner: the board")
    with pytest.raises(VerificationFailed, match="was made from other files than the policy"):
        verify(folder, policy=waived.policy)


def test_the_ledger_tells_a_waiver_that_had_expired_when_it_was_charged(
    waived: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    waived.edit(waived.policy, "expires: 2030-06-30", "expires: 2020-06-30")
    monkeypatch.setattr(job, "waiver_day", lambda slot, _: slot)  # a maker that lets slots lie
    assert released(waived, "2020-01-01") == 0
    verify(waived.release_dir("2020-01-01"))
    with pytest.raises(VerificationFailed, match="the waiver had expired when the ledger charged the release"):
        verify(waived.release_dir("2020-01-01"), ledger=waived.ledger)


def test_a_manifest_of_format_1_has_no_waiver() -> None:
    from crowdgate.kinds import KINDS
    from crowdgate.manifest import canonical, parsed

    kept = ROOT / "tests" / "verify" / "kept" / "1" / "safe_k_anonymity" / "manifest.json"
    claims = json.loads(kept.read_text(encoding="utf-8"))
    claims["verdicts"][0]["reference"] = "R-7"
    with pytest.raises(VerificationFailed, match="from format 2 on"):
        parsed(KINDS["safe_k_anonymity"].manifest_class(), canonical(claims))


def test_editors_are_told_what_every_key_of_a_gate_is() -> None:
    models = json.loads(schemas()["release-policy.json"])["$defs"]
    for model in ("GateRule", "Waiver"):
        for name, schema in models[model]["properties"].items():
            assert schema.get("description"), f"{model}.{name}"


# --- what other commands make of it ---


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "direction"),
    [
        (FAILING, FAILING.replace("2030-06-30", "2031-06-30"), "looser"),
        (FAILING, FAILING.replace("2030-06-30", "2030-05-30"), "tighter"),
        (FAILING.replace(f", waiver: {WAIVER}", ""), FAILING, "looser"),
        (FAILING, FAILING.replace(f", waiver: {WAIVER}", ""), "tighter"),
        (FAILING, FAILING.replace("R-7", "R-8"), "equal"),
    ],
)
def test_a_longer_waiver_is_a_looser_policy(old: str, new: str, direction: str, workshop: Workshop) -> None:
    other = workshop.policy.with_name("other.yaml")
    text = workshop.policy.read_text(encoding="utf-8")
    workshop.policy.write_text(text.replace(GATE, old), encoding="utf-8")
    other.write_text(text.replace(GATE, new), encoding="utf-8")
    assert diff(str(workshop.policy), str(other)).to_json()["direction"] == direction


def test_a_replay_publishes_again_what_was_waived(waived: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    assert released(waived) == 0
    capfd.readouterr()
    assert crowdgate("replay", waived.policy, "--json") == 0
    (past,) = json.loads(capfd.readouterr().out)["releases"]
    assert (past["ended"], past["now"]) == ("published", "published")
