"""Statements of `check` about one gate agree: its verdict, its probability of passing, and whether it can fail."""

from collections.abc import Callable
from math import exp
from pathlib import Path

import pytest

from crowdgate.gate import Outcome
from crowdgate.kinds import KINDS
from crowdgate.measures import MEASURES, Measure, MeasureClass
from crowdgate.measures.base import SHARE
from crowdgate.review.check import check
from crowdgate.review.check_text import check_lines
from tests.kinds.margins import margins_workshop
from tests.kinds.synthetic import synthetic_workshop
from tests.kinds.test_tables_release import tables_workshop
from tests.workshop import Workshop, crowdgate

MADE: dict[str, Callable[[Path], Workshop]] = {
    "safe_k_anonymity": margins_workshop, "dp_tables": tables_workshop, "dp_synthetic": synthetic_workshop,
}  # fmt: skip
OPTIONS = {"size": 3, "quartile": 2, "max_age": 30, "coverage": 1, "skew": 30, "recall": 0.01}
VERDICTS = {
    "pass": {"passes", "cannot fail"},
    "fail": {"fails"},
    "inconclusive": {"inconclusive"},
    None: {"cannot fail", "cannot pass", "could fail", "decided in the private record only"},
}
"""The words of `check`, by the outcome before any data are read."""
NAMED = ("fails", "inconclusive", "cannot pass", "could fail")
"""States of the gates of which `check` prints the limit."""


def line(measure: Measure, side: str, limit: str) -> str:
    """A gate on the measure, as a policy of the clinic states it."""
    options = [f"{name}: {OPTIONS[name]}" for name in measure.needs]
    most = "1" if measure.range == SHARE and limit == "1000000" else limit
    parts = [f"measure: {measure.name}", f"{side}: {most}"]
    parts += ["over: [ward]"] if measure.over else []
    parts += ["of: ward"] if measure.of else []
    parts += [f"with: {{{', '.join(options)}}}"] if options else []
    parts += ["charge: {epsilon: 0.01}"] if measure.reads is MeasureClass.CHARGED else []
    parts += ["severity: advise"] if measure.reads is MeasureClass.CONFIDENTIAL else []
    return f"    - {{{', '.join(parts)}}}\n"


def gates(kind: str, limit: str) -> str:
    """Gates on every measure of a kind, on both sides where it may have two."""
    fitting = [each for each in MEASURES.values() if each.shape in KINDS[kind].shapes and not each.register]
    lines = ""
    for each in fitting:
        if each.several_rows:
            continue
        if each.excess:
            lines += line(each, "at_most", "0" if limit.startswith("-") else "1")
        else:
            lines += line(each, "at_most", limit)
            lines += line(each, "at_least", limit) if each.reads is not MeasureClass.CHARGED else ""
    return lines


def with_gates(workshop: Workshop, kind: str, limit: str) -> None:
    bound = "      - {property: rowsAtMost"  # audits are of a public population
    workshop.edit(workshop.contract, bound, f"      - {{property: public, value: true}}\n{bound}")
    text = workshop.policy.read_text(encoding="utf-8")
    start, end = text.index("  gates:\n"), text.index("  publish:")
    workshop.policy.write_text(f"{text[:start]}  gates:\n{gates(kind, limit)}{text[end:]}", encoding="utf-8")


def agreed(policy: Path) -> dict[str, str]:
    """Return the words for each gate, after checking that its statements agree."""
    found = check(policy)
    told, lines = found.to_json(), "\n".join(check_lines(found))
    states = {each.note.gate: str(each.state) for each in found.decided}
    outcomes = {each["gate"]: each["outcome"] for each in told["verdicts"]}
    chances = {each["gate"]: each["chance"] for each in told["forecast"]["gates"]}
    said = {}
    for gate in told["gates"]:
        name, warning = gate["gate"], gate["warning"] or ""
        outcome, chance, word = outcomes.get(name), chances.get(name), states[name]
        assert word in VERDICTS[outcome]
        assert (f"{name}" if word in NAMED else name.partition(" ")[0]) in lines
        never, always = "can't fail" in warning, "can't pass" in warning
        assert (word == "cannot fail") == never
        assert (word == "cannot pass") == (always and outcome is None)
        assert not (never and always)
        assert outcome in ({None, "pass"} if never else {None, "fail", "inconclusive"} if always else {*VERDICTS})
        assert chance in ({None, 1.0} if never else {None, 0.0} if always else {chance})
        assert outcome is None or chance == (outcome == "pass")
        said[name] = word
    return said


