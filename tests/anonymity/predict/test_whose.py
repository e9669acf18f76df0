"""Populations of the figures in a prediction: named for every source, with a warning if they are of other people."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from crowdgate.anonymity.predict.group import PredictionTargets, predict_group
from crowdgate.anonymity.predict.own_answers import count_answers
from crowdgate.anonymity.predict.questionnaire import predict_questionnaire
from crowdgate.anonymity.predict.questionnaire_file import read_questionnaire
from crowdgate.releases.working_copy import bundled
from tests.anonymity.predict.forms import text_of
from tests.anonymity.predict.test_group import margins
from tests.forecast.test_plan_from import public, released
from tests.policy.pages import code_blocks
from tests.workshop import Workshop, crowdgate

OTHER = "Warning: counts are of the population clinic-patients, not of town, the contract's"


def form(workshop: Workshop, people: int = 600, **population: str) -> Path:
    asked = dict(text_of([{"name": "ward", "attribute": "ward"}], people, "clinic"))
    asked["spec"] = {**asked["spec"], "population": {**asked["spec"]["population"], **population}}
    path = workshop.policy.parent / "form.yaml"
    path.write_text(yaml.safe_dump(asked), encoding="utf-8")
    return path


def of_town(workshop: Workshop) -> None:
    """Give the contract another population, with a budget of its own."""
    workshop.edit(workshop.contract, "value: clinic-patients", "value: town")
    for path in (workshop.root / "policies" / "budgets").glob("*.yaml"):
        text = path.read_text(encoding="utf-8").replace("name: clinic-patients", "name: town")
        path.with_name("town.yaml").write_text(text, encoding="utf-8")


@pytest.mark.thorough
def test_counts_of_another_population_are_warned_of_everywhere(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, page = released(workshop), tmp_path / "page.md"
    asked = ("predict", workshop.contract, "--from", folder, "--of", "age=50 years,ward", "--page")
    assert crowdgate(*asked, page) == 0
    assert "Warning" not in capsys.readouterr().out
    assert "Counts are of the population clinic-patients" in page.read_text(encoding="utf-8")
    of_town(workshop)
    assert crowdgate(*asked, tmp_path / "other.md") == 0
    for text in (capsys.readouterr().out, (tmp_path / "other.md").read_text(encoding="utf-8")):
        assert OTHER in text
        assert "Counts are of the population clinic-patients, public margins of ward are of the population town" in text
    assert crowdgate(*asked[:-1], "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["from"]["population"] == "clinic-patients"
    assert any(OTHER in note for note in said["notes"])


@pytest.mark.thorough
def test_a_plan_by_counts_of_another_population_says_so(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    folder = released(workshop)
    of_town(workshop)
    workshop.edit(workshop.policy, "budget: clinic-patients", "budget: town")
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--from", folder) == 0
    assert OTHER in capsys.readouterr().out


def test_a_public_table_of_another_contract_names_its_population(workshop: Workshop) -> None:
    margins(workshop)
    public(workshop)
    shutil.copy(workshop.contract, workshop.contract.with_name("other.yaml"))
    workshop.edit(workshop.contract, "path: patients.parquet", "path: others.parquet")
    of_town(workshop)
    workshop.edit(workshop.contract, "id: clinic", "id: others")
    found = predict_group(workshop.contract, "ward,age=50 years", None, workshop.data, PredictionTargets())
    assert OTHER in found.to_json()["notes"][0]
    assert found.to_json()["from"]["population"] == "clinic-patients"


def test_more_people_than_the_population_has_are_warned_of(workshop: Workshop) -> None:
    few, many = (
        predict_group(workshop.contract, "ward", people, None, PredictionTargets()) for people in ("1000", "1001")
    )
    assert few.to_json()["notes"][0] == "Public margins of ward are of the population clinic-patients."
    assert many.to_json()["notes"][0].startswith(
        "Warning: 1,001 people are more than the population clinic-patients has"
    )
    assert "1,000" in many.to_json()["notes"][0]
    assert many.to_json()["notes"][1:2] == few.to_json()["notes"][:1]


@pytest.mark.parametrize(
    ("people", "stated", "warned"),
    [
        (600, {"id": "clinic-patients"}, []),
        (600, {}, ["does not say by its population's id that people of a town are the same"]),
        (600, {"id": "town"}, ["the form is for people of a town, of the population town"]),
        (1001, {"id": "clinic-patients"}, ["1,001 people are more than"]),
        (1001, {"id": "town"}, ["of the population town", "1,001 people are more than"]),
    ],
)
def test_a_form_for_other_people_than_the_contracts_is_warned_of(
    workshop: Workshop, people: int, stated: dict[str, str], warned: list[str]
) -> None:
    path = form(workshop, people, **stated)
    found = [
        note
        for note in predict_questionnaire(path, None, PredictionTargets()).to_json()["notes"]
        if note.startswith("Warning")
    ]
    assert len(found) == len(warned)
    assert all(words in note for words, note in zip(warned, found, strict=True))
    own: list[Any] = [
        note for note in count_answers(read_questionnaire(path, None), lambda _: "").notes if "Warning" in note
    ]
    assert own == found


def test_who_counts_his_own_answers_reads_whose_shares_they_are(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdgate.cli.predict.ask", lambda _: "north")
    assert crowdgate("predict", form(workshop, id="clinic-patients"), "--answers", "-") == 0
    text = capsys.readouterr().out
    assert "Public margins of ward are of the population clinic-patients." in text
    assert "People of 600 who could answer the same" in text


@pytest.mark.thorough
def test_the_form_in_the_readme_is_for_the_people_of_its_contract(tmp_path: Path) -> None:
    (block,) = [each for each in code_blocks("yaml") if "kind: Questionnaire" in each]
    for folder in ("policies", "data_contracts"):
        (tmp_path / folder).symlink_to(bundled(folder))
    path = tmp_path / "form.yaml"
    path.write_text(block, encoding="utf-8")
    notes = predict_questionnaire(path, None, PredictionTargets()).to_json()["notes"]
    assert not any("Warning" in note for note in notes)
    assert "Public margins of age are of the population us-cps-1994-95." in notes


SEX = """\
      - name: sex
        logicalType: string
        customProperties:
          - {property: privacyRole, value: quasi-identifier}
          - {property: domain, value: {values: [f, m], source: clinic handbook}}
      - name: note
