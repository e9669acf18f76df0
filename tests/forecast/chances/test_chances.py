"""Probabilities in `check` and `plan`: their basis, and the cases in which they are unknown."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from scipy import stats

from crowdgate.candidate import Measurement
from crowdgate.forecast.chances.from_past_runs import PastMeasurements, odds_from_past_runs, past_measurements
from crowdgate.forecast.chances.gate_chances import FAILS, PASSES, Chances, GateChance
from crowdgate.gate import verdict
from crowdgate.history.past_runs import MOST_RUNS, PastRun, past_runs
from crowdgate.kind import randomness
from crowdgate.kind.pass_probability import PassProbability
from crowdgate.ledger.ledger import Budget, ChargeRequest, Spend, open_ledger
from crowdgate.manifest import GateFields
from crowdgate.measures import MEASURES
from crowdgate.number_text import CHANCE, format_value
from crowdgate.planning.open_ledger import OpenedLedger
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.policy import GateRule
from tests.anonymity.test_measure import PUBLIC
from tests.conformance.lives import Said, say
from tests.forecast.chances.drawn import plan_at
from tests.workshop import MARK, Workshop, crowdgate

SLOTS = tuple(f"2030-01-0{at}" for at in range(1, 8))


@pytest.fixture
def clinic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Thirty releases fit into the budget."""
    monkeypatch.chdir(workshop.root)
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 60, delta: 0.3")
    workshop.edit(workshop.policy, "{measure: pso_bound, at_most: 1}", "{measure: guarantee_epsilon, at_most: 2}")
    return workshop


def released(clinic: Workshop, slots: Sequence[str], code: int = 0) -> list[dict[str, Any]]:
    """Return the public verdicts of releases."""
    found = []
    for slot in slots:
        said: Said = say("release", clinic.policy, "--as-of", slot, "--json")
        assert said.code == code, said.err
        found.append({each["measure"]: each for each in said.json()["verdicts"]})
    return found


def forecast(clinic: Workshop, command: str = "check", *options: object, code: int = 0) -> dict[str, Any]:
    said = say(command, clinic.policy, "--json", *options)
    assert said.code == code, said.err
    whole = said.json()
    found: dict[str, Any] = (whole["policies"][0] if command == "check" else whole)["forecast"]
    return found


def gate(found: dict[str, Any], measure: str) -> dict[str, Any]:
    (own,) = (each for each in found["gates"] if each["gate"].startswith(measure))
    assert isinstance(own, dict)
    return own


def tighten(clinic: Workshop, limit: int, version: int = 2) -> None:
    clinic.edit(clinic.policy, f"version: {version - 1}", f"version: {version}")
    clinic.edit(clinic.policy, "released_rows, at_least: 0", f"released_rows, at_least: {limit}")


def test_what_reads_no_data_is_known_and_the_rest_is_not_told(clinic: Workshop) -> None:
    for command in ("check", "plan"):
        found = forecast(clinic, command)
        known = {"chance": 1.0, "low": 1.0, "high": 1.0, "basis": "known beforehand", "stops": True}
        assert gate(found, "guarantee_epsilon") == {"gate": "guarantee_epsilon at most 2", **known}
        assert gate(found, "released_rows") == {"gate": "released_rows at least 0", **known}
        untold = gate(found, "singletons")
        assert (untold["chance"], untold["low"], untold["high"]) == (None, None, None)
        assert untold["basis"] == "unknown: no comparable past run"
        assert found["release"] == {"chance": None, "low": None, "high": None, "at_most": 1.0, "gates_not_told": 1}


def test_one_past_run_suffices_only_where_its_law_is_known(clinic: Workshop) -> None:
    """The noise of a charged count is known; of released rows nothing is known about suppression."""
    tighten(clinic, 1)
    (shown,) = released(clinic, SLOTS[:1])
    found = forecast(clinic)
    own, rows = gate(found, "singletons"), gate(found, "released_rows")
    assert own["basis"] == f"from 1 past run: upper confidence limit {shown['singletons']['high']} against at most 500"
    assert own["chance"] > 0.99
    assert rows["chance"] is None
    assert rows["basis"] == f"unknown: 1 past run: {shown['released_rows']['value']} against at least 1"


