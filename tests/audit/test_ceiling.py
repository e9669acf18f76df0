"""An audit that could not have failed can't tell; one of an earlier version keeps its outcome."""

import gzip
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crowdgate.accounting.pso_baselines import best_baseline
from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.population_table import population
from crowdgate.audit.common.predicates import Predicate
from crowdgate.audit.common.setting import audit_spec
from crowdgate.audit.inference.findings import ceiling_of
from crowdgate.audit.inference.record import InferenceRecord
from crowdgate.audit.inference_audit import INFERENCE
from crowdgate.audit.membership.controls import SHOWN
from crowdgate.audit.membership.findings import ceiling_of as ceiling_of_membership
from crowdgate.audit.membership.play import MembershipGame
from crowdgate.audit.membership.record import MembershipResults
from crowdgate.audit.membership.setting import claimed_shares, limit_of, recall_of
from crowdgate.audit.membership.target_population import TargetPopulation
from crowdgate.audit.membership_audit import MEMBERSHIP
from crowdgate.audit.singling_out.ceiling import ceiling_of as ceiling_of_singling_out
from crowdgate.audit.singling_out.findings import findings_of
from crowdgate.audit.singling_out.record import weights_of
from crowdgate.audit.singling_out_attackers.base import SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.on_raw_rows import RawRow
from crowdgate.audit.singling_out_controls.raw_rows import Pseudonyms
from crowdgate.gate import Outcome
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.policy import AuditSpec
from tests.audit.people import rows
from tests.audit.test_findings import attacked, record

ROOT = Path(__file__).parents[2]


def kept_inference(*, ceiling: bool) -> InferenceRecord:
    kept = Path(__file__).with_name("kept") / "inference.json.gz"
    record = INFERENCE.read(gzip.decompress(kept.read_bytes()))[0]
    setting = record.setting.model_copy(update={"ceiling": ceiling, "limit": Fraction(1)})
    return record.model_copy(update={"setting": setting})


def raw_columns_gain(share: Fraction) -> InferenceRecord:
    """Return a kept audit in which raw columns gain nothing at coverage 1, and this much over both baselines at .1."""
    kept = kept_inference(ceiling=True)
    shown = next(each for each in kept.played if each.must == "show")
    (secret,) = shown.secrets
    right = 0.05 * (1 + float(share))
    shares = {1.0: (1.0, 0.9, 0.9, 0.9), 0.1: (0.1, right, 0.05, 0.05)}
    lines = tuple(
        each.model_copy(update={"shares": (shares[each.coverage],), "targets": 1000})
        for each in secret.found
        if each.coverage in shares
    )
    own = shown.model_copy(update={"secrets": (secret.model_copy(update={"found": lines}),)})
    played = tuple(own if each is shown else each for each in kept.played)
    return kept.model_copy(update={"played": played})


@pytest.mark.parametrize("coverage", [Fraction(1), Fraction(1, 10)])
@pytest.mark.parametrize(("gain", "limit", "silent"), [("0.3", "0.2", False), ("0.3", "0.4", True)])
def test_the_ceiling_is_over_all_coverages(coverage: Fraction, gain: str, limit: str, silent: bool) -> None:
    """An audit that is judged at one coverage fails by what is proven at any other."""
    record = raw_columns_gain(Fraction(gain))
    setting = record.setting.model_copy(update={"coverage": coverage, "limit": Fraction(limit)})
    found = ceiling_of(record.played, setting)
    assert found == (pytest.approx(float(Fraction(gain))) if silent else None)


@pytest.mark.parametrize(("ceiling", "outcome"), [(False, Outcome.PASS), (True, Outcome.INCONCLUSIVE)])
def test_an_audit_below_its_limit_whatever_is_published_is_no_evidence(ceiling: bool, outcome: Outcome) -> None:
    """The policy's columns of every row gain 1 in the kept audit, which is within a limit of 1."""
    record = kept_inference(ceiling=ceiling)
    found = FinishedAudit(record, INFERENCE.findings(record), Path("x"), True)
    assert found.findings.outcome is outcome
    text = " ".join(INFERENCE.text(found))
    assert text.lower().count("this audit could not have failed") == 1
    assert ("Cannot tell: this audit could not have failed" in text) == ceiling


