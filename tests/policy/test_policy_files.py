"""Policy and budget files: mistakes are refused with file, line and the nearest correct word, all at once."""

import importlib
import json
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import MOST_NAMES, NEAREST_NAMES, ConfigurationError, Problem, expected_names
from crowdgate.forecast.outlook import outlook
from crowdgate.kind.plan import Plan
from crowdgate.planning.bundle import KNOWN
from crowdgate.planning.charges import charges
from crowdgate.planning.plan import plan_policy
from crowdgate.policy import files as policies
from crowdgate.review.check import check
from crowdgate.review.schemas.schemas import schemas
from tests.examples import examples

ROOT = Path(__file__).parents[2]
POLICY, BUDGET = "policies/census_income.yaml", "policies/budgets/us_cps_1994_95.yaml"
CONTRACT = "data_contracts/census_income.yaml"
PLAIN = (Path(__file__).parent / "rows.yaml").read_text(encoding="utf-8")
OVER_SOME = "{measure: expected_singletons, at_most: 1, over: [age, sex, marital_status], with: {people: 300000}}"
TEXT = re.sub(r"\{measure: expected_singletons.*\}", OVER_SOME, PLAIN)
"""A policy of the bundled contract, with a gate over some of the released attributes."""
BUDGET_TEXT = (ROOT / BUDGET).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Copy:
    """A working copy whose files a test may break."""

    root: Path

    def edit(self, file: str, old: str, new: str) -> str:
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{old!r} is not in {file}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return path.read_text(encoding="utf-8")

    def plan(self) -> Plan:
        return plan_policy(self.root / POLICY)

    def problems(self) -> tuple[Problem, ...]:
        with pytest.raises(ConfigurationError) as caught:
            self.plan()
        assert str(caught.value).splitlines() == [str(problem) for problem in caught.value.problems]
        return caught.value.problems


def with_gate_on_use(policy: Path) -> None:
    """Add a gate on weighted rows to a copy of the bundled policy, unless it has one: CG216 warns without."""
    text, place = policy.read_text(encoding="utf-8"), "    - {measure: released_rows, at_least: 80000}\n"
    if "represented_share" not in text:
        assert place in text
        gate = "    - {measure: represented_share, at_least: 0.7}\n"
        policy.write_text(text.replace(place, f"{gate}{place}"), encoding="utf-8")


def copy_to(root: Path) -> Copy:
    for folder in ("policies", "data_contracts"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("*.parquet", "*.py", "__pycache__"))
    (root / POLICY).write_text(TEXT, encoding="utf-8")
    return Copy(root)


@pytest.fixture
def whole(tmp_path: Path) -> Copy:
    return copy_to(tmp_path)


@cache
def bundled_contract() -> Contract:
    return read_contract(ROOT / CONTRACT, KNOWN.servers)


def with_contract_read_once(patch: pytest.MonkeyPatch) -> None:
    """Cache the bundled contract, which takes long to read; tests of policies need not read it again.

    Modules that import the patched functions by name are imported before, or they would keep the patch for good.
    """
    for name in ("files", "templates.new_policy"):
        importlib.import_module(f"crowdgate.review.{name}")
    patch.setattr(policies, "read_contract", lambda *_: bundled_contract())
    patch.setattr(policies, "contract_files", lambda root: iter([(root / CONTRACT, "census-income")]))


@pytest.fixture
def copy(whole: Copy, monkeypatch: pytest.MonkeyPatch) -> Copy:
    with_contract_read_once(monkeypatch)
    return whole


def line_of(text: str, part: str) -> int:
    assert part in text
    return text[: text.index(part)].count("\n") + 1


def test_the_bundled_policy_is_planned_with_the_least_k() -> None:
    plan = plan_policy(ROOT / POLICY)
    assert plan.protection.figures.least_class == 29
    assert (plan.guarantee.epsilon, plan.guarantee.delta) == (Fraction(1), Fraction("1e-9"))
    assert [(part.name, part.epsilon) for part in plan.guarantee.parts] == [
        ("mechanism", Fraction("0.65")),
        ("margins", Fraction("0.3")),
        ("gate singletons", Fraction("0.05")),
    ]
    assert (outlook(ROOT / POLICY).releases, check(ROOT / POLICY).allowed) == (4, True)


