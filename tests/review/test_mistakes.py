"""Sixty mistakes in policies, contracts and budgets: all told in the first round, at their place.

The line to write instead is told where the meaning is certain.
"""

import pytest

from crowdgate.documents.synonyms import plain_day, plain_number
from crowdgate.domain import parse_number
from crowdgate.review.files import Remark, lint_files
from tests.workshop import Workshop

POLICY, CONTRACT, BUDGET = "policies/clinic.yaml", "data_contracts/clinic.yaml", "policies/budgets/clinic.yaml"
GATE = "    - {measure: smallest_class, at_least: 1}\n"
Edits = list[tuple[str, str]]
Told = list[tuple[int, int, str, str | None]]
MISTAKES: list[tuple[str, Edits, Told]] = [
    # the file; what it says and what it says instead; line, column and words of each problem, and what is to be written
    (POLICY, [("kind: safe_k_anonymity", "kind: safe_k_anonymty"), ("released_rows", "released_rosw")],
     [(9, 5, "'safe_k_anonymty'", "safe_k_anonymity"), (16, 8, "unknown measure 'released_rosw'", "released_rows")]),
    (POLICY, [("contract: clinic", "contract: clinc"),
      ("released_rows", "released_rosw"),
      ("ward: exact", "wadr: exact")],
     [(5, 3, "no file has the id 'clinc'", "clinic"),
      (14, 57, "'ward' is not released", None),
      (16, 8, "unknown measure 'released_rosw'", "released_rows"),
      (11, 33, "unknown attribute", "ward:")]),
    (POLICY, [("epsilon: 2,", "epsilon: 2,5,")],
     [(7, 24, "a comma in a number", "2.5")]),
    (POLICY, [("{measure: suppressed_share, at_most: 0.5", "{measure: suppressed_share, at_most: 50%")],
     [(18, 35, "'50%'", "0.5")]),
    (POLICY, [("{measure: suppressed_share, at_most: 0.5", "{measure: suppressed_share, at_most: '0,5'")],
     [(18, 35, "'0,5'", "0.5")]),
    (POLICY, [("at_least: 0}", "at_least: 80,000}")],
     [(16, 45, "a comma in a number", None)]),
    (POLICY, [("at_least: 0}", "at_least: '80,000'}")],
     [(16, 32, "'80,000'", None)]),
    (POLICY, [("at_most: 500", "max: 500")],
     [(15, 29, "unknown key", "at_most:")]),
    (POLICY, [("at_least: 0}", "min: 0}")],
     [(16, 32, "unknown key", "at_least:")]),
    (POLICY, [("at_least: 0}", "'>=': 0}")],
     [(16, 32, "unknown key", "at_least:")]),
    (POLICY, [("at_least: 0}", ">= 0}")],
     [(16, 32, "the sign >=", "at_least:")]),
    (POLICY, [(GATE, "    - measure: smallest_class >= 1\n")],
     [(17, 7, "the keys measure", None)]),
    (POLICY, [("contract: clinic", "contract: data_contracts/clinic.yaml")],
     [(5, 3, "no file has the id 'data_contracts/clini", "clinic")]),
    (POLICY, [("contract: clinic", "contract: ../data_contracts/clinic.yaml")],
     [(5, 3, "no file has the id '../data_contracts/cl", "clinic")]),
    (POLICY, [("budget: clinic-patients", "budget: budgets/clinic.yaml")],
     [(6, 3, "no file has the id 'budgets/clinic.yaml'", "clinic-patients")]),
    (POLICY, [("age: 50 years", "age: 50")],
     [(11, 18, "unknown level '50'", "50 years")]),
    (POLICY, [("age: 50 years", "age: 5")],
     [(11, 18, "unknown level '5'", None)]),
    (POLICY, [("age: 50 years", "age: [50 years]")],
     [(11, 18, "a list", "50 years")]),
    (POLICY, [("severity: advise", "severity: warn")],
     [(18, 49, "'warn'", "advise")]),
    (POLICY, [("severity: advise", "severity: error")],
     [(18, 49, "'error'", "block")]),
    (POLICY, [("severity: advise", "severity: warning")],
     [(18, 49, "'warning'", "advise")]),
    (POLICY, [("attributes: {age: 50 years, ward: exact}", "attributes: [age, ward]")],
     [(11, 5, "a list", None)]),
    (POLICY, [("attributes: {age: 50 years, ward: exact}", "attributes: {age, ward}")],
     [(11, 18, "unknown level ''", None), (11, 23, "unknown level ''", None)]),
    (POLICY, [(GATE, "    - {measure: l_diversity, of: ward, at_least: 2}\n")],
     [(17, 8, "unknown measure 'l_diversity'", None)]),
    (POLICY, [(GATE, "    - {measure: k, at_least: 5}\n")],
     [(17, 8, "unknown measure 'k'", None)]),
    (POLICY, [(GATE, "    - {measure: k_anonymity, at_least: 5}\n")],
     [(17, 8, "unknown measure 'k_anonymity'", None)]),
    (CONTRACT, [("[north, south, east]", "[north, south, ?]")],
     [(28, 63, "a question mark by itself", "\"?\"")]),
    (CONTRACT, [("[north, south, east]", "[north, south, [0-10)]")],
     [(28, 63, "an interval, which has brackets of YAML", "\"[0-10)\"")]),
    (CONTRACT, [("[north, south, east]", "[north, south, @x, `y]")],
     [(28, 63, "a value that begins with @", "\"@x\""), (28, 67, "a value that begins with `", "\"@x\", \"`y\"")]),
    (CONTRACT, [("name: patients", "name: patients: x")],
     [(8, 11, "a colon within a value", "\"patients: x\"")]),
    (CONTRACT, [("value: clinic-patients}", "value: >7}")],
     [(11, 39, "a value that begins with >", "\">7\"")]),
    (POLICY, [("  publish:", "\tpublish:")],
     [(19, 1, "a tab", None)]),
    (POLICY, [("{beta: 0.5}", "{beta: 50%}")],
     [(10, 16, "'50%'", "0.5")]),
    (POLICY, [("version: 1,", "version: 1.0,")],
     [(3, 26, "'1.0'", "1")]),
    (POLICY, [("[parquet, csv]", "Parquet")],
     [(19, 27, "'Parquet'", "[Parquet]")]),
    (POLICY, [("spec:\n", "spec:\n  enforcement: dryrun\n")],
     [(5, 3, "'dryrun'", "dry-run")]),
    (CONTRACT, [("privacyRole, value: quasi-identifier", "privacyRole, value: quasi_identifier")],
     [(21, 37, "'quasi_identifier'", "quasi-identifier"), (27, 37, "'quasi_identifier'", "quasi-identifier")]),
    (CONTRACT, [("privacyRole, value: quasi-identifier", "privacyRole, value: QI")],
     [(21, 37, "'QI'", "quasi-identifier"), (27, 37, "'QI'", "quasi-identifier")]),
    (CONTRACT, [("logicalType: integer", "logicalType: int")],
     [(19, 9, "'int'", "integer")]),
    (CONTRACT, [("logicalType: integer", "logicalType: float")],
     [(19, 9, "'float'", "number")]),
    (CONTRACT, [("{from: 0, to: 99, top: true, source: clinic handbook}", "[0, 99]")],
     [(22, 32, "a list", None)]),
    (CONTRACT, [("width: 10}", "width: 10 years}")],
     [(23, 57, "'10 years'", None)]),
    (CONTRACT, [("format: parquet", "format: Parquet")],
     [(6, 64, "'Parquet'", None)]),
    (CONTRACT, [("top: true", "top: yes")],
     [(22, 57, "'yes'", "true")]),
    (BUDGET, [("relation: add-remove", "relation: replace-one")],
     [(4, 83, "'replace-one'", None)]),
    (BUDGET, [("people: 1000", "people: 1_000")],
     [(4, 58, "'1_000'", "1000")]),
    (BUDGET, [("people: 1000", "people: 1 000")],
     [(4, 58, "'1 000'", "1000")]),
    (BUDGET, [("people: 1000", "people: '1,000'")],
     [(4, 58, "'1,000'", "1000")]),
    (POLICY, [(GATE, "    - {measure: pso_bound, at_most: 1, waiver: {reason: x, approved_by: y, expires: 31.12.2030}}"
                     "\n")],
     [(17, 76, "'31.12.2030'", "2030-12-31")]),
    (POLICY, [("charge: {epsilon: 0.5}", "charge: 0.5")],
     [(15, 43, "'0.5'", None)]),
    (POLICY, [("delta: 0.01", "delta: 1e-2%")],
     [(7, 25, "'1e-2%'", "0.0001")]),
    (POLICY, [("delta: 0.01", "delta: 10^-2")],
     [(7, 25, "'10^-2'", "1e-2")]),
    (POLICY, [("epsilon: 2,", "eps: 2,")],
     [(7, 3, "the key is missing", None), (7, 13, "unknown key", "epsilon:")]),
    (POLICY, [("epsilon: 2,", "ε: 2,")],
     [(7, 3, "the key is missing", None), (7, 13, "unknown key", "epsilon:")]),
    (POLICY, [("{beta: 0.5}", "0.5")],
     [(10, 5, "'0.5'", "{beta: 0.5}")]),
    (POLICY, [(GATE, "    - smallest_class: 1\n")],
     [(17, 7, "the key is missing", None), (17, 7, "unknown key", None)]),
    (POLICY, [(GATE, "    - {name: smallest_class, at_least: 1}\n")],
     [(17, 7, "the key is missing", None), (17, 8, "unknown key", None)]),
    (POLICY, [(GATE, "    - {measure: smallest_class, at_least: 1, severity: advise # comment}\n")],
     [(17, 63, "a comment that hides }", None)]),
    (POLICY, [("  gates:\n", "  gates: \n  - measure: k\n")],
     [(14, 5, "did not find expected key", None)]),
    (POLICY, [("metadata: {name: clinic", "metadata: {name: Clinic")],
     [(3, 12, "'Clinic'", None)]),
]  # fmt: skip