def attacked_rows(classes: int) -> MembershipResults:
    """Return the attack on all raw rows of a table: half of 4,000 people, who are in so many classes."""
    people = rows(np.full(classes, 4000 // classes))
    claimed = (0.01, 0.1, 0.5, 1.0)
    game = MembershipGame(SHOWN, TargetPopulation(people, 2000), claimed, 5, 3, attacks=SHOWN.attacks)
    tallies = {at: game.batch(at, size) for at, size in game.batches(SHOWN.releases)}
    return game.played(tallies, "show", SHOWN.note, None)


@pytest.mark.parametrize(
    ("classes", "ceiling", "outcome"), [(4000, 1.0, Outcome.PASS), (20, 0.04, Outcome.INCONCLUSIVE)]
)
def test_a_membership_audit_knows_what_raw_rows_reveal(classes: int, ceiling: float, outcome: Outcome) -> None:
    """People who are alone are found with certainty. Of 200 equal people 20 times 14 more or fewer than 100 are in, so
    that raw rows hardly help: a precision of 1/31 becomes .04."""
    kept = Path(__file__).with_name("kept") / "membership.json.gz"
    record = MEMBERSHIP.read(gzip.decompress(kept.read_bytes()))[0]
    shown = record.model_copy(update={"played": (*record.played, attacked_rows(classes))})
    found = FinishedAudit(shown, MEMBERSHIP.findings(shown), Path("x"), True)
    assert found.findings.outcome is outcome
    assert found.findings.ceiling == pytest.approx(ceiling, abs=0.005)
    text = " ".join(MEMBERSHIP.text(found))
    assert ("this audit could not have failed by its limit" in text) == (outcome is Outcome.INCONCLUSIVE)
    assert "An attacker who sees the policy's attributes of every row" in text
    assert MEMBERSHIP.findings(record).ceiling is None, "it was not played in earlier versions"


@pytest.mark.parametrize(("classes", "least", "most"), [(4000, 0.6, 0.64), (20, 0.01, 0.03)])
def test_a_singling_out_audit_knows_what_raw_rows_reveal(classes: int, least: float, most: float) -> None:
    """People who are alone are isolated at weight 1/n, where a blind attacker reaches .37. Of classes with 200
    people it helps to know which one is larger than expected, a little."""
    people = rows(np.full(classes, 4000 // classes))
    known = PublicKnowledge(people, 4000)
    ceiling = ceiling_of_singling_out(known, weights_of(Fraction(1, 200 * 4000), 4000))
    assert least <= ceiling <= most


@pytest.mark.parametrize(("aside", "weight"), [(False, Fraction(1, 200)), (True, Fraction(1, 4))])
def test_the_ceiling_is_the_success_of_the_attackers_on_raw_rows(aside: bool, weight: Fraction) -> None:
    """3,000 tables of 40 units: the standard error is at most .01, and the ceiling of 20 tables has one of .02."""
    counts = np.array([1, 3, 6, 30])
    known, rng = PublicKnowledge(rows(counts), 40), np.random.default_rng(5)
    control = Pseudonyms()
    found = []
    for _ in range(3000):
        drawn = known.population.draw(40, rng)
        if aside:
            share = min(1, float(weight) * 40 / counts[drawn.target])
            found.append(share * (1 - share) ** drawn.others[drawn.target])
        else:
            view = SinglingOutAttackerView(control.apply(drawn, known, rng), known, [weight])
            (predicate,) = RawRow().answer(view) or [None]
            assert isinstance(predicate, Predicate)
            found.append(float(predicate.isolates(drawn, rng)))
    base = float(weight) if aside else best_baseline(40, weight)
    ceiling = ceiling_of_singling_out(known, [weight])
    assert ceiling >= np.mean(found) - base - 0.08
    if not aside:
        assert ceiling == pytest.approx(np.mean(found) - base, abs=0.08)


@pytest.mark.parametrize(("ceiling", "outcome"), [(0.0099, Outcome.INCONCLUSIVE), (0.0101, Outcome.PASS)])
def test_a_singling_out_audit_below_its_limit_is_no_evidence(ceiling: float, outcome: Outcome) -> None:
    found = record(attacked("likeliest classes", (13, 920)))
    own, *others = found.played
    shown = found.model_copy(update={"played": (own.model_copy(update={"ceiling": ceiling}), *others)})
    assert findings_of(shown).outcome is outcome
    assert any("this audit could not have failed" in each for each in findings_of(shown).reasons) == (ceiling <= 0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("policy", ["census_income", "census_income_tables"])
def test_a_membership_audit_of_a_bundled_policy_can_fail_by_default(policy: str) -> None:
    """Twenty tables: precisions of .166 and 1 at the default recall, where the limit is .065. At a recall of .01 the
    first is .05."""
    plan = plan_policy(ROOT / "policies" / f"{policy}.yaml")
    people, spec = population(plan, plan.bundle.population), audit_spec(plan)
    n = people.size // 2
    assert raw_precision(people, spec, recall_of(plan, n)) > 2 * limit_of(spec)
    if policy == "census_income":
        assert raw_precision(people, spec, Fraction(1, 100)) < limit_of(spec)


def raw_precision(people: Population, spec: AuditSpec, recall: Fraction) -> float:
    """Return the ceiling of a membership audit at a recall."""
    n, skew = people.size // 2, spec.membership.skew
    claimed = claimed_shares(spec, recall, n, people.size)
    game = MembershipGame(SHOWN, TargetPopulation(people, n), claimed, 5, 3, attacks=SHOWN.attacks)
    played = game.played({at: game.batch(at, size) for at, size in game.batches(SHOWN.releases)}, "show", "", None)
    shown: Any = SimpleNamespace(setting=SimpleNamespace(skew=skew, recall=recall), controls=[played])
    return ceiling_of_membership(shown) or 0.0
