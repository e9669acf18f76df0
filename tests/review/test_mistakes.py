"""Mistakes in policies, contracts and budgets: all told in the first round, at their place.

The line to write instead is told where the meaning is certain. The first sixty were written beside the linter. The
newcomer's were written before its code was read, from the READMEs alone, as edits of the READMEs' example. Those of
strangers (`strangers.py`) are mistakes of people who know other tools, `offices.py` has those of people in offices, and
`slips.py` those of the keyboard, and `drafters.py` those of people who complete a draft.
"""

import pytest

from crowdgate.documents.synonyms import plain_day, plain_number
from crowdgate.documents.yaml_text import read_document
from crowdgate.domain import parse_number
from crowdgate.review.files import Remark, lint_files
from tests.review.drafters import DRAFTERS
from tests.review.newcomer import VISITS, VISITS_BUDGET, VISITS_POLICY, VISITS_TABLES, write_visits
from tests.review.offices import OFFICES
from tests.review.slips import SLIPS
from tests.review.strangers import STRANGERS, Reported
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
     [(13, 1, "a line with 2 blanks before it, beside 4 in line 14", None)]),
    (POLICY, [("metadata: {name: clinic", "metadata: {name: Clinic")],
     [(3, 12, "'Clinic'", None)]),
]  # fmt: skip
NEWCOMERS: list[tuple[str, Edits, Told]] = [
    (VISITS_POLICY, [("epsilon: 1, ", "epsilon: 0,5, ")],
     [(7, 13, "'0'", None), (7, 24, "a comma in a number", "0.5")]),
    (VISITS_POLICY, [("delta: 1e-9", "delta: 10^-9")],
     [(7, 25, "'10^-9'", "1e-9")]),
    (VISITS_POLICY, [("beta: 0.5", "beta: 1/2")],
     [(10, 16, "'1/2'", None)]),
    (VISITS_POLICY, [("k: least ", "k: minimum ")],
     [(11, 5, "'minimum'", None)]),
    (VISITS_POLICY, [("kind: safe_k_anonymity", "kind: k-anonymity")],
     [(9, 5, "'k-anonymity'", None)]),
    (VISITS_POLICY, [("age: 10 years", "age: 10-year")],
     [(12, 18, "unknown level '10-year'", "10 years")]),
    (VISITS_POLICY, [("age: 10 years", "Age: 10 years")],
     [(12, 18, "unknown attribute", "age: 10 years")]),
    (VISITS_POLICY, [("ward: exact", "ward: full")],
     [(12, 33, "unknown level 'full'", None)]),
    (VISITS_POLICY, [("ward: exact", "ward: Exact")],
     [(12, 33, "unknown level 'Exact'", "exact")]),
    (VISITS_POLICY, [("at_least: 1000", "at_least: 1k")],
     [(14, 32, "'1k'", None)]),
    (VISITS_POLICY, [("at_least: 1000", "minimum: 1000")],
     [(14, 32, "unknown key", "at_least: 1000")]),
    (VISITS_POLICY, [("at_most: 100,", "limit: 100,")],
     [(15, 29, "unknown key", None)]),
    (VISITS_POLICY, [("severity: advise", "severity: advisory")],
     [(16, 49, "'advisory'", "advise")]),
    (VISITS_POLICY, [("severity: advise", "severity: info")],
     [(16, 49, "'info'", "advise")]),
    (VISITS_POLICY, [("formats: [parquet, csv]", "formats: parquet, csv")],
     [(17, 27, "'parquet'", "[parquet, csv]"), (17, 45, "a list without brackets", "[parquet, csv]")]),
    (VISITS_POLICY, [("formats: [parquet, csv]", "formats: [parquet, excel]")],
     [(17, 46, "'excel'", None)]),
    (VISITS_POLICY, [("publish: {to: releases", "publish: {to: /srv/releases")],
     [(17, 13, "'/srv/releases' is not inside the workin", None)]),
    (VISITS_POLICY, [("publish: {to: releases", "publish: {folder: releases")],
     [(17, 3, "the key is missing", None), (17, 13, "unknown key", None)]),
    (VISITS_POLICY, [("version: 1,", "version: 1.1,")],
     [(3, 26, "'1.1'", None)]),
    (VISITS_POLICY, [("version: 1,", "version: v1,")],
     [(3, 26, "'v1'", None)]),
    (VISITS_POLICY, [("charge: {share: 0.05}", "charge: {share: 5}")],
     [(15, 52, "'5'", None)]),
    (VISITS_POLICY, [(", severity: advise", "")],
     [(16, 7, "suppressed_share is confidential, so a g", None)]),
    (VISITS_POLICY, [("apiVersion: crowdgate/v1", "apiVersion: v1")],
     [(1, 1, "'v1'", None)]),
    (VISITS_POLICY, [("kind: ReleasePolicy", "kind: Release Policy")],
     [(2, 1, "'Release Policy'", "ReleasePolicy")]),
    (VISITS_POLICY, [("{measure: released_rows", "{measure:released_rows")],
     [(14, 7, "the key is missing", None), (14, 8, "a colon without a blank after it", "measure: released_rows")]),
    (VISITS_POLICY, [("    - {measure: released_rows", "    -{measure: released_rows")],
     [(14, 5, "a dash without a blank after it", "- {measure: released_rows")]),
    (VISITS_POLICY, [("  publish:", "  calendar: {every: monthly}\n  publish:")],
     [(17, 14, "'monthly'", "month")]),
    (VISITS_POLICY, [("  publish:", "  calendar: {every: month, timezone: Berlin}\n  publish:")],
     [(17, 28, "'Berlin'", None)]),
    (VISITS_POLICY, [("budget: visits-patients ", "budgets: visits-patients ")],
     [(4, 1, "the key is missing", None), (6, 3, "unknown key", "budget: visits-patients")]),
    (VISITS_POLICY, [("budget: visits-patients ", "budget: visits_patients ")],
     [(6, 3, "no file has the id 'visits_patients'", "visits-patients")]),
    (VISITS_POLICY, [("  gates:\n", "gates:\n")],
     [(17, 3, "did not find expected key", None)]),
    (VISITS_POLICY, [("attributes: {age: 10 years, ward: exact}", "attributes: age, ward")],
     [(12, 5, "'age, ward'", None)]),
    (VISITS, [("privacyRole, value: sensitive", "privacyRole, value: confidential")],
     [(44, 37, "'confidential'", None)]),
    (VISITS, [("privacyRole, value: direct-identifier", "privacyRole, value: identifier")],
     [(19, 52, "'identifier'", "direct-identifier")]),
    (VISITS, [("{from: 0, to: 90, top: true, source: Clinic handbook}",
      "{min: 0, max: 90, top: true, source: Clinic handbook}")],
     [(26, 40, "an unknown key", "from: 0"), (26, 48, "an unknown key", "to: 90")]),
    (VISITS, [("{from: 0, to: 90, top: true, source: Clinic handbook}", "{from: 0, to: 90+, source: Clinic handbook}")],
     [(26, 49, "'90+'", None)]),
    (VISITS, [("{from: 0, to: 90, top: true, source: Clinic handbook}", "0-90")],
     [(26, 32, "'0-90'", None)]),
    (VISITS, [("{from: 0, to: 90, top: true, source: Clinic handbook}", "{from: 0, to: 90, top: true}")],
     [(26, 32, "nothing", None)]),
    (VISITS, [("top: true, source: Clinic handbook}", "top: true, source: Clinic handbook, 2nd edition}")],
     [(26, 93, "words behind a comma", None)]),
    (VISITS, [("logicalType: integer", "logicalType: numeric")],
     [(23, 9, "'numeric'", None)]),
    (VISITS, [("logicalType: integer", "logicalType: boolean")],
     [(26, 32, "from and to in the domain of a column th", None)]),
    (VISITS, [("from: 2024-01-01, to: 2024-12-31", "from: 01.01.2024, to: 31.12.2024")],
     [(32, 40, "'01.01.2024'", "2024-01-01"), (32, 58, "'31.12.2024'", "2024-12-31")]),
    (VISITS, [("from: 2024-01-01, to: 2024-12-31", "from: 01/01/2024, to: 12/31/2024")],
     [(32, 40, "'01/01/2024'", "2024-01-01"), (32, 58, "'12/31/2024'", "2024-12-31")]),
    (VISITS, [("from: 2024-01-01, to: 2024-12-31", "from: 2024-01-01, to: 2024-06-31")],
     [(32, 58, "'2024-06-31'", None)]),
    (VISITS, [("from: 2024-01-01, to: 2024-12-31", "from: 2024-12-31, to: 2024-01-01")],
     [(32, 58, "'2024-01-01'", None)]),
    (VISITS, [('{values: ["2510", "2511", "3011"], source: Post office}',
      "{values: 2510, 2511, 3011, source: Post office}")],
     [(38, 54, "a list without brackets", "[2510, 2511, 3011]"),
      (38, 60, "a list without brackets", "[2510, 2511, 3011]")]),
    (VISITS, [("{name: 10 years, width: 10}", "{name: 10 years, widht: 10}")],
     [(27, 57, "an unknown key", "width: 10")]),
    (VISITS, [("{name: 10 years, width: 10}, {name: 30 years, width: 30}",
      "{name: 30 years, width: 30}, {name: 10 years, width: 10}")],
     [(27, 69, "this level splits the group '0 to 29' of", None)]),
    (VISITS, [("{name: 10 years, width: 10}", "{name: exact, width: 1}")],
     [(27, 40, "the level name 'exact' is reserved", None)]),
    (VISITS, [("part: month}", "part: months}")],
     [(33, 54, "'months'", "month")]),
    (VISITS, [("prefix: 2}", "prefix: two}")],
     [(39, 53, "'two'", None)]),
    (VISITS, [("Internal: [Heart, Lung, Unknown]", "Internal: [Heart, Lung]")],
     [(48, 17, "this level can't be made: 'Unknown' is i", None)]),
    (VISITS, [("Internal: [Heart, Lung, Unknown]", "Internal: [Haert, Lung, Unknown]")],
     [(49, 67, "the name 'Haert'", "Heart")]),
    (VISITS, [("Internal: [Heart, Lung, Unknown]", "Internal: [Heart, Lung, Unknown, Surgery]")],
     [(48, 17, "this level can't be made: 'Surgery' is i", None)]),
    (VISITS, [("tree: {Surgical: [Surgery, Maternity], Internal: [Heart, Lung, Unknown]}",
      "tree: [[Surgery, Maternity], [Heart, Lung, Unknown]]")],
     [(49, 17, "a list", None)]),
    (VISITS, [("invalid, value: level", "invalid, value: keep")],
     [(40, 33, "'keep'", None)]),
    (VISITS, [("property: privacyUnit, value: {person: patient_id, rows: 1}",
      "property: privacyUnit, value: patient_id")],
     [(11, 33, "'patient_id'", "{person: patient_id, rows: 1}")]),
    (VISITS, [("{person: patient_id, rows: 1}", "{person: patientid, rows: 1}")],
     [(11, 41, "the contract has no property 'patientid'", "patient_id")]),
    (VISITS, [("      - {property: population, value: visits-patients}\n", "")],
     [(9, 5, "no population", None)]),
    (VISITS, [("apiVersion: v3.1.0", "apiVersion: 3.1.0")],
     [(1, 1, "'3.1.0'", "v3.1.0")]),
    (VISITS, [("path: visits.csv, format: csv", "path: visits.csv, format: CSV")],
     [(7, 53, "'CSV'", None)]),
    (VISITS, [("delimiter, value: ;}", "delimiter, value: semicolon}")],
     [(7, 107, "'semicolon'", None)]),
    (VISITS, [("delimiter, value: ;}", 'delimiter, value: ","}')],
     [(7, 35, "visits.csv: the header lacks the contrac", None)]),
    (VISITS, [("mustBeGreaterThan: 100}", "mustBeAtLeast: 100}")],
     [(15, 52, "a key that the Open Data Contract Standa", "mustBeGreaterOrEqualTo: 100")]),
    (VISITS, [("mustBeGreaterThan: 100}", "greaterThan: 100}")],
     [(15, 52, "a key that the Open Data Contract Standa", "mustBeGreaterThan: 100")]),
    (VISITS, [("mustBeLessOrEqualTo: 2}", "mustBeLessOrEqualTo: 2%}")],
     [(55, 49, "'2%'", "2")]),
    (VISITS, [("metric: nullValues, unit", "metric: nulls, unit")],
     [(55, 14, "'nulls'", None)]),
    (VISITS, [("validValues: [Surgery, Maternity, Heart, Lung]", "validValues: [Surgery, Maternity, Heart, Lungs]")],
     [(53, 66, "the value 'Lungs' is not in the domain", "Lung")]),
    (VISITS, [("customProperties: [{property: privacyRole, value: direct-identifier}]",
      "customProperties: {privacyRole: direct-identifier}")],
     [(19, 9, "a mapping", None)]),
    (VISITS, [("      - name: ward\n", "      - name: age\n")],
     [(41, 9, "a second property (column) of this name", None), (12, 33, "unknown attribute", None)]),
    (VISITS, [("      - name: ward\n", "      - name: Ward\n")],
     [(41, 9, "visits.csv has no column 'Ward'; there i", "ward")]),
    (VISITS, [("      - name: age\n", "      - name:age\n")],
     [(22, 13, "a colon without a blank after it", "name: age")]),
    (VISITS_BUDGET, [("people: 300000", "people: 300.000")],
     [(4, 58, "'300.000'", None)]),
    (VISITS_BUDGET, [("people: 300000", "people: ca. 300000")],
     [(4, 58, "'ca. 300000'", None)]),
    (VISITS_BUDGET, [("unit: person:patient_id", "unit: person")],
     [(4, 74, "'person'", None)]),
    (VISITS_BUDGET, [("relation: add-remove", "relation: add_remove")],
     [(4, 99, "'add_remove'", "add-remove")]),
    (VISITS_BUDGET, [("epsilon: 4, ", "")],
     [(4, 1, "the key is missing", None)]),
    (VISITS_BUDGET, [("name: visits-patients", "name: visits patients")],
     [(3, 12, "'visits patients'", None)]),
    (VISITS_BUDGET, [("ledger: ", "ledger: sqlite:///")],
     [(4, 8, "'sqlite:///clinic-", None)]),
]  # fmt: skip
MEANT = {
    "epsilon: 0,5, ": "epsilon: 0.5, ",
    "calendar: {every: monthly}": "calendar: {every: month}",
    "mustBeAtLeast": "mustBeGreaterOrEqualTo",
}
"""The intended text, where it is not that of the READMEs."""


