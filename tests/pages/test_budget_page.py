"""The page of a budget follows the ledger; an index links to the page of every run."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from crowdgate.errors import EnvironmentFault, LedgerRefused
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.pages import index
from crowdgate.pages.budget import budget_page, budget_steps
from crowdgate.pages.index import write_index
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases.release import release
from tests.workshop import Workshop, crowdgate


@pytest.fixture
def clinic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """Make two releases, the second withheld, with a raise between them."""
    monkeypatch.chdir(workshop.root)
    release(Request(workshop.policy, "2026-01-01"), draw_key)
    arguments = ("ledger", "budget", "clinic-patients", "--raise", "--epsilon", "8", "--reason", "a second survey")
    assert crowdgate(*arguments) == 0
    workshop.edit(workshop.policy, "version: 1", "version: 2")
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 999")
    release(Request(workshop.policy, "2026-02-01"), draw_key)
    return workshop


def test_each_step_is_what_the_ledger_had(clinic: Workshop) -> None:
    ledger = ledger_at(clinic.root, None)
    steps = list(budget_steps(ledger.journal(), "clinic-patients"))
    left = [(step.cap["epsilon"] - step.spent["epsilon"], step.what) for step in steps]
    assert left == [
        (Fraction(6), "registered"),
        (Fraction(4), "clinic/1/2026-01-01 charged"),
        (Fraction(6), "raised"),
        (Fraction(4), "clinic/2/2026-02-01 charged"),
    ]
    text = budget_page(ledger, "clinic-patients").markdown()
    assert "has 33 % of its lifetime budget left" in text
    assert re.search(r"- Raised to epsilon 8, delta 0\.03: a second survey \(line \d+, ", text)
    assert re.search(r"\| clinic/2/2026-02-01 \| withheld \| 2 \|", text)
    own = ledger.spent("clinic-patients")
    assert steps[-1].spent == {"epsilon": own.epsilon, "delta": own.delta}


def test_an_unknown_population_is_refused_with_those_that_are_known(clinic: Workshop) -> None:
    with pytest.raises(LedgerRefused, match="which knows: clinic-patients"):
        budget_page(ledger_at(clinic.root, None), "others")


@pytest.mark.thorough
def test_an_index_leads_to_every_run_and_budget(clinic: Workshop) -> None:
    made = write_index(ledger_at(clinic.root, None), clinic.root, clinic.root / "pages")
    text = made.read_text()
    assert "2 runs are in the ledger" in text
    assert "1 published, 1 withheld" in text
    found = dict(re.findall(r'<a href="([^"]+)">([^<]+)</a>', text))
    assert set(found.values()) == {"clinic/1/2026-01-01", "clinic/2/2026-02-01", "clinic-patients"}
    for name, title in found.items():
        assert f"{title}" in (made.parent / name).read_text().split("</h1>")[0]
    assert {file.name for file in made.parent.iterdir()} == {*found, "index.html"}
    with pytest.raises(EnvironmentFault, match="a folder that is not there yet"):
        write_index(ledger_at(clinic.root, None), clinic.root, clinic.root / "pages")


@pytest.mark.thorough
def test_a_release_that_was_changed_has_no_page_and_the_index_says_so(clinic: Workshop) -> None:
    (data,) = (clinic.root / "releases").glob("clinic/1/*/data.csv")
    data.write_text("")
    text = write_index(ledger_at(clinic.root, None), clinic.root, clinic.root / "pages").read_text()
    assert "it does not verify: step 3, files" in text
    assert set(re.findall(r'href="([^"]+)"', text)) == {"budget-1.html", "run-2.html"}


@pytest.mark.thorough
def test_nothing_half_written_stays(clinic: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(clinic.root.iterdir())
    monkeypatch.setattr(index, "_sections", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_index(ledger_at(clinic.root, None), clinic.root, clinic.root / "pages")
    assert sorted(clinic.root.iterdir()) == before


def test_the_terminal_shows_the_same_within_80_columns(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    runs = ("clinic/2/2026-02-01", "clinic/1/2026-01-01")
    for arguments in (("budget", "clinic-patients"), *(("release", each) for each in runs)):
        assert crowdgate("report", *arguments) == 0
        told = capsys.readouterr().out
        assert max(map(len, told.splitlines())) <= 80
        assert "<!--" not in told
    assert Path.cwd() == clinic.root