GATE = "{measure: released_classes, at_least: 500}"
FINITE = "a finite decimal number"
LIMIT = "exactly one limit, at_most or at_least"

WRONG_POLICIES: list[tuple[str, str, str, str, str, str, str | None]] = [
    # what the policy says, what it says instead; the line, where, found, expected, the right word
    ("sampling: {beta: 0.5}", "sampling: {beta: 0.5, bets: 1}", "bets", "spec.mechanism.sampling.bets", "unknown key",
     "one of beta", "beta"),
    ("at_least: 500", "at_least: 500, sevrity: block", "sevrity", "spec.gates.6.sevrity", "unknown key", "over",
     "severity"),
    ("spec:", "specs: x\nspec:", "specs", "specs", "unknown key", "one of apiVersion, kind", "spec"),
    ("charge: {epsilon: 0.05}", "charge: {epsilon: 0.05, delt: 0}", "delt:", "spec.gates.4.charge.delt", "unknown key",
     "one of epsilon", None),
    ("  owner: disclosure-review\n", "", "metadata:", "metadata.owner", "the key is missing", "a value for owner",
     None),
    ("kind: ReleasePolicy", "kind: ReleasePolcy", "kind:", "kind", "'ReleasePolcy'", "'ReleasePolicy'",
     "ReleasePolicy"),
    ("kind: safe_k_anonymity", "kind: safe_k", "kind: safe_k", "spec.mechanism.kind", "'safe_k'", "'safe_k_anonymity'",
     None),
    ("measure: released_classes", "measure: released_clases", "released_clases", "spec.gates.6.measure",
     "unknown measure 'released_clases'", "a measure such as released_classes, ", "released_classes"),
    ("income: exact", "incone: exact", "incone", "spec.mechanism.attributes.incone", "unknown attribute",
     "an attribute of contract census-income", "income"),
    ("marital_status: 2 groups", "marital_status: 2 grops", "2 grops", "spec.mechanism.attributes.marital_status",
     "unknown level '2 grops'", "one of exact, 4 groups, 2 groups, any", "2 groups"),
    (GATE, "{measure: released_classes}", "{measure: released_classes}", "spec.gates.6", "the keys measure", LIMIT,
     None),
    (GATE, "{measure: released_classes, at_least: 5, at_most: "
        "9}", "at_least: 5,", "spec.gates.6", "the keys measure, at_least",
     LIMIT, None),
    (GATE, "{measure: released_rows, at_least: 7}", "at_least: 7", "spec.gates.6",
     "a second gate on released_rows with the same kind of limit", "one such gate", None),
    ("at_most: 0.25, severity: advise", "at_most: 0.25", "suppressed_share", "spec.gates.7",
     "suppressed_share is confidential", "severity: advise", "advise"),
    (", charge: {epsilon: 0.05}", "", "singletons, at_most: 1000", "spec.gates.4",
     "singletons reads the table and has no charge", "charge: {epsilon: ...}", None),
    ("at_least: 500", "at_least: 500, charge: {epsilon: 0.1}", "charge: {epsilon: 0.1}", "spec.gates.6.charge",
     "released_classes costs nothing", "no charge", None),
    ("charge: {epsilon: 0.05}", "charge: {epsilon: 1}", "privacy:", "spec.privacy.epsilon",
     "the charged gates take 1 of epsilon, which leaves nothing", "a total above the sum of all charges", None),
    ("charge: {epsilon: 0.05}", "charge: {epsilon: 1e5}", "privacy:", "spec.privacy.epsilon",
     "the charged gates take 100000 of epsilon, which leaves nothing", "a total above", None),
    ("with: {weight: 1e-9}", "with: {wait: 1e-9}", "wait", "spec.gates.2.with.wait", "unknown option", "one of weight",
     "weight"),
    (GATE, "{measure: released_classes, at_least: 500, with: {weight: 1}}", "with: {weight: 1}",
     "spec.gates.6.with.weight", "unknown option", "no options", None),
    ("with: {weight: 1e-9}", "with: {weight: 2}", "weight: 2", "spec.gates.2.with.weight", "this value is out of range",
     "a weight above 0 and at most 1", None),
    ("with: {people: 300000}", "with: {people: 1.5}", "people: 1.5", "spec.gates.3.with.people", "this value is "
        "out of range",
     "a whole number of people", None),
    ("over: [age, sex,", "over: [age, race,", "over: [age, race", "spec.gates.3.over.1", "'race' is not released",
     "a released attribute", None),
    ("over: [age, sex,", "over: [aeg, sex,", "over: [aeg", "spec.gates.3.over.0", "'aeg' is not released",
     "a released attribute", "age"),
    ("over: [age, sex,", "over: [age, age,", "over: [age, age", "spec.gates.3.over", "an attribute is listed twice",
     "each attribute once", None),
    ("over: [age, sex, marital_status]", "over: []", "over: []", "spec.gates.3.over", "a list", "at least 1 item",
     None),
    (GATE, "{measure: released_classes, at_least: 5, over: [age]}", "at_least: 5,", "spec.gates.6.over",
     "released_classes is computed over all released attributes", "no `over`", None),
    *[
        (GATE, f"{{measure: {gate}, charge: {{epsilon: 0.05}}}}", gate, where, found, expected, None)
        for gate, where, found, expected in [
            ("invalid_share, at_most: 0.1", "spec.gates.6", "invalid_share needs `of`", "of: a column that is read"),
            ("invalid_share, of: race, at_most: 0.1", "spec.gates.6.of", "'race' is not read", "one of age, "),
            *[
                (f"invalid_share, of: age, {limit}", "spec.gates.6", "invalid_share needs a share", "six decimals")
                for limit in ("at_least: 0.1", "at_most: 1.1", "at_most: -0.1", "at_most: 0.1234567")
            ],
            ("invalid_people, of: age, at_most: 1", "spec.gates.6.of", "is computed over all", "no `of`"),
            ("truncated_people, at_most: 1", "spec.gates.6", "nobody has more rows", "privacyUnit is a person"),
            ("singletons, at_least: 1", "spec.gates.6", "a second gate on singletons", "one such gate"),
            ("j_tons, at_most: 1", "spec.gates.6", "j_tons without size", "with: {size: ...}"),
            *[
                (f"{name}, at_most: 0.1, with: "
                    f"{{size: {size}}}", "spec.gates.6.with.size", "this value is out of range", expected)
                for name, size, expected in [
                    *[("j_tons", size, "from 1 to 1e9") for size in ("0", "-1", "1.5", "1e10")],
                    *[(name, "1", "from 2 on") for name in ("classes_below", "share_in_classes_below")],
                ]
            ],
            ("singleton_share, at_least: 0.1", "spec.gates.6", "needs a share", "six decimals"),
            ("singleton_share, at_most: 0.1, with: {size: 1}", "spec.gates.6.with.size", "unknown option", "no opt"),
        ]
    ],
    *[
        ("privacy: {epsilon: 1,", f"privacy: {{epsilon: {wrong},", "privacy:", "spec.privacy.epsilon", repr(wrong),
         expected, None)
        for wrong, expected in [
            *[(wrong, FINITE) for wrong in ("1e999", "1e-400", "nan", "inf", "abc", "1/3", "0x1", "1_0", "~")],
            *[(wrong, "a number above 0 and at most 100000") for wrong in ("0", "-1", "1e7", "1e99")],
        ]
    ],
    ("privacy: {epsilon: 1,", "privacy: {epsilon: ,", "privacy:", "spec.privacy.epsilon", "''", FINITE, None),
    ("privacy: {epsilon: 1,", "privacy: {epsilon: [1],", "privacy:", "spec.privacy.epsilon", "a list", FINITE, None),
    *[
        ("delta: 1e-9}", f"delta: {wrong}}}", "privacy:", "spec.privacy.delta", repr(wrong),
         "a number of at least 0 and below 1", None)
        for wrong in ("1", "1.0", "2", "-1e-9")
    ],
    ("delta: 1e-9}", "delta: 0}", "sampling:", "spec.mechanism.sampling.beta", "no k reaches (epsilon 0.95, delta 0)",
     "a delta above 0 and a beta below 1", None),
    ("beta: 0.5", "beta: 1", "sampling:", "spec.mechanism.sampling.beta", "no k reaches",
     "a delta above 0 and a beta below 1", None),
    ("beta: 0.5", "beta: 0.9999999999", "sampling:", "spec.mechanism.sampling.beta", "no k reaches",
     "k is at most 1000000000", None),
    *[
        ("beta: 0.5", f"beta: {wrong}", "sampling:", "spec.mechanism.sampling.beta", repr(wrong),
         "a number above 0 and at most 1", None)
        for wrong in ("0", "-0.5", "1.0000000001", "2")
    ],
    ("k: least", "k: 61", "k: 61", "spec.mechanism.k", "61 does not reach (epsilon 0.95, delta 1e-9) at beta 0.5",
     "at least 62, or `least`", "62"),
    *[
        ("k: least", f"k: {wrong}", f"k: {wrong}", "spec.mechanism.k", repr(wrong),
         "`least` or a whole number from 1 to 1000000000", None)
        for wrong in ("0", "-3", "2.5", "most", "1e99")
    ],
    ("contract: census-income", "contract: census-incme", "contract:", "spec.contract",
     "no file has the id 'census-incme'", "the id of exactly one file", "census-income"),
    ("budget: us-cps-1994-95", "budget: us-cps-1994-96", "budget:", "spec.budget",
     "no file has the id 'us-cps-1994-96'", "the id of exactly one file", "us-cps-1994-95"),
    *[
        ("to: releases", f"to: {wrong}", "publish:", "spec.publish.to", "is not inside the working copy",
         "a folder below it, such as releases", None)
        for wrong in ("../x", "releases/../../x", "/tmp/x", '""', ".", "releases/..", '"a\\0b"', "outside/x", "loop/x")
    ],
    ("formats: [parquet, csv]", "formats: [csv, csv]", "publish:", "spec.publish.formats", "a format is listed twice",
     "each format once", None),
    ("formats: [parquet, csv]", "formats: [parket]", "publish:", "spec.publish.formats.0", "'parket'",
     "'parquet' or 'csv'", "parquet"),
    ("enforcement: enforce", "enforcement: dry", "enforcement", "spec.enforcement", "'dry'", "'enforce'", "dry-run"),
    ("name: census-income", "name: Census/..", "name:", "metadata.name", "'Census/..'", "at most 63 lower-case letters",
     None),
    ("version: 1", "version: ../1", "version:", "metadata.version", "'../1'", "a whole number, such as 1", None),
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "line", "where", "found", "expected", "instead"),
    WRONG_POLICIES,
    ids=[case[1] for case in WRONG_POLICIES],
)
def test_one_slip_in_a_policy_is_one_problem_with_its_line(
    copy: Copy, old: str, new: str, line: str, where: str, found: str, expected: str, instead: str | None
) -> None:
    (copy.root / "outside").symlink_to(copy.root.parent)
    (copy.root / "loop").symlink_to(copy.root / "loop")
    copy.edit(POLICY, "spec:\n", "spec:\n  enforcement: enforce\n")
    text = copy.edit(POLICY, old, new)
    (problem,) = copy.problems()
    assert (problem.file, problem.where) == (str(copy.root / POLICY), where)
    assert problem.line == line_of(text, line)
    assert found in problem.found
    assert expected.lower() in problem.expected.lower()
    assert problem.instead == instead


