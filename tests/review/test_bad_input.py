"""Bad input of tables and contracts: one clear error each, with line and column, and never a cell."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdgate.review.files import Remark, lint_files
from tests.review.newcomer import VISITS, VISITS_POLICY, write_visits
from tests.workshop import MARK, Workshop

TABLE = "data_contracts/visits.csv"
HEADER = "patient_id;age;admitted;postcode;ward\n"
CELLS = f"{MARK};1;2;3;4;5\n"
MANY = ";".join(f"c{i}" for i in range(5000))
AREAS, AGES = 'values: ["2510", "2511", "3011"]', "{name: 10 years, width: 10}, {name: 30 years, width: 30}"
RULE = "metric: nullValues, unit: percent, mustBeLessOrEqualTo: 2}"
INCREASING = "implementation: {type: expect_column_values_to_be_increasing, kwargs: {}}}"
BAD = {
    # the file, its text and what it says instead; line and column in the contract, and words of the error
    "a name twice": (TABLE, HEADER, f"patient_id;age;admitted;postcode;age;ward\n{CELLS}", 7, 35,
                     "column 5 of the header has the name of a column before it"),
    "an empty name": (TABLE, HEADER, f"patient_id;age;;postcode;ward\n{CELLS}", 28, 9, "no column 'admitted'"),
    "labels that collide": (VISITS, AREAS, f"{AREAS}, labels: {{2510: City, 2511: City}}", 38, 74,
                            "two values have the label 'City'"),
    "a label that is another code": (VISITS, AREAS, f"{AREAS}, labels: {{2510: '3011'}}", 38, 74,
                                     "two values have the label '3011'"),
    "cuts above the domain": (VISITS, AGES, "{name: bands, cuts: [20, 95]}", 27, 40, "above the cut 95"),
    "cuts in another order": (VISITS, AGES, "{name: bands, cuts: [60, 20]}", 27, 40, "cuts must rise"),
    "bands with a gap": (VISITS, AGES, "{name: bands, file: bands.csv}", 27, 40, "has no row for '50'"),
    "a code outside the classification": (VISITS, "Lung, Unknown], source", "Lung, Unknown, Eye], source", 48, 17,
                                          "'Eye' is in no group"),
    "an expectation that needs rows": (VISITS, RULE, f"name: up, type: custom, engine: greatExpectations, {INCREASING}",
                                       55, 82, "'expect_column_values_to_be_increasing'"),
    **{f"{words}, which needs rows": (
        VISITS, RULE,
        f"name: up, type: custom, engine: greatExpectations, implementation: {{type: {words}, kwargs: {{}}}}}}",
        55, 82, f"'{words}'",
    ) for words in ("expect_column_values_to_be_decreasing", "expect_compound_columns_to_be_unique",
                    "expect_select_column_values_to_be_unique_within_record")},
}  # fmt: skip


def errors(workshop: Workshop, policy: str = VISITS_POLICY) -> list[Remark]:
    return [each for each in lint_files([workshop.root / policy])[0].remarks if each.severity != "warning"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_error_with_line_and_column_and_no_cell(name: str, workshop: Workshop) -> None:
    file, text, bad, line, column, words = BAD[name]
    write_visits(workshop)
    ages = "".join(f"{age},young\n" for age in range(91) if age != 50)
    (workshop.root / "data_contracts" / "bands.csv").write_text(f"age,bands\n{ages}", encoding="utf-8")
    workshop.edit(workshop.root / file, text, bad)
    (error,) = errors(workshop)
    assert (error.path.endswith(VISITS), error.line, error.column) == (True, line, column)
    assert words in error.message
    assert MARK not in str(error)


@pytest.mark.parametrize(
    "header",
    [f"\N{ZERO WIDTH NO-BREAK SPACE}{HEADER}", f"{HEADER.strip()};{MANY}\n"],
    ids=["a byte-order mark", "5,000 more columns"],
)
def test_a_byte_order_mark_and_columns_that_nobody_names_are_no_problem(header: str, workshop: Workshop) -> None:
    write_visits(workshop)
    workshop.edit(workshop.root / TABLE, HEADER, header + CELLS)
    assert not errors(workshop)


def test_a_header_that_lies_about_a_type_gets_one_error(workshop: Workshop) -> None:
    """The footer says that ages are true or false."""
    lie = pa.table({"patient": [MARK], "age": [True], "ward": [MARK], "note": [MARK]})
    pq.write_table(lie, workshop.data)
    (error,) = errors(workshop, "policies/clinic.yaml")
    assert (error.line, error.column) == (18, 9)
    assert error.message == "age: the column holds true or false"
    assert MARK not in str(error)
