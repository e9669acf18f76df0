"""Releases that are compared with a public register: counted by hand, refused with one clear error, and safe from
forgery.
"""

import csv
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdgate.errors import ConfigurationError, FileFault, VerificationFailed
from crowdgate.forecast.chances.gate_chances import FAILS
from crowdgate.forecast.outlook import outlook
from crowdgate.gate import GateReach, Verdict
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import open_ledger
from crowdgate.manifest import canonical
from crowdgate.planning.gate_verdicts import gate_reach
from crowdgate.planning.plan import plan_policy
from crowdgate.planning.register_counts import counted_register
from crowdgate.releases import release as job
from crowdgate.review.check import check
from crowdgate.verification.release import verify
from tests.kinds.registers import EXPECTED, MATCHES, REGISTER, TOWN, people, register_workshop
from tests.releases.killing import run_and_kill
from tests.workshop import Workshop, crowdgate, write_parquet

SLOT = "2030-01-01"
CHOSEN = "attributes: {age: {choose: [10 years, 50 years]}, ward: exact}\n    choose: {epsilon: 0.1}"


@pytest.fixture
def clinic(tmp_path: Path) -> Workshop:
    return register_workshop(tmp_path / "w")


def release(clinic: Workshop) -> Result:
    return job.release(Request(clinic.policy, SLOT), draw_key)


def folder_of(clinic: Workshop) -> Path:
    found = release(clinic).path
    assert found is not None
    return found


def by_hand(folder: Path, most: int) -> tuple[int, int]:
    """Return the number of released rows that match 1 to `most` people of the town, and the number of rows."""
    with (folder / "data.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    halves = any(row["age"] == "50+" for row in rows)
    town = Counter((_age(age, halves), ward) for age, ward in TOWN)
    return sum(1 <= town[row["age"], row["ward"]] <= most for row in rows), len(rows)


def _age(age: int, halves: bool) -> str:
    if halves:
        return "50+" if age >= 50 else "0 to 49"
    low = age // 10 * 10
    return "90+" if low == 90 else f"{low} to {low + 9}"


def named(found: Result, measure: str) -> Verdict:
    return next(each for each in found.verdicts if each.measure == measure)


@pytest.mark.parametrize("chosen", [False, True])
def test_rows_that_match_few_people_of_the_register_are_counted_at_the_released_levels(
    clinic: Workshop, chosen: bool
) -> None:
    if chosen:
        clinic.edit(clinic.policy, "attributes: {age: 50 years, ward: exact}", CHOSEN)
        clinic.edit(clinic.contract, "{property: jointMargins, value: joint.csv}", "{property: rowsAtMost, value: 900}")
        clinic.edit(clinic.contract, "      - {property: rowsAtMost, value: 1000}\n", "")
        text = clinic.policy.read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if "expected_s" not in line and "singleton_p" not in line]
        clinic.policy.write_text("\n".join(lines), encoding="utf-8")
    found = release(clinic)
    assert found.path is not None
    alone, rows = by_hand(found.path, 1)
    few, _ = by_hand(found.path, 3)
    one, share = named(found, "register_matches").shown, named(found, "register_match_share").shown
    assert one is not None
    assert share is not None
    assert (int(one.value), Fraction(share.value)) == (alone, Fraction(few, rows))
    assert alone or chosen
    verify(found.path, clinic.ledger)


def test_the_register_is_published_as_it_was_counted(clinic: Workshop) -> None:
    said = json.loads((folder_of(clinic) / "register.json").read_bytes())
    digest = hashlib.sha256((clinic.root / "data_contracts" / "town.parquet").read_bytes()).hexdigest()
    assert (said["contract"], said["version"], said["files"]) == ("town", "2.0.0", [digest])
    assert (said["rows"], said["usable"]) == (16, 15)
    assert [(each["name"], each["level"]) for each in said["columns"]] == [("age", "50 years"), ("ward", "exact")]
    cells = list(zip(*(each["codes"] for each in said["columns"]), said["records"], strict=True))
    # ages 0 to 49 and 50+; north, south, east: of the policy's contract, not of the register's
    assert cells == [(0, 0, 3), (0, 1, 2), (1, 0, 1), (1, 2, 9)]