@pytest.mark.thorough
def test_past_runs_are_told_at_the_end_that_is_judged(clinic: Workshop) -> None:
    shown = released(clinic, SLOTS[:3])
    tighten(clinic, 290)
    for command in ("check", "plan"):
        found = forecast(clinic, command)
        ends = ", ".join(each["singletons"]["high"] for each in shown)
        rows = ", ".join(each["released_rows"]["value"] for each in shown)
        assert (
            gate(found, "singletons")["basis"]
            == f"from 3 past runs: upper confidence limits {ends} against at most 500"
        )
        assert gate(found, "released_rows")["basis"] == f"from 3 past runs: {rows} against at least 290"
        assert gate(found, "singletons")["chance"] > 0.99
        assert 0 < gate(found, "released_rows")["chance"] < 1
        whole = found["release"]
        assert whole["low"] <= whole["chance"] <= whole["high"] == whole["at_most"]
    assert "above 0.99, from 3 past runs" in say("plan", clinic.policy).out


@pytest.mark.thorough
def test_of_many_past_runs_the_last_ones_are_told(clinic: Workshop) -> None:
    plan, cost = plan_policy(clinic.policy), Spend(Fraction(1, 100), Fraction(0))
    budget = Budget("clinic-patients", Spend(Fraction(9), Fraction(1)), 1000, "row", "add-remove")
    ledger = open_ledger(clinic.ledger, None)
    ids = [f"clinic/1/{2030 + at}-01-01" for at in range(MOST_RUNS + 3)]
    for release_id in ids:
        ledger.reserve(ChargeRequest(release_id, plan.bundle.digest, "clinic", budget, cost))
        ledger.begin_reading(release_id)
    told = past_runs(plan, OpenedLedger(clinic.root, ledger.id), ())
    assert told is not None
    assert [each.release_id for each in told] == ids[-MOST_RUNS:]


@pytest.mark.thorough
def test_a_limit_below_what_was_recorded_is_seen_before_it_costs_anything(clinic: Workshop) -> None:
    released(clinic, SLOTS[:3])
    tighten(clinic, 500)
    text = say("check", clinic.policy).out
    assert gate(forecast(clinic), "released_rows")["chance"] < 0.1
    assert "against at least 500" in text
    assert "this gate would have withheld 3 of the last 3" in text


def test_withheld_runs_are_paid_and_count(clinic: Workshop) -> None:
    tighten(clinic, 500)
    shown = released(clinic, SLOTS[:3], code=3)
    clinic.edit(clinic.policy, "version: 2", "version: 3")
    clinic.edit(clinic.policy, "released_rows, at_least: 500", "released_rows, at_least: 400")
    rows = ", ".join(each["released_rows"]["value"] for each in shown)
    assert gate(forecast(clinic), "released_rows")["basis"] == f"from 3 past runs: {rows} against at least 400"
    text = say("check", clinic.policy).out
    assert "this gate would have withheld 3 of the last 3" in text
    assert not say("ledger", "show", "--json", "--ledger", clinic.ledger).json()["records_opened"]


@pytest.mark.thorough
def test_nothing_confidential_is_told(clinic: Workshop) -> None:
    """Neither figures of the curator's record are shown, nor that the gate never passed."""
    tighten(clinic, 500)
    clinic.edit(clinic.policy, "suppressed_share, at_most: 0.5", "suppressed_share, at_least: 1")
    released(clinic, SLOTS[:2], code=3)
    records = [*(clinic.root / "ledger" / "private").glob("*.json")]
    shares = [each for path in records for each in json.loads(path.read_text())["verdicts"]
              if each["measure"] == "suppressed_share"]  # fmt: skip
    assert len(shares) == 2
    for command in ("check", "plan"):
        found = forecast(clinic, command)
        assert "suppressed_share" not in json.dumps(found)
        assert "would have advised" not in say(command, clinic.policy).out
        text = say(command, clinic.policy)
        assert not [each for each in shares if Fraction(each["value"]) and each["value"] in text.out + text.err]