def test_a_policy_whose_gates_only_advise_is_refused(copy: Copy) -> None:
    text = copy.edit(
        POLICY, TEXT[TEXT.index("    - {measure: guarantee_epsilon") : TEXT.index("    - {measure: suppr")], ""
    )
    (problem,) = copy.problems()
    assert (problem.line, problem.where) == (line_of(text, "gates:"), "spec.gates")
    assert "no gate blocks" in problem.found
    copy.edit(POLICY, text[text.index("  gates:") : text.index("  publish:")], "  gates: []\n")
    (problem,) = copy.problems()
    assert (problem.where, problem.found) == ("spec.gates", "a list")


def test_gates_that_differ_in_limit_kind_are_not_the_same_gate(copy: Copy) -> None:
    copy.edit(POLICY, GATE, f"{GATE}\n    - {{measure: released_classes, at_most: 900000}}")
    assert len(copy.plan().gates) == 10


def test_charged_gates_on_columns_are_paid_by_parts_of_their_own_and_say_what_they_cost(copy: Copy) -> None:
    gates = [
        f"{{measure: invalid_share, of: {name}, at_most: 0.02, charge: {{epsilon: 0.05}}}}" for name in ("age", "sex")
    ]
    copy.edit(POLICY, GATE, "\n    - ".join(gates))
    parts = [(part.name, part.epsilon) for part in copy.plan().guarantee.parts[-2:]]
    assert parts == [(f"gate invalid_share of {name}", Fraction("0.05")) for name in ("age", "sex")]
    cost = charges(copy.plan())[-1]
    assert cost.startswith(
        "Gate invalid_share of sex at most 0.02 costs epsilon 0.05; its noise is above 45.14 at most"
    )
    assert cost.endswith(
        ": of 300000 rows a share of 0.01969 passes at least 19 times in 20, one above 0.02 at most once."
    )


