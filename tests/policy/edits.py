"""Edits of the bundled files by policy owners: twenty good ones, and bad and dangerous ones with their remarks."""

from dataclasses import dataclass

ROWS, TABLES = "policies/census_income.yaml", "policies/census_income_tables.yaml"
SYNTHETIC, BUDGET = "policies/census_income_synthetic.yaml", "policies/budgets/us_cps_1994_95.yaml"
CONTRACT, CASES = "data_contracts/census_income.yaml", "policies/cases/census_income.yaml"
FORM = "policies/questionnaires/concertgebouw.yaml"
LEVELS, MARGINS = "data_contracts/levels/education.csv", "data_contracts/public/sex.csv"

Change = tuple[str, str, str]
"""A file, the old text, and the new text."""
AS_IT_WAS = "the line as it was"
PRIVACY = "privacy: {epsilon: 1, delta: 1e-9}"

GOOD: list[list[Change]] = [
    [(ROWS, PRIVACY, 'privacy: {epsilon: "1", delta: 0.000000001}')],
    [(ROWS, "version: 2", "version: 3")],
    [(ROWS, "owner: disclosure-review", "owner: board of directors")],
    [(ROWS, "k: least ", "k: 45 ")],
    [(ROWS, "age: 5 years", "age: 10 years")],
    [(ROWS, "beta: 0.3", "beta: 0.25"), (ROWS, "released_rows, at_least: 80000", "released_rows, at_least: 60000")],
    [(ROWS, "      marital_status: 2 groups\n", ""), (ROWS, "sex, marital_status,", "sex,")],
    [(ROWS, "pso_bound, at_most: 0.02", "pso_bound, at_most: 0.01")],
    [(ROWS, "singletons, at_most: 500", "singletons, at_most: 450")],
    [(ROWS, "at_least: 80000}", "at_least: 80000, reason: fewer are no use}")],
    [(ROWS, "[parquet, csv]", "[csv]")],
    [(ROWS, "tables: [{all: 2}]", "tables: [{all: 1}]")],
    [(TABLES, "noise: gaussian ", "noise: laplace ")],
    [(TABLES, "trusted_share, at_least: 0.6", "trusted_share, at_least: 0.5")],
    [(SYNTHETIC, "education: exact", "education: 6 groups")],
    [(BUDGET, "epsilon: 4", "epsilon: 6")],
    [(BUDGET, "people: 300000", "people: 310000")],
    [(CONTRACT, "name: Census income", "name: Census income of two years")],
    [(CASES, "value: 79999", "value: 70000")],
    [(FORM, "title:", "title: Of")],
]


@dataclass(frozen=True)
class Bad:
    """A change that makes a file wrong.

    It has the code, the text that the problem points at, words of its message, and the corrected line (None: there is
    none). `checked` is the file with the problem, if that is another one; `also` is the number of further problems.
    """

    change: Change
    code: str
    at: str
    words: str
    corrected: str | None = None
    checked: str | None = None
    also: int = 0


def _back(change: Change, code: str, at: str, words: str, checked: str | None = None, also: int = 0) -> Bad:
    return Bad(change, code, at, words, AS_IT_WAS, checked, also)