def problems(workshop: Workshop, policy: str = POLICY) -> list[Remark]:
    return [each for each in lint_files([workshop.root / policy])[0].remarks if each.severity != "warning"]


def test_at_least_sixty_mistakes_are_there_and_half_of_them_are_a_newcomers() -> None:
    assert len(MISTAKES) == 60
    assert len(NEWCOMERS) >= 60
    assert len(STRANGERS) >= 60
    assert len(OFFICES) >= 60
    assert len(SLIPS) >= 60
    assert len(DRAFTERS) >= 40


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("file", "edits", "told"),
    MISTAKES + NEWCOMERS,
    ids=[case[1][0][1].strip()[:50] for case in MISTAKES + NEWCOMERS],
)
def test_a_mistake_is_told_in_the_first_round_and_its_corrected_line_mends_it(
    file: str, edits: Edits, told: Told, workshop: Workshop
) -> None:
    policy = VISITS_POLICY if "visits" in file else POLICY
    if policy == VISITS_POLICY:
        write_visits(workshop)
    path = workshop.root / file
    for old, new in edits:
        workshop.edit(path, old, new)
    found = problems(workshop, policy)
    assert [(each.line, each.column) for each in found] == [(line, column) for line, column, _, _ in told]
    text = path.read_text(encoding="utf-8")
    for remark, (_, _, words, written) in zip(found, told, strict=True):
        assert words in remark.message
        assert (remark.corrected is None) == (written is None)
        if written is not None:
            assert written in (remark.corrected or "")
            path.write_text(corrected(text, remark), encoding="utf-8")
            assert remark.message not in {each.message for each in problems(workshop, policy)}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("file", "old", "new", "meant", "told"),
    STRANGERS + OFFICES + SLIPS + DRAFTERS,
    ids=[case[2].strip()[:50] for case in STRANGERS + OFFICES + SLIPS + DRAFTERS],
)
def test_a_strangers_mistake_is_told_in_the_first_round_and_corrected_lines_give_what_was_meant(
    file: str, old: str, new: str, meant: str | None, told: list[Reported], workshop: Workshop
) -> None:
    write_visits(workshop)
    path = workshop.root / file
    workshop.edit(path, old, meant or old)
    expected = read_document(path).data
    workshop.edit(path, meant or old, new)
    found = problems(workshop, VISITS_TABLES if file == VISITS_TABLES else VISITS_POLICY)
    assert [(each.line, each.column, each.corrected is not None) for each in found] == [
        (line, column, certain) for line, column, _, certain in told
    ]
    assert all(words in remark.message for remark, (*_, words, _) in zip(found, told, strict=True))
    if any(each.corrected is not None for each in found):
        for remark in (each for each in found if each.corrected is not None):
            path.write_text(corrected(path.read_text(encoding="utf-8"), remark), encoding="utf-8")
        assert read_document(path).data == expected


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("file", "edits"),
    [case[:2] for case in NEWCOMERS if any(written for *_, written in case[2])],
    ids=[case[1][0][1].strip()[:50] for case in NEWCOMERS if any(written for *_, written in case[2])],
)
def test_no_corrected_line_changes_what_the_newcomer_meant(file: str, edits: Edits, workshop: Workshop) -> None:
    """All corrected lines, written one after the other, give the file that was meant."""
    write_visits(workshop)
    path, ((old, new),) = workshop.root / file, edits
    meant = next((new.replace(each, told) for each, told in MEANT.items() if each in new), old)
    workshop.edit(path, old, meant)
    expected = read_document(path).data
    workshop.edit(path, meant, new)
    for _ in range(5):
        mending = next((each for each in problems(workshop, VISITS_POLICY) if each.corrected is not None), None)
        if mending is not None:
            path.write_text(corrected(path.read_text(encoding="utf-8"), mending), encoding="utf-8")
    assert not problems(workshop, VISITS_POLICY)
    assert read_document(path).data == expected