@pytest.mark.thorough
def test_of_a_run_that_crashed_only_that_it_did(clinic: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    released(clinic, SLOTS[:2])

    def broken(*_: object) -> object:
        raise RuntimeError(MARK)

    with monkeypatch.context() as patch:
        patch.setattr(randomness, "bernoulli_subsampler", broken)
        assert crowdgate("release", clinic.policy, "--as-of", SLOTS[2]) == 1
    found = gate(forecast(clinic), "singletons")
    assert found["basis"].endswith("against at most 500; 1 crashed or still running")
    assert found["chance"] > 0.9
    assert MARK not in say("check", clinic.policy).out


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "rows", "table"),
    [
        ("sampling: {beta: 0.5}", "sampling: {beta: 0.4}", False, True),
        ("attributes: {age: 50 years, ward: exact}", "attributes: {age: 10 years, ward: exact}", False, False),
        ("charge: {epsilon: 0.5}", "charge: {epsilon: 0.4}", True, False),
        ("severity: advise", "severity: advise, reason: why not", True, True),
        ("released_rows, at_least: 1", "released_rows, at_least: 2", True, True),
    ],
)
def test_only_runs_of_the_same_thing_are_compared(
    clinic: Workshop, old: str, new: str, rows: bool, table: bool
) -> None:
    """Another rate changes the number of rows, but not the table; another charge changes the noise, but not k."""
    tighten(clinic, 1)
    clinic.edit(clinic.policy, "epsilon: 2,", "epsilon: 2.0,")
    released(clinic, SLOTS[:3])
    clinic.edit(clinic.policy, old, new)
    clinic.edit(clinic.policy, "version: 2", "version: 3")
    found = forecast(clinic)
    told = [gate(found, name)["chance"] is not None for name in ("released_rows", "singletons")]
    assert told == [rows, table]
    if not table:
        assert gate(found, "singletons")["basis"] == "unknown: no comparable past run; 3 not comparable"


@pytest.mark.thorough
def test_a_population_of_another_size_is_not_compared(clinic: Workshop) -> None:
    tighten(clinic, 1)
    released(clinic, SLOTS[:3])
    assert gate(forecast(clinic), "released_rows")["chance"] is not None
    clinic.edit(clinic.budget, "people: 1000", "people: 400")
    clinic.edit(clinic.policy, "version: 2", "version: 3")
    found = forecast(clinic, "plan")
    assert gate(found, "released_rows")["basis"] == "unknown: no comparable past run; 3 not comparable"


@pytest.mark.thorough
def test_a_renamed_policy_has_the_same_forecast(clinic: Workshop) -> None:
    tighten(clinic, 250)
    released(clinic, SLOTS[:3])
    before = forecast(clinic)
    clinic.edit(clinic.policy, "name: clinic, version", "name: renamed, version")
    after = forecast(clinic)
    assert after == before
    assert "from 3 past runs" in gate(after, "singletons")["basis"]
    clinic.edit(clinic.policy, "attributes: {age: 50 years,", "attributes: {age: 10 years,")
    assert gate(forecast(clinic), "singletons")["basis"] == "unknown: no comparable past run"


def test_what_the_ledger_did_not_commit_to_is_not_used(clinic: Workshop) -> None:
    tighten(clinic, 500)
    released(clinic, SLOTS[:3], code=3)
    record = sorted((clinic.root / "ledger" / "private").glob("*.json"))[0]
    clinic.edit(record, '"outcome": "fail"', '"outcome": "pass"')
    found = gate(forecast(clinic), "released_rows")
    assert "from 2 past runs" in found["basis"]
    assert found["basis"].endswith("1 not comparable")


@pytest.mark.thorough
def test_an_edited_manifest_is_not_used(clinic: Workshop) -> None:
    released(clinic, SLOTS[:3])
    clinic.edit(clinic.release_dir(SLOTS[0]) / "manifest.json", '"clinic/1/2030-01-01"', '"clinic/1/2030-01-09"')
    found = gate(forecast(clinic), "singletons")
    assert "from 2 past runs" in found["basis"]


