"""The private edition of a page: for its owner only, after a recorded access."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from crowdgate.kind.run import Request
from crowdgate.ledger.access_log import RECORD_OPENED
from crowdgate.ledger.key import draw_key
from crowdgate.pages.private_record import record_report
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases.private_record import PrivateRecord
from crowdgate.releases.release import release
from crowdgate.report.pictures import picture_table
from crowdgate.system import permissions
from tests.reports import listings_of
from tests.workshop import Workshop, crowdgate, good_rows

RELEASE = "clinic/1/2026-01-01"


@pytest.fixture
def clinic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.chdir(workshop.root)
    workshop.write([*good_rows(600), *({**row, "age": "none"} for row in good_rows(30))])
    release(Request(workshop.policy, "2026-01-01"), draw_key)
    return workshop


def looks(clinic: Workshop) -> int:
    return sum(line.event == RECORD_OPENED for line in ledger_at(clinic.root, None).journal())


@pytest.mark.thorough
def test_it_shows_what_came_in_and_what_was_lost_and_is_recorded(clinic: Workshop) -> None:
    assert crowdgate("report", "release", RELEASE, "--private", "--page", "private.html") == 0
    assert looks(clinic) == 1
    file = Path("private.html")
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text()
    titles = ("Cells outside their domains", "Sizes of the classes", "age: before and after", "How far the release")
    for title in titles:
        assert re.search(rf"<h3>{title}.*?<figure>.*?<details>", text, re.DOTALL), title
    assert '<td data-label="column">age</td>\n<td data-label="share of the rows">0.04762</td>' in text


@pytest.mark.thorough
def test_the_public_page_has_none_of_it(clinic: Workshop) -> None:
    assert crowdgate("report", "release", RELEASE, "--page", "public.html") == 0
    assert looks(clinic) == 0
    text = Path("public.html").read_text()
    assert "0.04762" not in text
    assert "curator" not in text


def test_it_needs_a_file_and_looks_at_nothing_without(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("report", "release", RELEASE, "--private") == 2
    assert "a file for its owner only" in capsys.readouterr().err
    assert looks(clinic) == 0


def test_values_before_and_after_are_those_of_the_table_and_the_release(clinic: Workshop) -> None:
    """The wards are a third each in the table."""
    from crowdgate.pages.private_pictures import private_section

    found = private_section(ledger_at(clinic.root, None), RELEASE).pictures()
    (ward,) = [each for each in found if each.title.startswith("ward: before and after")]
    before, after = ward.series
    assert {point.at: round(point.value, 9) for point in before.points if point.value} == {
        "north": 0.333333333, "south": 0.333333333, "east": 0.333333333,
    }  # fmt: skip
    assert sum(point.value for point in after.points) == pytest.approx(1)
    assert ["north", "in the table", "33.33%"] in list(picture_table(ward).texts)


def test_children_of_the_same_keys_are_rows_of_one_table_and_no_figure_is_lost() -> None:
    third = "1/30000000000000000000"
    nested = {"k": 7, "of": [1, 2], "parts": [{"name": "a", "rho": third}, {"name": "b", "rho": 0.25}], "x": {"y": {}}}
    record = PrivateRecord(RELEASE, "ledger", "people", True, {"outcome": "withheld", "settings": nested})
    tables = {each.title: (each.titles, list(each.texts)) for each in listings_of(record_report(record))}
    assert tables == {
        "": (["figure", "value"], [["k", "7"], ["of", "1, 2"]]),
        "parts": (["", "name", "rho"], [["1", "a", "3.33333e-20"], ["2", "b", "0.25"]]),
        "x": (["figure", "value"], [["y", ""]]),
    }


def test_a_notebook_shows_the_title_of_a_private_page_only() -> None:
    """Notebooks are stored and shared with what they showed."""
    record = PrivateRecord(RELEASE, "ledger", "people", True, {"outcome": "withheld", "settings": {"k": 987654}})
    page = record_report(record)
    assert "987654" in page.html()
    assert "987654" not in page._repr_html_()
    assert RELEASE in page._repr_html_()
    assert "987654" in replace(page, access=permissions.PAGE)._repr_html_()