def test_the_example_of_the_readmes_has_no_problem(workshop: Workshop) -> None:
    write_visits(workshop)
    assert not problems(workshop, VISITS_POLICY)
    assert not problems(workshop, VISITS_TABLES)


def corrected(text: str, remark: Remark) -> str:
    """Return the text of a file with a remark's corrected line."""
    lines = text.splitlines()
    lines[(remark.line or 0) - 1] = remark.corrected or ""
    return "\n".join(lines) + "\n"


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


@pytest.mark.parametrize(
    ("own", "named"), [("clinic_a", "clinic-a"), ("clinic-a", "clinic_a"), ("clinic_a", "Clinic_a")]
)
def test_names_of_contracts_are_compared_exactly(own: str, named: str, workshop: Workshop) -> None:
    """A file may have any id; a policy states this one, and no similar one."""
    workshop.edit(workshop.contract, "id: clinic\n", f"id: {own}\n")
    workshop.edit(workshop.policy, "contract: clinic\n", f"contract: {named}\n")
    (remark,) = problems(workshop)
    assert (remark.code, remark.instead, remark.corrected) == ("CG104", own, f"  contract: {own}")


def test_a_misspelled_file_name_is_told_with_the_file_that_is_there(workshop: Workshop) -> None:
    (remark,) = problems(workshop, "policies/clinc.yaml")
    assert (remark.code, remark.instead) == ("CG106", "clinic.yaml")
    (remark,) = problems(workshop, "policies/hospital.yaml")
    assert (remark.code, remark.instead) == ("CG106", None)


