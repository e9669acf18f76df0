"""A lifetime in Renyi divergences: how many releases it pays for, and what releases and commands say of it."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.accounting.renyi import Divergences
from crowdgate.accounting.renyi_parts import opaque_cost
from crowdgate.errors import LedgerRefused
from crowdgate.kind.plan import Plan
from crowdgate.ledger.ledger import ChargeRequest, Ledger, Spend, create, open_ledger
from crowdgate.manifest.model import FactsFields
from crowdgate.planning.budget_left import releases_in_budget
from crowdgate.planning.budget_values import budget_of
from crowdgate.planning.plan import plan_policy
from tests.workshop import Workshop, crowdgate

POLICIES = Path(__file__).parents[2] / "policies"
PAID = {"census_income": 42, "census_income_tables": 13, "census_income_synthetic": 13}
"""The least number of releases that a lifetime of (4, 1e-8) must pay for, where the sum of epsilons pays for 4."""
CAP = Spend(Fraction(4), Fraction("1e-8"))
LIFETIME = Lifetime.planned(CAP.epsilon, CAP.delta)


def charged(ledger: Ledger, plan: Plan, divergences: Divergences) -> int:
    """Charge releases of a plan until the ledger refuses the next; return their number."""
    budget = replace(budget_of(plan.bundle), cap=CAP, lifetime=LIFETIME)
    once, done = Spend(plan.guarantee.epsilon, plan.guarantee.delta), 0
    while True:
        try:
            name = f"{plan.bundle.policy.metadata.name}/1/{done}"
            ledger.reserve(ChargeRequest(name, "d", "census", budget, once, divergences=divergences))
            ledger.begin_reading(name)
        except LedgerRefused:
            return done
        done += 1


@pytest.mark.thorough
@pytest.mark.parametrize("name", PAID)
def test_a_lifetime_pays_for_many_times_as_many_releases(name: str, tmp_path: Path) -> None:
    plan, url = plan_policy(POLICIES / f"{name}.yaml"), f"sqlite:///{tmp_path}/ledger.db"
    assert releases_in_budget(plan) == 4
    one = plan.divergences(LIFETIME.filter)
    left = LIFETIME.filter.left(Divergences.zero(len(LIFETIME.filter.orders)), one)
    assert charged(open_ledger(url, create(url, "lifetime")), plan, one) == left >= PAID[name]


def test_charged_gates_are_counted_beside_the_mechanism(workshop: Workshop) -> None:
    plan, kept = plan_policy(workshop.policy), Lifetime.planned(Fraction(9), Fraction("0.1")).filter
    gates = [rule.charge.epsilon for rule, _ in plan.gates if rule.charge]
    own = plan.protection.kind.divergences(plan.protection.mechanism, kept)
    assert gates
    assert own is not None
    paid = sum((opaque_cost(each, Fraction(0), kept.orders) for each in gates), own)
    assert plan.divergences(kept) == paid != own


@pytest.fixture(autouse=True)
def in_the_working_copy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "workshop" in request.fixturenames:
        monkeypatch.chdir(request.getfixturevalue("workshop").root)


@pytest.fixture
def renyi(workshop: Workshop) -> Workshop:
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 9, delta: 0.1, accounting: renyi")
    return workshop


@pytest.mark.thorough
def test_releases_of_a_lifetime_hold_what_they_claim(renyi: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    for day in (1, 2):
        assert crowdgate("release", renyi.policy, "--as-of", f"2030-01-0{day}") == 0
    for day in (1, 2):
        assert crowdgate("verify", renyi.root / f"releases/clinic/1/2030-01-0{day}", "--ledger", renyi.ledger) == 0
    said = json.loads((renyi.root / "releases/clinic/1/2030-01-02/manifest.json").read_text())
    assert said["facts"]["spent"] == said["facts"]["budget"] == {"epsilon": "9", "delta": "0.1"}
    assert said["guarantee"]["plain"][0] == (
        "Privacy cost of all releases of these people, past and future: at most epsilon 9, delta 0.1."
    )
    capsys.readouterr()
    assert crowdgate("ledger", "budget", "clinic-patients") == 0
    assert "of its lifetime budget left, in Renyi divergences" in capsys.readouterr().out
    ledger = open_ledger(renyi.ledger, None)
    budget = ledger.budget("clinic-patients")
    assert budget is not None
    assert budget.lifetime is not None
    once = plan_policy(renyi.policy).divergences(budget.lifetime.filter)
    assert ledger.divergences("clinic-patients") == once + once
    for command in ("check", "plan", "explain", "report budget", "ledger show", "ledger verify"):
        subject = [] if command.startswith("ledger") else ["clinic-patients"] if "budget" in command else [renyi.policy]
        assert crowdgate(*command.split(), *subject) == 0, command


def test_a_manifest_with_caps_that_do_not_keep_its_budget_is_refused(renyi: Workshop) -> None:
    assert crowdgate("release", renyi.policy, "--as-of", "2030-01-01") == 0
    facts = json.loads((renyi.root / "releases/clinic/1/2030-01-01/manifest.json").read_text())["facts"]
    assert FactsFields.model_validate_json(json.dumps(facts)).lifetime is not None
    facts["lifetime"]["caps"] = ["9", *facts["lifetime"]["caps"][1:]]
    with pytest.raises(ValueError, match="caps keep the budget"):
        FactsFields.model_validate_json(json.dumps(facts))


def test_a_withheld_release_is_charged_and_one_that_read_nothing_is_not(renyi: Workshop) -> None:
    renyi.edit(renyi.policy, "released_rows, at_least: 0", "released_rows, at_least: 90000")
    assert crowdgate("release", renyi.policy, "--as-of", "2030-01-01") == 3
    ledger = open_ledger(renyi.ledger, None)
    spent = ledger.divergences("clinic-patients")
    assert spent is not None
    assert max(spent.amounts) > 0
    renyi.edit(renyi.policy, "version: 1", "version: 2")
    renyi.edit(renyi.policy, "  gates:\n", "  gates:\n    - {measure: guarantee_epsilon, at_most: 1}\n")
    assert crowdgate("release", renyi.policy, "--as-of", "2030-01-02") == 3
    assert open_ledger(renyi.ledger, None).divergences("clinic-patients") == spent


def test_a_budget_is_converted_and_its_file_says_so(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    convert = ("ledger", "convert", "clinic-patients", "--reason", "a monthly release")
    assert crowdgate(*convert) == 5
    assert "State --epsilon and --delta of a second budget" in capsys.readouterr().err
    assert crowdgate(*convert, "--epsilon", "4", "--delta", "0.05") == 0
    said = capsys.readouterr().out
    assert "all releases together keep epsilon 10, delta 0.08, of which epsilon 6, delta 0.03" in said
    assert "Write `epsilon: 10, delta: 0.08, accounting: renyi` into its budget file" in said
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 10, delta: 0.08, accounting: renyi")
    workshop.edit(workshop.policy, "version: 1", "version: 2")
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-02") == 0
    assert crowdgate("verify", workshop.root / "releases/clinic/2/2030-01-02", "--ledger", workshop.ledger) == 0
    facts = json.loads((workshop.root / "releases/clinic/2/2030-01-02/manifest.json").read_text())["facts"]
    assert facts["lifetime"]["closed"] == {"epsilon": "6", "delta": "0.03"}
    assert crowdgate("report", "budget", "clinic-patients") == 0
    assert crowdgate("ledger", "show") == 0
    assert "converted to Renyi divergences to epsilon 10, delta 0.08: a monthly release" in capsys.readouterr().out


@pytest.mark.parametrize(("releases", "fit"), [(3, "3 such releases fit"), (4, "4 such releases do not fit")])
def test_a_plan_says_whether_the_budget_pays_for_several_releases(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], releases: int, fit: str
) -> None:
    assert crowdgate("plan", workshop.policy, "--releases", str(releases)) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"{fit} into the budget left, which pays for 3. Together they cost epsilon {2 * releases}," in said
    assert crowdgate("plan", workshop.policy, "--releases", str(releases), "--json") == 0
    found = json.loads(capsys.readouterr().out)["releases"]
    assert found == {"number": releases, "in_budget": releases <= 3, "past_gates": True}


def test_a_plan_says_that_a_gate_withholds_all_releases(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    workshop.edit(workshop.policy, "{measure: pso_bound, at_most: 1}", "{measure: pso_bound, at_most: 0.1}")
    assert crowdgate("plan", workshop.policy, "--releases", "3") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "pso_bound at most 0.1 withholds all of them. Together" in said


def test_a_plan_of_a_lifetime_says_what_all_releases_keep(renyi: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("plan", renyi.policy, "--releases", "2") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "With all other releases of these people they keep epsilon 9, delta 0.1." in said
    assert "Together they cost" not in said


def test_bounds_of_a_lifetime_are_those_of_its_caps_from_the_first_release_on(renyi: Workshop) -> None:
    for day in (1, 2):
        assert crowdgate("release", renyi.policy, "--as-of", f"2030-01-0{day}") == 0
    manifests = (renyi.root / f"releases/clinic/1/2030-01-0{day}/manifest.json" for day in (1, 2))
    one, two = (json.loads(path.read_text()) for path in manifests)
    assert one["guarantee"]["plain"] == two["guarantee"]["plain"]
    assert one["facts"]["lifetime"] == two["facts"]["lifetime"]
