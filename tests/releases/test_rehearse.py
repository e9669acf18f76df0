"""Simulated runs: whole runs on simulated rows, which touch neither the table nor the ledger."""

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.cli.rehearse import pairs_text
from crowdgate.kind import prior, randomness
from crowdgate.kind.plan import Plan
from crowdgate.ledger.ledger import open_ledger
from crowdgate.planning.plan import plan_policy
from crowdgate.public_counts import figures
from crowdgate.public_counts.figures import PriorSubject
from crowdgate.releases.rehearsal import rehearse as rehearsing
from crowdgate.releases.rehearsal import simulated_rows
from crowdgate.releases.rehearsal.private_copy import NOBODYS
from crowdgate.releases.rehearsal.rehearse import RehearsalRequest, rehearse
from crowdgate.releases.rehearsal.simulated_rows import EVENLY, MARGINS, SimulatedTable, simulate_rows
from crowdgate.settings import KEY_VARIABLE, LEDGER_VARIABLE
from crowdgate.signing import keys
from crowdgate.verification.release import verify
from tests.examples import examples
from tests.workshop import MARK, Workshop, crowdgate, make_workshop

TABLES = """\
  mechanism:
    kind: dp_tables
    noise: laplace
    levels: {age: 50 years, ward: exact}
    tables: [{all: 2}]
  gates: [{measure: guarantee_epsilon, at_most: 20}]
"""


@pytest.fixture
def clinic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.chdir(workshop.root)
    return workshop


def held(folder: Path) -> dict[str, str]:
    """Return the digest of every file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_rehearsal_needs_no_table_and_leaves_the_working_copy_as_it_is(
    clinic: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clinic.data.unlink()
    before = held(clinic.root)
    assert crowdgate("rehearse", clinic.policy, "--to", tmp_path / "out") == 0
    assert held(clinic.root) == before
    told = capsys.readouterr().out
    assert "rehearsed: unknown rehearsal-clinic/1/" in told
    assert f"ward: drawn from {MARGINS}" in told
    assert f"age: drawn from {EVENLY}" in told
    assert told.splitlines()[-1].startswith(str(tmp_path / "out"))


def test_what_is_written_says_that_it_is_of_nobody_and_no_key_has_signed_it(
    clinic: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys.create(tmp_path / "board.key")
    monkeypatch.setenv(KEY_VARIABLE, (tmp_path / "board.key").read_text(encoding="utf-8"))
    monkeypatch.setenv(LEDGER_VARIABLE, f"sqlite:///{tmp_path / 'nowhere.db'}")
    found = rehearse(RehearsalRequest(clinic.policy, to=tmp_path / "out"))
    assert {KEY_VARIABLE, LEDGER_VARIABLE} <= {*os.environ}
    folder = found.result.path
    assert folder is not None
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# rehearsal-clinic")
    assert NOBODYS in readme.replace("\n", " ")
    said = verify(folder).manifest
    assert said.ledger.id.startswith("rehearsal-")
    assert not [*folder.glob("*.sig*")]
    assert not [
        name for name in held(tmp_path / "out") if MARK in (tmp_path / "out" / name).read_text(errors="replace")
    ]
    assert open_ledger(clinic.ledger, None).entries() == []


def test_every_gate_is_told_of_and_a_withheld_rehearsal_says_so(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    clinic.edit(clinic.policy, "{measure: released_rows, at_least: 0}", "{measure: released_rows, at_least: 900}")
    clinic.edit(clinic.policy, "age: 50 years", "age: any")
    assert crowdgate("rehearse", clinic.policy) == 3
    last = "no folder is written: a gate withholds these simulated rows"
    assert capsys.readouterr().out.splitlines()[-1] == last
    assert crowdgate("rehearse", clinic.policy, "--json") == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["path"], found["people"]) == ("rehearsed: withheld", None, 1000)
    assert len(found["verdicts"]) == 6
    assert {each["outcome"] for each in found["verdicts"] if "released_rows" in each["gate"]} == {"fail"}
    assert found["cpu_seconds"] > 0 < found["mebibytes"]


AGES = "value,count\n" + "".join(f"{age},1\n" for age in (*range(99), "99+"))


def with_margins_of_ages(clinic: Workshop) -> None:
    """State public margins of ages, so that each released column has counts, and none relate them."""
    (clinic.contract.parent / "age.csv").write_text(AGES, encoding="utf-8")
    ward = "{property: margins, value: ward.csv}"
    text = clinic.contract.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if ward in line)
    start = text.index("      - name: age\n")
    at = text.index("customProperties:\n", start) + len("customProperties:\n")
    clinic.contract.write_text(f"{text[:at]}{line.replace('ward.csv', 'age.csv')}\n{text[at:]}", encoding="utf-8")


def test_gates_on_rows_are_unknown_if_no_counts_relate_the_released_columns(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    with_margins_of_ages(clinic)
    clinic.edit(clinic.policy, "{measure: released_rows, at_least: 0}", "{measure: released_rows, at_least: 900}")
    assert crowdgate("rehearse", clinic.policy, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["without_counts"], found["unrelated"]) == ("rehearsed: unknown", [], True)
    settled = [each["gate"] for each in found["verdicts"] if each["class"] != "static"]
    assert settled == ["smallest_class at least 1"], "k settles this gate without rows"
    assert "released_rows at least 900" in found["unknown_gates"]
    assert len(found["verdicts"]) + len(found["unknown_gates"]) == 6
    assert crowdgate("rehearse", clinic.policy) == 0
    told = capsys.readouterr().out
    assert "no public counts relate age and ward: gates that read rows are unknown (give --from" in told
    assert "  unknown      released_rows at least 900\n" in told
    last = "no folder is written: a gate withholds these simulated rows, and its verdict on your table is unknown"
    assert told.splitlines()[-1] == last


def test_gates_that_only_advise_leave_the_outcome_known(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    with_margins_of_ages(clinic)
    text = clinic.policy.read_text(encoding="utf-8")
    start, end = text.index("  gates:"), text.index("  publish:")
    gates = """\
  gates:
    - {measure: guarantee_epsilon, at_most: 9}
    - {measure: released_rows, at_least: 999, severity: advise}
