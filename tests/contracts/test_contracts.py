"""Contracts: the meaning of valid ones, and a ConfigurationError for any other."""

import csv
import io
import random
import re
import string
from fractions import Fraction
from math import inf, nextafter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crowdgate.contracts.contract import Contract, Fact, Role, RowRule, TableRule
from crowdgate.contracts.reading import read_contract
from crowdgate.domain import Domain
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.hierarchy import Hierarchy
from crowdgate.planning.bundle import KNOWN
from tests.contracts.clinic import CONTRACT, write
from tests.contracts.test_contract_refusals import MEAN
from tests.examples import examples
from tests.strategies import hierarchies

README = Path(__file__).parents[2] / "data_contracts" / "README.md"


@pytest.fixture
def contract(tmp_path: Path) -> Contract:
    return read_contract(write(tmp_path), KNOWN.servers)


def _labels(contract: Contract, name: str, level: str) -> dict[str, str]:
    attribute = contract.by_name[name]
    assert attribute.hierarchy is not None
    found = attribute.hierarchy.level(level)
    exact = attribute.hierarchy.level("exact")
    return {exact.labels[code]: found.labels[above] for code, above in zip(exact.codes, found.codes, strict=True)}


shared_folder = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(60)
)
PIECES = [
    *(
        '"\\ud800"',
        '"\\0"',
        "{}",
        "[]",
        "",
        "{a: b}",
        "[1]",
        "1e99",
        "-1",
        "NaN",
        '"("',
        '"a{99999999999}"',
        "..",
        "true",
    ),
    *(
        "domain",
        "levels",
        "{file: towns.csv, column: 7}",
        "=cmd",
        "v3.1.0",
        "person: ",
        "\n",
        "  ",
        "- ",
        ", ",
        "]",
        "}",
    ),
]


@shared_folder
@given(st.integers(0, 2**32), st.integers(1, 6))
@example(0, 1)
def test_a_mutated_contract_gives_a_contract_or_a_configuration_error(tmp_path: Path, seed: int, times: int) -> None:
    chance = random.Random(seed)
    text = CONTRACT
    for _ in range(times):
        spots = [match.span() for match in re.finditer(r"[-\w.]+|\{[^{}]*\}|\[[^\[\]]*\]", text)]
        start, end = chance.choice(spots)
        text = text[:start] + chance.choice([*PIECES, text[slice(*chance.choice(spots))]]) + text[end:]
    _read_or_refuse(write(tmp_path, text))


@shared_folder
@given(
    st.dictionaries(st.sampled_from(["towns_csv", "age_csv"]), st.text(string.printable + "é\x00\ud800", max_size=40))
)
@example({"towns_csv": 'town,half\n"Aachen', "age_csv": "value,count\n1" + "," * 200_000})
def test_any_levels_and_margins_files_give_a_contract_or_a_configuration_error(
    tmp_path: Path, files: dict[str, str]
) -> None:
    _read_or_refuse(write(tmp_path, **files))


def _read_or_refuse(path: Path) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        read_contract(path, KNOWN.servers)
    except ConfigurationError as error:
        problems = error.problems
        assert problems
        str(error).encode()
    assert all(len(str(problem).splitlines()) == 1 for problem in problems)


ONE_COLUMN = """\
apiVersion: v3.1.0
kind: DataContract
id: one
version: 1.0.0
status: active
servers: [{server: here, type: local, path: t.parquet, format: parquet}]
schema:
  - name: t
    customProperties: [{property: privacyUnit, value: row}, {property: population, value: p}]
    properties:
      - name: c
        logicalType: string
        customProperties:
          - {property: privacyRole, value: other}
          - {property: domain, value: {values: {file: towns.csv, column: exact}, source: book}}
          - {property: levels, value: %s}
"""


@shared_folder
@given(hierarchies())
def test_values_and_levels_in_files_are_read_as_they_were_written(
    tmp_path: Path, built: tuple[Domain, Hierarchy]
) -> None:
    domain, levels = built[0], built[1].levels[:-1]
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(level.name for level in levels)
    rows.writerows(zip(*([level.labels[code] for code in level.codes[: len(domain)]] for level in levels), strict=True))
    named = ", ".join(f"{{name: {level.name}, file: towns.csv}}" for level in levels[1:])
    read = read_contract(write(tmp_path, ONE_COLUMN % f"[{named}]", towns_csv=text.getvalue()), KNOWN.servers).by_name[
        "c"
    ]
    assert read.domain is not None
    assert read.hierarchy is not None
    assert read.domain.labels == domain.labels
    for level in levels:
        assert read.hierarchy.level(level.name).codes.tolist() == level.codes[: len(domain)].tolist()