"""
ALIKE = ("age,sex,count\n0 to 49,f,25\n0 to 49,m,25\n50+,f,10\n50+,m,40\n", "ward,sex,count\nnorth,f,35\neast,m,65\n")
OTHERS = (ALIKE[0], "ward,sex,count\nnorth,f,45\neast,m,55\n")


@pytest.mark.thorough
@pytest.mark.parametrize(("tables", "warned"), [(ALIKE, False), (OTHERS, True)])
def test_joint_counts_that_contradict_each_other_are_warned_of(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], tables: tuple[str, str], warned: bool
) -> None:
    """35 or 45 of 100 are f: the tables disagree on a tenth of the people."""
    workshop.edit(workshop.contract, "      - name: note\n", SEX)
    named = "      - {property: jointMargins, value: [one.csv, two.csv]}\n"
    table = "      - {property: population, value: clinic-patients}\n"
    workshop.edit(workshop.contract, table, table + named)
    for name, text in zip(("one.csv", "two.csv"), tables, strict=True):
        (workshop.contract.parent / name).write_text(text, encoding="utf-8")
    workshop.edit(workshop.policy, "ward: exact}", "ward: exact, sex: exact}")
    found = predict_group(workshop.contract, "age=50 years,ward,sex", None, None, PredictionTargets())
    assert any("counts contradict one another" in note for note in found.to_json()["notes"]) == warned
    assert crowdgate("plan", workshop.policy) == 0
    assert ("counts contradict one another" in capsys.readouterr().out) == warned