def test_how_much_of_the_register_is_usable_is_said_aloud(clinic: Workshop) -> None:
    """All but one of 300 people in the register have a place that the contract does not know."""
    write_parquet(clinic.root / "data_contracts" / "town.parquet", people([(5, "nowhere")] * 299 + [(5, "north")]))
    said = (
        "Of the 300 rows of the public register town 2.0.0, 1 have a value of every attribute that is compared (age, "
        "ward)."
    )
    notes = {note.gate.split()[0]: note.decided for note in check(clinic.policy).gates}
    assert notes["register_matches"] == f"decided on what would be published and the public register. {said}"
    found = release(clinic)
    assert said in found.plain
    assert found.path is not None
    assert (found.path / "README.md").read_text(encoding="utf-8").endswith(f"|\n\n{said}\n")


@pytest.mark.thorough
@pytest.mark.parametrize("invalid", ["drop", "level"])
def test_a_register_of_which_nothing_is_usable_is_no_pass(clinic: Workshop, invalid: str) -> None:
    """This holds even where broken cells count as a value: matches of broken cells carry no information."""
    said = "source: register}}\n"
    _town(f"north], {said}", f"north], {said}          - {{property: invalid, value: {invalid}}}\n")(clinic)
    write_parquet(clinic.root / "data_contracts" / "town.parquet", people([(5, "nowhere")] * 9))
    checked = check(clinic.policy)
    assert not checked.allowed
    hopeless = {note.gate for note in checked.gates if "can't pass" in (note.warning or "")}
    assert hopeless == {each.gate for each in checked.chances.gates if each.odds == FAILS}
    assert {name.split()[0] for name in hopeless} == {"register_matches", "register_match_share"}
    assert hopeless == {each.gate for each in outlook(clinic.policy).chances.gates if each.odds == FAILS}
    found = release(clinic)
    assert found.outcome == "withheld"
    assert "Of the 9 rows of the public register town 2.0.0, 0 have a value" in found.plain


