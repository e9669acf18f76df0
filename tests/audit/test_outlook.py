"""Outlook of an audit before it plays: its cost, and whether a verdict can be expected."""

from dataclasses import replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.ceiling import Ceiling
from crowdgate.audit.common.least_units import ReleasedRows
from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.outlook import outlook
from crowdgate.audit.common.population_table import population
from crowdgate.audit.common.setting import audit_spec
from crowdgate.audit.common.trials import ScheduledGame
from crowdgate.audit.files_audit import FILES
from crowdgate.audit.inference import ceiling as inference_ceiling
from crowdgate.audit.inference_audit import INFERENCE
from crowdgate.audit.membership import ceiling as membership_ceiling
from crowdgate.audit.membership_audit import MEMBERSHIP
from crowdgate.audit.singling_out.play import SinglingOutGame
from crowdgate.audit.singling_out_audit import SINGLING_OUT
from crowdgate.audit.singling_out_controls.raw_rows import Identity
from crowdgate.candidate import MechanismFigures
from crowdgate.ledger.audits import audits
from crowdgate.ledger.ledger import open_ledger
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.policy import AuditSpec
from tests.audit.games import BY_NAME
from tests.audit.people import rows
from tests.audit.test_enough import CENSUS, LEVEL
from tests.audit.test_inference_audit import make as make_inferred
from tests.audit.test_membership_audit import make as make_claimed
from tests.audit.workshop import Town, few_fits, make_town, only_few_controls
from tests.workshop import crowdgate, write_parquet

if TYPE_CHECKING:
    from crowdgate.audit.common.population import Population
    from crowdgate.kind.plan import Plan


def scheduled(trials: int) -> ScheduledGame:
    """Return a game of raw rows."""
    known = PublicKnowledge(rows(np.full(40, 5)), 20)
    game = SinglingOutGame(Identity(), [BY_NAME["raw row"]], known, (Fraction(1, 20),), 1, 0)
    return ScheduledGame(game, trials, "judged", "")


def said(of: Audit[Any, Any], needed: int | None, trials: int = 2500) -> str:
    """Return the outlook where the clock adds 3 seconds for each trial."""
    ticks = count(step=3)
    own = replace(of, needed=None if of.needed is None else lambda *_: needed)
    return outlook(own, CENSUS, LEVEL, [scheduled(trials), *[scheduled(100)] * 2], clock=lambda: next(ticks))


def test_the_cost_is_that_of_all_trials_of_all_games() -> None:
    assert said(FILES, None, 24) == "24 releases, and 2 further mechanisms: about 670 CPU seconds."
    assert said(SINGLING_OUT, 2014).startswith("2,500 trials, and 2 further mechanisms: about 8,100 CPU seconds.")


@pytest.mark.parametrize("of", [SINGLING_OUT, INFERENCE, MEMBERSHIP], ids=lambda each: str(each.question))
def test_too_few_trials_are_known_beforehand(of: Audit[Any, Any]) -> None:
    silent = "There are fewer, so this audit is likely to end without a verdict."
    assert said(of, 2501).endswith(silent)
    assert not said(of, 2500).endswith(silent)
    assert f"A harmless mechanism passes with probability 0.9 from 2,500 {of.plays} on." in said(of, 2500)
    assert f"No number of {of.plays} lets a harmless mechanism pass" in said(of, None)


def test_the_number_of_trials_is_that_of_the_findings() -> None:
    assert SINGLING_OUT.needed is not None
    assert SINGLING_OUT.needed(CENSUS, LEVEL, scheduled(1).game) == 2014


def test_the_trials_that_are_timed_change_no_result() -> None:
    before = scheduled(50).game.batch(0, 50).to_json()
    timed = scheduled(50)
    outlook(FILES, CENSUS, LEVEL, [timed])
    assert timed.game.batch(0, 50).to_json() == before


@pytest.mark.thorough
def test_the_command_says_it_on_standard_error(tmp_path: Any, capfd: pytest.CaptureFixture[str]) -> None:
    town: Town = make_town(tmp_path / "town")
    with only_few_controls():
        crowdgate("audit", town.policy)
    told = capfd.readouterr()
    assert told.err.count("CPU seconds.") == 1
    assert "CPU seconds." not in told.out
    with only_few_controls():
        crowdgate("audit", town.policy)
    assert "CPU seconds." not in capfd.readouterr().err, "a finished audit is reported, not played"