def test_a_gate_that_withholds_clean_tables_is_warned_of(copy: Copy) -> None:
    for share, warned in (("0.0003", True), ("0.00031", False)):
        gate = f"{{measure: invalid_share, of: age, at_most: {share}, charge: {{epsilon: 0.05}}}}"
        text = copy.edit(POLICY, GATE, gate)
        (note,) = (each for each in check(copy.root / POLICY).gates if "invalid_share" in each.gate)
        assert ("withholds even a table of 300000 rows without any invalid cell" in (note.warning or "")) is warned
        (copy.root / POLICY).write_text(text.replace(gate, GATE))


def test_expected_singletons_need_public_margins(whole: Copy) -> None:
    whole.edit(CONTRACT, "          - {property: margins, value: public/sex.csv}\n", "")
    (problem,) = whole.problems()
    assert problem.line == line_of(TEXT, "{measure: expected_singletons")
    assert (problem.found, problem.where) == ("'sex' has no public margins", "spec.gates.3")


def test_a_direct_identifier_cannot_be_published_and_is_not_suggested(whole: Copy) -> None:
    column = "      - name: income_id\n        logicalType: string\n        customProperties:\n"
    column += "          - {property: privacyRole, value: direct-identifier}\n"
    column += "          - {property: domain, value: {values: [a, b], source: book}}\n"
    whole.edit(CONTRACT, "      - name: sex\n", f"{column}      - name: sex\n")
    whole.edit(POLICY, "      income: exact\n", "      income_id: exact\n      income_i: exact\n")
    named, misspelt = whole.problems()
    assert (named.where, named.found) == (
        "spec.mechanism.attributes.income_id",
        "a direct identifier, which is never published",
    )
    assert (named.line, misspelt.line) == (line_of(TEXT, "income: exact"), line_of(TEXT, "income: exact") + 1)
    assert {named.instead, misspelt.instead} == {"income"}


