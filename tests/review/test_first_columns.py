"""The first columns and levels of a new policy: by the contract's analyses, or by the roles of its columns."""

from pathlib import Path

import pytest
import yaml

from crowdgate.api import read_contract
from crowdgate.errors import ConfigurationError
from crowdgate.planning.plan import plan_policy
from crowdgate.releases.working_copy import init
from crowdgate.review.templates.first_levels import choose_levels
from crowdgate.review.templates.new_policy import NewPolicyRequest, create_policy
from crowdgate.review.templates.templates import TEMPLATES
from tests.workshop import Workshop

PUBLIC = "      - {property: public, value: true}\n"
ANALYSES = """\
      - property: analysis
        value:
          - {table: [education, race]}
          - {share: {income: more than 50000}, among: {age: [20 to 24, 25 to 29]}}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return init(tmp_path / "home", "board")


def with_analyses(home: Path, analyses: str = ANALYSES) -> Path:
    path = home / "data_contracts" / "census_income.yaml"
    text = path.read_text(encoding="utf-8")
    line = next(each for each in text.splitlines(keepends=True) if "property: population" in each)
    path.write_text(text.replace(line, line + analyses), encoding="utf-8")
    return path


def columns(home: Path, template: str) -> dict[str, str]:
    contract = read_contract(home / "data_contracts" / "census_income.yaml")
    return choose_levels(contract, TEMPLATES[template].reach, 300_000, None)


@pytest.mark.thorough
@pytest.mark.parametrize("template", TEMPLATES)
def test_known_columns_come_first_and_a_secret_is_among_them(template: str, home: Path) -> None:
    contract = read_contract(home / "data_contracts" / "census_income.yaml")
    roles = [contract.by_name[name] for name in columns(home, template)]
    assert sum(each.is_secret and not each.is_known for each in roles) >= 1
    assert sum(each.is_known for each in roles) >= 1
    first = next(each.name for each in contract.attributes if each.is_known)
    assert first in columns(home, template)


def test_a_contract_that_lists_its_secrets_last_publishes_one(workshop: Workshop) -> None:
    """The order of columns in the file does not matter: with room for one class of two columns, one is the secret."""
    contract = read_contract(workshop.contract)
    turned = type(contract)(**{**vars(contract), "attributes": contract.attributes[::-1]})
    reach = TEMPLATES["public-use"].reach
    assert {*choose_levels(contract, reach, 1000, None)} == {*choose_levels(turned, reach, 1000, None)}


def test_analyses_decide_columns_levels_and_margins(home: Path) -> None:
    contract = read_contract(with_analyses(home))
    assert [each.columns for each in contract.analyses] == [("education", "race"), ("income", "age")]
    chosen = columns(home, "public-use")
    assert {*chosen} <= {"education", "race", "income", "age"}
    made = create_policy(home, NewPolicyRequest("research", "census-income", "board", "needed"))
    stated = yaml.safe_load(made.files[0].read_text(encoding="utf-8"))["spec"]["mechanism"]
    hierarchy = contract.by_name["age"].hierarchy
    assert hierarchy is not None
    if "age" in stated["attributes"]:
        assert {"20 to 24", "25 to 29"} <= {*hierarchy.level(stated["attributes"]["age"]).labels}
    pairs = [each["attributes"] for each in stated["margins"]["tables"]]
    assert {frozenset(each) for each in pairs} <= {frozenset({"education", "race"}), frozenset({"income", "age"})}
    assert pairs
    assert plan_policy(made.files[0]).gates
    assert made.advice is not None


def test_advice_is_to_use_tables_if_these_answer_all_analyses(home: Path) -> None:
    with_analyses(home, "      - {property: analysis, value: [{table: [sex, income]}]}\n")
    made = create_policy(home, NewPolicyRequest("public-use", "census-income", "board", "rows"))
    assert made.advice == ("No analysis of the contract has more than 2 columns: use --template tables for all.")
    tables = create_policy(home, NewPolicyRequest("tables", "census-income", "board", "tables"))
    assert tables.advice is None
    lines = yaml.safe_load(tables.files[0].read_text(encoding="utf-8"))["spec"]["mechanism"]["tables"]
    assert lines[1:] == [{"all": 1}, {"attributes": ["sex", "income"]}]


@pytest.mark.parametrize(
    ("analysis", "words"),
    [
        ("{table: [sexx]}", "expected a column of this contract with a domain; write 'sex'"),
        ("{share: {sex: Femle}}", "write 'Female'"),
        ("{share: {age: [20 to 24, 20]}}", "expected labels of one level of this column"),
        ("{share: {sex: Female}, to: {sex: Male}}", "share, also with among; or ratio with to"),
        ("{tabel: [sex]}", "write 'table'"),
    ],
)
def test_an_analysis_of_what_is_not_there_is_refused_with_its_place(analysis: str, words: str, home: Path) -> None:
    path = with_analyses(home, f"      - property: analysis\n        value:\n          - {analysis}\n")
    with pytest.raises(ConfigurationError) as caught:
        read_contract(path)
    (problem,) = caught.value.problems
    assert words in str(problem)
    assert path.read_text(encoding="utf-8").splitlines()[(problem.line or 0) - 1].strip().startswith("- {")
