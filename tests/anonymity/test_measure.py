"""`crowdgate anonymity`: output for public tables, private records for confidential ones, and refusals."""

import json
import re
import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from crowdgate.anonymity.measure import measure
from crowdgate.anonymity.measure.measure import STORED_PRIVATELY, measure_anonymity
from crowdgate.anonymity.measure.request import AnonymityRequest
from crowdgate.errors import Crashed
from crowdgate.ledger.access_log import ANONYMITY_KEPT, ANONYMITY_MEASURED
from crowdgate.ledger.ledger import open_ledger
from crowdgate.risk.anonymity_sets import SIZES
from tests.conformance.lives import Said, say
from tests.kinds.registers import TOWN_HEAD
from tests.releases.killing import measure_and_kill
from tests.workshop import MARK, Row, Workshop, make_workshop, write_parquet

SLOT = "2030-01-01"
PUBLIC = "- {property: population, value: clinic-patients}"


@pytest.fixture
def there(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A working copy in which commands run; its table is confidential."""
    monkeypatch.chdir(workshop.root)
    return workshop


@pytest.fixture
def public(there: Workshop) -> Workshop:
    there.edit(there.contract, PUBLIC, f"{PUBLIC}\n      - {{property: public, value: true}}")
    return there


def patients() -> list[Row]:
    """Return 60 people; one ward has a single person, and one ward is missing."""
    wards = ["north", "south"] * 29 + ["east", None]
    return [{"patient": f"{MARK}-{i}", "age": 7 * i % 40, "ward": wards[i], "note": MARK} for i in range(60)]


def measured(workshop: Workshop, *options: object) -> dict[str, Any]:
    said = say("anonymity", workshop.contract, "--up-to", 2, "--json", *options)
    assert (said.code, said.err) == (0, "")
    return said.json()


def grouping(found: dict[str, Any], **levels: str) -> dict[str, Any]:
    (own,) = (each for each in found["groupings"] if each["levels"] == levels)
    return dict(own)


def test_a_public_table_is_shown_with_what_pandas_counts(public: Workshop) -> None:
    public.write(patients())
    found = measured(public, "--by", "ward", "--sample", "0.1")
    frame = pd.DataFrame(patients()).fillna("?")
    assert len(found["groupings"]) == 3 + 1 + 3
    sizes = frame.assign(age=frame.age // 10).groupby(["age", "ward"]).size()
    own = grouping(found, age="10 years", ward="exact")
    assert (own["sets"], own["median"], own["most"]) == (len(sizes), sizes.median(), sizes.max())
    assert own["people_within"] == {str(most): int(sizes[sizes <= most].sum()) for most in SIZES}
    by = {each["value"]: (each["people"], each["sets"]) for each in found["by"]["groups"]}
    every = frame.groupby("ward").agg(people=("age", "size"), sets=("age", "nunique"))
    assert by == {name if name != "?" else "(invalid)": tuple(row) for name, row in every.iterrows()}
    assert [each["model"] for each in found["population_uniques"]["estimates"]] == ["Pitman", "Zayatz", "SNB"]
    assert found["minimal_uniques"]["by_size"][0] >= 1


def test_what_all_attributes_together_tell_is_said_beside_few(public: Workshop) -> None:
    """The sets of all attributes together are reported even if each attribute is measured individually."""
    rows = patients()
    public.write(rows)
    alone = int((pd.DataFrame(rows).fillna("?").groupby(["age", "ward"]).size() == 1).sum())
    said = " ".join(say("anonymity", public.contract, "--up-to", 1, "--sample", "0.1").out.split())
    assert f"all 2 together make {alone} ({alone / 60:.2%}) unique." in said
    assert "with 95 % confidence" in said
    found = measured(public)["together"]
    assert (found["levels"], found["people_within"]["1"]) == ({"age": "exact", "ward": "exact"}, alone)


@pytest.mark.thorough
def test_the_terminal_says_it_in_words_first_and_a_page_is_written(public: Workshop) -> None:
    public.write(patients())
    page = public.root / "page.html"
    said = say("anonymity", public.contract, "--up-to", 2, "--by", "age=10 years", "--page", page)
    assert said.code == 0
    assert said.out.startswith("Of the 60 people in this table ")
    assert "Rows are counted: a row is one person." in said.out
    text = page.read_text()
    assert text.count("<svg") == 2
    assert "×" not in text  # tick labels are plain numbers within a decade too
    assert "Of the 60 people in this table " in text
    assert not any(asks in text for asks in ("<script", "src=", 'href="http', "@import"))


def test_a_picture_has_the_figures_of_the_table_below_it(public: Workshop) -> None:
    """Regression: a median of 100.5 people was 100 beside the picture."""
    wards = ["north"] * 100 + ["south"] * 101
    public.write([{"patient": f"{at}", "age": 1, "ward": ward, "note": ""} for at, ward in enumerate(wards)])
    page = public.root / "page.md"
    assert say("anonymity", public.contract, "--of", "ward", "--page", page).code == 0
    rows = [line.split(" | ") for line in page.read_text().splitlines() if line.startswith("| ward")]
    assert {row[2] for row in rows if row[1] == "median, with the quartiles"} == {"100.5"}
    assert {row[4] for row in rows if row[1] == "2"} == {"100.5"}


def test_of_nobody_nothing_is_said(public: Workshop) -> None:
    public.write([])
    found = measured(public, "--by", "ward", "--sample", "0.5")
    assert {each["sets"] for each in found["groupings"]} == {0}
    assert "NaN" not in json.dumps(found)
    page = public.root / "page.html"
    said = say("anonymity", public.contract, "--up-to", 1, "--page", page)
    assert said.out.startswith("There is nobody in this table")


def test_people_with_several_rows_are_counted_once_in_a_set(public: Workshop) -> None:
    """Two people, one of whom has three rows, two of them equal."""
    public.edit(public.contract, "value: row}", "value: {person: patient, rows: 3}}")
    rows = [("a", 5, "north"), ("a", 5, "north"), ("a", 70, "south"), ("b", 5, "north")]
    public.write([{"patient": who, "age": age, "ward": ward, "note": ""} for who, age, ward in rows])
    found = measured(public, "--by", "ward")
    assert found["people"] == 2
    own = grouping(found, age="exact", ward="exact")
    assert (own["sets"], own["least"], own["most"], own["people_within"]["1"]) == (2, 1, 2, 1)
    assert {each["value"]: each["people"] for each in found["by"]["groups"]} == {"north": 2, "south": 1}
    assert found["minimal_uniques"] is None
    assert "one row a person" in found["left_out"][0]
    assert "at most 3 rows of each count" in found["counted"]


def test_people_of_several_combinations_are_never_more_than_all_people(public: Workshop) -> None:
    public.edit(public.contract, "value: row}", "value: {person: patient, rows: 3}}")
    rows = [{"patient": f"p{i}", "age": age, "ward": ward, "note": ""} for i in range(4)
            for age, ward in ((10 + i, "north"), (60 + i, "south"))]  # fmt: skip
    public.write(rows)
    said = say("anonymity", public.contract, "--of", "age,ward").out
    assert "Of the 4 people in this table 4 (100.00%) have a unique combination of age" in said
    assert "A person with several combinations is in several sets, and counts here once" in said
    assert "200.00%" not in said


def test_alone_is_a_share_of_people_not_of_their_combinations(public: Workshop) -> None:
    """One of two people has a ward of her own in addition to the one that both have."""
    public.edit(public.contract, "value: row}", "value: {person: patient, rows: 2}}")
    rows = [("a", "north"), ("a", "east"), ("b", "north")]
    public.write([{"patient": who, "age": 1, "ward": ward, "note": ""} for who, ward in rows])
    own = grouping(measured(public), ward="exact")
    assert (own["people"], own["sets"], own["mean"], own["people_within"]["1"]) == (2, 2, 1.5, 1)
    said = say("anonymity", public.contract, "--of", "ward").out
    assert "Of the 2 people in this table 1 (50.00%) have a unique combination of ward" in said


def test_rows_that_are_lost_are_said_to_be_so(public: Workshop) -> None:
    """Six of 60 rows have an invalid age and are dropped; a seventh has no ward, and counts."""
    rows = patients()
    public.write([{**row, "age": -1} if i < 6 else row for i, row in enumerate(rows)])
    found = measured(public)
    assert (found["people"], found["ingested"]["rows"]["in the files"], found["ingested"]["rows"]["dropped"]) == (
        54, 60, 6)  # fmt: skip
    assert found["ingested"]["columns"]["age"]["reasons"] == [{"reason": "outside the domain", "cells": 6}]
    page = public.root / "page.html"
    said = " ".join(say("anonymity", public.contract, "--up-to", 2, "--page", page).out.split())
    for text in (said, page.read_text()):
        assert "This table has 60 rows; 6 of them (10.00%) are dropped, since a cell has no value of its domain" in text
        assert "count as (invalid), a value like others, in ward." in text
        assert "outside the domain 6" in text
    public.write(rows[:58])
    assert "This table has 58 rows, and all of them count." in say("anonymity", public.contract, "--up-to", 1).out


def test_rows_of_nobody_and_rows_beyond_the_bound_are_said_to_be_so(public: Workshop) -> None:
    public.edit(public.contract, "value: row}", "value: {person: patient, rows: 1}}")
    rows = [("a", 5), ("a", 25), ("a", 35), ("b", 5), (None, 15)]
    public.write([{"patient": who, "age": age, "ward": "north", "note": ""} for who, age in rows])
    said = " ".join(say("anonymity", public.contract, "--up-to", 1).out.split())
    assert "5 rows; 1 of them (20.00%) name no person and do not count, and 2 of them (40.00%) are more than" in said
    assert "Which rows of such a person count is the same whenever the same attributes are asked for" in said
    assert measured(public) == measured(public)


def private(workshop: Workshop) -> list[Path]:
    return sorted((workshop.root / "ledger" / "private").glob("*"))


@pytest.mark.thorough
def test_of_a_confidential_table_nothing_leaves_the_private_folder(there: Workshop) -> None:
    there.write(patients())
    before = {path: path.read_bytes() for path in there.root.rglob("*") if path.is_file()}
    said = say("anonymity", there.contract, "--up-to", 2, "--by", "ward", "--sample", "0.1")
    assert (said.code, said.out, said.err) == (0, f"{STORED_PRIVATELY}\n", "")
    assert MARK not in said.log
    page, record = sorted(private(there), key=lambda path: path.suffix)
    changed = {path for path in there.root.rglob("*") if path.is_file() and before.get(path) != path.read_bytes()}
    assert {path.parent.name for path in changed} <= {"private", "ledger"}
    assert {page.suffix, record.suffix} == {".html", ".json"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (page, record)} == {0o600}
    kept = json.loads(record.read_text())
    assert kept["people"] == 60
    assert len(kept["salt"]) == 64
    assert "Of the 60 people" in page.read_text()
    assert MARK not in page.read_text() + record.read_text()


def test_the_look_is_recorded_and_later_policies_are_informed(there: Workshop) -> None:
    assert not say("check", there.policy, "--json").json()["policies"][0]["informed"]
    assert say("anonymity", there.contract, "--up-to", 1).code == 0
    ledger = open_ledger(there.ledger, None)
    ledger.verify()
    look, kept = ledger.journal()[-2:]
    assert (look.event, look.subject, [*look.rows()]) == (ANONYMITY_MEASURED, "clinic-patients", [])
    assert (kept.event, kept.subject) == (ANONYMITY_KEPT, "clinic")
    assert len(kept.commitment or "") == 64
    assert not any(re.search(r"\b600\b", line.detail or "") for line in ledger.journal())
    assert say("check", there.policy, "--json").json()["policies"][0]["informed"]
    shown = say("ledger", "show", "--json").json()
    (measured,) = shown["tables_measured"]
    assert (measured["line"], measured["population"]) == (look.number, "clinic-patients")
    assert shown["tables_audited"] == []


@pytest.mark.thorough
def test_whatever_the_table_holds_the_public_sees_the_same(there: Workshop) -> None:
    """Tables without rows, with equal rows, and with rows that can't be read."""
    seen: list[tuple[Said, list[str]]] = []
    for rows in ([], patients()[:1] * 50, patients()):
        there.write(rows)
        seen.append((say("anonymity", there.contract, "--up-to", 2), events(there)))
    whole = there.data.read_bytes()
    there.data.write_bytes(whole[:40] + bytes(200) + whole[240:])
    seen.append((say("anonymity", there.contract, "--up-to", 2), events(there)))
    assert len({(said.code, said.out, said.err, said.log) for said, _ in seen}) == 1
    assert {tuple(own[-2:]) for _, own in seen} == {(ANONYMITY_MEASURED, ANONYMITY_KEPT)}


def events(workshop: Workshop) -> list[str]:
    return [line.event for line in open_ledger(workshop.ledger, None).journal()]


def test_an_error_after_reading_is_kept_private_and_the_look_comes_first(
    there: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        assert events(there)[-1] == ANONYMITY_MEASURED
        raise ValueError(f"{MARK} 60 rows")

    monkeypatch.setattr(measure, "anonymity_result", broken)
    said = say("anonymity", there.contract, "--up-to", 1, "--json")
    assert (said.code, said.err, said.log) == (0, "", "")
    assert said.json() == {"outcome": "ended", "plain": STORED_PRIVATELY}
    (record,) = private(there)
    assert json.loads(record.read_text())["stopped"] == f"ValueError: {MARK} 60 rows"


def test_a_signal_says_crashed(there: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "anonymity_result", stopped)
    with pytest.raises(Crashed):
        measure_anonymity(AnonymityRequest(there.contract, up_to=1))
    assert events(there)[-1] == ANONYMITY_MEASURED


STEPS = [
    ("measuring", "anonymity_result", "before"), ("private", "put_private", "before"), ("os", "replace", "before"),
    ("measuring", "write_private", "after"), ("measuring", "put_private", "after"),
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(("holder", "name", "when"), STEPS)
def test_a_killed_run_leaves_no_page_beside_another_record(there: Workshop, holder: str, name: str, when: str) -> None:
    """A run is followed by a killed one on other rows, and then by one that ends."""
    there.write(patients())
    assert say("anonymity", there.contract, "--up-to", 1).code == 0
    there.write(patients()[:50])
    before = {path: path.read_bytes() for path in there.root.rglob("*") if path.is_file()}
    measure_and_kill(AnonymityRequest(there.contract, up_to=1), holder, name, when)
    changed = {path for path in there.root.rglob("*") if path.is_file() and before.get(path) != path.read_bytes()}
    assert {path.parent.name for path in changed} <= {"private", "ledger"}
    pages = [path for path in private(there) if path.suffix == ".html"]
    records = [json.loads(path.read_text())["people"] for path in private(there) if path.suffix == ".json"]
    assert len(records) == 1
    assert all(f"Of the {records[0]} people" in page.read_text() for page in pages)
    assert len(pages) <= 1
    assert events(there).count(ANONYMITY_MEASURED) == 2
    open_ledger(there.ledger, None).verify()
    assert say("anonymity", there.contract, "--up-to", 1).code == 0
    page, record = sorted(private(there), key=lambda path: path.suffix)
    assert json.loads(record.read_text())["people"] == 50
    assert "Of the 50 people" in page.read_text()


def test_a_run_that_stops_leaves_no_older_page(there: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    assert say("anonymity", there.contract, "--up-to", 1).code == 0
    assert len(private(there)) == 2
    monkeypatch.setattr(measure, "anonymity_report", lambda _: 1 / 0)
    assert say("anonymity", there.contract, "--up-to", 1).out == f"{STORED_PRIVATELY}\n"
    (record,) = private(there)
    assert json.loads(record.read_text())["stopped"] == "ZeroDivisionError: division by zero"


def test_a_full_disk_says_crashed_and_leaves_the_older_record_whole(
    there: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert say("anonymity", there.contract, "--up-to", 1).code == 0
    (kept,) = (path.read_bytes() for path in private(there) if path.suffix == ".json")

    calls = count()

    def full(_: int) -> None:
        if next(calls):  # the first call is for the folder, before anything is read
            raise OSError(28, f"No space left on device {MARK}")

    monkeypatch.setattr("crowdgate.ledger.private.os.fsync", full)
    said = say("anonymity", there.contract, "--up-to", 1)
    assert (said.code, said.out) == (1, "")
    assert "crashed" in said.err
    assert MARK not in said.err + said.log
    assert [path.read_bytes() for path in private(there)] == [kept]
    assert events(there)[-1] == ANONYMITY_MEASURED


def test_without_a_private_folder_nothing_is_read(there: Workshop) -> None:
    folder = there.root / "ledger" / "private"
    folder.write_text("no folder")
    found = say("anonymity", there.contract, "--up-to", 1)
    assert (found.code, found.out) == (1, "")
    assert "private records can't be stored there" in found.err
    assert ANONYMITY_MEASURED not in events(there)


OF_PATIENTS = TOWN_HEAD.replace("FORMAT", "csv").replace("value: town", "value: clinic-patients")
REGISTER = f"""\
{OF_PATIENTS}\
      - name: ward
        logicalType: string
        customProperties:
          - {{property: privacyRole, value: quasi-identifier}}
          - {{property: domain, value: {{values: [east, south, north], source: town hall}}}}
"""


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A working copy with a release of its table in three wards."""
    workshop = make_workshop(tmp_path_factory.mktemp("released") / "w")
    workshop.edit(workshop.contract, PUBLIC, f"{PUBLIC}\n      - {{property: public, value: true}}")
    (workshop.root / "data_contracts" / "town.yaml").write_text(REGISTER)
    (workshop.root / "data_contracts" / "town.csv").write_text("ward\nnorth\n" + "south\n" * 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(workshop.root)
        assert say("release", workshop.policy, "--as-of", SLOT).code == 0
        yield workshop


def linked(workshop: Workshop, *options: object) -> Said:
    at = workshop.root / "data_contracts"
    with_release = ("--release", workshop.release_dir(SLOT), "--register", at / "town.yaml")
    return say("anonymity", workshop.contract, "--up-to", 1, "--json", *with_release, *options)


def test_a_release_is_matched_with_a_register_at_its_levels(released: Workshop) -> None:
    data = pd.read_parquet(released.release_dir(SLOT) / "data.parquet")
    found = linked(released, "--wrong", "ward=0.1", "--coverage", "0.5").json()["linkage"]
    wards = data.ward.astype(str).value_counts()
    assert (found["attributes"], found["rows"], found["register"]) == (["ward"], len(data), 5)
    assert found["unmatched"] == wards.get("east", 0)
    assert found["matches_within"][:2] == [wards["north"], wards["north"] + wards["south"]]
    assert found["people_within"][:2] == [1, 5]
    assert found["correct_at_most"] == 1 + 1  # one row of the person in north, four of the four in south
    assert found["correct_alone_at_most"] == 1
    assert found["found_rows"] == pytest.approx(0.45 * len(data))
    assert found["register_ingested"]["rows"]["in the files"] == 5


def test_a_bound_on_right_matches_is_said_in_words(released: Workshop) -> None:
    at = released.root / "data_contracts"
    with_release = ("--release", released.release_dir(SLOT), "--register", at / "town.yaml", "--coverage", "0.5")
    said = " ".join(say("anonymity", released.contract, "--up-to", 1, *with_release).out.split())
    assert "right for at most 2 rows on average, and for at most 1 of those that match one person." in said
    assert "with probability 0.5, nobody is right for more than" in said


def test_a_confidential_register_keeps_all_private(released: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    register = released.root / "data_contracts" / "town.yaml"
    text = register.read_text()
    monkeypatch.setattr("crowdgate.anonymity.measure.register_match.read_contract", confidential)
    said = linked(released)
    assert (said.json(), said.err) == ({"outcome": "ended", "plain": STORED_PRIVATELY}, "")
    assert events(released)[-2:] == [ANONYMITY_MEASURED, ANONYMITY_KEPT]
    assert register.read_text() == text


def confidential(path: Path, servers: Any) -> Any:
    """Return the same contract without `public`."""
    from dataclasses import replace

    from crowdgate.contracts.reading import read_contract

    return replace(read_contract(path, servers), public=False)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--of", "agee"], "--of: no attribute 'agee' with a domain; expected age, ward; write 'age'"),
        (["--of", "patient"], "--of: no attribute 'patient' with a domain"),
        (["--of", "age=10 yeers"], "--of: no level '10 yeers' of 'age'; expected exact, 10 years, 50 years"),
        (["--of", "age=any"], "--of: no level 'any' of 'age'"),
        (["--of", "age,age"], "--of: 'age' twice"),
        (["--by", "wart"], "--by: no attribute 'wart' with a domain; expected age, ward; write 'ward'"),
        (["--up-to", "0"], "--up-to: 0; expected 1 to 2, the number of attributes; write '2'"),
        (["--up-to", "3"], "--up-to: 3; expected 1 to 2"),
        (["--sample", "1.5"], "--sample: the sampling fraction '1.5'"),
        (["--sample", "0"], "--sample: the sampling fraction '0'"),
        (["--page", "x.pdf"], "--page: a file that ends in '.pdf'"),
        (["--page", "x.html"], "--page: the page would show confidential data"),
        (
            ["--release", "x"],
            "--release: only one of --release and --register is given; expected --release DIR and --register CONTRACT",
        ),
        (["--coverage", "0.5"], "--wrong, --coverage: this option needs a release and a register"),
        (["--wrong", ""], "--wrong, --coverage: this option needs a release and a register"),
    ],
)
def test_a_wrong_option_is_one_clear_error_before_anything_is_read(
    there: Workshop, options: list[str], said: str
) -> None:
    found = say("anonymity", there.contract, *(["--up-to", "1"] if "--up-to" not in options else []), *options)
    assert (found.code, found.out) == (2, "")
    assert found.err.count("\n") == 1
    assert said in found.err
    assert "look" not in " ".join(events(there))
    assert ANONYMITY_MEASURED not in events(there)


def test_too_many_groupings_are_refused(there: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdgate.anonymity.measure.request.MOST_GROUPINGS", 6)
    found = say("anonymity", there.contract, "--up-to", 2)
    assert found.code == 2
    assert "2, which makes 7 groupings; expected at most 6 groupings; write '1'" in found.err


def test_a_missing_file_is_refused_before_the_look(there: Workshop) -> None:
    there.data.unlink()
    assert say("anonymity", there.contract, "--up-to", 1).code == 4
    assert ANONYMITY_MEASURED not in events(there)


def test_without_a_budget_no_confidential_table_is_read(there: Workshop) -> None:
    there.budget.unlink()
    found = say("anonymity", there.contract, "--up-to", 1)
    assert found.code == 2
    assert "no budgets of the population 'clinic-patients'; expected one file of policies/budgets" in found.err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("- name: ward", "- name: quarter", "town has none of the columns age, ward"),
        ("[east, south, north]", "[east, south]", "'ward' at 'exact' has other values in town"),
    ],
)
def test_a_register_with_other_columns_is_refused(released: Workshop, old: str, new: str, said: str) -> None:
    register = released.root / "data_contracts" / "town.yaml"
    text = register.read_text()
    register.write_text(text.replace(old, new))
    try:
        found = linked(released)
    finally:
        register.write_text(text)
    assert found.code == 2
    assert said in found.err


@pytest.mark.parametrize("option", ["ward=2", "age=0.1", "ward", "", "ward=0.1,ward=0.5", "ward=0.1,"])
def test_wrong_rates_are_refused(released: Workshop, option: str) -> None:
    found = linked(released, "--wrong", option)
    assert found.code == 2
    assert "--wrong" in found.err


@pytest.mark.parametrize("share", ["", " ", "0", "-0.5", "1.01", "nan", "inf", "0.5,0.6"])
def test_a_share_that_is_none_is_refused(released: Workshop, share: str) -> None:
    found = linked(released, f"--coverage={share}")
    assert found.code == 2
    assert f"--coverage: {share!r}; expected a share above 0 and at most 1; write '0.9'" in found.err


def test_a_folder_that_is_no_release_is_refused(released: Workshop) -> None:
    at = released.root / "data_contracts"
    assert say("anonymity", released.contract, "--release", at, "--register", at / "town.yaml").code == 6


def test_another_file_is_not_the_public_table(public: Workshop) -> None:
    other = public.root / "other.parquet"
    write_parquet(other, patients()[:7])
    found = say("anonymity", public.contract, "--up-to", 1, "--input", other)
    assert (found.code, found.out) == (2, "")
    assert "--input" in found.err
    assert "other.parquet as the public table of contract clinic, but no contract describes this table" in found.err
    link = public.root / "link.parquet"
    link.hardlink_to(public.data)
    assert measured(public, "--input", link)["people"] == 600


def of_another(workshop: Workshop, population: str) -> Path:
    """Write a second contract on the clinic's file, of another population with a budget of its own, that is not
    public."""
    text = workshop.contract.read_text().replace("id: clinic\n", "id: hospital\n")
    text = text.replace("value: clinic-patients", f"value: {population}").replace("{property: public, value: true}", "")
    other = workshop.contract.with_name("hospital.yaml")
    other.write_text(text.replace("      - \n", ""))
    if population != "clinic-patients":
        budget = workshop.budget.read_text().replace("name: clinic-patients", f"name: {population}")
        workshop.budget.with_name("hospital.yaml").write_text(budget)
    return other


def test_a_file_that_another_contract_does_not_call_public_is_not_public(public: Workshop) -> None:
    of_another(public, "clinic-patients")
    found = say("anonymity", public.contract, "--up-to", 1)
    assert (found.code, found.out) == (2, "")
    assert "contract hospital does not say that it is public" in found.err
    assert ANONYMITY_MEASURED not in events(public)


def test_a_look_is_one_at_everybody_whose_table_it_is(there: Workshop) -> None:
    of_another(there, "others")
    assert say("anonymity", there.contract, "--up-to", 1).code == 0
    looks = [line.subject for line in open_ledger(there.ledger, None).journal() if line.event == ANONYMITY_MEASURED]
    assert looks == ["clinic-patients", "others"]


def test_another_file_may_take_the_place_of_a_confidential_one(there: Workshop) -> None:
    other = there.root / "other.parquet"
    write_parquet(other, patients()[:7])
    assert say("anonymity", there.contract, "--up-to", 1, "--input", other).out == f"{STORED_PRIVATELY}\n"
    (record,) = (path for path in private(there) if path.suffix == ".json")
    assert json.loads(record.read_text())["people"] == 7