WRONG_BUDGETS = [
    ("unit: row", "unit: person:id", "spec.unit", "'person:id'", "the contract's privacy unit 'row'", "row"),
    ("people: 300000", "people: 0", "spec.people", "'0'", "a whole number from 1 to 1000000000000", None),
    ("people: 300000", "people: 1e99", "spec.people", "'1e99'", "a whole number from 1 to 1000000000000", None),
    ("epsilon: 4", "epsilon: 0", "spec.epsilon", "'0'", "a number above 0", None),
    ("epsilon: 4", "epsilon: 1e99", "spec.epsilon", "'1e99'", "at most 100000", None),
    ("delta: 1e-8", "delta: 1", "spec.delta", "'1'", "below 1", None),
    ("relation: add-remove", "relation: replace-one", "spec.relation", "'replace-one'", "'add-remove'", None),
    ("ledger: demo-7f3a91c2", "ledger: demo", "spec.ledger", "'demo'", "the id of a ledger", None),
    ("people: 300000", "people: 300000, persons: 3", "spec.persons", "unknown key", "one of ledger, epsilon", None),
]


@pytest.mark.parametrize(
    ("old", "new", "where", "found", "expected", "instead"), WRONG_BUDGETS, ids=[case[1] for case in WRONG_BUDGETS]
)
def test_one_slip_in_a_budget_is_one_problem_of_the_budget_file(
    copy: Copy, old: str, new: str, where: str, found: str, expected: str, instead: str | None
) -> None:
    text = copy.edit(BUDGET, old, new)
    (problem,) = copy.problems()
    assert (problem.file, problem.where) == (str(copy.root / BUDGET), where)
    assert problem.line == line_of(text, new)
    assert found in problem.found
    assert expected in problem.expected
    assert problem.instead in (instead, "people" if "persons" in new else None)


