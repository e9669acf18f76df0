"""`crowdgate replay`: the gates of a policy on the records of its past releases."""

import json
import shutil
from typing import Any

import pytest

from crowdgate.kind import randomness
from crowdgate.review.replay import gate_on_recorded_verdicts, gate_on_release
from tests.conformance.lives import Said, say
from tests.workshop import MARK, Workshop

SLOTS = ("2030-01-01", "2030-01-02", "2030-01-03")
TABLES = """\
    kind: dp_tables
    levels: {age: 50 years, ward: exact}
    tables: [{total: true, share: 0.2}, {all: 1}, {all: 2}]
  gates:
    - {measure: pso_bound, at_most: 1}
    - {measure: total_relative_error, at_most: 0.5}
    - {measure: trusted_share, at_least: 0}
  publish: {to: releases, formats: [csv]}
"""
SYNTHETIC = """\
    kind: dp_synthetic
    attributes: {age: 50 years, ward: exact}
  gates:
    - {measure: guarantee_delta, at_most: 0.01}
    - {measure: synthetic_pair_error, at_most: 1}
    - {measure: invalid_share, of: ward, at_most: 0.5, charge: {epsilon: 0.5}}
  publish: {to: releases, formats: [csv]}
"""


@pytest.fixture
def there(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A working copy in which commands are given."""
    monkeypatch.chdir(workshop.root)
    return workshop


def release(workshop: Workshop, slot: str = SLOTS[0]) -> int:
    return say("release", workshop.policy, "--as-of", slot).code


def replayed(workshop: Workshop, *options: str, code: int = 0) -> Any:
    said = say("replay", workshop.policy, "--json", *options)
    assert said.code == code, said.out + said.err
    assert MARK not in said.out + said.err + said.log
    return said.json()


def gate(found: Any, measure: str, at: int = 0) -> Any:
    """Return the verdict of a gate on a past release."""
    (one,) = [each for each in found["releases"][at]["gates"] if each["gate"].startswith(measure)]
    return one


def tally(found: Any, measure: str) -> tuple[int, int, int]:
    """Return a gate's tally: the releases against, all judged ones, and the unknown ones."""
    (one,) = [each for each in found["gates"] if each["gate"].startswith(measure)]
    return one["against"], one["of_the_last"], one["not_known"]


def told(verdict: Any) -> tuple[Any, ...]:
    return tuple(verdict.get(name) for name in ("class", "severity", "outcome", "value", "low", "high"))


def published(workshop: Workshop, slot: str = SLOTS[0]) -> list[tuple[Any, ...]]:
    """The verdicts of a manifest."""
    manifest = json.loads((workshop.release_dir(slot) / "manifest.json").read_text())
    return [told(each) for each in manifest["verdicts"]]


def check_the_same(workshop: Workshop, found: Any, slots: tuple[str, ...]) -> None:
    for past, slot in zip(found["releases"], slots, strict=True):
        public = [told(each) for each in past["gates"] if each["class"] != "confidential"]
        assert sorted(public) == sorted(published(workshop, slot))
        assert past["now"] == past["ended"] == "published"


@pytest.mark.thorough
@pytest.mark.parametrize("mechanism", [None, TABLES, SYNTHETIC], ids=["rows", "tables", "synthetic"])
def test_an_unchanged_policy_says_exactly_what_its_releases_recorded(mechanism: str | None, there: Workshop) -> None:
    if mechanism is not None:
        head, _, _ = there.policy.read_text().partition("    kind: ")
        there.policy.write_text(head + mechanism)
    for slot in SLOTS[:2]:
        assert release(there, slot) == 0
    check_the_same(there, replayed(there), SLOTS[:2])


def test_a_verdict_that_comes_out_otherwise_is_caught(there: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    assert release(there) == 0
    monkeypatch.setattr(gate_on_release, "measurement", lambda *_: None)
    with pytest.raises(AssertionError):
        check_the_same(there, replayed(there), SLOTS[:1])


@pytest.mark.thorough
def test_new_limits_are_held_against_what_was_measured_then(there: Workshop) -> None:
    for slot in SLOTS:
        assert release(there, slot) == 0
    for old, new in (
        ("{measure: pso_bound, at_most: 1}", "{measure: pso_bound, at_most: 0.5, with: {weight: 1e-9}}"),
        ("at_most: 500,", "at_most: -100,"),
        ("released_rows, at_least: 0", "released_rows, at_least: 900"),
        ("smallest_class, at_least: 1", "released_classes, at_least: 2"),
    ):
        there.edit(there.policy, old, new)
    found = replayed(there)
    assert [tally(found, name) for name in ("singletons", "released_rows", "released_classes")] == [
        (3, 3, 0), (3, 3, 0), (0, 3, 0),
    ]  # fmt: skip
    against = [gate(found, "pso_bound", at)["outcome"] for at in range(3)]
    assert tally(found, "pso_bound") == (against.count("fail"), 3, 0)
    assert {each["now"] for each in found["releases"]} == {"withheld"}
    text = say("replay", there.policy).out
    assert "released_rows at least 900: this gate would have withheld 3 of the last 3" in text


def test_a_charged_number_keeps_the_noise_that_it_was_drawn_with(there: Workshop) -> None:
    assert release(there) == 0
    before = gate(replayed(there), "singletons")
    there.edit(there.policy, "charge: {epsilon: 0.5}", "charge: {epsilon: 1}")
    after = gate(replayed(there), "singletons")
    assert (after["value"], after["low"], after["high"]) == (before["value"], before["low"], before["high"])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{measure: j_tons, at_most: 5, with: {size: 2}, charge: {epsilon: 0.1}}", "was not paid for then"),
        ("{measure: register_matches, at_most: 5}", None),
        ("{measure: distinct_diversity, of: ward, at_least: 1}", ""),
    ],
)
def test_what_was_not_recorded_is_not_known_and_no_pass(there: Workshop, line: str, why: str | None) -> None:
    assert release(there) == 0
    there.edit(there.policy, "  gates:\n", f"  gates:\n    - {line}\n")
    if why is None:
        assert say("replay", there.policy).code == 2  # a gate that no policy can have
        return
    found = replayed(there)
    first = found["releases"][0]["gates"][0]
    if why:
        assert why in first["why"]
        assert (first["outcome"], found["releases"][0]["now"]) == ("not known", "not known")
        assert tally(found, "j_tons") == (0, 0, 1)
    else:
        assert first["outcome"] == "pass"


