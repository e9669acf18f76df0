"""The curator's private record: its contents, its opening, the notices of it, and the policies marked afterwards."""

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import LedgerRefused, VerificationFailed
from crowdgate.kind import randomness
from crowdgate.ledger.access_log import RECORD_OPENED
from crowdgate.ledger.ledger import Ledger, open_ledger
from crowdgate.ledger.private import private_file
from crowdgate.releases.private_record import open_record, record_line
from crowdgate.review.check_text import INFORMED
from crowdgate.verification.release import verify
from tests.conformance.lives import Said, say
from tests.forging import reseal_with_page
from tests.workshop import MARK, Row, Workshop, good_rows, make_workshop, write_csv

SLOT = "2030-01-01"
ID = f"clinic/1/{SLOT}"
TOLD = "(every access is recorded, and marks policies that change later)"
LINE = f"for the custodian only: crowdgate record show {ID} {TOLD}\n"
STATIC = """\
  gates:
    - {measure: pso_bound, at_most: 1}
    - {measure: suppressed_share, at_most: 0.5, severity: advise}
"""


@pytest.fixture
def there(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A working copy in which commands are given."""
    monkeypatch.chdir(workshop.root)
    return workshop


def dirty(count: int) -> list[Row]:
    """Return rows in which every ninth age is outside the domain, and some wards are; a rule of the table fails."""
    rows = good_rows(count)
    return [
        {**row, **({"age": f"{MARK} {i}"} if i % 9 == 0 else {}), **({"ward": None} if i % 50 == 0 else {})}
        for i, row in enumerate(rows)
    ]


def release(workshop: Workshop, slot: str = SLOT, *more: object) -> Said:
    return say("release", workshop.policy, "--as-of", slot, *more)


def shown(release_id: str = ID) -> dict[str, Any]:
    said = say("record", "show", release_id, "--json")
    assert said.code == 0
    return said.json()


def looks(workshop: Workshop) -> list[str]:
    return [line.subject for line in open_ledger(workshop.ledger, None).journal() if line.event == RECORD_OPENED]


# what it holds


@pytest.mark.parametrize("end", ["published", "withheld"])
def test_the_record_tells_what_came_in_and_why_cells_are_invalid_without_a_value(there: Workshop, end: str) -> None:
    there.write(dirty(600))
    if end == "withheld":
        there.edit(there.policy, "released_rows, at_least: 0", "released_rows, at_least: 90000")
    release(there)
    record = shown()["record"]
    assert record["outcome"] == end
    assert MARK not in json.dumps(record)
    rows, columns = record["ingestion"]["rows"], record["ingestion"]["columns"]
    assert rows == {"in the files": 600, "of a wrong number of cells": 0, "with an invalid cell": 77, "dropped": 67}
    assert columns["age"]["reasons"] == [{"reason": "unreadable", "cells": 67}]
    assert columns["age"]["share"] == pytest.approx(67 / 600)
    assert columns["ward"]["reasons"] == [{"reason": "missing", "cells": 12}]


def test_of_people_the_record_tells_who_was_truncated_and_which_rows_name_nobody(there: Workshop) -> None:
    there.edit(there.contract, "{property: privacyUnit, value: row}",
               "{property: privacyUnit, value: {person: patient, rows: 2}}")  # fmt: skip
    there.edit(there.budget, "unit: row", 'unit: "person:patient"')
    owners = [*(["a"] * 5), *(["b"] * 3), "c", None, None]
    there.write([{**row, "patient": owner} for row, owner in zip(good_rows(11), owners, strict=True)])
    release(there)
    found = shown()["record"]["ingestion"]
    assert found["people"] == {"named": 3, "with an invalid cell": 0, "truncated": 2}
    assert (found["rows"]["truncated"], found["rows"]["that name no person"]) == (4, 2)


def test_the_page_has_the_record_in_readable_form(there: Workshop, tmp_path: Path) -> None:
    there.write(dirty(600))
    release(there)
    text = say("record", "show", ID, "--full").out
    assert "\nUtility" not in say("record", "show", ID).out
    assert "\nUtility" in text
    for name in ("page.md", "page.html"):
        assert say("record", "show", ID, "--page", tmp_path / name).out == f"{tmp_path / name}\n"
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    page = (tmp_path / "page.md").read_text()
    assert "| age | 67 | 0.1117 | unreadable 67 | the row is dropped |" in page
    assert "| suppressed_share at most 0.5 | confidential | pass |" in page
    words = (re.findall(r"\w+", each) for each in (text, page))
    assert sorted("".join(next(words))) == sorted("".join(next(words)))
    assert ">unreadable 67</td>" in (tmp_path / "page.html").read_text()


def test_what_a_crash_says_is_printed_without_control_characters(
    there: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("\x1b[2J\u202e|")

    monkeypatch.setattr(randomness, "bernoulli_subsampler", broken)
    assert release(there).code == 1
    said = say("record", "show", ID).out
    assert "RuntimeError: \\x1b[2J\\u202e|" in said
    assert "\x1b" not in said


# opening it


def test_every_opening_is_a_line_of_the_ledger_that_is_listed_and_verified(there: Workshop) -> None:
    release(there)
    for count in (1, 2):
        shown()
        assert looks(there) == [ID] * count
    opened = open_ledger(there.ledger, None)
    opened.verify()
    numbers = [line.number for line in opened.journal() if line.event == RECORD_OPENED]
    listed = say("ledger", "show", "--json").json()["records_opened"]
    assert [(each["line"], each["release_id"]) for each in listed] == [(number, ID) for number in numbers]
    assert all(each["at"].endswith("Z") and "@" in each["by"] for each in listed)
    assert f"private record of {ID} opened (line {numbers[0]}, " in say("ledger", "show").out


@pytest.mark.thorough
@pytest.mark.parametrize("more", [(), ("--json",), ("--page", "page.md")])
def test_a_look_that_can_not_be_recorded_shows_nothing(
    there: Workshop, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    there.write(dirty(600))
    release(there)

    def full(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Ledger, "record", full)
    said = say("record", "show", ID, *more)
    assert said.code == 1
    assert not re.search(r"67|unreadable|ingestion|0\.11", said.out + said.err)
    assert not Path("page.md").exists()
    assert looks(there) == []


def test_nothing_is_opened_where_nothing_can_be_shown(there: Workshop) -> None:
    release(there)
    assert say("record", "show", f"clinic/9/{SLOT}").code == 5
    assert say("record", "show", ID, "--page", "page.txt").code == 2
    (path,) = (there.root / "ledger" / "private").iterdir()
    kept = path.read_bytes()
    path.unlink()
    with pytest.raises(LedgerRefused, match="has no private record"):
        open_record(ID, open_ledger(there.ledger, None))
    assert looks(there) == []
    path.write_bytes(kept.replace(b'"table": 600', b'"table": 601'))
    said = say("record", "show", ID)
    assert (said.code, said.out) == (6, "")
    path.write_bytes(kept)
    assert shown()["committed"]


def test_a_run_that_read_nothing_has_no_record(there: Workshop) -> None:
    there.edit(there.policy, "pso_bound, at_most: 1", "pso_bound, at_most: 0.001")
    assert release(there).code == 3
    assert say("record", "show", ID).code == 5
    assert looks(there) == []


# what is decided afterwards


def told(workshop: Workshop, version: int, slot: str) -> dict[str, bool]:
    """Return whether check, plan, README, manifest and ledger mark a version as informed."""
    folder = workshop.root / "releases" / "clinic" / str(version) / slot
    before = {name: say(name, workshop.policy, "--json").json() for name in ("check", "plan")}
    assert release(workshop, slot).code == 0
    claims = json.loads((folder / "manifest.json").read_text())
    verify(folder, workshop.ledger)
    words = (say("plan", workshop.policy).out, (folder / "README.md").read_text())
    assert len({"Informed by confidential data" in text for text in words}) == 1
    assert (INFORMED in say("check", workshop.policy).out) == ("Informed by confidential data" in words[0])
    return {
        "check": before["check"]["policies"][0]["informed"],
        "plan": before["plan"]["informed"],
        "words": "Informed by confidential data" in words[0],
        "manifest": claims["facts"].get("informed", False),
    }


@pytest.mark.thorough
def test_policies_that_are_first_used_after_a_look_are_marked_everywhere(there: Workshop) -> None:
    there.edit(there.budget, "epsilon: 6, delta: 0.03", "epsilon: 60, delta: 0.9")
    assert set(told(there, 1, SLOT).values()) == {False}
    shown()
    assert set(told(there, 1, "2030-02-01").values()) == {False}  # it was there before anybody looked
    there.edit(there.policy, "version: 1", "version: 2")
    assert set(told(there, 2, "2030-03-01").values()) == {True}
    there.edit(there.policy, "version: 2", "version: 3")
    there.edit(there.contract, "version: 1.0.0", "version: 1.0.1")
    assert set(told(there, 3, "2030-04-01").values()) == {True}


def test_without_its_ledger_nobody_knows_whether_a_policy_is_informed(there: Workshop) -> None:
    (there.root / "ledger" / "ledger.db").unlink()
    assert say("check", there.policy, "--json").json()["policies"][0]["informed"] is None
    assert say("plan", there.policy, "--json").json()["informed"] is None
    told = say("check", there.policy).out
    assert "the ledger can't be read here, so it is unknown whether confidential results were viewed before" in told


@pytest.mark.thorough
@pytest.mark.parametrize("after", [False, True])
def test_the_ledger_finds_a_mark_that_was_taken_away_or_added(there: Workshop, after: bool) -> None:
    release(there)
    if after:
        shown()
    there.edit(there.policy, "version: 1", "version: 2")
    slot = "2030-02-01"
    release(there, slot)
    folder = there.root / "releases" / "clinic" / "2" / slot
    reseal_with_page(folder, lambda claims: _toggle(claims["facts"]))
    verify(folder)
    with pytest.raises(VerificationFailed, match="the ledger says otherwise about whether confidential"):
        verify(folder, there.ledger)


def _toggle(facts: dict[str, Any]) -> None:
    if facts.pop("informed", None) is None:
        facts["informed"] = True


# the line on the terminal

CONTENTS = {"clean": good_rows(600), "dirty": dirty(600), "none": []}
ENDS = ("published", "withheld", "crashed")


def _arranged(root: Path, content: str, end: str) -> Workshop:
    workshop = make_workshop(root)
    text = workshop.policy.read_text()
    gates = STATIC if end != "withheld" else STATIC + "    - {measure: released_rows, at_least: 90000}\n"
    workshop.policy.write_text(text[: text.index("  gates:")] + gates + text[text.index("  publish:") :])
    rule = "    quality:\n      - {name: rows, metric: rowCount, mustBeGreaterThan: 100}\n    properties:\n"
    workshop.edit(workshop.contract, "    properties:\n", rule)
    share = (
        "        quality:\n          - {metric: invalidValues, unit: percent, mustBeLessThan: 1}\n      - name: ward\n"
    )
    workshop.edit(workshop.contract, "      - name: ward\n", share)
    workshop.edit(workshop.contract, "path: patients.parquet, format: parquet", "path: patients.csv, format: csv")
    write_csv(workshop.root / "data_contracts" / "patients.csv", CONTENTS[content])
    return workshop


@pytest.mark.thorough
def test_the_terminal_says_the_same_of_clean_and_of_dirty_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that hold, rules that fail, and no rows give equal output byte by byte, except for public gates."""
    said: dict[str, set[tuple[object, ...]]] = {end: set() for end in ENDS}
    failed = {}
    for end in ENDS:
        with pytest.MonkeyPatch.context() as patch:
            if end == "crashed":
                patch.setattr(randomness, "bernoulli_subsampler", _broken)
            for content in CONTENTS:
                (tmp_path / "w").mkdir()
                workshop = _arranged(tmp_path / "w", content, end)
                monkeypatch.chdir(workshop.root)
                for more in ((), ("--json",)) if end == "crashed" else ((),):
                    found = release(workshop, f"2030-01-0{1 + len(more)}", *more)
                    assert found.err.startswith(record_line(f"clinic/1/2030-01-0{1 + len(more)}") + "\n")
                    said[end].add((more, found.code, _without_rows(found.out), found.err))
                if end == "published":
                    rules = shown()["record"]["rules"]
                    failed[content] = [rule["rule"] for rule in rules if rule["passed"] is False]
                (tmp_path / "w").rename(tmp_path / f"{end} {content}")
    assert [len(said[end]) for end in ENDS] == [1, 1, 2]
    assert (failed["clean"], len(failed["dirty"]), failed["none"]) == ([], 1, ["rows"])


def _broken(*_: object) -> object:
    raise RuntimeError(MARK)


def _without_rows(text: str) -> str:
    """Remove the number of rows, which the gate on the released rows shows."""
    return re.sub(r"released_rows at least 90000: \d+,", "", text)


def test_the_line_is_said_once_wherever_data_were_read_and_nowhere_else(there: Workshop) -> None:
    assert release(there).err == LINE
    assert release(there).err == ""  # it is reported, and nothing is read
    there.edit(there.policy, "version: 1", "version: 2")
    there.edit(there.policy, "pso_bound, at_most: 1", "pso_bound, at_most: 0.001")
    assert release(there).err == ""
    there.edit(there.policy, "pso_bound, at_most: 0.001", "pso_bound, at_most: 1")
    found = release(there, "2030-01-05", "--json")
    assert found.json()["outcome"] == "published"
    assert found.err == LINE.replace(ID, "clinic/2/2030-01-05")


def test_a_terminal_that_is_gone_stops_no_run(there: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object, **more: object) -> None:
        if more.get("err"):
            raise BrokenPipeError

    monkeypatch.setattr("crowdgate.cli.output.typer.echo", gone)
    assert release(there).code == 0


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("plant", "why"),
    [
        (os.mkfifo, "a named pipe, not a regular file"), (Path.mkdir, "a folder, not a regular file"),
        (_sparse, "larger than"), (lambda path: path.symlink_to("nothing"), "No such file"),
    ],
)  # fmt: skip
def test_what_is_no_record_of_a_bounded_size_is_refused_and_never_taken_for_none(
    plant: Callable[[Path], object], why: str, there: Workshop
) -> None:
    assert release(there).code == 0
    path = private_file(there.root / "ledger" / "ledger.db", open_ledger(there.ledger, None).id, ID)
    path.unlink()
    plant(path)
    said = say("record", "show", ID)
    assert said.code == 6
    assert why in said.err


def test_a_folder_of_decisions_that_is_none_is_refused(there: Workshop) -> None:
    os.mkfifo(there.root / "policies" / "decisions")
    for command in (("check", there.policy), ("release", there.policy, "--as-of", SLOT)):
        said = say(*command)
        assert said.code == 2
        assert "decisions: folder: Not a directory" in said.err
