"""Policies that state shares: class size by the joint cost of all parts, from the policy file to a verified release."""

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdgate.accounting.membership import least_precision
from crowdgate.accounting.noise_laws import NoiseLaw, NoisyVector
from crowdgate.audit.common.setting import audit_spec
from crowdgate.audit.membership.findings import tradeoff_bounds
from crowdgate.audit.membership.setting import attacked_guarantee, policy_fields
from crowdgate.candidate import Cost
from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.guarantee import Part
from crowdgate.kind.plan import Plan
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.manifest import canonical
from crowdgate.mechanisms.rows.charge_names import MARGINS_PART
from crowdgate.mechanisms.rows.joint_cost import MarginsLaw
from crowdgate.mechanisms.tables.joint_cost import noise_law
from crowdgate.planning.plan import plan_policy
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.kinds.shares import CHOICE, MARGINS, OWN, SHARE, rows_by_shares
from tests.verify.keep import KEPT
from tests.workshop import Workshop, crowdgate, make_workshop, verified

SLOT = "2030-01-01"


def by_sum(root: Path, more: str) -> Workshop:
    """Return the same policy with an epsilon for each part, whose sum is the total."""
    workshop = rows_by_shares(root, more)
    workshop.edit(workshop.policy, SHARE, OWN)
    if more:
        epsilon = "0.6" if more == MARGINS else "0.4"
        text = more.strip()
        start = text.index("share: ")
        stated = text[start : start + len("share: 0.3")]
        workshop.edit(workshop.policy, stated, f"epsilon: {epsilon}")
    return workshop


@pytest.mark.thorough
@pytest.mark.parametrize("more", [MARGINS, CHOICE, ""], ids=["margins", "a choice", "a gate alone"])
def test_a_release_by_shares_has_a_smaller_k_at_the_same_total_and_verifies(tmp_path: Path, more: str) -> None:
    workshop = rows_by_shares(tmp_path / "w", more)
    plan, summed = plan_policy(workshop.policy), plan_policy(by_sum(tmp_path / "s", more).policy)
    assert (plan.guarantee.epsilon, plan.guarantee.delta) == (Fraction(2), Fraction(1, 10**6))
    assert plan.protection.figures.least_class < summed.protection.figures.least_class
    assert [part.epsilon for part in plan.guarantee.parts] == [part.epsilon for part in summed.guarantee.parts]
    assert summed.guarantee.joint is None
    result = job.release(Request(workshop.policy, SLOT), draw_key)
    assert result.path is not None
    stated = verified(result.path, workshop.ledger)
    joint = stated["guarantee"]["joint"]
    assert joint["curve"][-1]["epsilon"] == "2"
    assert Fraction(joint["curve"][-1]["delta"]) <= Fraction(1, 10**6)


def test_one_k_less_does_not_keep_the_total(tmp_path: Path) -> None:
    workshop = rows_by_shares(tmp_path / "w")
    least = plan_policy(workshop.policy).protection.figures.least_class
    workshop.edit(workshop.policy, "sampling: {beta: 0.5}", f"sampling: {{beta: 0.5}}\n    k: {least - 1}")
    with pytest.raises(ConfigurationError, match=f"does not reach the total .* at least {least}"):
        plan_policy(workshop.policy)


def test_the_replaced_form_and_the_bound_on_singling_out_are_those_of_the_joint_cost(tmp_path: Path) -> None:
    plan = plan_policy(rows_by_shares(tmp_path / "w").policy)
    assert plan.guarantee.joint is not None
    form = plan.guarantee.replace_one_form(None)
    assert (form.epsilon, form.delta) == plan.guarantee.joint.replaced
    assert form.epsilon < by_the_sum(plan)
    assert plan.guarantee.points[0] == (plan.guarantee.epsilon, plan.guarantee.delta)


def by_the_sum(plan: Any) -> Fraction:
    from dataclasses import replace

    return Fraction(replace(plan.guarantee, joint=None).replace_one_form(Fraction(1, 2)).epsilon)


