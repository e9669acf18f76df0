"""`crowdgate explain`: the guarantee of a policy in plain words, with the numbers of `check` and `plan`."""

import html
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import pytest

from crowdgate.accounting import pso, safe_k
from crowdgate.candidate import OutputType
from crowdgate.guarantee import group
from crowdgate.measures import MEASURES, Measure, MeasureClass
from crowdgate.number_text import decimal
from crowdgate.planning.plan import plan_policy
from crowdgate.releases.working_copy import DEMO_POLICY, DEMO_TABLES, bundled
from crowdgate.review.explain import explain_policy
from tests.workshop import Workshop, attest_sample, crowdgate

ROOT = bundled("policies").parent
DEMOS = (DEMO_POLICY, DEMO_TABLES, "policies/census_income_synthetic.yaml")
OPTIONS = {"size": 3, "quartile": 2, "max_age": 30, "coverage": 1, "weight": "1e-9", "skew": 30, "recall": 0.01}


def explained(policy: Path) -> str:
    """The explanation as Markdown, without the escapes of markup."""
    return explain_policy(policy).markdown().replace("\\", "")


@pytest.mark.parametrize("name", MEASURES)
def test_a_sentence_is_whole(name: str) -> None:
    assert re.fullmatch(r"[A-Z](.|\n)*\.", MEASURES[name].sentence)


def line(measure: Measure) -> str:
    """A gate on the measure, as a policy of the clinic states it."""
    limit = "at_most: 0.5" if measure.excess or measure.name != "smallest_class" else "at_least: 1"
    options = [f"{name}: {OPTIONS[name]}" for name in measure.needs]
    parts = [f"measure: {measure.name}", limit]
    parts += ["over: [ward]"] if measure.over else []
    parts += ["of: ward"] if measure.of else []
    parts += [f"with: {{{', '.join(options)}}}"] if options else []
    parts += ["charge: {epsilon: 0.05}"] if measure.reads is MeasureClass.CHARGED else []
    parts += ["severity: advise"] if measure.reads is MeasureClass.CONFIDENTIAL else []
    return f"    - {{{', '.join(parts)}}}\n"


def test_a_policy_with_every_measure_of_rows_is_explained_in_a_paragraph_each(workshop: Workshop) -> None:
    shapes = (OutputType.STATIC, OutputType.ROWS, OutputType.TABLE, OutputType.SAMPLE, OutputType.INPUT)
    chosen = [
        each
        for each in MEASURES.values()
        if each.shape in shapes and each.asks is None and not each.register and not each.several_rows
    ]
    head, tail = workshop.policy.read_text(encoding="utf-8").split("  gates:\n")
    publish = "  publish:" + tail.split("  publish:")[1]
    workshop.policy.write_text(f"{head}  gates:\n{''.join(map(line, chosen))}{publish}", encoding="utf-8")
    text = explained(workshop.policy)
    rules = re.findall(r"^\*\*Rule \d+: (\w+)", text, flags=re.MULTILINE)
    assert rules == [each.name for each in chosen]
    assert text.count("only advises") == sum(each.reads is MeasureClass.CONFIDENTIAL for each in chosen)
    assert text.count("costs epsilon 0.05") == sum(each.reads is MeasureClass.CHARGED for each in chosen)
    assert text.count("before any data about people are read") == sum(each.of_static is not None for each in chosen)


def numbers(policy: Path, command: str, capfd: pytest.CaptureFixture[str]) -> Any:
    assert crowdgate(command, policy, "--json") == 0
    return json.loads(capfd.readouterr().out)


