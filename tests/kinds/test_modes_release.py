"""Releases of tables with several rows of a person, and of tables that are samples already."""

import json
from pathlib import Path

import pytest

from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.releases import release as job
from tests.forging import Change, reseal
from tests.workshop import Workshop, crowdgate, good_rows, verified

SAMPLE = "{name: spring, method: bernoulli, beta: 0.5, secret: true, size: unpublished}"
ATTESTED = f"      - {{property: sample, value: {SAMPLE}}}\n      - {{property: rowsAtMost"
CHARGED = "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n"


@pytest.fixture
def inherited(workshop: Workshop) -> Workshop:
    workshop.edit(workshop.contract, "      - {property: rowsAtMost", ATTESTED)
    workshop.edit(workshop.policy, "sampling: {beta: 0.5}", "sampling: {inherited: spring}")
    workshop.edit(workshop.policy, CHARGED, "")
    return workshop


def test_an_inherited_sample_is_released_once_for_life(inherited: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("release", inherited.policy, "--as-of", "2030-01-01") == 0
    claims = verified(inherited.release_dir("2030-01-01"), inherited.ledger)
    assert claims["mechanism"]["inherited"] == "spring"
    assert "nothing was sampled again" in (inherited.release_dir("2030-01-01") / "README.md").read_text()
    assert claims["data"]["rows"] == 600  # nothing is sampled again: all classes are large
    assert crowdgate("release", inherited.policy, "--as-of", "2030-01-02") == 5
    assert "already released by clinic/1/2030-01-01" in capsys.readouterr().err


REFUSED = {
    "a fresh beta": ("sampling: {inherited: spring}", "sampling: {beta: 0.5}", "already"),
    "another name": ("sampling: {inherited: spring}", "sampling: {inherited: sprig}", "write 'spring'"),
    "a charged gate": ("    - {measure: released_rows", f"{CHARGED}    - {{measure: released_rows", "second time"),
    "both": ("{inherited: spring}", "{inherited: spring, beta: 0.5}", "either a beta"),
    "chosen levels": (
        "attributes: {age: 50 years, ward: exact}",
        "choose: {epsilon: 0.1}\n    attributes: {age: {choose: [10 years, 50 years]}, ward: exact}",
        "fixed levels",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_use_an_inherited_sample_twice_is_refused(
    inherited: Workshop, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, said = REFUSED[name]
    inherited.edit(inherited.policy, old, new)
    assert crowdgate("check", inherited.policy) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "clinic.yaml:" in error


def test_an_inherited_sample_of_people_with_several_rows_is_refused(
    inherited: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    inherited.edit(inherited.contract, "value: row}", "value: {person: patient, rows: 1}}")
    inherited.edit(inherited.budget, "unit: row", 'unit: "person:patient"')
    assert crowdgate("check", inherited.policy) == 2
    assert "likelier drawn" in capsys.readouterr().err


def test_a_sample_that_nobody_attests_is_refused(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    workshop.edit(workshop.policy, "sampling: {beta: 0.5}", "sampling: {inherited: spring}")
    assert crowdgate("check", workshop.policy) == 2
    assert "attests no sample" in capsys.readouterr().err


@pytest.fixture
def people(workshop: Workshop) -> Workshop:
    workshop.edit(workshop.contract, "value: row}", "value: {person: patient, rows: 2}}")
    workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    rows = [{**row, "patient": f"p{i // 3}"} for i, row in enumerate(good_rows(900))]
    workshop.write(rows)
    return workshop


def test_several_rows_of_a_person_are_bounded_and_priced(people: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("plan", people.policy, "--json") == 0
    two = json.loads(capsys.readouterr().out)["mechanism"]["k"]
    assert crowdgate("release", people.policy, "--as-of", "2030-01-01", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["guarantee"]["unit"] == "person"
    claims = verified(Path(said["path"]), people.ledger)
    assert claims["mechanism"]["rows"] == 2
    assert all("any one person" in line for line in claims["guarantee"]["words"])
    assert "at most 2 rows" in (Path(said["path"]) / "README.md").read_text()
    private = json.loads(next((people.root / "ledger" / "private").iterdir()).read_text())
    assert private["rows"]["table"] == 600  # 300 people with two of their three rows each
    people.edit(people.contract, "rows: 2", "rows: 1")
    assert crowdgate("plan", people.policy, "--json") == 0
    assert json.loads(capsys.readouterr().out)["mechanism"]["k"] < two


ROWS: dict[str, tuple[Change, str]] = {
    "more rows": (lambda claims: claims["mechanism"].update(rows=9), "is too small for the stated epsilon and delta"),
    "fewer rows": (lambda claims: claims["mechanism"].update(rows=1), "the number of rows per privacy unit differs"),
    "other rows": (
        lambda claims: claims["facts"].update(rows_per_unit=1),
        "the number of rows per privacy unit differs",
    ),
    "another unit": (
        lambda claims: claims["guarantee"].update(unit="row"),
        "the number of rows per privacy unit differs",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ROWS)
def test_a_release_that_claims_other_rows_a_person_fails_verification(
    people: Workshop, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("release", people.policy, "--as-of", "2030-01-01") == 0
    folder = people.release_dir("2030-01-01")
    change, found = ROWS[name]
    reseal(folder, change)
    assert crowdgate("verify", folder) == 6
    said = capsys.readouterr().err
    assert "step 5, guarantee: " in said
    assert found in said


def test_a_charged_count_pays_for_all_rows_of_a_person(people: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def noise(count: int, sensitivity: int, _: object) -> int:
        asked.append(sensitivity)
        return count

    monkeypatch.setattr(job, "KeyedRandomness", lambda key: KeyedRandomness(key, noise=noise))
    assert crowdgate("release", people.policy, "--as-of", "2030-01-01") == 0
    assert asked == [2]


@pytest.mark.parametrize(
    ("key", "said"),
    [("suppression: cell", "leaving out single cells"), ("recoding: local", "differ from class to class")],
)
def test_what_depends_on_the_sample_is_refused_with_the_reason(
    workshop: Workshop, key: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.edit(workshop.policy, "kind: safe_k_anonymity", f"kind: safe_k_anonymity\n    {key}")
    assert crowdgate("check", workshop.policy) == 2
    assert said in capsys.readouterr().err