def test_margins_by_shares_have_less_noise_than_by_the_sum_and_keep_their_own_cost(tmp_path: Path) -> None:
    found = []
    for workshop in (rows_by_shares(tmp_path / "w"), by_sum(tmp_path / "s", MARGINS)):
        planned = plan_policy(workshop.policy).protection.mechanism
        found.append(planned.margins.tables(planned.levels))
    jointly, summed = found
    assert 1.05 * summed.budget.spend < jointly.budget.spend < 1.2 * summed.budget.spend
    own = noise_law(jointly).joint(()).delta(0.6)
    assert 0.999e-7 < own <= 1e-7, "a tenth of the policy's delta, at the epsilon of the share"


WRONG: dict[str, tuple[Callable[[Workshop], None], str]] = {
    "an epsilon beside shares": (
        lambda w: w.edit(w.policy, SHARE, OWN),
        "an epsilon, while the total is met jointly",
    ),
    "both": (
        lambda w: w.edit(w.policy, SHARE, "charge: {share: 0.25, epsilon: 0.5}"),
        "either an epsilon, or a share of the policy's epsilon",
    ),
    "neither": (lambda w: w.edit(w.policy, SHARE, "charge: {}"), "either an epsilon, or a share"),
    "a share of 0": (lambda w: w.edit(w.policy, SHARE, "charge: {share: 0}"), "a number above 0 and below 1"),
    "a delta of 0": (
        lambda w: w.edit(w.policy, "share: 0.3", "share: 0.3, delta: 0"),
        "delta must be a number in \\(0, 1\\) for gaussian noise",
    ),
    "a total by the sum": (
        lambda w: w.edit(w.policy, "delta: 0.000001", "delta: 0.000001, accounting: sum"),
        "sum, while parts state shares",
    ),
    "a large epsilon": (
        lambda w: w.edit(w.policy, "epsilon: 2, delta", "epsilon: 1000, delta"),
        "shares of an epsilon of 1000: its joint cost is not known; expected an epsilon of at most 50",
    ),
    "shares of all": (
        lambda w: w.edit(w.policy, SHARE, "charge: {share: 0.7}"),
        "the shares of the margins and the charged gates add up to 1",
    ),
    "no k": (lambda w: w.edit(w.policy, "beta: 0.5", "beta: 1"), "no k reaches"),
    "persons of many rows": (
        lambda w: four_rows(w),
        "shares, and 4 rows of a person",
    ),
}


def four_rows(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "privacyUnit, value: row", "privacyUnit, value: {person: patient, rows: 4}")
    workshop.edit(workshop.budget, "unit: row", "unit: 'person:patient'")


@pytest.mark.parametrize("fault", WRONG)
def test_bad_shares_are_one_clear_error(tmp_path: Path, fault: str) -> None:
    workshop = rows_by_shares(tmp_path / "w")
    change, expected = WRONG[fault]
    change(workshop)
    with pytest.raises(ConfigurationError, match=expected) as caught:
        plan_policy(workshop.policy)
    assert len(caught.value.problems) == 1


def test_kinds_without_a_joint_cost_refuse_shares(tmp_path: Path) -> None:
    workshop = make_workshop(tmp_path / "w")
    workshop.edit(workshop.policy, OWN, SHARE)
    text = workshop.policy.read_text(encoding="utf-8")
    start = text.index("  mechanism:")
    synthetic = "  mechanism: {kind: dp_synthetic, attributes: {age: 50 years, ward: exact}}\n"
    gates = "  gates:\n    - {measure: invalid_people, at_most: 500, charge: {share: 0.25}}\n"
    rest = text[text.index("  publish:") :]
    workshop.policy.write_text(text[:start] + synthetic + gates + rest, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="shares with dp_synthetic, whose joint cost is not known") as caught:
        plan_policy(workshop.policy)
    assert len(caught.value.problems) == 1


def _curve(stated: Any) -> None:
    stated["guarantee"]["joint"]["curve"][-1]["delta"] = "1e-07"


def _replaced(stated: Any) -> None:
    stated["guarantee"]["joint"]["replaced"]["epsilon"] = "0.5"


def _law(stated: Any) -> None:
    stated["guarantee"]["joint"]["laws"][0]["law"] = "pure"


def _smaller_k(stated: Any) -> None:
    stated["mechanism"]["k"] -= 1