@pytest.mark.thorough
@pytest.mark.parametrize("policy", DEMOS)
def test_the_numbers_are_those_of_check_and_plan(policy: str, capfd: pytest.CaptureFixture[str]) -> None:
    checked = numbers(ROOT / policy, "check", capfd)["policies"][0]
    planned = numbers(ROOT / policy, "plan", capfd)
    text = explained(ROOT / policy)
    epsilon, delta = (Fraction(checked["guarantee"][name]) for name in ("epsilon", "delta"))
    assert f"**Epsilon is {decimal(epsilon)}.**" in text
    assert f"**Delta is {decimal(delta)}.**" in text
    assert f"at most {exp(epsilon) + 0.005:.2f} of 100" in text  # 2.71828 is rounded up
    assert planned["people_times_delta"] == pytest.approx(float(300_000 * delta))
    assert f"comes to {decimal(300_000 * delta, 4)} (people times delta)" in text
    assert f"enough for {planned['releases_in_budget']} such releases" in text
    first, *_, last = planned["pso_bound_after_release"]
    points = [(epsilon, delta), *_points(checked["guarantee"].get("joint"))]
    for bound, before in ((first, 0), (last, 3)):
        costs = ((before * epsilon + own, before * delta + left) for own, left in points)
        assert bound == min(pso.bound(300_000, Fraction(1, 30_000_000), *cost) for cost in costs)
    for bound, after in ((first, "After the first, "), (last, "After 4 of them: ")):
        stated = re.findall(r"0\.[0-9]+|1\b", text.split(after)[1])[1]  # at the second of three weights
        assert bound <= float(stated) <= 1.1 * bound  # two digits, rounded up
    together = group(epsilon, delta, 4)
    assert f"epsilon {decimal(together[0])} and delta {decimal(together[1])}" in text
    for part in checked["guarantee"]["parts"] if len(checked["guarantee"]["parts"]) > 1 else ():
        assert f"| {part['name']} | {decimal(Fraction(part['epsilon']))} | {decimal(Fraction(part['delta']))} |" in text
    for gate, verdict in zip(checked["gates"], checked["verdicts"], strict=False):
        assert f": {gate['gate']}.**" in text
        assert verdict["reason"] in text


def _points(joint: Any) -> list[tuple[Fraction, Fraction]]:
    """Return the points of a joint cost, if there is one."""
    stated = [] if joint is None else joint["curve"]
    return [(Fraction(point["epsilon"]), Fraction(point["delta"])) for point in stated]


def test_k_and_why_it_is_no_other_are_those_of_the_accounting() -> None:
    text = explained(ROOT / DEMO_POLICY)
    joint = plan_policy(ROOT / DEMO_POLICY).guarantee.joint
    assert joint is not None
    assert "**k is 29.**" in text
    assert "Why 29: with a smaller k" in text
    told = re.search(r"With 29, it comes to (\S+)\.", text)
    assert told is not None
    assert float(told[1]) == pytest.approx(float(joint.curve[-1][1]), rel=1e-5)
    assert "Of every 100 rows about 30 are sampled" in text


def test_a_k_above_the_least_is_the_policy_owners_own(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "    sampling: {beta: 0.5}\n", "    sampling: {beta: 0.5}\n    k: 60\n")
    text = explained(workshop.policy)
    assert "**k is 60.**" in text
    assert f"the least that would do is {safe_k.least_k('1.5', '0.01', '0.5')}" in text


def test_levels_that_are_chosen_and_persons_of_several_rows_are_told(workshop: Workshop) -> None:
    workshop.edit(
        workshop.policy,
        "attributes: {age: 50 years, ward: exact}",
        "attributes: {age: {choose: [exact, 50 years]}, ward: exact}\n    choose: {epsilon: 0.1}",
    )
    workshop.edit(workshop.contract, "value: row}", "value: {person: patient, rows: 2}}")
    workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    text = explained(workshop.policy)
    assert "Levels of age are chosen among 2 combinations" in text
    assert "At most 2 rows of each are used" in text
    assert "plus or minus one person" in text


def of_kind(workshop: Workshop, mechanism: str) -> str:
    """The clinic's policy with another mechanism and one gate."""
    head, rest = workshop.policy.read_text(encoding="utf-8").split("  mechanism:\n")
    gates = "  gates:\n    - {measure: pso_bound, at_most: 1}\n  publish:" + rest.split("  publish:")[1]
    workshop.policy.write_text(f"{head}  mechanism:\n{mechanism}{gates}", encoding="utf-8")
    return explained(workshop.policy)


def test_tables_and_synthetic_rows_of_a_sample_say_that_it_stays_secret(workshop: Workshop) -> None:
    tables = "    kind: dp_tables\n    noise: laplace\n    sampling: {beta: 0.5}\n    tables: [{total: true}]\n"
    text = of_kind(workshop, tables)
    assert "discrete Laplace noise" in text
    assert "on the sample, which is at most the guarantee's epsilon" in text
    assert "Each person is first sampled with probability 0.5" in text
    assert "The sample stays secret" in text
    synthetic = "    kind: dp_synthetic\n    sampling: {beta: 0.5}\n    attributes: {age: 50 years, ward: exact}\n"
    assert "The sample stays secret" in of_kind(workshop, synthetic)
    whole = of_kind(workshop, tables.replace("    sampling: {beta: 0.5}\n", ""))
    assert "The noise costs epsilon 2 in all." in whole
    assert "sample stays secret" not in whole