def test_a_budget_of_another_unit_is_told_with_the_rows_of_a_person(workshop: Workshop) -> None:
    write_visits(workshop)
    workshop.edit(workshop.root / VISITS, "{person: patient_id, rows: 1}", "{person: patient_id, rows: 3}")
    workshop.edit(workshop.root / VISITS_BUDGET, "unit: person:patient_id", "unit: row")
    (remark,) = problems(workshop, VISITS_POLICY)
    assert remark.instead == "person:patient_id"
    assert "whose `rows` are at most 3 of each person" in (remark.expected or "")


EXPECTED = [
    ("{from: 0, to: 90,", "{from: 90, to: 0,", "if the limits are the wrong way round, from: 0, to: 90"),
    ("to: 90,", "to: 90, step: 2, precision: 3,", "a number above 0 that divides the step, such as 2 or 0.2"),
    ("{name: 10 years, width: 10}", "{name: 10 years, width: 10 years}", "in the unit of the domain"),
    (
        "Heart, Lung, Unknown], s",
        "Heart, Lung, Unknown], labels: [OP, Births], s",
        'labels: {"Surgery": OP, "Maternity": ',
    ),
    ("[Heart, Lung, Unknown]", "[Heart, Lung]", 'write "*" in the group of all others'),
    (
        "Heart, Lung, Unknown], s",
        "Heart, Lung, Unknown], labels: {Lungs: L, Lung: X}, s",
        "add it to `values`, or delete",
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), EXPECTED, ids=[new for _, new, _ in EXPECTED])
def test_what_is_expected_tells_what_to_write(old: str, new: str, expected: str, workshop: Workshop) -> None:
    write_visits(workshop)
    workshop.edit(workshop.root / VISITS, old, new)
    (remark,) = problems(workshop, VISITS_POLICY)
    assert expected in (remark.expected or "")


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
        ("10^-9", "1e-9", "1e-9"), ("10**3", "1e3", "1000"), ("5e4", None, "50000"),
        ("1.5E+3", None, "1500"), ("1.5e0", None, None), ("5e-1", None, None),
        ("2,500", None, "2500"), ("1,2,3", None, None),
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
     ("31/12/2030", "2030-12-31"), ("12/31/2030", "2030-12-31"), ("2/2/2030", "2030-02-02"), ("31/31/2030", None),
     ("31.13.2030", None), ("2030", None), ("2030-1-2", "2030-01-02"), ("20301231", "2030-12-31"), ("20301331", None)],
)  # fmt: skip
def test_a_day_is_written_anew_only_if_it_can_be_no_other(text: str, day: str | None) -> None:
    assert plain_day(text) == day