FORGED: dict[str, tuple[Callable[[Any], None], str]] = {
    "a smaller delta": (_curve, "its parts together have a larger delta at epsilon 2 than it states"),
    "a smaller epsilon for replacements": (_replaced, "larger delta at epsilon 0.5 than it states"),
    "another law": (_law, "the laws of its parts are not the mechanism's"),
    "a smaller k": (_smaller_k, "its parts together have a larger delta"),
}


@pytest.mark.thorough
def test_a_manifest_that_states_less_than_its_parts_cost_does_not_verify(tmp_path: Path) -> None:
    workshop = rows_by_shares(tmp_path / "w")
    result = job.release(Request(workshop.policy, SLOT), draw_key)
    assert result.path is not None
    manifest = result.path / "manifest.json"
    sealed = manifest.read_bytes()
    for change, expected in FORGED.values():
        stated = json.loads(sealed)
        change(stated)
        manifest.chmod(0o600)
        manifest.write_text(json.dumps(stated, sort_keys=True, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        with pytest.raises(VerificationFailed, match=expected):
            verify(result.path)
        manifest.write_bytes(sealed)
    assert verify(result.path)


def test_explain_says_that_parts_keep_their_total_jointly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for workshop in (rows_by_shares(tmp_path / "w"), by_sum(tmp_path / "s", MARGINS)):
        assert crowdgate("explain", workshop.policy) == 0
        texts.append(" ".join(capsys.readouterr().out.split()))
    jointly, summed = texts
    assert "All parts together keep these totals. Each part is a share of them" in jointly
    assert "their joint delta at epsilon 2 would be too large" in jointly
    assert "These are totals, paid for in parts" in summed
    assert "the part of the guarantee for rows allows (epsilon 0.9" in summed


def test_margins_beside_a_choice_keep_their_own_cost(tmp_path: Path) -> None:
    """Their queries may differ by the choice, so the joint cost counts them by their epsilon and delta."""
    workshop = with_margins(tmp_path / "w", "1e-7")
    result = job.release(Request(workshop.policy, SLOT), draw_key)
    assert result.path is not None
    verified(result.path, workshop.ledger)
    manifest = result.path / "manifest.json"
    stated = json.loads(manifest.read_bytes())
    bought = stated["mechanism"]["margins"]
    for each in (bought, *bought["queries"]):
        each["rho"] = str(Fraction(each["rho"]) * Fraction(101, 100))
    manifest.chmod(0o600)
    manifest.write_bytes(canonical(stated))
    with pytest.raises(VerificationFailed, match="the noise is too small for the stated epsilon and delta"):
        verify(result.path)


def test_an_audit_of_membership_states_what_all_parts_keep_together(tmp_path: Path) -> None:
    jointly, summed = (plan_policy(w.policy) for w in (rows_by_shares(tmp_path / "w"), by_sum(tmp_path / "s", MARGINS)))
    assert attacked_guarantee(jointly) == jointly.guarantee
    assert attacked_guarantee(summed).epsilon == Fraction(3, 2)


def test_the_bounds_of_an_audit_of_membership_are_the_least_over_the_joint_curve(tmp_path: Path) -> None:
    """A record holds all points of a release by shares, and one of a release by the sum, as earlier records do."""
    jointly, summed = (plan_policy(w.policy) for w in (rows_by_shares(tmp_path / "w"), by_sum(tmp_path / "s", MARGINS)))
    first, further = membership_costs(jointly)
    assert jointly.guarantee.joint is not None
    assert (first, further) == (jointly.guarantee.joint.replaced, jointly.guarantee.joint.replacements)
    assert membership_costs(summed)[1] == ()
    (form,) = tradeoff_bounds([first, *further], None, 100)
    (alone,) = tradeoff_bounds([first], None, 100)
    assert form.allowed(0.1) < 0.9 * alone.allowed(0.1)
    assert least_precision([first, *further], "0.01", 30) < 0.9 * least_precision([first], "0.01", 30)


def membership_costs(plan: Plan) -> tuple[Cost, tuple[Cost, ...]]:
    fields = policy_fields(plan, audit_spec(plan), 1000)
    return (fields["known_epsilon"], fields["known_delta"]), fields["known_points"]


def test_check_says_what_epsilons_leave_unused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summed, by_shares = by_sum(tmp_path / "s", MARGINS), rows_by_shares(tmp_path / "w")
    printed = []
    for workshop in (summed, by_shares):
        assert crowdgate("check", workshop.policy) == 0
        printed.append(capsys.readouterr().out)
    assert "(only 1.41 jointly: state shares)" in printed[0]
    assert "jointly" not in printed[1]


ON_SAMPLE = "    choose: {epsilon: 0.2, on: sample}\n"


def test_check_of_a_choice_on_the_sample_says_nothing_of_a_joint_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop = by_sum(tmp_path / "w", "")
    workshop.edit(workshop.policy, "  gates:\n", f"{ON_SAMPLE}  gates:\n")
    workshop.edit(workshop.policy, "age: 50 years", "age: {choose: [50 years, any]}")
    assert crowdgate("check", workshop.policy) in (0, 3)
    said = capsys.readouterr()
    assert "jointly" not in said.out
    assert "a fault in crowdgate itself" not in said.err


def test_shares_with_a_choice_on_the_sample_are_one_clear_error(tmp_path: Path) -> None:
    workshop = rows_by_shares(tmp_path / "w", CHOICE)
    workshop.edit(workshop.policy, "choose: {share: 0.2}", "choose: {share: 0.2, on: sample}")
    with pytest.raises(ConfigurationError, match="a choice of levels on the released sample: their joint cost"):
        plan_policy(workshop.policy)


def with_margins(root: Path, delta: str) -> Workshop:
    """Return a policy whose levels are chosen, so that its margins count by their epsilon and this delta."""
    workshop = rows_by_shares(root, CHOICE)
    margins = f"    margins: {{share: 0.3, delta: {delta}, tables: [{{all: 1}}]}}\n"
    workshop.edit(workshop.policy, "  gates:\n", f"{margins}  gates:\n")
    return workshop


def test_margins_of_unknown_law_may_need_more_than_delta_for_one_unit_replaced(tmp_path: Path) -> None:
    plan = plan_policy(with_margins(tmp_path / "w", "5e-7").policy)
    assert plan.guarantee.joint is not None
    epsilon, delta = plan.guarantee.joint.replaced
    assert epsilon == Fraction(4), "twice the total"
    assert delta > Fraction(1, 10**6)


def test_margins_that_take_nearly_all_of_delta_leave_no_class_size(tmp_path: Path) -> None:
    workshop = with_margins(tmp_path / "w", "9.999999e-7")
    with pytest.raises(ConfigurationError, match="no k of at most 5000 reaches the total"):
        plan_policy(workshop.policy)


def test_narrow_noise_of_persons_with_several_rows_counts_by_its_epsilon_and_delta() -> None:
    part = Part(MARGINS_PART, Fraction(3), Fraction(1, 10**6))
    spends = (Fraction(9, 2 * square) for square in (4, 3))  # sigma^2 is 4 and 3 at a change of 3
    wide, narrow = (MarginsLaw(part, NoiseLaw("gaussian", (NoisyVector(3, rho),), 3)) for rho in spends)
    assert (wide.name, narrow.name) == ("discrete gaussians", "epsilon and delta")
    assert float(narrow.pair(1).delta(np.array([3.0]))[0]) >= 1e-6
    assert float(wide.pair(1).delta(np.array([3.0]))[0]) > 0


def test_a_joint_cost_of_another_kind_does_not_verify(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(KEPT / "3" / "dp_synthetic", folder)
    stated = json.loads((folder / "manifest.json").read_bytes())
    joint = {
        "curve": [{"delta": "0", "epsilon": "0.001"}],
        "laws": [{"law": "pure", "part": "mechanism"}],
        "replaced": {"delta": "0", "epsilon": "0.001"},
    }
    stated["guarantee"]["joint"] = joint
    (folder / "manifest.json").write_bytes(canonical(stated))
    (folder / "release.dsse.json").unlink()
    with pytest.raises(VerificationFailed, match="a joint cost of its parts, which no release of this kind has"):
        verify(folder)