def test_tables_say_whether_small_counts_are_published(workshop: Workshop) -> None:
    tables = "    kind: dp_tables\n    noise: laplace\n    tables: [{total: true}]\n"
    small, empty = "Small counts are published, too.", "Numbers that are not trustworthy are left empty"
    printed = of_kind(workshop, tables)
    assert small in printed
    assert empty not in printed
    suppressed = of_kind(workshop, f"{tables}    suppress: true\n")
    assert small not in suppressed
    assert empty in suppressed


def test_an_inherited_sample_is_told_as_such(workshop: Workshop) -> None:
    attest_sample(workshop)
    workshop.edit(workshop.policy, "sampling: {beta: 0.5}", "sampling: {inherited: spring}")
    workshop.edit(workshop.policy, "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n", "")
    text = explained(workshop.policy)
    assert "a sample already, spring, which holds each person with probability 0.5. Nothing is sampled again." in text
    assert "such as the body that drew it, the guarantee is weaker." in text


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("delta", "said"),
    [("1e-9", "That is small beside 1"), ("1e-4", "not small beside 1"), ("0.01", "That is 1 or more")],
)
def test_people_times_delta_is_judged(delta: str, said: str, workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "delta: 0.01", f"delta: {delta}")
    judgements = ("That is small beside 1", "not small beside 1", "That is 1 or more")
    assert [each for each in judgements if each in explained(workshop.policy)] == [said]


def test_epsilon_beyond_reason_is_not_given_a_factor_of_100(workshop: Workshop) -> None:
    workshop.edit(workshop.budget, "epsilon: 6", "epsilon: 600")
    for epsilon, said in (("6", "more than 100 times"), ("400", "limits nothing")):
        text = workshop.policy.read_text(encoding="utf-8")
        workshop.policy.write_text(re.sub(r"privacy: \{epsilon: \d+", f"privacy: {{epsilon: {epsilon}", text))
        assert said in explained(workshop.policy)


def test_a_rule_that_decides_nothing_or_fails_says_so(workshop: Workshop) -> None:
    assert "**Note: it can't fail under this mechanism.**" in explained(workshop.policy)
    workshop.edit(workshop.policy, "smallest_class, at_least: 1}", "smallest_class, at_least: 2000}")
    text = explained(workshop.policy)
    assert "can't pass under this mechanism" in text
    assert "**Nothing would be published.** A rule below says why." in text
    workshop.edit(workshop.policy, "pso_bound, at_most: 1}", "pso_bound, at_most: 0.5}")
    assert "As the next release of these people: fail (1, must be at most 0.5)" in explained(workshop.policy)


@pytest.mark.parametrize("policy", DEMOS)
def test_the_caveats_of_the_papers_are_told_of_every_kind(policy: str) -> None:
    text = explained(ROOT / policy)
    for caveat in (
        "This check can only disqualify", "would not prevent singling out|alone does not prevent singling out",
        "necessary for that and not sufficient", "if people are independent", "Facts about groups",
    ):  # fmt: skip
        assert re.search(caveat, text), caveat
    assert ("The sample stays secret" in text) == (policy == DEMO_POLICY)


