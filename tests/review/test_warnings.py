"""Warnings about allowed policies: each with its code, its place, and computed numbers; the outcome is unchanged."""

import json
import re
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from crowdgate.accounting.tables_plan import NoiseKind, tables_budget
from crowdgate.measures import MEASURES, BetterSide
from crowdgate.review.check import check
from crowdgate.review.lint.codes import explanation
from crowdgate.review.lint.contract_doubts import DOUBTS
from crowdgate.review.lint.warnings import RULES
from tests.kinds.test_tables_release import tables_workshop
from tests.policy.test_policy_files import BUDGET, POLICY, Copy, line_of, with_contract_read_once, with_gate_on_use
from tests.workshop import crowdgate, make_workshop

ROOT = Path(__file__).parents[2]
POLICIES = sorted((ROOT / "policies").glob("*.yaml"))
LIMITS = "guarantee_epsilon, at_most: 1}", "guarantee_epsilon, at_most: 1000}"
LOOSE = "guarantee_delta, at_most: 1e-9}", "guarantee_delta, at_most: 0.1}"
BOUND = "pso_bound, at_most: 0.02", "pso_bound, at_most: 0.4"
USELESS = "pso_bound, at_most: 0.4", "pso_bound, at_most: 1"
RICH = "epsilon: 4, delta: 1e-8", "epsilon: 400, delta: 0.1"
PRIVACY = "privacy: {epsilon: 1, delta: 1e-9}"
EFFECTIVE = "    - {measure: effective_rows, at_least: 40000}\n"
ON_USE = [
    "    - {measure: represented_share, at_least: 0.9}\n", "    - {measure: worst_share_error, at_most: 0.05}\n",
    "    - {measure: margins_met, at_least: 0.3}\n",
    "    - {measure: absent_values, at_most: 0, with: {size: 10000}}\n", EFFECTIVE,
]  # fmt: skip
SINGLETONS = "    - {measure: singletons, at_most: 500, charge: {share: 0.05}}\n"


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    for folder in ("policies", "data_contracts"):
        left_out = shutil.ignore_patterns("*.parquet", "*.py", "__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=left_out)
    with_gate_on_use(tmp_path / POLICY)
    with pytest.MonkeyPatch.context() as patch:
        with_contract_read_once(patch)
        yield Copy(tmp_path)


CASES = {
    # the edits of policy and budget; the only warning; where it points; what it says
    "people x delta": (
        [(PRIVACY, "privacy: {epsilon: 1, delta: 1e-6}")], "CG201", "delta: 1e-6",
        "delta 1e-6 times 300000 people is 0.3: a mechanism that publishes a record unchanged with probability delta"
        " would satisfy the guarantee. Usual is a product of at most 0.01",
    ),
    "delta above one person's share": (
        [(PRIVACY, "privacy: {epsilon: 1, delta: 1e-3}"), USELESS], "CG202", "delta: 1e-3",
        "delta 0.001 is above 1/300000, one person's share: a mechanism that publishes the records of 300 of 300000"
        " people unchanged, on average, would satisfy the guarantee",
    ),
    "a dry run": (
        [("spec:\n", "spec:\n  enforcement: dry-run\n")], "CG212", "enforcement: dry-run",
        "Dry run: the policy says enforcement: dry-run, so nothing is released, read, charged or signed. A run of it is"
        " a rehearsal",
    ),
    "large epsilon": (
        [(PRIVACY, "privacy: {epsilon: 20, delta: 1e-9}"), USELESS], "CG203", "epsilon: 20",
        "epsilon 20 is above 3: with one person's data a release may be 4.852e+8 times as probable as"
        " without, or the reverse",
    ),
    "an epsilon beyond all floats": (
        [(PRIVACY, "privacy: {epsilon: 1000, delta: 1e-9}"), ("epsilon: 400", "epsilon: 4000"), USELESS,
         ("{share: 0.05}", "{epsilon: 50}"), ("share: 0.3 ", "epsilon: 300 ")], "CG203",
        "epsilon: 1000", "may be more than 10^300 times as probable as",
    ),
    "a bound that says nothing": (
        [("pso_bound, at_most: 0.4", "pso_bound, at_most: 0.5")], "CG204", "at_most: 0.5",
        "pso_bound with weight 1e-9 at most 0.5 hardly protects: its limit allows an attacker to describe exactly one"
        " person in half of all attempts",
    ),
    "nothing on singling out": (
        [(SINGLETONS, ""), ("    - {measure: pso_bound, at_most: 0.4, with: {weight: 1e-9}}\n", ""),
         ("people: 300000}}", "people: 300000}, severity: advise}")],
        "CG205", "gates:",
        "no gate that blocks limits singling out: add a gate on pso_bound, which every kind of release can have",
    ),
    "a gate that can't pass": (
        [("suppressed_share, at_most: 0.25", "suppressed_share, at_most: -1")], "CG206", "{measure: suppressed_share",
        "suppressed_share at most -1 can't pass: its advice is always the same",
    ),
    "a gate that can't fail": (
        [("released_rows, at_least: 80000", "released_rows, at_least: 0")], "CG207", "{measure: released_rows",
        "released_rows at least 0 can't fail under this mechanism, so it checks nothing",
    ),
    "a paid gate that no table fails": (
        [("singletons, at_most: 500", "singletons, at_most: 1000000000")], "CG207", "{measure: singletons",
        "singletons at most 1000000000 costs privacy budget and checks nothing: there are at most",
    ),
    "a paid share that no table is above": (
        [("released_rows, at_least: 80000}", "invalid_share, of: age, at_most: 1, charge: {share: 0.05}}")],
        "CG207", "{measure: invalid_share", "costs privacy budget and checks nothing: its limit allows every share",
    ),
    "a gate that hardly passes": (
        [("released_rows, at_least: 80000}", "invalid_share, of: age, at_most: 0.0001, charge: {share: 0.05}}")],
        "CG208", "{measure: invalid_share", "passes too seldom: its noise withholds even a table of 300000 rows "
            "without",
    ),
    "a count whose limit is below its noise": (
        [("singletons, at_most: 500", "singletons, at_most: 91")], "CG208", "{measure: singletons",
        "its noise withholds even a table with a count of 0, with probability 0.05 or more. With a limit of at least 92"
        " such a table passes",
    ),
    "a limit on the wrong side": (
        [("suppressed_share, at_most: 0.25", "suppressed_share, at_least: 0.25")], "CG214", "at_least: 0.25",
        "this limit of suppressed_share at least 0.25 is on the wrong side, so it withholds the better releases. Use"
        " `at_most`",
    ),
    "deployments that may release another policy": (
        [("publish: {", "publish: {deployments_may_set: [policy], ")], "CG220",
        "deployments_may_set:",
        "a person who may start a run of a deployment may release another policy, and spend the budget of its"
        " people. Make one deployment for each policy, with `crowdgate schedule`",
    ),
    "deployments that may set every place": (
        [("publish: {", "publish: {deployments_may_set: [ledger, to, input], ")], "CG220",
        "deployments_may_set:",
        "may set its input, its destination and its ledger. List only the settings that your schedules change",
    ),
    "a bound that only advises": (
        [("{weight: 1e-9}}", "{weight: 1e-9}, severity: advise}"),
         ("epsilon: 400, delta: 0.1", "epsilon: 4, delta: 1e-8")], "CG221", "severity: advise",
        "pso_bound with weight 1e-9 at most 0.4 only advises: releases whose bound on singling out is above the limit"
        " are published",
    ),
    "half of the lifetime's delta": (
        [(PRIVACY, "privacy: {epsilon: 1, delta: 3e-8}"), ("epsilon: 400, delta: 0.1", "epsilon: 4, delta: 6e-8")],
        "CG222", "delta: 3e-8",
        "one release takes delta 3e-8, a third or more of the lifetime's 6e-8: delta, not epsilon, would end the",
    ),
    "a gate on fewer columns than are released": (
        [("over: [age, sex, marital_status, employment,", "over: [sex, employment,")], "CG223", "over:",
        "at most 100 reads fewer columns than the release has: an attacker who knows age, marital_status as well knows",
    ),
    "a waiver that nobody signs": (
        [("released_rows, at_least: 80000",
          "released_rows, at_least: 80000, waiver: {reason: why, approved_by: Ada, expires: 2027-06-30}")],
        "CG225", "approved_by: Ada",
        "the waiver of released_rows at least 80000 names Ada, and nobody has to sign it: state `approval`",
    ),
    "no word on why and by which law": (
        [("  purpose: Research on income and work with rows that people can filter and count.\n", ""),
         ("  retention: ", "  # retention: ")], "CG224", "metadata:",
        "metadata does not state purpose, retention: the people who answer for the release need it",
    ),
    "weighted rows that nothing compares": (
        [(gate, "") for gate in ON_USE], "CG216", "gates:",
        "no gate that blocks compares the weighted rows with their margins, so rows that mislead are published",
    ),
    "a large k": (
        [("k: least", "k: 81")], "CG209", "k: 81",
        "k 81 is more than twice 40, the least that keeps the guarantee: classes of 40 to 80 rows are suppressed"
        " without need",
    ),
}  # fmt: skip


UNBOUND = {"CG204", "CG213"}
BESIDE = {"CG204": UNBOUND, "CG205": {"CG213"}}
"""Warnings that occur together: without a gate on the bound, the large budget of these cases guarantees nothing."""


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
def test_what_a_careful_reader_would_object_to_is_one_warning_where_it_stands(case: str, copy: Copy) -> None:
    edits, code, place, words = CASES[case]
    copy.edit(BUDGET, *RICH)
    for old, new in [LIMITS, LOOSE, BOUND, *edits]:
        copy.edit(BUDGET if "epsilon: 400" in old else POLICY, old, new)
    found = check(copy.root / POLICY)
    text = (copy.root / POLICY).read_text(encoding="utf-8")
    (warning,) = [each for each in found.warnings if each.code == code]
    assert {each.code for each in found.warnings} == {code} | BESIDE.get(code, set()) | (
        UNBOUND if USELESS in edits else set()
    )
    line = line_of(text, place)
    column = text.splitlines()[line - 1].index(place) + 1
    assert (warning.code, warning.file, warning.line) == (code, str(copy.root / POLICY), line)
    assert (warning.column, found.allowed) == (column, True)
    assert words in warning.words


def test_a_sample_before_tables_is_warned_of(tmp_path: Path) -> None:
    """Without the sample there is no such warning, and the root mean square of each expected error is smaller."""
    workshop = tables_workshop(tmp_path / "w")
    assert "CG226" not in {each.code for each in check(workshop.policy).warnings}
    workshop.edit(workshop.policy, "noise: gaussian", "sampling: {beta: 0.5}")
    (warning,) = [each for each in check(workshop.policy).warnings if each.code == "CG226"]
    assert warning.line == line_of(workshop.policy.read_text(encoding="utf-8"), "{beta: 0.5}")
    assert "a sample of rate 0.5 before the noise makes the errors of all tables larger" in warning.words


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("beta", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_noise_on_a_sample_has_larger_errors_at_the_same_guarantee(noise: NoiseKind, beta: Fraction) -> None:
    alone, sampled = (tables_budget("1", "1e-9", noise, rate).spend for rate in (1, beta))
    assert (sampled / alone) ** (2 if noise == "laplace" else 1) * beta**2 < 1


BUDGETS = {
    "epsilon: 1.9, delta: 1e-8": (
        "epsilon",
        "a lifetime budget of epsilon 1.9 pays for one such release and no second: ",
    ),
    "epsilon: 0.9, delta: 1e-8": (
        "epsilon",
        "a lifetime budget of epsilon 0.9 pays for no such release: census-income costs 1 each",
    ),
    "epsilon: 1.5, delta: 5e-10": (
        "delta",
        "a lifetime budget of delta 5e-10 pays for no such release: census-income costs 1e-9 each",
    ),
    "epsilon: 4, delta: 1.9e-9": ("delta", "a lifetime budget of delta 1.9e-9 pays for one such release and no second"),
}


@pytest.mark.parametrize("stated", BUDGETS)
def test_a_budget_for_fewer_than_two_releases_is_told_in_the_budget(stated: str, copy: Copy) -> None:
    part, words = BUDGETS[stated]
    text = copy.edit(BUDGET, "epsilon: 4, delta: 1e-8", stated)
    (warning,) = check(copy.root / POLICY).warnings
    line = line_of(text, stated)
    column = text.splitlines()[line - 1].index(f"{part}:") + 1
    assert (warning.code, warning.file) == ("CG210", str(copy.root / BUDGET))
    assert (warning.line, warning.column) == (line, column)
    assert words in warning.words


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("budget", "gate", "warned"),
    [
        ("epsilon: 40, delta: 1e-8", "at_most: 0.02, severity: advise", True),
        ("epsilon: 40, delta: 1e-8", "at_most: 0.49", False),
        ("epsilon: 4, delta: 1e-8", "at_most: 0.02, severity: advise", False),
        # 300,000 (e^epsilon 1e-9 + 1e-8) is a half at epsilon 7.41256
        ("epsilon: 7.412, delta: 1e-8", "at_most: 0.02, severity: advise", False),
        ("epsilon: 7.413, delta: 1e-8", "at_most: 0.02, severity: advise", True),
    ],
)
def test_a_budget_that_once_spent_promises_nothing_on_singling_out_is_told_unless_a_gate_stops_before(
    budget: str, gate: str, warned: bool, copy: Copy
) -> None:
    text = copy.edit(BUDGET, "epsilon: 4, delta: 1e-8", budget)
    copy.edit(POLICY, "pso_bound, at_most: 0.02", f"pso_bound, {gate}")
    found = [each for each in check(copy.root / POLICY).warnings if each.code == "CG213"]
    places = [(str(copy.root / BUDGET), line_of(text, budget))]
    assert [(each.file, each.line) for each in found] == (places if warned else [])


EDGES = {
    "epsilon of exactly 3": [(PRIVACY, "privacy: {epsilon: 3, delta: 1e-9}")],
    "people x delta of exactly 0.01": [
        (PRIVACY, "privacy: {epsilon: 1, delta: 1e-6}"),
        ("released_rows, at_least: 80000", "released_rows, at_least: 80"),
    ],
    "k of exactly twice the least": [("k: least", "k: 80")],
    "a limit just below a half": [("pso_bound, at_most: 0.4", "pso_bound, at_most: 0.4999")],
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("edge", EDGES)
def test_what_is_just_within_its_bound_is_not_warned_of(edge: str, copy: Copy) -> None:
    copy.edit(BUDGET, *RICH)
    copy.edit(BUDGET, "people: 300000", "people: 10000" if "people" in edge else "people: 300000")
    copy.edit(POLICY, EFFECTIVE, "")
    for old, new in [LIMITS, LOOSE, BOUND, *EDGES[edge]]:
        copy.edit(POLICY, old, new)
    assert check(copy.root / POLICY).warnings == ()


def test_a_budget_for_exactly_two_releases_is_not_warned_of(copy: Copy) -> None:
    copy.edit(BUDGET, "epsilon: 4, delta: 1e-8", "epsilon: 2, delta: 2e-9")
    assert check(copy.root / POLICY).warnings == ()


def test_delta_of_one_persons_share_is_not_above_it(copy: Copy) -> None:
    copy.edit(BUDGET, *RICH)
    copy.edit(BUDGET, "people: 300000", "people: 1000000")
    for old, new in [LIMITS, LOOSE, ("at_most: 0.02", "at_most: 1"), (PRIVACY, "privacy: {epsilon: 1, delta: 1e-6}")]:
        copy.edit(POLICY, old, new)
    assert [warning.code for warning in check(copy.root / POLICY).warnings] == ["CG201", "CG204", "CG213"]


def test_the_bundled_policies_are_not_warned_of(copy: Copy) -> None:
    for policy in POLICIES:
        assert check(copy.root / "policies" / policy.name).warnings == ()


@pytest.mark.thorough
def test_warnings_are_printed_and_change_the_exit_code_only_when_asked(
    copy: Copy, capsys: pytest.CaptureFixture[str]
) -> None:
    copy.edit(POLICY, "k: least", "k: 81")
    policy = copy.root / POLICY
    assert crowdgate("check", policy) == 0
    (said,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  Warning")]
    assert said.startswith(f"  Warning         CG209 {policy}:21:5: k 81 is more than twice 40")
    assert crowdgate("check", policy, "--strict", "--json") == 3
    (found,) = json.loads(capsys.readouterr().out)["policies"]
    (warning,) = found["warnings"]
    assert found["allowed"]
    assert [warning[key] for key in ("code", "file", "line", "column")] == ["CG209", str(policy), 21, 5]
    copy.edit(POLICY, "k: 81", "k: least")
    assert crowdgate("check", policy, "--strict") == 0


def test_every_warning_has_a_case() -> None:
    assert {code for _, code, _, _ in CASES.values()} | {
        "CG210",
        "CG211",
        "CG213",
        "CG215",
        "CG217",
        "CG226",
        "CG227",
        "CG228",
        "CG229",
        "CG230",
        "CG231",
        "CG236",
        *DOUBTS,
    } == {*RULES}  # 211: test_versions.py; 216, 229: test_table_check.py; 228: test_smaller_errors.py; 230 to 236 below


def test_a_gate_on_trusted_counts_needs_suppression(tmp_path: Path) -> None:
    """A board's least count holds only if counts that are not trustworthy are left empty."""
    workshop = tables_workshop(tmp_path / "w")

    def told() -> list[str]:
        return [each.words for each in check(workshop.policy, header=False).warnings if each.code == "CG231"]

    assert told() == []  # at least 0 is no board's rule
    workshop.edit(workshop.policy, "smallest_trusted_cell, at_least: 0", "smallest_trusted_cell, at_least: 20")
    (said,) = told()
    assert said.startswith("smallest_trusted_cell at least 20 reads trustworthy counts only")
    workshop.edit(workshop.policy, "    raw: true\n", "    suppress: true\n")
    assert told() == []


PERSON = ("privacyUnit, value: row", "privacyUnit, value: {person: patient, rows: 3}")
SHARED = ("{measure: pso_bound, at_most: 1}", "{measure: singletons, at_most: 500, charge: {share: 0.1}}")

COSTLY = ("{measure: pso_bound, at_most: 1}", "{measure: singletons, at_most: 500, charge: {epsilon: 1.95}}")


@pytest.mark.parametrize(
    ("edit", "charge"), [(None, "epsilon: 0.1"), (SHARED, "share: 0.045"), (COSTLY, "epsilon: 0.0025")]
)
def test_a_bound_on_rows_without_a_count_of_truncated_people_is_a_warning(
    edit: tuple[str, str] | None, charge: str, tmp_path: Path
) -> None:
    """The line that it recommends ends it."""
    workshop = make_workshop(tmp_path / "w")
    workshop.edit(workshop.policy, "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n", "")
    for path, old, new in (
        (workshop.contract, *PERSON), (workshop.budget, "unit: row", "unit: 'person:patient'"),
        (workshop.budget, "people: 1000", "people: 100000"),
    ):  # fmt: skip
        workshop.edit(path, old, new)
    if edit is not None:
        workshop.edit(workshop.policy, *edit)

    def told() -> list[str]:
        return [each.words for each in check(workshop.policy, header=False).warnings if each.code == "CG236"]

    (said,) = told()
    assert said.startswith("rows of a person beyond 3 are left out, and no gate counts these people. Add {measure:")
    line = f"{{measure: truncated_people, at_most: N, charge: {{{charge}}}}}"
    assert line in said
    workshop.edit(workshop.budget, "people: 100000", "people: 100")
    assert told() == []  # noise would hide a twentieth of 100 people
    workshop.edit(workshop.budget, "people: 100", "people: 100000")
    policy, contract = (path.read_text(encoding="utf-8") for path in (workshop.policy, workshop.contract))
    workshop.edit(workshop.policy, "  gates:\n", f"  gates:\n    - {line.replace('N', '500')}\n")
    assert told() == []
    workshop.policy.write_text(policy, encoding="utf-8")
    of_persons = "{property: personValues, value: {age: {least: age}, ward: {same: ward}}}"
    workshop.edit(workshop.contract, "    properties:\n", f"      - {of_persons}\n    properties:\n")
    workshop.edit(workshop.contract, "patient, rows: 3", "patient")
    workshop.edit(workshop.policy, "    - {measure: expected_singletons, at_most: 4, over: [ward]}\n", "")
    assert told() == []  # all rows make the one row of a person
    workshop.policy.write_text(policy, encoding="utf-8")
    workshop.contract.write_text(contract.replace("patient, rows: 3", "patient, rows: 1"), encoding="utf-8")
    assert [each[:29] for each in told()] == ["rows of a person beyond 1 are"]


def test_sums_of_numbers_without_a_precision_are_a_warning(tmp_path: Path) -> None:
    """Numbers that may have decimals count as the least of their interval, whole ones as themselves."""
    workshop = tables_workshop(tmp_path / "w")
    age = "- name: age\n        logicalType: "

    def told() -> list[str]:
        return [each.words for each in check(workshop.policy, header=False).warnings if each.code == "CG230"]

    assert told() == []
    workshop.edit(workshop.contract, f"{age}integer", f"{age}number")
    assert [each.partition(":")[0] for each in told()] == ["sums, means and quantiles of age are too low"]
    workshop.edit(workshop.policy, "      - {sum: age, by: [ward], low: 10, high: 60}\n", "")
    workshop.edit(workshop.policy, "      - {mean: age, by: {ward: exact}}\n", "")
    assert told() == []  # quantiles of intervals of 10 years say that they are intervals
    workshop.edit(workshop.policy, "quantiles: age, level: 10 years", "quantiles: age, level: exact")
    assert len(told()) == 1
    workshop.edit(workshop.contract, "to: 99, top: true", "to: 99, step: 1, precision: 0.1, top: true")
    assert told() == []


@pytest.mark.parametrize(
    ("measure", "codes"),
    [
        ("pso_bound, at_most: 0.02, with: {weight: 1e-30}", ["CG204", "CG205", "CG213"]),
        ("pso_bound_in_sample, at_most: 0.4, with: {weight: 1e-11}", ["CG204", "CG205", "CG213"]),
        ("pso_bound, at_most: 0.02, with: {weight: 1e-10}", []),
        ("singletons, at_most: 100000, charge: {share: 0.05}", ["CG205", "CG207", "CG213"]),
    ],
)
def test_a_gate_that_checks_nothing_stands_for_none(measure: str, codes: list[str], copy: Copy) -> None:
    copy.edit(BUDGET, "epsilon: 4,", "epsilon: 60,")
    for old, new in [("people: 300000}}", "people: 300000}, severity: advise}"), (SINGLETONS, ""),
                     ("pso_bound, at_most: 0.02, with: {weight: 1e-9}", measure)]:  # fmt: skip
        copy.edit(POLICY, old, new)
    assert [each.code for each in check(copy.root / POLICY).warnings] == codes


@pytest.mark.parametrize(
    ("expires", "words"),
    [("2029-12-31", "expired on 2029-12-31, so a failure of this gate withholds the release "
        "again"), ("2030-01-01", None), ("2031-01-02", None),
     ("2031-01-03", "holds for more than a year (until 2031-01-03). State an earlier date")],
)  # fmt: skip
def test_a_waiver_that_has_expired_or_holds_for_long_is_told(expires: str, words: str | None, copy: Copy) -> None:
    waiver = f"{{reason: why, approved_by: who, expires: {expires}}}"
    copy.edit(POLICY, "released_rows, at_least: 80000", f"released_rows, at_least: 80000, waiver: {waiver}")
    found = [each for each in check(copy.root / POLICY, "2030-01-01").warnings if each.code == "CG215"]
    assert [each.words for each in found] == ([f"the waiver of released_rows at least 80000 {words}"] if words else [])


@pytest.mark.parametrize(("missing", "codes"), [(1, ["CG206"]), (0, [])])
def test_fewer_people_than_a_class_needs_release_no_row(missing: int, codes: list[str], copy: Copy) -> None:
    for old in ("    - {measure: released_classes, at_least: 200}\n", SINGLETONS, EFFECTIVE):
        copy.edit(POLICY, old, "")
    copy.edit(POLICY, "released_rows, at_least: 80000", "released_rows, at_least: 1")
    least = check(copy.root / POLICY).plan.protection.figures.least_class
    copy.edit(BUDGET, "people: 300000", f"people: {least - missing}")
    assert [each.code for each in check(copy.root / POLICY).warnings] == codes


def test_a_limit_on_the_wrong_side_is_no_gate_on_singling_out(copy: Copy) -> None:
    for old, new in [("people: 300000}}", "people: 300000}, severity: advise}"), (SINGLETONS, ""),
                     ("pso_bound, at_most: 0.02", "pso_bound, at_least: 0.0001")]:  # fmt: skip
        copy.edit(POLICY, old, new)
    assert [each.code for each in check(copy.root / POLICY).warnings] == ["CG205", "CG214"]


def test_the_code_of_unknown_names_lists_all_measures() -> None:
    listed = explanation("cg104").rpartition("Measures: ")[2].rstrip(".")
    assert listed.split(", ") == list(MEASURES)
    assert "Measures: " not in explanation("CG105")


def test_the_code_names_measures_that_are_good_on_either_side() -> None:
    page = (ROOT / "policies" / "CODES.md").read_text(encoding="utf-8").split("### CG214")[1].split("###")[0]
    named = re.findall(r"`(\w+)`", page.split("\nOf ")[1].split("both sides")[0])
    assert named
    assert {MEASURES[name].better for name in named} == {BetterSide.EITHER}


def test_the_measures_that_count_as_singling_out_are_those_that_the_code_names() -> None:
    """Confidential measures never block, so they never count."""
    page = (ROOT / "policies" / "CODES.md").read_text(encoding="utf-8")
    named = page.split("### CG205")[1].split("Gates that only advise")[0]
    counted = {each.name for each in MEASURES.values() if each.counts_as_singling_out and each.reads != "confidential"}
    assert {*re.findall(r"`(\w+)`", named)} == counted