def test_an_audit_that_could_not_fail_is_refused_before_it_counts(
    tmp_path: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """Classes of the town have 50 people and more: raw rows exceed the baseline by less than the limit of .3."""
    town: Town = make_town(tmp_path / "town")
    assert crowdgate("audit", town.policy) == 2
    assert "limit: a limit of 0.3, and nothing that is released could exceed it" in capfd.readouterr().err
    assert not audits(open_ledger(town.ledger, None).journal())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("make", "question", "said"),
    [
        (make_claimed, "membership", "membership: a limit of 0.5, and nothing that is released could exceed it"),
        (make_inferred, "inference", "inference: a limit of 0.9, and nothing that is released could exceed it"),
    ],
)
def test_a_hopeless_audit_is_played_only_if_the_user_insists(
    make: Any, question: str, said: str, tmp_path: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """Raw rows of few values reveal little of who is in the table, and of a ward that age foretells."""
    section = "  audit: {population: towns, trials: 60, inference: {releases: 20, limit: 0.9},"
    section += " membership: {releases: 20, skew: 5, recall: 0.1, limit: 0.5}}\n"
    town: Town = make(tmp_path / "town", section)
    with few_fits():
        assert crowdgate("audit", town.policy, "--of", question, "--jobs", "1") == 2
        told = capfd.readouterr().err
        assert said in told
        assert "--anyway" in told
        assert not audits(open_ledger(town.ledger, None).journal())
        assert crowdgate("audit", town.policy, "--of", question, "--jobs", "1", "--anyway") == 3
    told = capfd.readouterr().err
    assert "So it can't fail, and a pass shows nothing." in told
    assert [each.event for each in audits(open_ledger(town.ledger, None).journal())] == ["begun", "recorded"]


def test_a_ceiling_above_the_limit_is_said_and_refuses_nothing() -> None:
    most = Ceiling("inference", "a gain", 0.3, Fraction(1, 10))
    assert not most.hopeless
    assert replace(most, limit=Fraction(3, 10)).hopeless
    text = outlook(FILES, CENSUS, LEVEL, [scheduled(10)], most)
    assert "reach a gain of 0.3; the limit is 0.1." in text
    assert "So it can't fail" not in text


def test_the_least_number_of_units_with_rows_is_said_beforehand() -> None:
    """A class of all rows, of which half are sampled, has 2 of 7 sampled rows with probability 15/16."""
    rows = ReleasedRows(np.ones(1), np.ones(1), 1.0, MechanismFigures(2, {}, Fraction(1, 2)))
    text = outlook(FILES, CENSUS, LEVEL, [scheduled(10)], rows=rows)
    assert "Rows are released with probability 0.9 from 7 units on, if rows are drawn independently (k = 2)." in text


@pytest.mark.thorough
def test_an_audit_is_not_hopeless_by_one_division_of_the_table(tmp_path: Path) -> None:
    """An audit divides its table by a seed of its own: gains of raw rows of 1,500 people differ by a third."""
    town, random = make_inferred(tmp_path / "town"), np.random.default_rng(20301129)
    ages, copied = np.minimum(random.geometric(0.05, 1500), 99), random.random(1500) < 0.6
    wards = np.array(["north", "south", "east"])[np.where(copied, ages % 3, 0)].tolist()
    rows = [
        {"patient": "", "age": age, "ward": ward, "note": ""} for age, ward in zip(ages.tolist(), wards, strict=True)
    ]
    write_parquet(town.root / "data_contracts" / "towns.parquet", rows)
    town.edit(town.policy, "age: 50 years", "age: exact")
    plan = plan_policy(town.policy)
    spec, units = audit_spec(plan), population(plan, plan.bundle.population, INFERENCE.other_attributes(plan))
    with few_fits():
        gains = [inference_ceiling.reached(plan, spec, units, seed) for seed in range(inference_ceiling.DIVISIONS)]
        assert gains[0] < 0.8 * max(gains)
        for limit, hopeless in ((gains[0] + 0.001, False), (max(gains) + 0.001, True)):
            stated = spec.inference.model_copy(update={"limit": Fraction(limit)})
            found = inference_ceiling.ceiling(plan, spec.model_copy(update={"inference": stated}), units)
            assert found.hopeless == hopeless


@pytest.mark.parametrize(("few", "many", "hopeless"), [(0.4, 0.45, True), (0.4, 0.6, False), (0.6, 0.4, False)])
def test_a_membership_audit_is_not_hopeless_by_few_tables(
    monkeypatch: pytest.MonkeyPatch, few: float, many: float, hopeless: bool
) -> None:
    """By five tables of 3,000 people with hardly any equal ones, precision was .40 to .54, and .42 by 200."""
    said = dict(zip(membership_ceiling.TABLES, (few, many), strict=True))
    monkeypatch.setattr(membership_ceiling, "reached", lambda *setting: said[setting[-1]])
    spec = AuditSpec.model_validate({"population": "towns", "membership": {"limit": "0.5"}})
    found = membership_ceiling.ceiling(cast("Plan", None), spec, cast("Population", None))
    assert found.hopeless == hopeless