def problems(workshop: Workshop) -> list[Remark]:
    return [each for each in lint_files([workshop.policy])[0].remarks if each.severity != "warning"]


def test_there_are_sixty() -> None:
    assert len(MISTAKES) == 60


@pytest.mark.thorough
@pytest.mark.parametrize(("file", "edits", "told"), MISTAKES, ids=[case[1][0][1].strip()[:50] for case in MISTAKES])
def test_a_mistake_is_told_in_the_first_round_and_its_corrected_line_mends_it(
    file: str, edits: Edits, told: Told, workshop: Workshop
) -> None:
    path = workshop.root / file
    for old, new in edits:
        workshop.edit(path, old, new)
    found = problems(workshop)
    assert [(each.line, each.column) for each in found] == [(line, column) for line, column, _, _ in told]
    for remark, (_, _, words, written) in zip(found, told, strict=True):
        assert words in remark.message
        assert (remark.corrected is None) == (written is None)
        assert written is None or written in (remark.corrected or "")
    lines = path.read_text(encoding="utf-8").splitlines()
    for remark in found:
        if remark.corrected is not None:
            lines[(remark.line or 0) - 1] = remark.corrected
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    again = {each.message for each in problems(workshop)}
    assert not again & {remark.message for remark in found if remark.corrected is not None}