def test_a_budget_of_another_population_is_refused(copy: Copy) -> None:
    copy.edit(BUDGET, "name: us-cps-1994-95", "name: others")
    copy.edit(POLICY, "budget: us-cps-1994-95", "budget: others")
    (problem,) = copy.problems()
    assert (problem.line, problem.where) == (line_of(TEXT, "budget:"), "spec.budget")
    assert "is of population 'us-cps-1994-95'" in problem.found
    assert problem.instead is None, "no budget has that name, so naming it would be refused as well"
    (copy.root / BUDGET).with_name("more.yaml").write_bytes((copy.root / BUDGET).read_bytes())
    copy.edit(str(Path(BUDGET).with_name("more.yaml")), "name: others", "name: us-cps-1994-95")
    (problem,) = copy.problems()
    assert problem.instead == "us-cps-1994-95"


def test_a_missing_budget_is_refused(copy: Copy) -> None:
    (copy.root / BUDGET).unlink()
    (problem,) = copy.problems()
    assert (problem.line, problem.instead) == (line_of(TEXT, "budget:"), None)


@pytest.mark.parametrize(("file", "where"), [(CONTRACT, "spec.contract"), (BUDGET, "spec.budget")])
def test_an_id_that_two_files_state_is_refused(whole: Copy, file: str, where: str) -> None:
    shutil.copy(whole.root / file, whole.root / Path(file).parent / "again.yaml")
    (problem,) = whole.problems()
    assert problem.where == where
    assert problem.found.startswith("2 files have the id")


@pytest.mark.parametrize(("file", "where"), [(CONTRACT, "spec.contract"), (BUDGET, "spec.budget")])
def test_the_fault_of_an_unreadable_file_is_told_without_the_id_that_it_states(
    whole: Copy, file: str, where: str
) -> None:
    whole.edit(file, "kind: ", "kind: twice\nkind: ")
    (broken,) = whole.problems()
    assert (broken.file, broken.where, broken.found) == (str(whole.root / file), "kind", "the key is there twice")
    whole.edit(file, "census-income" if "contract" in where else "us-cps-1994-95", "other")
    *_, missing = whole.problems()
    assert (missing.where, missing.instead) == (where, None)


def test_a_policy_outside_a_working_copy_is_refused(whole: Copy) -> None:
    shutil.rmtree(whole.root / "data_contracts")
    (problem,) = whole.problems()
    assert "no policies/ and data_contracts/ above it" in problem.found


UNREADABLE: dict[str, tuple[Callable[[str], bytes], str, str | None]] = {
    "a key twice": (lambda text: f"{text}kind: x\n".encode(), "the key is there twice", "kind: x"),
    "an anchor bomb": (
        lambda text: f"{text}a: &a [x]\nb: &b [*a, *a, *a]\n".encode(),
        "a YAML anchor or alias",
        "a: &a",
    ),
    "a tag": (lambda text: f"{text}a: !!python/object:os.system x\n".encode(), "the tag", "a: !!"),
    "two documents": (lambda text: f"{text}---\nkind: x\n".encode(), "a second YAML document", "---"),
    "more than 1 MiB": (lambda text: f"{text}# {'x' * (1 << 20)}".encode(), "larger than 1 MiB", None),
    "deep nesting": (lambda text: f"{text}a: {'[' * 1000}".encode(), "nested too deeply", "a: [["),
    "not UTF-8": (lambda text: text.encode() + b"# \xff", "the file is not UTF-8 text", None),
    "an unclosed bracket": (lambda text: text.replace("csv]", "csv").encode(), "", None),
    "nothing": (lambda _: b"", "an empty file", None),
}


