"""Tables whose total is met jointly with charged gates: from the policy file to a verified release."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.manifest import canonical
from crowdgate.planning.plan import plan_policy
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.kinds.shares import GATE, GAUSSIAN, tables_by_shares
from tests.workshop import Workshop, crowdgate, verified

SLOT = "2030-01-01"
CASES = {
    "gaussian": GAUSSIAN,
    "laplace": "noise: laplace",
    "a sample": "noise: gaussian, sampling: {beta: 0.5}",
}


@pytest.mark.thorough
@pytest.mark.parametrize("noise", CASES)
def test_a_release_by_shares_has_less_noise_at_the_same_total_and_verifies(tmp_path: Path, noise: str) -> None:
    workshop = tables_by_shares(tmp_path / "w", noise=CASES[noise])
    by_sum = tables_by_shares(tmp_path / "s", noise=CASES[noise], gates=GATE.replace("share: 0.25", "epsilon: 0.5"))
    plan, summed = plan_policy(workshop.policy), plan_policy(by_sum.policy)
    assert (plan.guarantee.epsilon, plan.guarantee.delta) == (Fraction(2), Fraction(1, 10**6))
    jointly, less = (each.protection.mechanism.mechanism.budget.spend for each in (plan, summed))
    assert jointly > less
    result = job.release(Request(workshop.policy, SLOT), draw_key)
    assert result.path is not None
    stated = verified(result.path, workshop.ledger)["guarantee"]
    assert stated["joint"]["curve"][-1]["epsilon"] == "2"
    assert Fraction(stated["joint"]["curve"][-1]["delta"]) <= Fraction(1, 10**6)
    assert [each["part"] for each in stated["joint"]["laws"]] == ["mechanism", "gate invalid_people"]


def test_tables_without_charged_gates_are_planned_jointly_if_the_policy_says_so(tmp_path: Path) -> None:
    sums = plan_policy(tables_by_shares(tmp_path / "s", gates="").policy)
    plan = plan_policy(
        tables_by_shares(tmp_path / "w", gates="", privacy="epsilon: 2, delta: 1e-6, accounting: joint").policy
    )
    assert sums.guarantee.joint is None
    assert plan.guarantee.joint is not None
    small, large = (each.protection.mechanism.mechanism.budget.spend for each in (sums, plan))
    assert 1.05 * small < large < 1.25 * small, "sigma is 3 to 12 % smaller"
    form = plan.guarantee.replace_one_form(None)
    assert (form.epsilon, form.delta) == plan.guarantee.joint.replaced
    assert form.epsilon <= 4


def test_check_says_what_a_sum_leaves_unused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for workshop, said in (
        (tables_by_shares(tmp_path / "a", gates=GATE.replace("share: 0.25", "epsilon: 0.5")), "jointly: state shares)"),
        (tables_by_shares(tmp_path / "b", gates=""), "jointly: accounting: joint)"),
    ):
        assert crowdgate("check", workshop.policy) == 0
        assert said in capsys.readouterr().out
    jointly = tables_by_shares(tmp_path / "c")
    assert crowdgate("check", jointly.policy) == 0
    assert "jointly" not in capsys.readouterr().out


def edits(*pairs: tuple[str, str]) -> Callable[[Workshop], None]:
    """Return a change of the policy: each text replaced by another."""

    def change(workshop: Workshop) -> None:
        for old, new in pairs:
            workshop.edit(workshop.policy, old, new)

    return change


WRONG: dict[str, tuple[Callable[[Workshop], None], str]] = {
    "an epsilon beside accounting": (
        edits(("{share: 0.25}", "{epsilon: 0.5}"), ("delta: 1e-6", "delta: 1e-6, accounting: joint")),
        "an epsilon, while the total is met jointly",
    ),
    "a delta of 0": (
        edits((GAUSSIAN, "noise: laplace"), ("delta: 1e-6", "delta: 0")),
        "a total that is met jointly, and noise whose joint cost is not known; expected a delta above 0",
    ),
    "a large epsilon": (
        edits(("epsilon: 2, delta", "epsilon: 80, delta")),
        "expected a smaller epsilon, or no `accounting: joint`",
    ),
    "all of it": (edits(("share: 0.25", "share: 1")), "a number above 0 and below 1"),
    "another word": (edits(("delta: 1e-6", "delta: 1e-6, accounting: both")), "accounting"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_bad_input_is_one_clear_error(tmp_path: Path, fault: str) -> None:
    workshop = tables_by_shares(tmp_path / "w")
    change, expected = WRONG[fault]
    change(workshop)
    with pytest.raises(ConfigurationError, match=expected) as caught:
        plan_policy(workshop.policy)
    assert len(caught.value.problems) == 1


def _curve(stated: Any) -> None:
    stated["guarantee"]["joint"]["curve"][-1]["delta"] = "1e-07"


def _replaced(stated: Any) -> None:
    stated["guarantee"]["joint"]["replaced"]["epsilon"] = "1"


def _further(stated: Any) -> None:
    stated["guarantee"]["joint"]["replacements"][0]["delta"] = "1e-07"


def _law(stated: Any) -> None:
    stated["guarantee"]["joint"]["laws"][0]["law"] = "pure"


def _no_total(stated: Any) -> None:
    del stated["guarantee"]["joint"]["curve"][-1]


def _larger_rho(stated: Any) -> None:
    mechanism = stated["mechanism"]
    for each in (mechanism, *mechanism["queries"]):
        each["rho"] = str(Fraction(each["rho"]) * 2)


FORGED: dict[str, tuple[Callable[[Any], None], str]] = {
    "a smaller delta": (_curve, "its parts together have a larger delta at epsilon 2 than it states"),
    "a smaller epsilon for replacements": (_replaced, "larger delta at epsilon 1 than it states"),
    "a smaller delta of a further point": (_further, "its parts together have a larger delta at epsilon"),
    "another law": (_law, "the laws of its parts are not the mechanism's"),
    "no point at the total": (_no_total, "its joint cost does not keep its total"),
    "less noise": (_larger_rho, "its parts together have a larger delta"),
}


@pytest.mark.thorough
def test_a_manifest_that_states_less_than_its_parts_cost_does_not_verify(tmp_path: Path) -> None:
    workshop = tables_by_shares(tmp_path / "w")
    result = job.release(Request(workshop.policy, SLOT), draw_key)
    assert result.path is not None
    manifest = result.path / "manifest.json"
    sealed = manifest.read_bytes()
    manifest.chmod(0o600)
    for change, expected in FORGED.values():
        stated = json.loads(sealed)
        change(stated)
        manifest.write_bytes(canonical(stated))
        with pytest.raises(VerificationFailed, match=expected):
            verify(result.path)
        manifest.write_bytes(sealed)
    assert verify(result.path)


def test_a_policy_of_epsilons_has_the_plan_of_today(tmp_path: Path) -> None:
    """rho by the zCDP conversion, and no joint cost: `accounting: sum` is what a policy without it means."""
    own = plan_policy(tables_by_shares(tmp_path / "a", gates="").policy)
    said = plan_policy(
        tables_by_shares(tmp_path / "b", gates="", privacy="epsilon: 2, delta: 1e-6, accounting: sum").policy
    )
    assert replace(own.guarantee) == said.guarantee
    assert own.protection.mechanism.mechanism.spends == said.protection.mechanism.mechanism.spends


def test_what_helps_where_the_law_of_wide_means_is_not_known(tmp_path: Path) -> None:
    """Either change is enough: Gaussian noise, or parts that add up."""
    wide = "{from: 0, to: 99, top: true, source: ", "{from: 0, to: 9999, top: true, source: "

    def planned(noise: str, privacy: str) -> None:
        workshop = tables_by_shares(tmp_path / noise / privacy[-5:], noise=f"noise: {noise}", gates="", privacy=privacy)
        workshop.edit(workshop.contract, *wide)
        plan_policy(workshop.policy)

    total = "epsilon: 2, delta: 1e-8"
    with pytest.raises(ConfigurationError, match="expected noise: gaussian, or no `accounting: joint`"):
        planned("laplace", f"{total}, accounting: joint")
    planned("gaussian", f"{total}, accounting: joint")
    planned("laplace", total)
