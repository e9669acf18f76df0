"""A series from its policy to its releases: what commands say of it, what is charged, and what a release states."""

import json
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from crowdgate.accounting.release_series import ReleaseSeries
from crowdgate.history.ended_run import EndedRun, of_entry, of_result, of_tombstone
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import open_ledger
from crowdgate.ledger.values import Spend
from crowdgate.number_text import decimal
from crowdgate.pages.next_options import next_options
from crowdgate.pages.run_band import cost_text
from crowdgate.planning.paid_series import undeclared_series_text
from crowdgate.planning.plan import plan_policy
from crowdgate.publish.tombstone import read_tombstone
from crowdgate.releases import release as job
from tests.workshop import Workshop, attest_sample, crowdgate


@pytest.fixture
def series(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Make a working copy whose policy declares three releases of epsilon 2, delta .01: together 6 and .03."""
    monkeypatch.chdir(workshop.root)
    workshop.edit(workshop.policy, "  publish:", "  series: {releases: 3}\n  publish:")
    return workshop


def released(workshop: Workshop, day: int) -> Path:
    return workshop.root / f"releases/clinic/1/2030-01-0{day}"


def spent(workshop: Workshop) -> tuple[Fraction, Fraction]:
    found = open_ledger(workshop.ledger, None).spent("clinic-patients")
    return found.epsilon, found.delta


@pytest.mark.thorough
def test_three_releases_are_charged_once_by_their_joint_law(
    series: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_policy(series.policy).series
    assert plan is not None
    assert plan.epsilon < 6
    for day in (2, 1, 3):
        assert crowdgate("release", series.policy, "--as-of", f"2030-01-0{day}") == 0
        assert spent(series) == (plan.epsilon, plan.delta)
    assert crowdgate("release", series.policy, "--as-of", "2030-01-04") == 5
    assert "all 3 releases of the series that clinic/1/2030-01-02 paid for" in capsys.readouterr().err
    for day in (1, 2, 3):
        assert crowdgate("verify", released(series, day), "--ledger", series.ledger) == 0
        facts = json.loads((released(series, day) / "manifest.json").read_text())["facts"]
        said = {"paid_by": "clinic/1/2030-01-02", "releases": 3, "delta": "0.03", "epsilon": facts["spent"]["epsilon"]}
        assert facts["series"] == said


def test_check_says_before_a_series_is_paid_that_its_publication_is_uncertain(
    series: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = plan_policy(series.policy).series
    assert planned is not None
    for paid in (False, True):
        assert crowdgate("check", series.policy) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "Privacy cost epsilon 2, delta 0.01 for one release" in said
        warned = f"the first release pays epsilon {decimal(planned.epsilon)} for all 3 releases, published or not"
        assert (f"the probability of publication is unknown, and {warned}" in said) is not paid
        assert crowdgate("release", series.policy, "--as-of", "2030-01-01") == 0
        capsys.readouterr()


def test_a_plan_bounds_singling_out_once_for_all_releases_of_a_series(
    series: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("plan", series.policy, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["releases_in_budget"] == 3
    assert len(said["pso_bound_after_release"]) == 1
    assert {row["releases"] for row in said["pso_curve"]} == {3}
    assert crowdgate("explain", series.policy) == 0
    assert "By all of them together, an attacker describes" in " ".join(capsys.readouterr().out.split())


def test_a_plan_states_what_releases_would_cost_as_a_series(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """The text that it shows, written into the policy, costs what it says; delta fits into the budget of .0395."""
    workshop.edit(workshop.budget, "delta: 0.03", "delta: 0.0395")
    for releases, delta, stated in ((3, "0.03", "{releases: 3}"), (4, "0.0395", "{releases: 4, delta: 0.0395}")):
        assert crowdgate("plan", workshop.policy, "--releases", str(releases)) == 0
        said = " ".join(capsys.readouterr().out.split())
        workshop.edit(workshop.policy, "  publish:", f"  series: {stated}\n  publish:")
        cost = plan_policy(workshop.policy).series
        assert cost is not None
        amount = f"epsilon {decimal(cost.epsilon)}, delta {delta}"
        assert f"Declared as a series ({stated}) and paid at once, they cost {amount}" in said
        workshop.edit(workshop.policy, f"  series: {stated}\n  publish:", "  publish:")


def test_a_series_is_stated_with_a_delta_that_policies_can_have(workshop: Workshop) -> None:
    """The budget left may be no finite decimal number; the stated one is below it."""
    left = Spend(Fraction(9), Fraction(1, 30))
    (words,) = undeclared_series_text(plan_policy(workshop.policy), 4, left)
    stated = words[words.index("{") : words.index("}") + 1]
    workshop.edit(workshop.policy, "  publish:", f"  series: {stated}\n  publish:")
    found = plan_policy(workshop.policy).series
    assert found is not None
    assert found.delta == Fraction("0.0333333")


def test_a_sample_has_no_series(series: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    attest_sample(series)
    series.edit(series.policy, "sampling: {beta: 0.5}", "sampling: {inherited: spring}")
    series.edit(series.policy, "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n", "")
    assert crowdgate("check", series.policy) == 2
    said = capsys.readouterr()
    assert "a sample already, which serves one release" in said.out + said.err


@pytest.mark.thorough
def test_commands_state_the_series_before_and_after_its_first_release(
    series: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("check", "plan", "explain"):
        assert crowdgate(command, series.policy) == 0
        assert "pays epsilon" in " ".join(capsys.readouterr().out.split()), command
    for day in (1, 2):
        capsys.readouterr()
        assert crowdgate("release", series.policy, "--as-of", f"2030-01-0{day}") == 0
        said = capsys.readouterr().out
        assert "Series: clinic/1/2030-01-01 paid epsilon" in said
        assert f"for 3 releases; {3 - day} left." in said
    for command in ("check", "plan", "explain"):
        assert crowdgate(command, series.policy) == 0
        assert "clinic/1/2030-01-01 paid epsilon" in " ".join(capsys.readouterr().out.split()), command
    assert crowdgate("check", series.policy, "--json") == 0
    left = json.loads(capsys.readouterr().out)["policies"][0]["left"]
    assert (left["releases_in_budget"], left["series"]["paid_by"]) == (1, "clinic/1/2030-01-01")
    assert crowdgate("ledger", "show") == 0
    assert "pays for a series of 3 releases" in capsys.readouterr().out


def test_the_ledger_and_the_budget_page_name_the_payer_of_each_later_slot(
    series: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    payer, planned = "clinic/1/2030-01-02", plan_policy(series.policy).series
    assert planned is not None
    cost = f"epsilon {decimal(planned.epsilon)}, delta 0.03 for a series of 3 releases, which {payer} paid for"
    for day, paid in ((2, cost), (1, f"none further ({cost})"), (1, f"none further ({cost})")):
        capsys.readouterr()
        assert crowdgate("release", series.policy, "--as-of", f"2030-01-0{day}") == 0
        assert f"Privacy cost: {paid}." in capsys.readouterr().out
    assert crowdgate("ledger", "show") == 0
    shown = capsys.readouterr().out.splitlines()
    of_slot = [line for line in shown if "clinic/1/2030-01-01" in line]
    of_payer = [line for line in shown if payer in line and line not in of_slot]
    assert len(of_slot) == len(of_payer) == 2
    assert all(f"(paid by {payer}" in line for line in of_slot)
    assert all("(pays for a series of 3 releases" in line for line in of_payer)
    assert crowdgate("report", "budget", "clinic-patients", "--ledger", series.ledger, "--json") == 0
    page = capsys.readouterr().out
    assert page.count(f"paid by {payer}") == 1
    assert page.count("pays for a series of 3 releases") == 1
    assert f"1 of 3 releases are left of the series that {payer} paid for." in page


def test_a_withheld_slot_of_a_paid_series_offers_the_next_one_for_nothing(
    series: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    series.edit(series.policy, "measure: released_rows, at_least: 0", "measure: released_rows, at_least: 100000")
    for _ in range(2):  # the second time, the outcome of the first is repeated
        assert crowdgate("release", series.policy, "--as-of", "2030-01-01") == 3
        said = capsys.readouterr().out
        assert "for a series of 3 releases, which clinic/1/2030-01-01 paid for." in said
        assert "Or make the next slot of the series, if one is left: it costs nothing more." in said
    assert crowdgate("report", "release", "clinic/1/2030-01-01", "--json") == 0
    (listed,) = re.findall(r"\{[^{}]*Make the next slot[^{}]*\}", capsys.readouterr().out)
    row = json.loads(listed)["rows"][0]
    assert (row[0], row[2]) == ("Make the next slot", "none")


def test_a_series_that_is_withheld_before_data_are_read_costs_nothing(
    series: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first slot pays only if it reads, so none is offered for nothing."""
    gate = "    - {measure: released_rows"
    series.edit(series.policy, gate, f"    - {{measure: guarantee_epsilon, at_most: 1}}\n{gate}")
    assert crowdgate("release", series.policy, "--as-of", "2030-01-01") == 3
    said = capsys.readouterr().out
    assert "Privacy cost: none, as nothing is charged." in said
    assert "next slot" not in said


@pytest.mark.thorough
def test_a_series_may_cost_less_than_the_stated_total_of_one_release(series: Workshop) -> None:
    """A policy that states epsilons for its parts leaves much of its total unused."""
    series.edit(series.policy, "epsilon: 2, delta", "epsilon: 9, delta")
    series.edit(series.policy, "charge: {epsilon: 0.5}", "charge: {epsilon: 0.1}")
    series.edit(series.budget, "epsilon: 6", "epsilon: 40")
    series.edit(series.policy, "beta: 0.5}", "beta: 0.2}\n    k: 9")
    plan = plan_policy(series.policy)
    assert plan.series is not None
    assert plan.series.epsilon < plan.guarantee.epsilon
    for day in (1, 2):
        assert crowdgate("release", series.policy, "--as-of", f"2030-01-0{day}") == 0
        assert crowdgate("verify", released(series, day), "--ledger", series.ledger) == 0
        assert spent(series)[0] == plan.series.epsilon


def test_a_smaller_delta_costs_more_epsilon_and_an_impossible_one_is_refused(
    series: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_policy(series.policy).series
    series.edit(series.policy, "releases: 3}", "releases: 3, delta: 0.0299}")
    less = plan_policy(series.policy).series
    assert plan is not None
    assert less is not None
    assert (less.delta, less.epsilon > plan.epsilon) == (Fraction("0.0299"), True)
    series.edit(series.policy, "delta: 0.0299}", "delta: 1e-30}")
    assert crowdgate("check", series.policy) == 2
    assert "spec.series.delta" in capsys.readouterr().err


def test_the_declared_epsilon_keeps_its_delta(series: Workshop) -> None:
    plan = plan_policy(series.policy)
    assert plan.series is not None
    gates = tuple(rule.charge.epsilon for rule, _ in plan.gates if rule.charge)
    law = plan.protection.kind.joint_law(plan.protection.mechanism, gates)
    assert law is not None
    assert ReleaseSeries(law, 3).delta(float(plan.series.epsilon)) <= plan.series.delta


def test_a_release_whose_manifest_states_another_series_does_not_verify(series: Workshop) -> None:
    assert crowdgate("release", series.policy, "--as-of", "2030-01-01") == 0
    place = released(series, 1) / "manifest.json"
    said = json.loads(place.read_text())
    del said["facts"]["series"]
    place.write_text(json.dumps(said, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    assert crowdgate("verify", released(series, 1), "--ledger", series.ledger) != 0


@pytest.mark.thorough
@pytest.mark.parametrize("part", ["9/10", "1/2"])
def test_a_series_that_states_less_than_its_law_costs_does_not_verify_without_a_ledger(
    series: Workshop, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("release", series.policy, "--as-of", "2030-01-01") == 0
    place = released(series, 1) / "manifest.json"
    said = json.loads(place.read_text())
    for of in ("series", "spent"):
        epsilon = Fraction(said["facts"][of]["epsilon"]) * Fraction(part)
        said["facts"][of]["epsilon"] = f"{float(epsilon):.10g}"
    place.write_text(json.dumps(said, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    capsys.readouterr()
    assert crowdgate("verify", released(series, 1)) != 0
    printed = capsys.readouterr()
    assert "have a larger delta together than it states" in " ".join((printed.out + printed.err).split())


def test_a_withdrawn_slot_states_what_its_series_cost(series: Workshop) -> None:
    for day in (1, 2):
        assert crowdgate("release", series.policy, "--as-of", f"2030-01-0{day}") == 0
    assert crowdgate("withdraw", "clinic/1/2030-01-02", "--reason", "a complaint") == 0
    assert spent(series)[1] == Fraction("0.03")
    text = "".join(path.read_text() for path in released(series, 2).iterdir() if path.suffix in (".json", ".jsonl"))
    assert "0.03" in text or "3/100" in text


def test_a_budget_that_does_not_pay_a_series_is_told_in_words_of_the_series(
    series: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    series.edit(series.policy, "series: {releases: 3}", "series: {releases: 5}")
    assert crowdgate("check", series.policy) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "budget of delta 0.03 does not pay for the declared series: its 5 releases cost 0.05 together" in said


def cost_now_and_later(workshop: Workshop, day: int) -> tuple[EndedRun, EndedRun]:
    """Return a run as it is told when it ends, and as the ledger tells it later."""
    request = Request(workshop.policy, f"2030-01-0{day}")
    now = of_result(job.release(request, draw_key))
    ledger = open_ledger(workshop.ledger, None)
    entry = ledger.entry(now.release_id)
    assert entry is not None
    return now, of_entry(ledger, workshop.root, entry)


@pytest.mark.thorough
def test_a_run_of_a_series_costs_what_the_series_costs_whoever_tells_it(series: Workshop) -> None:
    planned = plan_policy(series.policy).series
    assert planned is not None
    paid = (planned.epsilon, planned.delta)
    for day in (1, 2):
        for told in cost_now_and_later(series, day):
            assert (told.epsilon, told.delta) == paid
            assert cost_text(told).endswith("for a series of 3 releases, which clinic/1/2030-01-01 paid for.")
    assert crowdgate("withdraw", "clinic/1/2030-01-02", "--reason", "a complaint") == 0
    ledger = open_ledger(series.ledger, None)
    gone = ledger.entry("clinic/1/2030-01-02")
    assert gone is not None
    withdrawn = of_entry(ledger, series.root, gone), of_tombstone(read_tombstone(released(series, 2)))
    assert {(each.epsilon, each.delta) for each in withdrawn} == {paid}


@pytest.mark.thorough
def test_a_withheld_slot_of_a_series_is_told_and_followed_up_by_the_cost_of_the_series(series: Workshop) -> None:
    series.edit(series.policy, "measure: released_rows, at_least: 0", "measure: released_rows, at_least: 100000")
    planned = plan_policy(series.policy).series
    assert planned is not None
    cost = f"epsilon {decimal(planned.epsilon)}, delta {decimal(planned.delta)}"
    for day in (1, 2):
        for told in cost_now_and_later(series, day):
            assert told.outcome == "withheld"
            assert cost_text(told) == f"{cost} for a series of 3 releases, which clinic/1/2030-01-01 paid for."
            options = next(iter(next_options([told]))).listings[0].rows
            assert sum(cost in each.values() for each in options) == 2


@pytest.mark.thorough
@pytest.mark.parametrize("known", [0, 1])
def test_a_restoration_of_an_older_copy_charges_no_less_than_the_series(
    series: Workshop, tmp_path: Path, known: int
) -> None:
    """The copy knows the first slot or none: the head at the destination states the series."""
    series.edit(series.policy, "releases: 3}", "releases: 4}")
    series.edit(series.budget, "epsilon: 6, delta: 0.03", "epsilon: 40, delta: 0.3")
    place, older = series.root / "ledger" / "ledger.db", tmp_path / "older.db"
    due = plan_policy(series.policy).series
    assert due is not None
    for day in range(1, known + 1):
        assert crowdgate("release", series.policy, "--as-of", f"2030-01-0{day}") == 0
    shutil.copy(place, older)
    for day in (2, 3):
        assert crowdgate("release", series.policy, "--as-of", f"2030-01-0{day}") == 0
    for end in ("-wal", "-shm"):
        place.with_name(f"{place.name}{end}").unlink(missing_ok=True)
    shutil.copy(older, place)
    assert crowdgate("ledger", "restore") == 0
    assert spent(series) == (due.epsilon, due.delta)
    assert crowdgate("release", series.policy, "--as-of", "2030-01-04") == 0
    assert spent(series) == (due.epsilon, due.delta)
    for day in (2, 4):
        assert crowdgate("verify", released(series, day), "--ledger", series.ledger) == 0


@pytest.mark.thorough
def test_a_restoration_books_nothing_for_slots_that_the_series_paid(
    series: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in (1, 2):
        assert crowdgate("release", series.policy, "--as-of", f"2030-01-0{day}") == 0
    before = spent(series)
    capsys.readouterr()
    assert crowdgate("ledger", "restore") == 0
    assert "0 bookings" in capsys.readouterr().out
    assert spent(series) == before
    assert crowdgate("release", series.policy, "--as-of", "2030-01-03") == 0
    assert spent(series) == before