"""
    clinic.policy.write_text(text[:start] + gates + text[end:], encoding="utf-8")
    assert crowdgate("rehearse", clinic.policy, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["outcome"] == "rehearsed: published"
    assert found["unknown_gates"] == ["released_rows at least 999"]


def test_a_folder_that_is_there_and_too_many_people_are_refused(
    clinic: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("rehearse", clinic.policy, "--to", tmp_path) == 1
    assert "a rehearsal is written to a new folder" in capsys.readouterr().err
    assert crowdgate("rehearse", clinic.policy, "--people", "1001") == 2
    assert "from 1 to 1000" in capsys.readouterr().err


def test_each_rehearsal_has_a_folder_of_its_own(clinic: Workshop) -> None:
    first, second = (rehearse(RehearsalRequest(clinic.policy, people=200)).folder for _ in range(2))
    assert (first.name, second.name, first.parent) == ("1", "2", second.parent)


def simulated(plan: Plan, people: int, seed: int = 0, source: Path | None = None) -> SimulatedTable:
    """Return simulated rows of a plan, as its rehearsal draws them."""
    subject = replace(PriorSubject.of_plan(plan), people=people)
    return simulate_rows(subject, rehearsing._prior(subject, source), seed)


@settings(max_examples=examples(30), deadline=None)
@given(people=st.integers(1, 400), seed=st.integers(0, 2**32), rows_each=st.integers(1, 4))
def test_rows_are_of_the_contract(
    tmp_path_factory: pytest.TempPathFactory, people: int, seed: int, rows_each: int
) -> None:
    clinic = make_workshop(tmp_path_factory.mktemp("clinic") / "workshop")
    if rows_each > 1:
        clinic.edit(clinic.contract, "value: row}", f"value: {{person: patient, rows: {rows_each}}}}}")
        clinic.edit(clinic.budget, "unit: row", "unit: 'person:patient'")
    plan = plan_policy(clinic.policy)
    made = simulated(plan, people, seed)
    held = made.table.to_pydict()
    contract = plan.bundle.contract
    for name in ("age", "ward"):
        domain = contract.by_name[name].domain
        assert domain is not None
        assert (domain.codes(held[name]) >= 0).all()
    each = {person: held["patient"].count(person) for person in held["patient"]} if rows_each > 1 else {}
    assert (len(each) == people and max(each.values()) <= rows_each) if each else len(held["age"]) == people
    again = simulated(plan, people, seed)
    assert again.table.equals(made.table)


@pytest.mark.thorough
def test_values_come_as_often_as_the_margins_say_and_rules_hold(clinic: Workshop) -> None:
    """north, south, east are 5, 3, 2 of ten.

    Of 100,000 draws each share has a standard error of at most .0016, so a deviation of six of them has probability
    1e-8 at most; the seed is fixed. A rule of the contract forbids ages below 18.
    """
    rule = "        quality:\n          - {name: adults, type: library, metric: invalidValues, mustBe: 0, "
    clinic.edit(
        clinic.contract,
        "      - name: ward\n",
        f"{rule}arguments: {{validValues: [18, 19, 20]}}}}\n      - name: ward\n",
    )
    plan = plan_policy(clinic.policy)
    table = simulated(plan, 100_000, 0).table
    wards = np.array(table["ward"].to_pylist())
    for name, share in (("north", 0.5), ("south", 0.3), ("east", 0.2)):
        assert abs((wards == name).mean() - share) < 6 * 0.0016
    assert set(table["age"].to_pylist()) == {"18", "19", "20"}


def test_an_inherited_sample_holds_a_part_of_the_people(clinic: Workshop) -> None:
    """Each of 1,000 is sampled with probability .2: within six standard deviations of 12.7 around 200 (1e-8); the seed
    is fixed.
    """
    sample = "{name: s, beta: 0.2, method: bernoulli, secret: true, size: unpublished}"
    rows = "      - {property: rowsAtMost, value: 1000}\n"
    clinic.edit(clinic.contract, rows, f"{rows}      - {{property: sample, value: {sample}}}\n")
    clinic.edit(clinic.policy, "{beta: 0.5}", "{inherited: s}")
    clinic.edit(clinic.policy, "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n", "")
    plan = plan_policy(clinic.policy)
    made = simulated(plan, 1000, 0)
    assert abs(made.table.num_rows - 200) < 76
    assert rehearse(RehearsalRequest(clinic.policy)).people == 1000


def rows_of_a_release(clinic: Workshop, tables: str, unknown: int = 0, note: str = "") -> SimulatedTable:
    """Return simulated rows from a release of these tables of people who are all in the north if they are old. Of each
    `unknown` old people one has an empty ward."""
    clinic.edit(clinic.budget, "epsilon: 6", "epsilon: 60")
    text = clinic.policy.read_text(encoding="utf-8")
    start, end = text.index("  mechanism:"), text.index("  publish:")
    of_tables = text[:start] + TABLES.replace("{all: 2}", tables) + text[end:]
    clinic.policy.write_text(of_tables.replace("epsilon: 2, delta: 0.01", "epsilon: 20, delta: 0"), encoding="utf-8")
    clinic.write(
        {"patient": str(at), "age": 70 if at % 2 else 20, "ward": ward_of(at, unknown), "note": note}
        for at in range(1000)
    )
    assert crowdgate("release", clinic.policy, "--as-of", "2030-01-01") == 0
    clinic.policy.write_text(text, encoding="utf-8")
    plan = plan_policy(clinic.policy)
    return simulated(plan, 1000, source=clinic.release_dir("2030-01-01"))


def ward_of(at: int, unknown: int) -> str | None:
    """Return the ward of a person: that of the old is unknown for one of `unknown` people."""
    return "south" if at % 2 == 0 else None if unknown and at % (2 * unknown) == 1 else "north"


def test_counts_of_a_release_are_drawn_together(clinic: Workshop) -> None:
    """Independent draws would put 4 in 9 old people elsewhere."""
    made = rows_of_a_release(clinic, "{all: 2}")
    rows = list(zip(made.table["age"].to_pylist(), made.table["ward"].to_pylist(), strict=True))
    old = [ward for age, ward in rows if int(age.removesuffix("+")) >= 50]
    assert old.count("north") > 0.95 * len(old) > 300
    assert "together with" in made.drawn_from["age"]
    assert frozenset({"age", "ward"}) in made.related


def test_counts_that_relate_no_columns_are_not_called_joint(clinic: Workshop) -> None:
    made = rows_of_a_release(clinic, "{all: 1}")
    assert {*made.related} >= {frozenset({"age"}), frozenset({"ward"})}
    assert made.drawn_from["ward"] == "the counts, by itself"


NOTE = "          - {property: privacyRole, value: other}\n"
NOTES = f"{NOTE}          - {{property: domain, value: {{values: [day, night], source: clinic handbook}}}}\n"


def test_a_third_column_that_is_counted_apart_leaves_the_released_ones_related(clinic: Workshop) -> None:
    """A pilot need not count the pairs of columns that the release does not have."""
    clinic.edit(clinic.contract, NOTE, NOTES)
    made = rows_of_a_release(clinic, "{attributes: [age, ward]}, {attributes: {note: exact}}", note="day")
    assert frozenset({"age", "ward"}) in made.related
    assert not any({"note", other} <= own for own in made.related for other in ("age", "ward"))
    assert made.drawn_from["ward"] == "the counts, together with age"
    assert made.drawn_from["note"] == "the counts, by itself"


def test_cells_are_empty_as_often_as_a_release_counted_them(clinic: Workshop) -> None:
    """A third of 500 old people has no ward: 167 of 1,000 simulated ones are expected, with a standard deviation of 12.

    Laplace noise of scale 1/20 adds nothing. A deviation of six has probability 1e-8; the seed is fixed.
    """
    made = rows_of_a_release(clinic, "{all: 2}", unknown=3)
    wards = made.table["ward"].to_pylist()
    assert abs(wards.count(None) - 167) < 6 * 12
    assert not made.table["age"].null_count, "a cell of age would drop its row, and is not counted"


@pytest.mark.parametrize(("released", "most"), [({"age", "ward"}, 12), ({"age", "ward", "note"}, 500)])
def test_exact_counts_relate_the_released_columns_though_finer_or_more_ones_have_too_many_cells(
    clinic: Workshop, monkeypatch: pytest.MonkeyPatch, released: set[str], most: int
) -> None:
    """2 ages in 4 wards are 8 cells. With 2 notes they are 16, with ages in years 800, and 400 without notes."""
    clinic.edit(clinic.contract, NOTE, NOTES)
    bound = "{property: rowsAtMost, value: 1000}"
    clinic.edit(clinic.contract, bound, f"{bound}\n      - {{property: public, value: true}}")
    clinic.write(
        {"patient": str(at), "age": 70 if at % 2 else 20, "ward": ward_of(at, 0), "note": "day"} for at in range(1000)
    )
    for each in (figures, prior, simulated_rows):
        monkeypatch.setattr(each, "MOST_CELLS_FITTED", most)
    if "note" in released:
        clinic.edit(clinic.policy, "age: 50 years,", "age: 50 years, note: exact,")
    made = simulated(plan_policy(clinic.policy), 1000, source=clinic.data)
    assert frozenset(released) in made.related
    pairs = set(zip(made.table["age"].to_pylist(), made.table["ward"].to_pylist(), strict=True))
    assert {(int(age.removesuffix("+")) >= 50, ward) for age, ward in pairs} == {(True, "north"), (False, "south")}


def test_pairs_that_lack_counts_are_named_up_to_three() -> None:
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c")]
    assert pairs_text(pairs[:1]) == "a and b"
    assert pairs_text(pairs) == "a and b; a and c; a and d; 1 more"


def test_a_rehearsal_that_crashes_says_why_and_that_nothing_was_charged(
    clinic: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("no coin")

    monkeypatch.setattr(randomness, "bernoulli_subsampler", broken)
    assert crowdgate("rehearse", clinic.policy) == 1
    said = capsys.readouterr().err
    assert "the rehearsal crashed, and so would a release: RuntimeError: no coin; nothing was charged" in said