def test_a_gate_on_an_attribute_that_was_not_released_is_not_known(there: Workshop) -> None:
    there.edit(there.policy, "{age: 50 years, ward: exact}", "{age: 50 years}")
    there.edit(there.policy, "    - {measure: expected_singletons, at_most: 4, over: [ward]}\n", "")
    assert release(there) == 0
    there.edit(there.policy, "attributes: {age: 50 years}", "attributes: {age: 50 years, ward: exact}")
    for line in ("distinct_diversity, of: ward, at_least: 1", "expected_singletons, at_most: 4, over: [ward]"):
        there.edit(there.policy, "  gates:\n", f"  gates:\n    - {{measure: {line}}}\n")
    found = replayed(there)
    assert [each["outcome"] for each in found["releases"][0]["gates"][:2]] == ["not known", "not known"]


# private records


def withheld(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 900")
    assert release(workshop) == 3


def openings(workshop: Workshop) -> list[Any]:
    found: list[Any] = say("ledger", "show", "--json", "--ledger", workshop.ledger).json()["records_opened"]
    return found


def test_of_a_withheld_release_what_was_told_when_it_ended_is_judged_and_is_no_look(there: Workshop) -> None:
    withheld(there)
    found = replayed(there)
    assert (found["releases"][0]["ended"], found["releases"][0]["now"]) == ("withheld", "withheld")
    assert gate(found, "released_rows")["outcome"] == "fail"
    unseen = gate(found, "suppressed_share")
    assert (unseen["outcome"], unseen["why"]) == ("not known", gate_on_recorded_verdicts.UNSEEN)
    assert tally(found, "released_rows") == (1, 1, 0)
    assert not openings(there)


def test_of_a_withheld_release_whose_record_is_not_at_hand_only_that_it_was_is_told(there: Workshop) -> None:
    withheld(there)
    (record,) = (there.root / "ledger" / "private").glob("*.json")
    record.unlink()
    found = replayed(there)
    assert (found["releases"][0]["ended"], found["releases"][0]["now"]) == ("withheld", "not known")
    assert {each["outcome"] for each in found["releases"][0]["gates"]} == {"not known"}
    assert gate(found, "released_rows")["why"] == gate_on_recorded_verdicts.UNTOLD


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("slot", "expires", "code"),
    [("2030-01-01", "2030-01-01", 0), ("2030-01-01", "2029-12-31", 3), ("2001-01-01", "2001-01-01", 3)],
)
def test_a_waiver_holds_again_exactly_where_it_held_then(there: Workshop, slot: str, expires: str, code: int) -> None:
    """Waivers hold on the day of the slot, or of the charge, if that is later, as for the slot of 2001."""
    waiver = f"{{reason: why, approved_by: who, expires: {expires}}}"
    there.edit(there.policy, "released_rows, at_least: 0", f"released_rows, at_least: 900, waiver: {waiver}")
    assert release(there, slot) == code
    for options in ((), ("--private",)):
        found = replayed(there, *options)
        assert found["releases"][0]["now"] == found["releases"][0]["ended"] == ("withheld" if code else "published")
        assert gate(found, "released_rows")["waived"] == (code == 0)
    assert ("fail, waived by who" in say("replay", there.policy).out) == (code == 0)


def test_a_new_waiver_is_held_against_a_withheld_release(there: Workshop) -> None:
    withheld(there)
    waiver = "{reason: why, approved_by: who, expires: 2031-01-01}"
    there.edit(there.policy, "released_rows, at_least: 900", f"released_rows, at_least: 900, waiver: {waiver}")
    assert replayed(there)["releases"][0]["now"] == "published"