@pytest.mark.parametrize("fault", UNREADABLE)
def test_a_policy_that_a_reader_could_take_two_ways_is_refused(copy: Copy, fault: str) -> None:
    change, found, line = UNREADABLE[fault]
    raw = change(TEXT)
    (copy.root / POLICY).write_bytes(raw)
    problem = copy.problems()[0]
    assert problem.file == str(copy.root / POLICY)
    assert found in problem.found
    assert line is None or problem.line == line_of(raw.decode(), line)


@pytest.mark.parametrize("text", ["[]", "x", "spec", "{}"])
def test_a_document_that_is_no_policy_is_refused(copy: Copy, text: str) -> None:
    (copy.root / POLICY).write_text(text, encoding="utf-8")
    assert all(problem.file == str(copy.root / POLICY) for problem in copy.problems())


def test_all_problems_of_a_policy_come_in_one_error(copy: Copy) -> None:
    for old, new in [
        ("measure: released_classes", "measure: released_clases"),
        ("income: exact", "incone: exact"),
        ("k: least", "k: 5"),
        ("with: {weight: 1e-9}", "with: {wait: 1e-9}"),
        ("charge: {epsilon: 0.05}", "charge: {epsilon: 3}"),
        ("to: releases", "to: ../x"),
    ]:
        text = copy.edit(POLICY, old, new)
    expected = {"released_clases", "incone:", "k: 5", "wait:", "privacy:", "../x"}
    assert sorted(problem.line or 0 for problem in copy.problems()) == sorted(line_of(text, part) for part in expected)
    for old, new in [("epsilon: 1,", "epsilon: x,"), ("delta: 1e-9}", "delta: 2}"), ("beta: 0.5", "beta: 0")]:
        copy.edit(POLICY, old, new)
    # of meaning stay those that can't follow from these: not the k, and not the charge
    assert len(copy.problems()) == 3 + len(expected) - 2


@settings(max_examples=examples(100), deadline=None)
@given(st.sampled_from(WRONG_POLICIES), st.sampled_from(WRONG_POLICIES))
def test_two_slips_are_at_most_their_two_problems(fuzzed: Path, one: tuple[str, ...], other: tuple[str, ...]) -> None:
    """Problems that only follow from the correction of the first mistake are not reported."""
    text = TEXT.replace("spec:\n", "spec:\n  enforcement: enforce\n")
    if other[0] not in text.replace(one[0], one[1], 1) or one[0] == other[0]:
        return
    (fuzzed / POLICY).write_text(text.replace(one[0], one[1], 1).replace(other[0], other[1], 1), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        with_contract_read_once(patch)
        found = problems_of(fuzzed / POLICY)
    assert {problem.where for problem in found or ()} <= {one[3], other[3]}


PIECES = ["", "0", "-1", "1e99", "1e-99", "0.9999999999", "nan", "~", "least", "any", "x" * 200, '"\\0"', "\n", "]"]
PIECES += ["[]", "{}", "[1]", "{a: 1}", "&a 1", "!!int 1"]
spans = st.integers(0, len(TEXT)).flatmap(
    lambda start: st.tuples(st.just(start), st.integers(start, min(start + 12, len(TEXT))))
)
words = [found.span() for found in re.finditer(r"[^\s,{}\[\]:]+", TEXT)]
edits = st.tuples(st.one_of(st.sampled_from(words), spans), st.one_of(st.sampled_from(PIECES), st.text(max_size=6)))


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_to(tmp_path_factory.mktemp("fuzzed")).root


@pytest.mark.thorough
@settings(max_examples=examples(150), deadline=None)
@given(st.lists(edits, min_size=1, max_size=3))
@example([((TEXT.index("releases, "), TEXT.index("releases, ") + 8), '"\\0"')])
@example([((TEXT.index("releases, "), TEXT.index("releases, ") + 8), "x" * 300)])
@example([((TEXT.index("0.5}"), TEXT.index("0.5}") + 3), "0.99999999999999999999")])
@example([((TEXT.index("0.05}"), TEXT.index("0.05}") + 4), "1e-99")])
def test_any_edit_of_a_policy_gives_a_plan_or_a_configuration_error(
    fuzzed: Path, changes: list[tuple[tuple[int, int], str]]
) -> None:
    text = TEXT
    for (start, end), piece in sorted(changes, reverse=True):
        text = text[:start] + piece + text[end:]
    policy = fuzzed / POLICY
    policy.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.MonkeyPatch.context() as patch:
        with_contract_read_once(patch)
        problems = problems_of(policy)
        assert problems is None or problems
        assert all(len(str(problem).splitlines()) == 1 for problem in problems or ())
        if problems is None:
            outlook(policy)
            with suppress(ConfigurationError):  # a destination that is none
                check(policy)


def problems_of(policy: Path) -> tuple[Problem, ...] | None:
    try:
        plan_policy(policy)
    except ConfigurationError as error:
        return error.problems
    return None


# --- JSON Schemas ---


def test_the_committed_schemas_are_those_of_the_models() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "policies" / "schema").iterdir()}
    current = committed == schemas()
    assert current, "run python -m crowdgate.review.schemas.schemas policies/schema"