def test_a_contract_says_whose_rows_are_where(contract: Contract, tmp_path: Path) -> None:
    assert (contract.id, contract.version, contract.population) == ("clinic", "1.0.0", "clinic-patients")
    assert (str(contract.unit), contract.public, contract.rows_at_most) == ("person:patient", False, 5000)
    server = contract.server
    assert (server.path, server.reader, server.settings["delimiter"]) == (tmp_path / "visits.csv", "csv", ";")
    assert [path.name for path in contract.files] == ["clinic.yaml", "age.csv", "towns.csv"]


def test_only_attributes_with_a_domain_are_releasable(contract: Contract) -> None:
    releasable = [attribute.name for attribute in contract.attributes if attribute.releasable]
    assert releasable == ["age", "dose", "day", "town", "ward"]
    assert contract.by_name["patient"].role is Role.DIRECT_IDENTIFIER
    assert contract.by_name["ward"].description == "Where"


def test_words_that_yaml_may_take_for_something_else_stay_words(contract: Contract) -> None:
    assert contract.by_name["ward"].domain is not None
    assert contract.by_name["ward"].domain.labels == ("heart", "lung", "NO", "unknown")


def test_numbers_are_read_exactly(contract: Contract) -> None:
    dose, age = contract.by_name["dose"].domain, contract.by_name["age"].domain
    assert dose is not None
    assert age is not None
    assert dose.grid is not None
    assert age.grid is not None
    assert (dose.grid.step, dose.grid.size, dose.grid.whole) == (Fraction(1, 10), 11, False)
    assert age.grid.whole
    assert age.labels == ("−10 or less", "−5", "0", "5", "10", "15", "20+")


@pytest.mark.parametrize(
    ("name", "level", "exact", "label"),
    [
        ("age", "10 years", "5", "0 to 5"),
        ("age", "10 years", "20+", "20+"),
        ("age", "sign", "−10 or less", "below"),
        ("day", "month", "2024-02-29", "2024-02"),
        ("town", "letter", "Apolda", "A*****"),
        ("town", "side", "Bonn", "west"),
        ("town", "side", "(invalid)", "(invalid)"),
        ("town", "any", "(invalid)", "*"),
        ("ward", "chest", "NO", "other"),
    ],
)
def test_each_level_kind_groups_the_domain(contract: Contract, name: str, level: str, exact: str, label: str) -> None:
    assert _labels(contract, name, level)[exact] == label


def test_a_tree_may_group_the_level_before_it(tmp_path: Path) -> None:
    text = CONTRACT.replace(
        "other: [NO, unknown]}}", "other: [NO, unknown]}}, {name: all, tree: {ward: [chest, other]}}"
    )
    assert set(_labels(read_contract(write(tmp_path, text), KNOWN.servers), "ward", "all").values()) == {"ward"}


def test_margins_count_nothing_where_the_file_has_no_row(contract: Contract) -> None:
    assert contract.by_name["age"].margins == (1, 0, 5, 0, 0, 0, 7)


def test_row_rules_are_worked_out_on_the_domain_and_hold_together(contract: Contract) -> None:
    known = RowRule("known", "ward", ("heart", "lung", "NO"))
    assert contract.row_rules == (known, RowRule("lower", "ward", ("heart", "lung", "unknown")))
    accepted = contract.by_name["ward"].accepted
    assert accepted is not None
    assert accepted.tolist() == [True, True, False, False]
    assert contract.by_name["town"].accepted is None


def test_table_rules_carry_their_limits(contract: Contract) -> None:
    assert set(contract.table_rules) == {
        TableRule("duplicate_share of patient", Fact.DUPLICATE_SHARE, "patient", 0, 0),
        TableRule("share", Fact.INVALID_SHARE, "town", None, nextafter(0.025, -inf)),
        TableRule("rows", Fact.ROWS, None, 10, 5000),
        TableRule("rowsAtMost", Fact.ROWS, None, None, 5000),
    }


def test_an_expectation_has_the_arguments_of_great_expectations(contract: Contract) -> None:
    (found,) = contract.expectations
    assert (found.name, found.type, found.columns) == ("mean", "expect_column_mean_to_be_between", ("age",))
    assert found.kwargs == {"column": "age", "min_value": 3.5, "max_value": 9}