def strings(value: Any) -> Iterator[str]:
    """Yield every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


@pytest.mark.thorough
@pytest.mark.parametrize("policy", DEMOS)
def test_all_four_forms_say_the_same_words(policy: str, capfd: pytest.CaptureFixture[str]) -> None:
    made = {}
    for form in ("terminal", "markdown", "html"):
        assert crowdgate("explain", ROOT / policy, "--format", form) == 0
        made[form] = capfd.readouterr().out
    report = numbers(ROOT / policy, "explain", capfd)
    page = html.unescape(re.sub(r"<style>.*?</style>|<title>.*?</title>|<[^>]*>", " ", made["html"], flags=re.DOTALL))
    source = re.sub(r"\\(.)", r"\1", re.sub(r"^\|?[-:|]+$|[|#`]|\*\*|^- ", " ", made["markdown"], flags=re.MULTILINE))
    plain = re.sub(r"[•─]", " ", made["terminal"])
    source, page, plain, told = map(_below_the_band, (source, page, plain, " ".join(strings(report))))
    assert source.split() == page.split()
    assert told.split() == source.split()
    assert "".join(source.split()) == "".join(plain.split())


def _below_the_band(text: str) -> str:
    """Return the text after the band, which has a form of its own on each page."""
    return text[text.index("This is version") :]


def test_a_terminal_of_80_columns_wraps_at_words(capfd: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("explain", ROOT / DEMO_POLICY) == 0
    lines = capfd.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)


def test_the_page_stands_alone(capfd: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("explain", ROOT / DEMO_POLICY, "--format", "html") == 0
    page = capfd.readouterr().out
    assert page.startswith("<!doctype html>")
    assert not re.search(r"<script|src=|href=|url\(", page)


def test_nothing_that_a_policy_states_is_markup(workshop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    odd = "<script>*bold* [link](http://x) `code`"
    workshop.edit(workshop.policy, "description: Patients by age and ward.", f"description: '{odd}'")
    for form in ("terminal", "html"):
        assert crowdgate("explain", workshop.policy, "--format", form) == 0
        assert odd in html.unescape(capfd.readouterr().out)
    assert "<script" not in explain_policy(workshop.policy).markdown().replace("\\<script", "")


def test_figures_of_a_series_are_stated_for_the_whole_series_and_for_one_release(workshop: Workshop) -> None:
    gate = "    - {measure: guarantee_epsilon, at_most: 2}\n"
    workshop.edit(workshop.policy, "  publish:", f"{gate}  series: {{releases: 3}}\n  publish:")
    plan, text = plan_policy(workshop.policy), explained(workshop.policy)
    series, once = plan.series, plan.guarantee
    assert series is not None
    of_all = "for the whole series of 3 releases"
    for each, about in ((series, of_all), (once, "for one release")):
        assert f"**Epsilon is {decimal(each.epsilon)} {about}.**" in text
        assert f"**Delta is {decimal(each.delta)} {about}.**" in text
        epsilon, delta = group(each.epsilon, each.delta, 4)
        assert f"epsilon {decimal(epsilon)} and delta {decimal(delta)} {about}" in text
        factor = f"at most e^{decimal(each.epsilon)} ="
        assert f"F{about[1:]}: adding or removing any one row changes the probability of any set" in text
        assert factor in text
    twice = decimal(2 * series.epsilon)
    assert f"F{of_all[1:]}: replacing any one row by other data changes" in text
    assert f"at most e^{twice} =" in text
    assert "in one release; the budget limits a series" in " ".join(text.split())
    assert "This pays for all 3 releases of the series, those to come included." in text


def test_what_check_warns_of_is_told_at_the_beginning(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "singletons, at_most: 500", "singletons, at_least: 500")
    text = explained(workshop.policy)
    told = text.index("singletons at least 500 is on the wrong side, so it withholds the better releases")
    assert told < text.index("## What is released")


def test_no_data_are_needed(workshop: Workshop) -> None:
    before = explained(workshop.policy)
    workshop.data.unlink()
    assert explained(workshop.policy) == before


def test_what_is_left_by_the_ledger_is_told_where_it_is_at_hand(workshop: Workshop) -> None:
    after_one = "now epsilon 4 of 6, delta 0.02 of 0.03; after this release epsilon 2, delta 0.01."
    before = "now epsilon 6 of 6, delta 0.03 of 0.03; after this release epsilon 4, delta 0.02."
    for left, both in (("enough for 3 such releases", before), ("enough for 2 such releases", after_one)):
        assert left in explained(workshop.policy)
        assert f"- Budget left: {both}\n" in explain_policy(workshop.policy).markdown()
        assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    assert "Budget left" not in explained(ROOT / DEMO_POLICY)


def test_a_wrong_policy_is_told_as_check_tells_it(workshop: Workshop, capfd: pytest.CaptureFixture[str]) -> None:
    workshop.edit(workshop.policy, "measure: released_rows", "measure: released_row")
    assert crowdgate("explain", workshop.policy) == 2
    assert "released_rows" in capfd.readouterr().err