def violations(schema: str, text: str, folder: Path) -> list[str]:
    path = folder / "any.yaml"
    path.write_text(text, encoding="utf-8")
    loaded: dict[str, Any] = json.loads(schemas()[schema])
    jsonschema.Draft202012Validator.check_schema(loaded)
    found = jsonschema.Draft202012Validator(loaded).iter_errors(read_document(path).typed)
    return [".".join(map(str, error.absolute_path)) for error in found]


@pytest.mark.thorough
def test_the_bundled_files_validate_against_their_schemas(tmp_path: Path) -> None:
    assert violations("release-policy.json", (ROOT / POLICY).read_text(encoding="utf-8"), tmp_path) == []
    assert violations("privacy-budget.json", BUDGET_TEXT, tmp_path) == []
    tables = (ROOT / "policies" / "census_income_tables.yaml").read_text(encoding="utf-8")
    assert violations("release-policy.json", tables, tmp_path) == []
    synthetic = (ROOT / "policies" / "census_income_synthetic.yaml").read_text(encoding="utf-8")
    assert violations("release-policy.json", synthetic, tmp_path) == []
    wrong = tables.replace("noise: gaussian", "noise: gausian").replace("{all: 1}", "{all: 1, share: 0.1, shar: 1}")
    found = set(violations("release-policy.json", wrong, tmp_path))
    assert found == {"spec.mechanism.noise", "spec.mechanism.tables.1"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ("epsilon: 1,", "epsilon: 0,", "spec.privacy.epsilon"),
        ("delta: 1e-9}", "delta: 1}", "spec.privacy.delta"),
        ("beta: 0.5", "beta: 1.5", "spec.mechanism.sampling.beta"),
        ("k: least", "k: 0", "spec.mechanism.k"),
        ("at_least: 500", "at_least: 500, at_most: 9", "spec.gates.6"),
        (", at_least: 500", "", "spec.gates.6"),
        ("owner:", "onwer:", "metadata"),
        ("severity: advise", "severity: shrug", "spec.gates.7.severity"),
    ],
)
def test_a_schema_points_at_what_an_editor_can_know(tmp_path: Path, old: str, new: str, at: str) -> None:
    assert set(violations("release-policy.json", TEXT.replace(old, new, 1), tmp_path)) == {at}


def test_of_many_names_the_nearest_three_are_suggested() -> None:
    names = [f"name_{at:02}" for at in range(MOST_NAMES + 1)]
    suggested = expected_names(names, "name_99", "a name", "NAMES.md").removeprefix("a name such as ")
    nearest_names, _, rest = suggested.partition(" (")
    assert len(nearest_names.split(", ")) == NEAREST_NAMES
    assert {*nearest_names.split(", ")} < {*names}
    assert rest == "all: NAMES.md)"
    assert expected_names(names, "#", "a name", "NAMES.md") == "a name (all: NAMES.md)"
    assert expected_names(names[1:3], "#", "a name", "NAMES.md") == "one of name_01, name_02"