def test_a_gate_that_fails_beforehand_is_a_certain_no(clinic: Workshop) -> None:
    clinic.edit(clinic.policy, "guarantee_epsilon, at_most: 2", "guarantee_epsilon, at_most: 1")
    found = forecast(clinic, code=3)
    assert gate(found, "guarantee_epsilon")["chance"] == 0
    assert (found["release"]["chance"], found["release"]["high"]) == (0, 0)
    assert "Publication     impossible: the next release is refused\n" in say("check", clinic.policy).out


def test_the_next_release_is_meant_not_the_first(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound grows with the spend: .01 x 1,000 people exceeds it from the first release on."""
    monkeypatch.chdir(workshop.root)
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 60, delta: 0.3")
    workshop.edit(workshop.policy, "delta: 0.01", "delta: 1e-6")
    workshop.edit(workshop.policy, "pso_bound, at_most: 1}", "pso_bound, at_most: 0.0015}")
    assert gate(forecast(workshop), "pso_bound")["chance"] == 1
    released(workshop, SLOTS[:1])
    assert gate(forecast(workshop, code=3), "pso_bound")["chance"] == 0


@pytest.mark.thorough
def test_a_failure_that_is_waived_stops_nothing(clinic: Workshop) -> None:
    tighten(clinic, 500)
    waiver = "waiver: {reason: pilot, approved_by: board, expires: 2999-01-01}"
    clinic.edit(clinic.policy, "at_least: 500", f"at_least: 500, {waiver}")
    released(clinic, SLOTS[:3])
    found = forecast(clinic)
    assert gate(found, "released_rows")["chance"] < 0.1
    assert not gate(found, "released_rows")["stops"]
    assert found["release"]["chance"] > 0.9


def test_without_its_ledger_no_past_is_told(clinic: Workshop) -> None:
    released(clinic, SLOTS[:2])
    (clinic.root / "crowdgate.toml").unlink()
    assert gate(forecast(clinic), "singletons")["basis"] == "unknown: its ledger can't be read here"


@pytest.mark.thorough
def test_a_public_table_tells_what_no_past_does(clinic: Workshop) -> None:
    """Half of 600 rows are sampled and none is suppressed, so probabilities from counts are those of the sampling."""
    clinic.edit(clinic.contract, PUBLIC, f"{PUBLIC}\n      - {{property: public, value: true}}")
    tighten(clinic, 300)
    found = forecast(clinic, "plan", "--from", clinic.data)
    own = gate(found, "released_rows")
    assert own["basis"] == "from the public table patients.parquet"
    assert own["low"] <= stats.binom.sf(299, 600, 0.5) <= own["high"]
    assert gate(found, "singletons")["chance"] > 0.99
    for slot in SLOTS[:3]:
        assert crowdgate("release", clinic.policy, "--as-of", slot) in (0, 3)
    assert gate(forecast(clinic, "plan", "--from", clinic.data), "released_rows")["basis"].startswith("from 3 past")


def test_a_charged_gate_by_public_counts_has_the_law_of_its_noise(clinic: Workshop) -> None:
    """Without singletons, at noise scale 2 and a limit 5 above the number, it passes if the noise is at most -2."""
    clinic.edit(clinic.contract, PUBLIC, f"{PUBLIC}\n      - {{property: public, value: true}}")
    clinic.edit(clinic.policy, "at_most: 500", "at_most: 3")
    own = gate(forecast(clinic, "plan", "--from", clinic.data), "singletons")
    assert own["low"] <= stats.dlaplace.cdf(-2, 0.5) <= own["high"]


@pytest.mark.thorough
def test_a_change_is_told_with_its_effect_on_the_chances(clinic: Workshop) -> None:
    tighten(clinic, 1)
    released(clinic, SLOTS[:3])
    new = clinic.policy.with_name("clinic2.yaml")
    text = clinic.policy.read_text().replace("version: 2", "version: 3")
    new.write_text(text.replace("released_rows, at_least: 1}", "released_rows, at_least: 320}"))
    said = say("diff", clinic.policy, new)
    before = format_value(gate(forecast(clinic), "released_rows")["chance"], CHANCE)
    assert f"probability of passing released_rows: {before}" in said.out
    assert "probability of passing singletons" not in said.out
    effects = {each["of"]: each for each in say("diff", clinic.policy, new, "--json").json()["policies"][0]["effects"]}
    assert effects["probability of passing released_rows"]["before"].startswith(before)
    assert f"| probability of passing released\\_rows | {before}" in say("diff", clinic.policy, new, "--markdown").out
    assert "chance" not in say("diff", clinic.policy, clinic.policy).out


def test_the_release_as_a_whole_is_between_what_gates_can_have_in_common() -> None:
    rule = GateRule.model_validate({"measure": "released_rows", "at_least": "1"})
    made = [GateChance(rule, PassProbability(each, each, each), "", stops=True) for each in (0.9, 0.8)]
    aside = GateChance(rule, FAILS, "", stops=False)
    untold = GateChance(rule, None, "unknown", stops=True)
    found = Chances((*made, aside, GateChance(rule, PASSES, "", stops=True)), refused=False).all
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((0.72, 0.7, 0.8))
    open_ = Chances((*made, untold), refused=False)
    assert (open_.all, open_.at_most, open_.untold) == (None, 0.8, 1)
    assert open_.publication() == "probability unknown (1 gate has no estimate), at most 0.80 by the others"
    assert Chances((untold, GateChance(rule, FAILS, "", stops=True)), refused=False).all == FAILS
    assert Chances(tuple(made), refused=True).all == FAILS


@pytest.mark.parametrize(
    ("chance", "words"),
    [(0, "0"), (1, "1"), (1e-9, "below 0.01"), (0.9999, "above 0.99"), (0.414, "0.41"), (0.0051, "0.01")],
)
def test_only_what_is_known_is_written_as_certain(chance: float, words: str) -> None:
    assert format_value(chance, CHANCE) == words


def from_equal_runs(name: str, number: str, **limit: str) -> PassProbability:
    rule, measure = GateRule.model_validate({"measure": name, **limit}), MEASURES[name]
    found = PastMeasurements((Fraction(number),) * 3, Fraction(0), 0, 0, 0)
    odds = odds_from_past_runs(plan_at(Fraction(1, 2)), rule, measure, found)
    assert odds is not None
    return odds


@pytest.mark.parametrize(("limit", "passed"), [("0.7", 3), ("0.75", 3), ("0.8", 0)])
def test_numbers_that_are_all_the_same_are_counted(limit: str, passed: int) -> None:
    """Jeffreys' estimate, with exact limits: .025^(1/3) is the least probability that does not exclude three passes."""
    odds, least = from_equal_runs("trusted_share", "3/4", at_least=limit), 0.025 ** (1 / 3)
    assert odds.value == pytest.approx((passed + 0.5) / 4)
    found = odds if passed else odds.against
    assert (found.low, found.high) == pytest.approx((least, 1), abs=2e-4)


@pytest.mark.parametrize("side", ["at_most", "at_least"])
def test_a_limit_is_kept_by_the_number_itself(side: str) -> None:
    """More than half of the whole numbers around 10 are at most 10, and less than half are below."""
    kept, beyond = (
        from_equal_runs("released_rows", "10", **{side: str(limit)}).value
        for limit in (10, 9 if side == "at_most" else 11)
    )
    assert kept > 0.5 > beyond
    assert kept + beyond == pytest.approx(1, abs=1e-6)


def test_where_a_past_run_could_not_be_measured_nothing_is_told() -> None:
    rule = GateRule.model_validate({"measure": "total_relative_error", "at_most": "0.1"})
    measure = MEASURES[rule.measure]
    shown = [Measurement.exact(each) for each in (0.01, 0.02, 0.015)]
    past = [PastRun("", False, True, (GateFields.of_verdict(verdict(rule, measure, each)),)) for each in (*shown, None)]
    plan = plan_at(Fraction(1))
    assert odds_from_past_runs(plan, rule, measure, past_measurements(plan, rule, measure, past[:3])) is not None
    found = past_measurements(plan, rule, measure, past)
    assert odds_from_past_runs(plan, rule, measure, found) is None
    figures = ", ".join(verdict(rule, measure, each).reason.partition(", must")[0] for each in shown)
    assert figures == "0.01001, 0.02001, 0.015"  # rounded up, as on the pages of these runs
    assert found.words(rule) == f"3 past runs: {figures} against at most 0.1; 1 not measured"