def test_check_without_the_registers_table_refuses_as_a_release_does(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    table = clinic.root / "data_contracts" / "town.parquet"
    table.unlink()
    checked = check(clinic.policy)
    assert not checked.allowed
    notes = {note.gate.split()[0]: note.decided for note in checked.gates}
    assert notes["register_matches"].endswith("the public register. Its table can't be read here.")
    assert crowdgate("check", clinic.policy) == 3
    assert "its public register can't be read, so no release is made: " in capsys.readouterr().out
    with pytest.raises(FileFault):
        release(clinic)
    write_parquet(table, people([(5, "north")] * 9))
    assert check(clinic.policy).allowed


def test_a_limit_below_the_matches_withholds(clinic: Workshop) -> None:
    clinic.edit(clinic.policy, "register_matches, at_most: 1000", "register_matches, at_most: 0")
    assert release(clinic).outcome == "withheld"


def test_check_says_when_it_is_decided_and_that_it_can_fail(clinic: Workshop) -> None:
    plan = plan_policy(clinic.policy)
    (rule, measure) = next(each for each in plan.gates if each[0].measure == "register_matches")
    assert (
        gate_reach(plan.first_release_facts(), rule, measure) is GateReach.CANNOT_FAIL
    )  # at most 1,000 rows can be there
    clinic.edit(clinic.policy, "register_matches, at_most: 1000", "register_matches, at_most: 999")
    notes = {note.gate.split()[0]: note for note in check(clinic.policy).gates}
    assert notes["register_matches"].decided.startswith(
        "decided on what would be published and the public register. Of the 16"
    )
    assert (notes["register_matches"].warning, notes["register_matches"].blocks) == (None, True)


@pytest.mark.parametrize(
    ("holder", "name", "when"), [("job", "counted_register", "after"), ("publisher", "publish", "before")]
)
def test_a_killed_run_ends_well_when_it_is_run_again(clinic: Workshop, holder: str, name: str, when: str) -> None:
    """Nothing is charged before the register is counted; a committed release is published unchanged."""
    run_and_kill(clinic.policy, holder, name, when)
    ledger = open_ledger(clinic.ledger, None)
    assert (ledger.entry(f"clinic/1/{SLOT}") is None) == (name == "counted_register")
    assert not clinic.release_dir(SLOT).exists()
    folder = folder_of(clinic)
    assert (folder / "register.json").exists()
    verify(folder, clinic.ledger)
    assert ledger.spent("clinic-patients").epsilon == 2


# --- refused ---

Edit = Callable[[Workshop], object]


def _policy(old: str, new: str) -> Edit:
    return lambda clinic: clinic.edit(clinic.policy, old, new)


def _town(old: str, new: str) -> Edit:
    return lambda clinic: clinic.edit(clinic.root / "data_contracts" / "town.yaml", old, new)


def _tables(clinic: Workshop) -> None:
    clinic.edit(clinic.policy, "    kind: safe_k_anonymity\n    sampling: {beta: 0.5}\n    attributes: {age: 50 years, "
                "ward: exact}\n", "    kind: dp_tables\n    tables: [{total: true}]\n")  # fmt: skip


REFUSED: dict[str, tuple[Edit, str, str]] = {
    "unknown": (_policy("contract: town", "contract: twon"), "no file has the id 'twon'", "town"),
    "not named": (
        _policy("  register: {contract: town}\n", ""),
        "register_matches needs a register, and the policy names none",
        "below spec",
    ),
    "not asked for": (_policy(MATCHES, ""), "no gate reads the register", "a gate on register_matches"),
    "not public": (_town("public, value: true", "public, value: false"), "is not public", "public, value: true"),
    "not public elsewhere": (
        lambda clinic: (clinic.root / "data_contracts" / "city.yaml").write_text(
            REGISTER.replace("id: town", "id: city").replace("public, value: true", "public, value: false"),
            encoding="utf-8",
        ),
        "not public, contract city does not say",
        "public, value: true",
    ),
    "other columns": (
        lambda clinic: [_town("name: age", "name: years")(clinic), _town("name: ward", "name: place")(clinic), None][2],
        "has none of the released attributes",
        "a register with some of age, ward",
    ),
    "other levels": (
        _town("width: 50", "width: 20"),
        "'age' has other values in the register's contract town",
        "'50 years'",
    ),
    "other values": (
        _town("south, east", "south, west"),
        "'ward' has other values in the register's contract town",
        "'exact'",
    ),
    "tables": (_tables, "register_matches does not measure a release by dp_tables", "a measure such as"),
    "size 0": (_policy("size: 3}, at_most: 1", "size: 0}, at_most: 1"), "this value is out of range", "from 1 to 1e9"),
    "half a size": (
        _policy("size: 3}, at_most: 1", "size: 1.5}, at_most: 1"),
        "this value is out of range",
        "from 1 to 1e9",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", REFUSED)
def test_a_register_that_does_not_fit_is_refused_before_anything_is_read(clinic: Workshop, fault: str) -> None:
    spoil, found, expected = REFUSED[fault]
    spoil(clinic)
    with pytest.raises(ConfigurationError) as caught:
        plan_policy(clinic.policy)
    problem = next(each for each in caught.value.problems if found in each.found)
    assert expected in problem.expected + (problem.instead or "")
    assert problem.file == str(clinic.policy)
    assert problem.line is not None


def test_a_missing_register_stops_before_anything_is_charged(clinic: Workshop) -> None:
    (clinic.root / "data_contracts" / "town.parquet").unlink()
    with pytest.raises(FileFault, match=r"town\.parquet"):
        release(clinic)
    assert open_ledger(clinic.ledger, None).entry(f"clinic/1/{SLOT}") is None


def test_too_many_distinct_records_stop_before_anything_is_charged(
    clinic: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdgate.planning.register_counts.MOST_MATCHED", 11)
    with pytest.raises(ConfigurationError, match="4 distinct records on 2 shared attributes"):
        release(clinic)
    assert open_ledger(clinic.ledger, None).entry(f"clinic/1/{SLOT}") is None


def test_another_register_is_another_policy_only_by_its_contract(clinic: Workshop) -> None:
    before = plan_policy(clinic.policy).bundle.digest
    write_parquet(clinic.root / "data_contracts" / "town.parquet", people(TOWN[:3]))
    assert plan_policy(clinic.policy).bundle.digest == before
    _town("version: 2.0.0", "version: 2.0.1")(clinic)
    assert plan_policy(clinic.policy).bundle.digest != before


# --- forged ---


def _said(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        said = json.loads(path.read_bytes())
        change(said)
        path.write_bytes(canonical(said))

    return apply


def _column(at: int, **more: Any) -> Callable[[Path], None]:
    return _said(lambda said: said["columns"][at].update(more))


def _twice(said: dict[str, Any]) -> None:
    for each in said["columns"]:
        each["codes"].insert(0, each["codes"][0])
    said["records"].insert(0, 1)


FORGED: dict[str, tuple[Callable[[Path], object], str]] = {
    "removed": (Path.unlink, "the value in the manifest differs from the value measured again on the release"),
    "fewer matches": (
        _said(lambda said: said.update(records=[3, 2, 5, 9], rows=20, usable=19)),
        "differs from the value measured again on the release",
    ),
    "more that are usable": (_said(lambda said: said.update(usable=16)), "not those of its cells"),
    "less that are usable": (_said(lambda said: said.update(usable=3)), "not those of its cells"),
    "a smaller table": (_said(lambda said: said.update(rows=14)), "not those of its cells"),
    "a larger table": (_said(lambda said: said.update(rows=17)), "README.md: this page differs from what"),
    "somebody is nobody": (_said(lambda said: said.update(records=[3, 2, 0, 9])), "codes and records"),
    "less cells": (_said(lambda said: said["records"].pop()), "codes and records"),
    "another level": (_column(0, level="10 years"), "not released at these levels"),
    "another column": (_column(0, name="note"), "not released at these levels"),
    "a column twice": (_column(0, name="ward", level="exact"), "not released at these levels"),
    "no such value": (_column(1, codes=[0, 1, 0, 7]), "a code of no value"),
    "another order": (_column(0, codes=[1, 0, 1, 1]), "in order, each once"),
    "a cell twice": (_said(_twice), "in order, each once"),
    "spaced": (
        lambda path: path.write_bytes(path.read_bytes() + b" "),
        "bytes differ from those that Crowdgate would write for a register",
    ),
    "negative": (
        _said(lambda said: said.update(records=[3, 2, -1, 9])),
        "bytes differ from those that Crowdgate would write for a register",
    ),
    "empty": (
        lambda path: path.write_bytes(b"{}\n"),
        "bytes differ from those that Crowdgate would write for a register",
    ),
    "oversized": (lambda path: path.write_bytes(b" " * 2000), "larger than 1000 bytes"),
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(register_workshop(tmp_path_factory.mktemp("forged") / "w"))


def resealed(folder: Path) -> None:
    said = json.loads((folder / "manifest.json").read_bytes())
    path = folder / "register.json"
    said["files"].pop("register.json", None)
    if path.exists():
        data = path.read_bytes()
        said["files"]["register.json"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / "manifest.json").write_bytes(canonical(said))


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_register_is_refused_from_the_files_alone(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgery: str
) -> None:
    change, expected = FORGED[forgery]
    folder = Path(shutil.copytree(published, tmp_path / "copy"))
    if forgery == "oversized":
        monkeypatch.setattr("crowdgate.verification.steps.LARGEST_LISTING", 1000)
    change(folder / "register.json")
    resealed(folder)
    with pytest.raises(VerificationFailed, match=expected):
        verify(folder)


def test_a_register_beside_a_release_without_such_gates_is_refused(clinic: Workshop, published: Path) -> None:
    clinic.edit(clinic.policy, MATCHES, "")
    clinic.edit(clinic.policy, "  register: {contract: town}\n", "")
    folder = folder_of(clinic)
    assert not (folder / "register.json").exists()
    (folder / "register.json").write_bytes((published / "register.json").read_bytes())
    resealed(folder)
    with pytest.raises(VerificationFailed, match=r"register\.json: no gate of the release is judged by this audit"):
        verify(folder)


def test_equal_records_of_one_person_are_one_match(clinic: Workshop) -> None:
    """One person has three records in the south, and one in the east: more than the contract retains. A row like them
    matches one person."""
    _town("value: row}", "value: {person: patient, rows: 2}}")(clinic)
    ages = [(12, "south"), (44, "south"), (14, "south"), (5, "east")]
    rows = [{**row, "patient": "p"} for row in people(ages)] + people([(60, "north"), (70, "north")])
    write_parquet(clinic.root / "data_contracts" / "town.parquet", rows)
    said = json.loads((folder_of(clinic) / "register.json").read_bytes())
    cells = list(zip(*(each["codes"] for each in said["columns"]), said["records"], strict=True))
    assert cells == [(0, 1, 1), (0, 2, 1), (1, 0, 2)]
    assert (said["rows"], said["usable"]) == (6, 4)
    verify(clinic.release_dir(SLOT), clinic.ledger)


def test_a_register_of_persons_counts_the_one_row_of_each_person(clinic: Workshop) -> None:
    """One person has three records, at two ages; the register takes the least age and the one ward."""
    made = "{property: personValues, value: {age: {least: years}, ward: {same: place}}}"
    _town("value: row}", f"value: {{person: patient, rows: 1}}}}\n      - {made}")(clinic)
    _town("name: age", "name: years")(clinic)
    _town("name: ward", "name: place")(clinic)
    table = {
        "patient": [*"pppqq"],
        "years": [12, 44, 14, 64, 64],
        "place": ["south"] * 3 + ["north"] * 2,
        "note": [""] * 5,
    }
    pq.write_table(pa.table(table), clinic.root / "data_contracts" / "town.parquet")
    register = counted_register(plan_policy(clinic.policy))
    assert register is not None
    assert (register.counts.counts.tolist(), register.several) == ([1, 1], False)


def test_people_in_several_cells_that_become_one_are_not_added(clinic: Workshop) -> None:
    """One person has records at two ages of one half; at tens there are two people in one of them."""
    _town("value: row}", "value: {person: patient, rows: 2}}")(clinic)
    clinic.edit(clinic.policy, "attributes: {age: 50 years, ward: exact}", CHOSEN)
    clinic.edit(clinic.policy, EXPECTED, "")
    clinic.edit(clinic.contract, "      - {property: jointMargins, value: joint.csv}\n", "")
    rows = [{**row, "patient": "p"} for row in people([(12, "south"), (44, "south")])]
    write_parquet(clinic.root / "data_contracts" / "town.parquet", [*rows, *people([(13, "south")])])
    register = counted_register(plan_policy(clinic.policy))
    assert register is not None
    assert register.counts.counts.tolist() == [2, 1]
    halves = plan_policy(clinic.policy).bundle.contract.by_name["age"].hierarchy
    assert halves is not None
    levels = {**register.view.levels, "age": halves.level("50 years")}
    assert register.at(levels).counts.tolist() == [2]
    assert register.at(register.view.levels).counts.tolist() == [2, 1]