SOUGHT = [
    ("k", "k of the mechanism", "smallest_class"),
    ("k-anonymity", "k of the mechanism", "smallest_class"),
    ("l_diversity", "no singling out", None),
    ("t closeness", "another form", None),
    ("completeness", "invalid_share with a charge", None),
    ("uniqueness", "singletons with a charge", None),
    ("re-identification-risk", "no single figure of risk", None),
    ("row_count", "is confidential", "released_rows"),
    ("epsilon", "privacy cost of one release", "guarantee_epsilon"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "why", "instead"), SOUGHT, ids=[name for name, _, _ in SOUGHT])
def test_a_measure_that_people_look_for_tells_which_to_use(
    name: str, why: str, instead: str | None, workshop: Workshop
) -> None:
    workshop.edit(workshop.policy, "smallest_class, at_least: 1", f"{name}, at_least: 1")
    (remark,) = problems(workshop)
    if why != "another form":
        assert why in (remark.expected or "")
        assert remark.instead == instead


def test_a_mistake_in_the_name_of_the_contract_hides_no_unknown_measure(workshop: Workshop) -> None:
    """Nothing is said of attributes where it is not certain which contract is meant."""
    for old, new in (
        ("contract: clinic", "contract: hospital"),
        ("released_rows", "released_rosw"),
        ("ward: exact", "wadr: exact"),
    ):
        workshop.edit(workshop.policy, old, new)
    found = [each.message for each in problems(workshop)]
    assert found == [
        "spec.contract: no file has the id 'hospital'",
        "spec.gates.3.measure: unknown measure 'released_rosw'",
    ]


