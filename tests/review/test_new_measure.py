"""A measure that is defined here: every command supports gates on it.

A limit on either side of a measure without a better side gives no warning.
"""

from fractions import Fraction

import pytest

from crowdgate.candidate import Measurement, OutputType
from crowdgate.forecast.chances.from_past_runs import PastMeasurements, odds_from_past_runs
from crowdgate.gate import Outcome, judge
from crowdgate.measures import MEASURES, Aspect, BetterSide, Measure, MeasureClass
from crowdgate.measures.base import NOT_NEGATIVE, of_rows
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.field_order import Direction
from crowdgate.policy.policy import GateRule
from crowdgate.review.diff.fields_compared import changes
from crowdgate.review.diff.level_order import level_order_by_codes
from tests.conformance.lives import say
from tests.workshop import Workshop

STATIC = Measure(
    name="new_public_figure", summary="a public figure", sentence="It limits a public figure that is new.",
    reads=MeasureClass.STATIC, shape=OutputType.STATIC, aspect=Aspect.INFERENCE, better=BetterSide.EITHER,
    accumulates=False, range=NOT_NEGATIVE, reach=lambda *_: (0, 10), of_static=lambda *_: Measurement.exact(5),
)  # fmt: skip
OUTPUT = Measure(
    name="new_rows", summary="a number of the released rows", sentence="It counts rows.",
    reads=MeasureClass.OUTPUT, shape=OutputType.ROWS, aspect=Aspect.USEFULNESS, better=BetterSide.EITHER,
    accumulates=False, range=NOT_NEGATIVE, reach=lambda *_: (0, 1000), steady=False,
    of_candidate=of_rows(lambda rows, *_: Measurement.exact(rows.rows)),
)  # fmt: skip
LAST = "    - {measure: released_rows, at_least: 0}\n"


@pytest.fixture
def clinic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A policy with gates on both measures, on both sides."""
    monkeypatch.chdir(workshop.root)
    for measure in (STATIC, OUTPUT):
        monkeypatch.setitem(MEASURES, measure.name, measure)
    gates = [(STATIC, "at_most: 6"), (STATIC, "at_least: 4"), (OUTPUT, "at_most: 900"), (OUTPUT, "at_least: 1")]
    lines = [f"    - {{measure: {measure.name}, {limit}}}\n" for measure, limit in gates]
    workshop.edit(workshop.policy, LAST, "".join([LAST, *lines]))
    return workshop


@pytest.mark.thorough
def test_commands_work_and_advise_no_side(clinic: Workshop) -> None:
    for command in ("check", "plan", "explain"):
        said = say(command, clinic.policy)
        assert said.code == 0
        assert "new_public_figure at least 4" in " ".join(said.out.split())
    warned = [each["words"] for each in say("check", clinic.policy, "--json").json()["policies"][0]["warnings"]]
    assert not [words for words in warned if "new_" in words]
    assert "It limits a public figure that is new." in " ".join(say("explain", clinic.policy).out.split())
    assert say("release", clinic.policy, "--as-of", "2030-01-01").code == 0
    assert say("verify", clinic.release_dir("2030-01-01")).code == 0
    assert "unknown (1 past run: " in say("check", clinic.policy).out


def test_a_gate_on_it_withholds_a_release(clinic: Workshop) -> None:
    clinic.edit(clinic.policy, "new_rows, at_least: 1}", "new_rows, at_least: 999}")
    assert say("release", clinic.policy, "--as-of", "2030-01-01").code == 3


def test_diff_says_which_releases_pass_and_that_a_gate_turned_round_means_something_else(clinic: Workshop) -> None:
    clinic.edit(clinic.policy, "    - {measure: new_public_figure, at_least: 4}\n", "")
    old = clinic.policy.with_name("old.yaml")
    old.write_bytes(clinic.policy.read_bytes())
    clinic.edit(clinic.policy, "new_rows, at_most: 900", "new_rows, at_most: 800")
    said = say("diff", old, clinic.policy)
    assert (said.code, "tighter         spec.gates[new_rows].at_most: 900 -> 800" in said.out) == (0, True)
    clinic.edit(clinic.policy, "new_public_figure, at_most: 6", "new_public_figure, at_least: 4")
    said = say("diff", old, clinic.policy)
    assert (said.code, "changed meaning spec.gates[new_public_figure]" in said.out) == (3, True)


@pytest.mark.parametrize("side", ["at_most", "at_least"])
@pytest.mark.usefixtures("clinic")
def test_what_diff_calls_tighter_passes_nothing_that_was_withheld(side: str) -> None:
    """So the direction is correct for any measure, whichever side of it is better."""
    rules = [GateRule.model_validate({"measure": OUTPUT.name, side: str(limit)}) for limit in (3, 5)]
    for old, new in (rules, rules[::-1]):
        (change,) = changes(old, new, level_order_by_codes({}))
        was, now = ({n for n in range(9) if judge(each, Measurement.exact(n)) is Outcome.PASS} for each in (old, new))
        assert (change.direction is Direction.TIGHTER) == (now < was)
        assert (change.direction is Direction.LOOSER) == (was < now)


def test_its_forecast_is_no_surer_than_its_runs_make_it(clinic: Workshop) -> None:
    plan = plan_policy(clinic.policy)
    past = PastMeasurements(tuple(map(Fraction, (300, 301, 302))), Fraction(0), 0, 0, 0)
    rule = next(rule for rule, measure in plan.gates if measure is OUTPUT and rule.at_most is None)
    found = odds_from_past_runs(plan, rule, OUTPUT, past)
    assert found is not None
    assert found.value == 1 - 1 / 8