@pytest.mark.thorough
@pytest.mark.parametrize("limit", ["-1000000", "0.5", "1000000"])
@pytest.mark.parametrize("kind", MADE)
def test_no_two_statements_on_a_gate_contradict_each_other(kind: str, limit: str, tmp_path: Path) -> None:
    """Covers every measure, on both sides, with limits that no figure or every figure keeps."""
    workshop = MADE[kind](tmp_path / "clinic")
    with_gates(workshop, kind, limit)
    said = agreed(workshop.policy)
    assert said[f"guarantee_epsilon at most {limit}"] == ("cannot fail" if limit == "1000000" else "fails")
    assert said[f"guarantee_epsilon at least {limit}"] == ("fails" if limit == "1000000" else "cannot fail")


def test_they_agree_where_the_next_release_is_beyond_the_budget(tmp_path: Path) -> None:
    """The bound keeps its limit within the budget, and the next release would exceed both."""
    workshop = margins_workshop(tmp_path / "clinic")
    bound = f"{1000 * (exp(2) * 1e-9 + 1e-6) * 1.001:.9f}"
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 2, delta: 1e-6")
    workshop.edit(workshop.policy, "delta: 0.01", "delta: 1e-6")
    workshop.edit(workshop.policy, "pso_bound, at_most: 1}", f"pso_bound, at_most: {bound}}}")
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    (word,) = [word for name, word in agreed(workshop.policy).items() if name.startswith("pso_bound")]
    assert word == "fails"
    with_gates(workshop, "safe_k_anonymity", "0.5")
    agreed(workshop.policy)


def test_a_waiver_covers_a_failure_and_not_what_could_not_be_measured(workshop: Workshop) -> None:
    """The counts are of 10 people in 3 wards, of 4 values. A limit of 3 is between 1.4 and 4, so nothing is known; one
    of 1 is below both."""
    gate, waiver = (
        "expected_singletons, at_most: 4, over: [ward]}",
        "{reason: x, approved_by: board, expires: 2999-01-01}",
    )
    gated = "expected_singletons, at_most: LIMIT, over: [ward], waiver: "
    workshop.edit(workshop.policy, gate, f"{gated}{waiver}}}")
    for was, limit, outcome in (
        ("LIMIT", "1", Outcome.FAIL),
        ("at_most: 1, over", "at_most: 3, over", Outcome.INCONCLUSIVE),
    ):
        workshop.edit(workshop.policy, was, limit)
        found = check(workshop.policy)
        (verdict,) = [each for each in found.verdicts if each.measure == "expected_singletons"]
        (stops,) = [each.stops for each in found.chances.gates if each.rule is verdict.rule]
        assert (verdict.outcome, verdict.withholds, found.allowed) == (outcome, stops, not stops)
        assert stops == (outcome is Outcome.INCONCLUSIVE)


def test_check_says_beforehand_that_counts_of_rows_leave_a_gate_open(workshop: Workshop) -> None:
    """Two rows in the east may be one person, and so may three or four in another ward. Four values have at most four
    unique people."""
    workshop.edit(workshop.contract, "value: row}", "value: {person: patient, rows: 3}}")
    workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    assert check(workshop.policy).allowed
    workshop.edit(workshop.policy, "expected_singletons, at_most: 4", "expected_singletons, at_most: 3")
    found = check(workshop.policy)
    (verdict,) = [each for each in found.verdicts if each.measure == "expected_singletons"]
    assert (verdict.outcome, verdict.withholds, found.allowed) == (Outcome.INCONCLUSIVE, True, False)
    assert "counts of rows give an upper limit of 4 (up to 3 rows a person)" in " ".join(check_lines(found))
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 3


def test_columns_whose_empty_cells_cost_rows_are_named_unless_a_gate_counts_them(workshop: Workshop) -> None:
    def left_out() -> list[str]:
        return [line for line in check_lines(check(workshop.policy)) if line.startswith("  Leaves out")]

    (before,) = left_out()
    assert "rows whose age is empty or not in its domain" in before, "the ward has the level (invalid)"
    gate = "    - {measure: invalid_share, at_most: 0.5, of: age, charge: {epsilon: 0.1}}\n"
    workshop.edit(workshop.policy, "  gates:\n", f"  gates:\n{gate}")
    assert left_out() == []
