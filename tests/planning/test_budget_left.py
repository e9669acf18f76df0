"""The number of further releases: by the budget, and by the policy's own gates, release by release."""

import json
from dataclasses import replace
from fractions import Fraction
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.candidate import Cost, Static
from crowdgate.ledger.ledger import Spend
from crowdgate.measures import MEASURES
from crowdgate.planning.budget_left import (
    LedgerStatus,
    first_stopped,
    guarantee_sentences,
    ledger_of,
    ledger_status,
    releases_in,
)
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.policy import GateRule
from crowdgate.review.check import check
from tests.workshop import Workshop, attest_sample, crowdgate

POSITIVE = st.fractions(Fraction(1, 1000), 5, max_denominator=1000)


@pytest.fixture
def clinic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Three releases of epsilon 2 fit into 6, and of delta .01 into .03."""
    monkeypatch.chdir(workshop.root)
    workshop.edit(workshop.policy, "pso_bound, at_most: 1}", "pso_bound, at_most: 1, severity: advise}")
    return workshop


def _status(clinic: Workshop) -> LedgerStatus:
    plan = plan_policy(clinic.policy)
    return ledger_status(plan, ledger_of(plan))


def release(clinic: Workshop, slot: str) -> int:
    return crowdgate("release", clinic.policy, "--as-of", slot)


@given(POSITIVE, POSITIVE, POSITIVE, st.just(Fraction(0)) | POSITIVE)
def test_as_many_as_fit_and_no_more(epsilon: Fraction, delta: Fraction, each: Fraction, other: Fraction) -> None:
    fit = releases_in(Spend(epsilon, delta), Spend(each, other))
    assert fit * each <= epsilon
    assert fit * other <= delta
    assert (fit + 1) * each > epsilon or (fit + 1) * other > delta


def test_a_budget_whose_delta_ends_first_says_so(clinic: Workshop) -> None:
    assert not _status(clinic).left.delta_binds
    clinic.edit(clinic.budget, "epsilon: 6, delta: 0.03", "epsilon: 8, delta: 0.039")
    assert (
        _status(clinic).left.amounts_text().endswith("enough for 3 such releases (delta allows no more, epsilon would)")
    )


@pytest.mark.thorough
def test_each_release_leaves_one_less_and_check_refuses_what_the_ledger_would(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    for done in range(3):
        left = _status(clinic).left
        assert (left.read, left.releases, left.passing, left.stops) == (True, 3 - done, 3 - done, None)
        assert crowdgate("check", clinic.policy) == 0
        assert f"enough for {3 - done} such release" in capsys.readouterr().out
        assert release(clinic, f"2030-01-0{done + 1}") == 0
    capsys.readouterr()
    assert crowdgate("check", clinic.policy, "--json") == 3
    (found,) = json.loads(capsys.readouterr().out)["policies"]
    assert not found["allowed"]
    assert found["left"]["releases_in_budget"] == 0
    assert "enough for 0 such releases" in found["ledger_refuses"]
    assert release(clinic, "2030-01-04") == 5


@pytest.mark.thorough
@pytest.mark.parametrize(("limit", "through"), [("0.5", 0), ("1.1", 1), ("2.1", 2), ("3.1", 3)])
def test_a_gate_that_stops_before_the_budget_does_is_foretold(
    clinic: Workshop, capsys: pytest.CaptureFixture[str], limit: str, through: int
) -> None:
    """The forecast number of releases is published, and the next is withheld before anything is read."""
    clinic.edit(clinic.budget, "delta: 0.03", "delta: 3e-6")
    clinic.edit(clinic.policy, "delta: 0.01", "delta: 1e-6")
    clinic.edit(clinic.policy, "pso_bound, at_most: 1, severity: advise}", f"pso_bound, at_most: {bound(limit)}}}")
    left = _status(clinic).left
    assert left.passing == through
    done = sum(release(clinic, f"2030-01-0{at}") == 0 for at in range(1, 4))
    assert done == through
    capsys.readouterr()
    assert crowdgate("check", clinic.policy, "--json") == 3
    (found,) = json.loads(capsys.readouterr().out)["policies"]
    assert (found["left"]["stopped_by"] is None) == (through == 3)
    assert found["left"]["releases_past_gates"] == 0


@given(st.integers(1, 60), st.fractions(Fraction(1, 50), 1, max_denominator=50), st.fractions(0, 2, max_denominator=40))
def test_the_first_release_that_a_gate_stops_is_the_one_that_asking_one_by_one_finds(
    most: int, once: Fraction, limit: Fraction
) -> None:
    asked = list[int]()

    def stops(done: int) -> bool:
        asked.append(done)
        return (done + 1) * once > limit

    plain = next((done for done in range(most) if stops(done)), most)
    asked.clear()
    assert first_stopped(stops, most) == plain
    assert len(asked) <= 2 + most.bit_length()


def test_what_check_says_of_the_bound_is_what_the_next_release_records(clinic: Workshop) -> None:
    """Earlier releases of the same people count: in the figure of the gate, and in the plain sentence."""
    clinic.edit(clinic.budget, "delta: 0.03", "delta: 3e-6")
    clinic.edit(clinic.policy, "delta: 0.01", "delta: 1e-6")
    said = []
    for slot in ("2030-01-01", "2030-01-02"):
        found = check(clinic.policy)
        assert release(clinic, slot) == 0
        manifest = json.loads((clinic.release_dir(slot) / "manifest.json").read_bytes())
        stated = next(each for each in manifest["verdicts"] if each["measure"] == "pso_bound")
        foretold = next(each for each in found.to_json()["verdicts"] if each["measure"] == "pso_bound")
        assert stated.items() <= foretold.items()
        said.append(guarantee_sentences(found.plan, found.left)[0])
    assert "this release, as the first of these people" in said[0]
    assert "this release and all earlier ones of these people" in said[1]


def bound(releases: str) -> str:
    """Return the bound on singling out at weight 1e-9 after so many releases.

    Each has delta 1e-6 for 1,000 people: 1000 (e^(2 n) 1e-9 + n 1e-6).
    """
    n = float(releases)
    return f"{1000 * (exp(2 * n) * 1e-9 + n * 1e-6):.9f}"


def test_a_table_that_is_a_sample_serves_one_release(clinic: Workshop) -> None:
    """The limit holds for any budget and any version."""
    attest_sample(clinic)
    clinic.edit(clinic.policy, "sampling: {beta: 0.5}", "sampling: {inherited: spring}")
    clinic.edit(clinic.policy, "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n", "")
    found = check(clinic.policy)
    assert (found.allowed, found.left.releases) == (True, 1)
    assert release(clinic, "2030-01-01") == 0
    for version in (1, 2):
        clinic.edit(clinic.policy, "version: 1", f"version: {version}")
        found = check(clinic.policy)
        assert (found.allowed, found.left.releases) == (False, 0)
        assert found.refused is not None
        assert found.refused.startswith("the sample spring was already released by clinic/1/2030-01-01. ")
        assert release(clinic, f"2030-01-0{version + 1}") == 5


@pytest.mark.thorough
@pytest.mark.parametrize(("epsilon", "delta"), [("100000", "0.01"), ("2", "0.999")])
def test_what_no_budget_pays_for_is_judged_all_the_same(clinic: Workshop, epsilon: str, delta: str) -> None:
    """The case is a misplaced decimal point, after an earlier spend."""
    clinic.edit(clinic.budget, "epsilon: 6, delta: 0.03", "epsilon: 6, delta: 0.99")
    assert release(clinic, "2030-01-01") == 0
    clinic.edit(clinic.policy, "epsilon: 2", f"epsilon: {epsilon}")
    clinic.edit(clinic.policy, "delta: 0.01", f"delta: {delta}")
    clinic.edit(clinic.policy, "version: 1", "version: 2")
    found = check(clinic.policy)
    assert not found.allowed
    assert "no bound below 1" in guarantee_sentences(found.plan, found.left)[3]
    assert crowdgate("plan", clinic.policy) == crowdgate("explain", clinic.policy) == 0


def test_without_a_ledger_it_says_so(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert release(clinic, "2030-01-01") == 0
    (clinic.root / "crowdgate.toml").unlink()
    found = _status(clinic)
    assert (found.informed, found.refused, found.left.read, found.left.releases) == (None, None, False, 3)
    capsys.readouterr()
    assert crowdgate("check", clinic.policy) == 0
    assert "(assumed: nothing was spent, as its ledger can't be read here)" in capsys.readouterr().out


def test_the_registered_budget_counts_where_it_is_smaller(clinic: Workshop) -> None:
    assert release(clinic, "2030-01-01") == 0
    clinic.edit(clinic.budget, "epsilon: 6, delta: 0.03", "epsilon: 60, delta: 0.3")
    clinic.edit(clinic.policy, "version: 1", "version: 2")
    assert _status(clinic).left.releases == 2
    clinic.edit(clinic.budget, "epsilon: 60", "epsilon: 4")
    assert _status(clinic).left.releases == 1


class Spending(Exception):
    """Raised when the earlier spend is read."""


def test_measures_that_read_what_was_spent_say_so(clinic: Workshop) -> None:
    plan = plan_policy(clinic.policy)

    class Watched(Static):
        @property
        def spent(self) -> Cost:
            raise Spending

    watched = object.__new__(Watched)
    watched.__dict__.update(
        {name: value for name, value in vars(plan.first_release_facts()).items() if name != "spent"}
    )
    rule = GateRule.model_validate({"measure": "any", "at_most": "1", "over": ["ward"], "of": "ward"})
    seen = set[str]()
    for name, measure in MEASURES.items():
        if measure.of_static is None:
            continue
        read = False
        try:
            measure.of_static(watched, rule)
        except Spending:
            read = True
        except (ValueError, KeyError, ZeroDivisionError):
            continue
        assert read == measure.accumulates, name
        seen.add(name)
    assert seen >= {"pso_bound", "pso_bound_in_sample", "membership_precision_bound", "expected_singletons"}


def test_measures_that_accumulate_never_fall_as_more_is_spent(clinic: Workshop) -> None:
    """The search for the first stopped release relies on it: from the cost of one release to far beyond the budget."""
    clinic.edit(clinic.budget, "delta: 0.03", "delta: 3e-6")
    clinic.edit(clinic.policy, "delta: 0.01", "delta: 1e-6")
    first = plan_policy(clinic.policy).first_release_facts()
    rule = GateRule.model_validate({"measure": "any", "at_most": "1"})
    accumulating = [measure for measure in MEASURES.values() if measure.accumulates]
    assert {"pso_bound", "pso_bound_in_sample", "membership_precision_bound"} == {each.name for each in accumulating}
    epsilon, delta = first.spent
    more_epsilon = [(epsilon * (1 + Fraction(at, 40)), delta) for at in range(60)]
    more_delta = [(epsilon, delta * (1 + at)) for at in range(60)]
    for more in (more_epsilon, more_delta):
        for measure in accumulating:
            assert measure.of_static is not None
            found = [measure.of_static(replace(first, spent=spent), rule) for spent in more]
            values = [each.value for each in found if each is not None]
            assert len(values) == len(more)
            assert values == sorted(values), measure.name
            assert values[0] < values[-1], measure.name


def test_a_gate_that_would_have_withheld_the_last_release_is_told(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of 600 rows are sampled: at least 900 released rows, and a changed file."""
    assert release(clinic, "2030-01-01") == 0
    assert crowdgate("check", clinic.policy) == 0
    assert "this gate would have" not in capsys.readouterr().out
    clinic.edit(clinic.policy, "released_rows, at_least: 0", "released_rows, at_least: 900")
    clinic.edit(clinic.policy, "version: 1", "version: 2")
    assert crowdgate("check", clinic.policy) == 0
    told = capsys.readouterr().out
    assert "released_rows at least 900: probability of passing unknown (1 past" in told
    note = "released_rows at least 900: this gate would have withheld 1 of the last 1 (`crowdgate replay"
    assert note in told
    changed = clinic.release_dir("2030-01-01") / "manifest.json"
    changed.write_bytes(changed.read_bytes() + b"\n")
    assert crowdgate("check", clinic.policy) == 0
    told = capsys.readouterr().out
    assert "some of the last releases can't be read: clinic/1/2030-01-01: " in told
    assert "this gate would have" not in told


def test_check_reads_nothing_of_past_releases_but_their_manifests(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release(clinic, "2030-01-01") == 0
    clinic.edit(clinic.policy, "released_rows, at_least: 0", "released_rows, at_least: 900")
    clinic.edit(clinic.policy, "version: 1", "version: 2")
    capsys.readouterr()
    crowdgate("check", clinic.policy)
    before = capsys.readouterr().out
    for file in clinic.release_dir("2030-01-01").iterdir():
        if file.name != "manifest.json":
            file.unlink()
    crowdgate("check", clinic.policy)
    assert capsys.readouterr().out == before
    assert "this gate would have withheld 1 of the last 1" in before


def test_a_frozen_population_keeps_what_it_has_spent(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert release(clinic, "2030-01-01") == 0
    before = _status(clinic).left
    assert crowdgate("ledger", "freeze", "clinic-patients", "--reason", "a question", "--ledger", clinic.ledger) == 0
    found = _status(clinic)
    assert found.refused is not None
    assert (found.left.read, found.left.spent, found.left.releases) == (True, before.spent, before.releases)
    capsys.readouterr()
    assert crowdgate("check", clinic.policy) == 3
    assert "nothing was spent" not in capsys.readouterr().out