BAD: list[Bad] = [
    # keys
    _back((ROWS, PRIVACY, "privcy: {epsilon: 1, delta: 1e-9}"), "CG101", "privcy", "unknown key", also=1),
    _back((ROWS, "  contract: census", "  Contract: census"), "CG101", "Contract", "unknown key", also=1),
    _back((ROWS, "with: {weight: 1e-9}", "with: {wieght: 1e-9}"), "CG101", "wieght", "unknown option"),
    _back((ROWS, "at_least: 80000", "at_lest: 80000"), "CG101", "at_lest", "unknown key"),
    _back((BUDGET, "relation:", "relaton:"), "CG101", "relaton", "unknown key"),
    _back((CONTRACT, "property: rowsAtMost", "property: rowsAtMots"), "CG101", "property: rowsAtMots", "unknown"),
    _back((CONTRACT, "top: true", "tpo: true"), "CG101", "tpo", "unknown key"),
    Bad((BUDGET, "people: 300000", "people: 300,000"), "CG103", "000, unit", "a comma in a number", AS_IT_WAS),
    Bad((CONTRACT, "status: active", "status: active\nstatsu: x"), "CG101", "statsu", "a key that the Open Data "
        "Contract Standard"),
    Bad((ROWS, "  owner: disclosure-review\n", ""), "CG102", "metadata:", "metadata.owner: the key is missing"),
    Bad((BUDGET, "kind: PrivacyBudget\n", ""), "CG102", "apiVersion", "kind: the key is missing"),
    Bad((ROWS, "  owner: disclosure-review", "  owner: a\n  owner: b"), "CG105", "owner: b\n", "is there twice"),
    # names
    _back((ROWS, "kind: ReleasePolicy", "kind: releasepolicy"), "CG103", "kind: release", "'releasepolicy'"),
    _back((ROWS, "safe_k_anonymity", "safe_k_anonimity"), "CG103", "kind: safe_k", "'safe_k_anonimity'"),
    _back((ROWS, "measure: pso_bound", "measure: pso_buond"), "CG104", "measure: pso_buond", "unknown measure"),
    _back((ROWS, "marital_status: 2 groups", "marital_status: 2 gruops"), "CG104", "marital_status: 2", "'2 gruops'"),
    _back((ROWS, "      occupation: 2", "      ocupation: 2"), "CG104", "ocupation", "unknown attribute", also=1),
    _back((ROWS, "over: [age, sex", "over: [Age, sex"), "CG104", "Age", "'Age' is not released"),
    _back((ROWS, "severity: advise", "severity: advice"), "CG103", "severity: advice", "'advice'"),
    _back((ROWS, "[parquet, csv]", "[parquett, csv]"), "CG103", "parquett", "'parquett'"),
    _back((ROWS, "contract: census-income", "contract: census-incme"), "CG104", "contract: cen", "no file has the id"),
    _back((TABLES, "noise: gaussian ", "noise: gausian "), "CG103", "noise", "'gausian'"),
    _back((TABLES, "education: 6 groups", "education: 6 grups"), "CG104", "education", "unknown level '6 grups'"),
    _back((TABLES, "{mean: age", "{mean: agee"), "CG104", "mean: agee", "unknown attribute 'agee'"),
    _back((SYNTHETIC, "weeks_worked: 6 bands", "weeks_worked: 6 band"), "CG104", "weeks_worked", "unknown level"),
    _back((BUDGET, "add-remove", "add_remove"), "CG103", "relation", "'add_remove'"),
    _back((CONTRACT, "value: quasi-identifier", "value: quasi-identifer"), "CG103", "value: quasi-identifer", "Role"),
    _back((CASES, "gate: guarantee_epsilon,", "gate: "
        "guarantee_epsilom,"), "CG104", "gate: guarantee_epsilom", "is not a gate"),
    _back((CASES, "{outcome: published}", "{outcome: publish}"), "CG103", "outcome: publish}", "'publish'"),
    _back((CASES, "policy: census_income", "policy: census_incme"), "CG104", "policy: census_incme", "no policy"),
    _back((CASES, "{pso_bound: fail}", "{pso_bound: Fail}"), "CG103", "pso_bound: Fail", "'Fail'"),
    Bad((ROWS, "age: 5 years", "age: 15 years"), "CG104", "age: 15", "unknown level '15 years'"),  # 5, or 10?
    Bad((ROWS, "over: [age, sex", "over: [race, sex"), "CG104", "race", "'race' is not released"),
    Bad((ROWS, "us-cps-1994-95", "us-cps-1994-96"), "CG104", "budget", "no file has the id 'us-cps-1994-96'"),
    Bad((ROWS, "kind: ReleasePolicy", "kind: Deployment"), "CG103", "kind: Dep", "'Deployment'"),
    Bad((ROWS, "crowdgate/v1", "crowdgate/v2"), "CG103", "apiVersion", "'crowdgate/v2'"),
    Bad((CONTRACT, "format: parquet", "format: parqet"), "CG111", "format: parqet", "'parqet'"),  # a server's line
    Bad((CASES, "name: more-than-delta-1e-9", "name: more-than-epsilon-1"), "CG105", "name: more-than-epsilon-1",
        "a second case"),
    # values
    _back((CONTRACT, "top: true", "top: True"), "CG103", "top: True", "age.domain.top: 'True'"),
    _back((CONTRACT, "required: true", 'required: "true"'), "CG103", 'required: "true"', "age.required: 'true'"),
    _back((CONTRACT, "metric: rowCount", "metric: rowcount"), "CG103", "metric: rowcount", "'rowcount'"),
    Bad((CONTRACT, "version: 1.0.0", "version: 1.0"), "CG103", "version: 1.0", "version: '1.0'", 'version: "1.0"'),
    Bad((ROWS, "formats: [parquet, csv]", "formats: parquet"), "CG103", "formats", "spec.publish.formats: 'parquet'",
        "  publish: {to: releases, formats: [parquet]}"),
    _back((ROWS, "contract: census-income", "contract: [census-income]"), "CG103", "contract: [", "a list"),
    Bad((ROWS, "k: least ", "k: 10 "), "CG109", "k: 10", "10 does not reach",
        "    k: 29                              # or a number, refused if it does not reach the guarantee"),
    _back((ROWS, "k: least ", "k: last "), "CG103", "k: last", "'last'"),
    Bad((ROWS, "beta: 0.3", "beta: 5"), "CG103", "beta: 5", "'5'"),  # 1 would be no sampling at all
    Bad((ROWS, PRIVACY, "privacy: {epsilon: one, delta: 1e-9}"), "CG103", "epsilon: one", "'one'"),
    Bad((ROWS, PRIVACY, "privacy: {epsilon: 2000000, delta: 1e-9}"), "CG103", "epsilon: 2000000", "'2000000'"),
    Bad((ROWS, PRIVACY, "privacy: {epsilon: 1, delta: -1e-9}"), "CG103", "delta: -1e-9", "'-1e-9'"),
    Bad((ROWS, "version: 2", "version: 2026-draft"), "CG103", "version: 2026", "metadata.version: '2026-draft'"),
    Bad((ROWS, "to: releases", "to: /tmp/out"), "CG113", "to: /tmp", "not inside the working copy"),
    Bad((CONTRACT, "public/age.csv", "public/aeg.csv"), "CG106", "value: public/aeg.csv", "'public/aeg.csv'"),
    Bad((CASES, "value: 60, high: 100.5", "value: 600, high: 100.5"), "CG103", "{gate: expected_s", "the keys gate"),
    # what does not fit together
    Bad((ROWS, "at_least: 80000", "at_least: 80000, at_most: 9"), "CG103", "{measure: released_rows", "the keys "
        "measure, at_least, at_most"),
    Bad((ROWS, "0.25, severity: advise", "0.25"), "CG110", "{measure: suppressed_share", "is confidential"),
    Bad((ROWS, ", charge: {share: 0.05}", ""), "CG110", "{measure: singletons", "has no charge"),
    Bad((ROWS, "charge: {share: 0.05}", "charge: {share: 0.9}"), "CG109", "mechanism:", "add up to 1.2"),
    Bad((TABLES, "trusted_share,", "smallest_class,"), "CG110", "measure: smallest_class", "does not measure"),
    Bad((BUDGET, "unit: row", "unit: person"), "CG108", "unit: person", "'person'", checked=ROWS),
    Bad((CONTRACT, "{name: 10 years, width: 10}", "{name: 10 years, width: 12}"), "CG111", "{name: 10 years, width: 12",
        "this level splits the group '10 to 14'"),
    Bad((MARGINS, "Female,155775", "Female,many"), "CG112", "Female", "the count 'many'"),
    Bad((LEVELS, "Children,Children,Children", "Children,Children"), "CG112", "Children,Children\nLess", "2 cells"),
    # no YAML
    Bad((ROWS, "  contract: census", "\tcontract: census"), "CG107", "\tcontract", "a tab"),
    Bad((ROWS, "contract: census-income", "contract: &c census-income"), "CG107", "&c", "a YAML anchor or alias"),
]  # fmt: skip