def test_all_faults_of_a_file_that_is_no_yaml_come_at_once(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "[north, south, east]", "[north, ?, [0-10)]")
    workshop.edit(workshop.contract, "value: clinic-patients}", "value: >7}")
    workshop.edit(workshop.contract, "name: patients", "name: patients: x")
    assert [(each.line, each.column) for each in problems(workshop)] == [(8, 11), (11, 39), (28, 56), (28, 59)]


def test_a_broken_line_of_servers_is_not_shown(workshop: Workshop) -> None:
    """It may hold a password."""
    workshop.edit(workshop.contract, "format: parquet}", "format: parquet, password: @secret}")
    (remark,) = problems(workshop)
    assert (remark.line, remark.message, remark.corrected) == (6, "document: a value that begins with @", None)
    assert "secret" not in str(remark)


@pytest.mark.parametrize("long", ["[" + "?, " * 300_000, "a: " + "[0-10)" * 100_000, "x: '" + " ? " * 300_000])
def test_a_long_line_that_is_no_yaml_is_refused_soon(long: str, workshop: Workshop) -> None:
    workshop.contract.write_text(f"kind: DataContract\n{long}\n", encoding="utf-8")
    assert {each.code for each in problems(workshop)} >= {"CG107"}


@pytest.mark.parametrize(
    ("text", "number", "whole"),
    [
        ("50%", "0.5", None), ("12.5 %", "0.125", None), ("0,5", "0.5", None), ("1 000", "1000", "1000"),
        ("1_000_000", "1000000", "1000000"), ("1,000", None, "1000"), ("1,000,000", "1000000", "1000000"),
        ("1.000.000", "1000000", "1000000"), ("1,000,000.5", "1000000.5", "1000000.5"),
        ("1.000.000,5", "1000000.5", "1000000.5"),
        ("10^-9", "1e-9", "1e-9"), ("10**3", "1e3", "1e3"), ("2,500", None, "2500"), ("1,2,3", None, None),
        ("12,34,567", None, None), ("1 00", None, None), ("five", None, None), ("", None, None), ("%", None, None),
        ("1.0", None, "1"), ("0", None, None), ("1e99", None, None), ("7", None, None), ("0,500", "0.500", None),
    ],
)  # fmt: skip
def test_a_number_is_written_anew_only_if_it_can_be_no_other(text: str, number: str | None, whole: str | None) -> None:
    assert plain_number(text) == number
    assert plain_number(text, whole=True) == whole
    assert all(each is None or parse_number(each) is not None for each in (number, whole))


@pytest.mark.parametrize(
    ("text", "day"),
    [("31.12.2030", "2030-12-31"), ("1.2.2030", "2030-02-01"), ("2030/12/31", "2030-12-31"), ("01/02/2030", None),
     ("31.13.2030", None), ("2030", None)],
)  # fmt: skip
def test_a_day_is_written_anew_only_if_it_can_be_no_other(text: str, day: str | None) -> None:
    assert plain_day(text) == day