COUNTS_DECIDE = [
    (
        "expect_column_values_to_be_in_set, kwargs: {value_set: [0, 10.0, 20], mostly: 0.9}",
        {"value_set": [0, 10, 20], "mostly": 0.9},
    ),
    ("expect_column_values_to_be_unique, kwargs: {}", {}),
    ("expect_column_min_to_be_between, kwargs: {max_value: -5}", {"max_value": -5}),
    (
        "expect_column_quantile_values_to_be_between, kwargs: {quantile_ranges: "
        "{quantiles: [0.5], value_ranges: [[3, null]]}}",
        {"quantile_ranges": {"quantiles": [0.5], "value_ranges": [[3, None]]}},
    ),
    (
        "expect_column_max_to_be_between, kwargs: {max_value: 90, strict_max: true}",
        {"max_value": 90, "strict_max": True},
    ),
]


@pytest.mark.parametrize(("stated", "kwargs"), COUNTS_DECIDE)
def test_expectations_take_values_of_the_domain(tmp_path: Path, stated: str, kwargs: dict[str, object]) -> None:
    path = write(tmp_path, CONTRACT.replace(MEAN, f"{{type: {stated}}}"))
    (found,) = read_contract(path, KNOWN.servers).expectations
    assert found.kwargs == {"column": "age", **kwargs}
    assert found.type == stated.partition(",")[0]


def test_a_table_states_expectations_about_two_columns(tmp_path: Path) -> None:
    pairs = "kwargs: {column_A: ward, column_B: age, value_pairs_set: [[heart, 10]]}"
    pairs = f"{{type: expect_column_pair_values_to_be_in_set, {pairs}}}"
    rule = f"{{name: p, type: custom, engine: greatExpectations, implementation: {pairs}}}"
    text = CONTRACT.replace("    quality:\n", f"    quality:\n      - {rule}\n", 1)
    assert text != CONTRACT
    found = read_contract(write(tmp_path, text), KNOWN.servers).expectations
    (pair,) = [each for each in found if each.name == "p"]
    assert (pair.columns, pair.kwargs["value_pairs_set"]) == (("ward", "age"), [["heart", 10]])


def test_a_mean_needs_no_engine(tmp_path: Path) -> None:
    stated = f"engine: greatExpectations, implementation: {MEAN}"
    own = "engine: crowdgate, implementation: {metric: mean, mustBeGreaterThan: 3.5}"
    assert stated in CONTRACT
    contract = read_contract(write(tmp_path, CONTRACT.replace(stated, own)), KNOWN.servers)
    assert TableRule("mean", Fact.MEAN, "age", nextafter(3.5, inf), None) in contract.table_rules
    assert contract.expectations == ()


@pytest.mark.parametrize(
    ("operator", "low", "high"),
    [
        ("mustBe: 7", 7, 7),
        ("mustBeGreaterThan: 7", nextafter(7, inf), None),
        ("mustBeGreaterOrEqualTo: 7", 7, None),
        ("mustBeLessThan: 7", None, nextafter(7, -inf)),
        ("mustBeLessOrEqualTo: 7", None, 7),
        ("mustBeBetween: [0, 7]", 0, 7),
    ],
)
def test_each_operator_of_the_standard_has_its_limits(
    tmp_path: Path, operator: str, low: float | None, high: float | None
) -> None:
    rules = read_contract(
        write(tmp_path, CONTRACT.replace("mustBeBetween: [10, 5000]", operator)), KNOWN.servers
    ).table_rules
    assert TableRule("rows", Fact.ROWS, None, low, high) in rules


def test_custom_properties_of_another_vendor_are_left_alone(tmp_path: Path) -> None:
    text = CONTRACT.replace(
        "value: clinic-patients}", "value: clinic-patients}\n      - {property: x, value: 1, vendor: other}"
    )
    assert read_contract(write(tmp_path, text), KNOWN.servers).population == "clinic-patients"


def test_the_example_in_the_readme_is_a_contract(tmp_path: Path) -> None:
    text = README.read_text().split("```yaml\n")[1].split("```")[0]
    contract = read_contract(write(tmp_path, text), KNOWN.servers)
    assert (contract.id, len(contract.attributes), len(contract.row_rules)) == ("clinic-visits", 5, 1)
    assert _labels(contract, "postcode", "area")["2511"] == "25**"