def test_private_records_are_told_of_after_the_look_is_recorded(there: Workshop) -> None:
    withheld(there)
    found = replayed(there, "--private")
    assert [each["outcome"] for each in found["releases"][0]["gates"]] == [
        "pass", "pass", "pass", "fail", "pass", gate(found, "suppressed_share")["outcome"],
    ]  # fmt: skip
    assert gate(found, "suppressed_share")["outcome"] != "not known"
    assert found["releases"][0]["now"] == "withheld"
    assert [each["release_id"] for each in openings(there)] == ["clinic/1/2030-01-01"]


def test_figures_of_confidential_measures_are_never_told(there: Workshop) -> None:
    assert release(there) == 0
    found = replayed(there, "--private")
    share = gate(found, "suppressed_share")
    assert (share["value"], share["low"], share["high"]) == (None, None, None)
    text = say("replay", there.policy, "--private").out
    assert "its figures are not shown" in text
    assert "marked as informed by confidential data" in text


@pytest.mark.thorough
def test_a_policy_that_is_changed_after_a_look_is_informed(there: Workshop) -> None:
    assert release(there) == 0
    replayed(there)
    assert not say("check", there.policy, "--json").json()["policies"][0]["informed"]
    replayed(there, "--private")
    assert not say("check", there.policy, "--json").json()["policies"][0]["informed"]  # it was used before
    there.edit(there.policy, "version: 1", "version: 2")
    assert say("check", there.policy, "--json").json()["policies"][0]["informed"]


def test_a_new_limit_is_held_against_what_a_private_record_holds(there: Workshop) -> None:
    withheld(there)
    there.edit(there.policy, "released_rows, at_least: 900", "released_rows, at_least: 1")
    there.edit(there.policy, "at_most: 500,", "at_most: -100,")
    found = replayed(there, "--private")
    assert [gate(found, name)["outcome"] for name in ("released_rows", "singletons")] == ["pass", "fail"]


# what is refused


def refused(workshop: Workshop) -> str:
    found = replayed(workshop, code=6)
    (past,) = found["releases"]
    assert (past["gates"], past["now"]) == ([], "not known")
    return "\n".join(past["refused"])


def test_a_release_whose_files_do_not_verify_is_refused(there: Workshop) -> None:
    assert release(there) == 0
    there.edit(there.release_dir(SLOTS[0]) / "data.csv", "north", "south")
    assert "step 3, files: data.csv" in refused(there)


def test_a_release_that_is_gone_is_refused(there: Workshop) -> None:
    assert release(there) == 0
    shutil.rmtree(there.release_dir(SLOTS[0]))
    assert "step 1, folder" in refused(there)


def test_another_release_in_its_place_is_refused(there: Workshop) -> None:
    for slot in SLOTS[:2]:
        assert release(there, slot) == 0
    shutil.rmtree(there.release_dir(SLOTS[0]))
    shutil.copytree(there.release_dir(SLOTS[1]), there.release_dir(SLOTS[0]))
    found = replayed(there, code=6)
    assert found["releases"][0]["refused"] == ["another release lies at its destination"]
    assert tally(found, "released_rows") == (0, 1, 1)


def test_a_private_record_that_was_edited_is_refused(there: Workshop) -> None:
    withheld(there)
    (record,) = (there.root / "ledger" / "private").glob("*.json")
    there.edit(record, '"outcome": "fail"', '"outcome": "pass"')
    for options in ((), ("--private",)):
        assert "differs from the one that the ledger recorded" in json.dumps(replayed(there, *options, code=6))


def test_a_private_record_that_is_gone_is_refused(there: Workshop) -> None:
    withheld(there)
    (record,) = (there.root / "ledger" / "private").glob("*.json")
    record.unlink()
    assert "its private record is missing" in json.dumps(replayed(there, "--private", code=6))
    assert "marked as informed" not in say("replay", there.policy, "--private").out
    assert not openings(there)


def test_of_a_run_that_crashed_the_word_is_told_alone(there: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError(MARK)

    with monkeypatch.context() as patch:
        patch.setattr(randomness, "bernoulli_subsampler", broken)
        assert release(there) == 1
    for options in ((), ("--private",)):
        (past,) = replayed(there, *options)["releases"]
        assert past == {
            "release_id": "clinic/1/2030-01-01", "ended": "crashed", "now": "not known", "opened": False, "gates": [],
            "refused": [],
        }  # fmt: skip
    assert not openings(there)


def test_an_edited_ledger_tells_nothing(there: Workshop) -> None:
    assert release(there) == 0
    import sqlite3

    with sqlite3.connect(there.root / "ledger" / "ledger.db") as raw:
        raw.execute("update entries set state = 'withheld'")
    said: Said = say("replay", there.policy)
    assert (said.code, said.out) == (5, "")


def test_a_policy_without_releases_has_no_past(there: Workshop) -> None:
    assert replayed(there)["releases"] == []
    assert "0 past releases" in say("replay", there.policy).out