LIMITS = [
    (ROWS, "guarantee_epsilon, at_most: 1}", "guarantee_epsilon, at_most: 1000}"),
    (ROWS, "guarantee_delta, at_most: 1e-9}", "guarantee_delta, at_most: 0.1}"),
    (BUDGET, "epsilon: 4, delta: 1e-8", "epsilon: 400, delta: 0.1"),
]
"""Gates and a budget that allow nearly everything."""
HARDLY = "invalid_share, of: age, at_most: 0.0001, charge: {share: 0.05}}"
USELESS = (ROWS, "pso_bound, at_most: 0.02", "pso_bound, at_most: 1")


@dataclass(frozen=True)
class Dangerous:
    """Allowed changes, and the codes of their warnings: each with the text that the warning points at."""

    changes: list[Change]
    codes: dict[str, str]


DANGEROUS: list[Dangerous] = [
    Dangerous([*LIMITS, USELESS, (ROWS, PRIVACY, "privacy: {epsilon: 20, delta: 1e-3}")],
              {"CG202": "delta: 1e-3}", "CG203": "epsilon: 20", "CG204": "at_most: 1, with", "CG213": "epsilon: 400"}),
    Dangerous([*LIMITS, (ROWS, "pso_bound, at_most: 0.02", "pso_bound, at_most: 0.4"),
               (ROWS, PRIVACY, "privacy: {epsilon: 1, delta: 1e-6}")], {"CG201": "delta: 1e-6"}),
    Dangerous([*LIMITS, USELESS, (ROWS, PRIVACY, "privacy: {epsilon: 1, delta: 1e-5}")],
              {"CG202": "delta: 1e-5", "CG204": "at_most: 1, with", "CG213": "epsilon: 400"}),
    Dangerous([*LIMITS, USELESS, (ROWS, PRIVACY, "privacy: {epsilon: 3.5, delta: 1e-9}")],
              {"CG203": "epsilon: 3.5", "CG204": "at_most: 1, with", "CG213": "epsilon: 400"}),
    Dangerous([(ROWS, "pso_bound, at_most: 0.02", "pso_bound, at_most: 0.99")], {"CG204": "at_most: 0.99"}),
    Dangerous([(TABLES, "    - {measure: pso_bound, at_most: 0.02, with: {weight: 1e-9}}\n", "")], {"CG205": "gates:"}),
    Dangerous([(ROWS, "suppressed_share, at_most: 0.25", "suppressed_share, at_most: -1")],
              {"CG206": "{measure: suppressed_share"}),
    Dangerous([(ROWS, "released_rows, at_least: 80000", "released_rows, at_least: 0")],
              {"CG207": "{measure: released_rows"}),
    Dangerous([(ROWS, "released_rows, at_least: 80000", "smallest_class, at_least: 1")],
              {"CG207": "{measure: smallest_class"}),
    Dangerous([(ROWS, "released_rows, at_least: 80000}", HARDLY)], {"CG208": "{measure: invalid_share"}),
    Dangerous([(ROWS, "k: least ", "k: 200 ")], {"CG209": "k: 200"}),
    Dangerous([(BUDGET, "epsilon: 4,", "epsilon: 40,"), (ROWS, "pso_bound,", "pso_bound, severity: advise,")],
              {"CG213": "epsilon: 40,", "CG221": "severity: advise, at_most"}),
    Dangerous([(ROWS, "singletons, at_most: 500", "singletons, at_least: 500")], {"CG214": "at_least: 500"}),
    Dangerous([(TABLES, "trusted_share, at_least: 0.6", "trusted_share, at_most: 0.6")], {"CG214": "at_most: 0.6"}),
    Dangerous([(BUDGET, "epsilon: 4", "epsilon: 1.5")], {"CG210": "epsilon: 1.5"}),
]  # fmt: skip
"""Further ones need a release: a gate that the last release would fail (tests/planning/test_budget_left.py), and a
version used with other files (CG211, tests/planning/test_versions.py).
"""
