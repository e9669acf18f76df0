"""After the conversion of a budget every charge is counted by its filter, whatever command makes it."""

import tarfile
from fractions import Fraction
from pathlib import Path

import pytest

from crowdgate.errors import LedgerRefused
from crowdgate.ledger import restoration, schema
from crowdgate.ledger.ledger import ChargeRequest, Ledger, Spend
from crowdgate.ledger.schema import DIVERGENCES, ENTRIES, FILTERS
from crowdgate.ledger.transitions import ChargeRow
from crowdgate.planning.open_ledger import ledger_at
from tests.ledger.books import cut_after
from tests.ledger.keep import AUDIT, CONVERT, KEPT, KL, UNPACKED
from tests.workshop import crowdgate

POPULATION = "clinic-patients"
BEFORE, LAST_BEFORE = {"rows/1/2029-12-01"}, 8
"""The charges of the kept ledger before its conversion, and the last line before it."""
COMMANDS = {
    "release policies/rows.yaml --as-of 2030-06-01": 1,
    "release policies/tables.yaml --as-of 2030-06-01": 1,
    "release policies/synthetic.yaml --as-of 2030-06-01": 1,
    "release policies/withheld.yaml --anyway test --as-of 2030-06-01": 1,
    KL[0].replace("2020-01-01", "2020-02-01"): 1,
    KL[1]: 0,
    AUDIT: 0,
    "anonymity data_contracts/clinic.yaml --of age,ward": 0,
    "record show rows/2/2030-02-01": 0,
    "record delete rows/2/2030-02-01": 0,
    "ledger restore": 0,
}
"""Commands that charge, or read the table or its records, with the number of their charges."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with tarfile.open(KEPT / "format_3.tar.xz") as kept:
        kept.extractall(tmp_path, **UNPACKED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def without_a_vector(ledger: Ledger) -> set[str]:
    """Return the charges that no filter counts, after comparing the filter's total with the sum of the others."""
    rows = ledger.state().rows
    charges = [ChargeRow(*cells) for cells in rows[ENTRIES].values() if ChargeRow(*cells).state != "void"]
    counted = [rows[DIVERGENCES][each.number][1] for each in charges if each.number in rows[DIVERGENCES]]
    units = [list(map(int, text.split(" "))) for text in counted]
    (total,) = [row[2] for row in rows[FILTERS].values()]
    assert total == " ".join(str(sum(each)) for each in zip(*units, strict=True))
    return {each.release_id for each in charges if each.number not in rows[DIVERGENCES]}


@pytest.mark.thorough
def test_every_command_books_its_vector_or_charges_nothing(home: Path) -> None:
    assert crowdgate("ledger", "budget", POPULATION, "--raise", "--epsilon", "100", "--reason", "test") == 0
    budget = home / "policies" / "budgets" / "clinic.yaml"
    budget.write_text(budget.read_text().replace("epsilon: 80,", "epsilon: 100,"))
    for policy in (home / "policies").glob("*.yaml"):
        policy.write_text(policy.read_text().replace("version: '2'", "version: '3'"))
    for command, charges in COMMANDS.items():
        before, known = spent(home), {entry.release_id for entry in ledger_at(home, None).entries()}
        assert crowdgate(*command.split()) in (0, 3), command
        ledger = ledger_at(home, None)
        assert without_a_vector(ledger) == BEFORE, command
        assert len({entry.release_id for entry in ledger.entries()} - known) == charges, command
        assert (spent(home) != before) == bool(charges), command


def test_a_request_of_an_older_program_is_counted_or_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It states no vector: with the budget in the ledger it is counted as any release of its cost, with an additive
    budget it is refused. A program that knows no format 3 opens no such ledger."""
    ledger = ledger_at(home, None)
    budget = ledger.budget(POPULATION)
    assert budget is not None
    cost = Spend(Fraction(1), Fraction("0.001"))
    ledger.reserve(ChargeRequest("old/1/1", "d", "clinic", budget, cost))
    assert without_a_vector(ledger) == BEFORE
    additive = type(budget)(POPULATION, budget.cap, budget.people, budget.unit, budget.relation)
    with pytest.raises(LedgerRefused, match="accounting"):
        ledger.reserve(ChargeRequest("old/1/2", "d", "clinic", additive, cost))
    monkeypatch.setattr(schema, "USABLE", (2,))
    with pytest.raises(LedgerRefused):
        ledger_at(home, None)


@pytest.mark.thorough
@pytest.mark.parametrize("number", [1, 7, LAST_BEFORE])
def test_a_restoration_from_before_the_conversion_repeats_it(home: Path, number: int) -> None:
    """Otherwise the next conversion would open a filter in which nothing is spent."""
    before = spent(home)
    cut_after(home / "ledger" / "ledger.db", number)
    assert crowdgate("ledger", "restore") == 0
    assert all(one >= other for one, other in zip(spent(home), before, strict=True))
    assert crowdgate(*CONVERT.split()) == 5
    journal = ledger_at(home, None).journal()
    assert crowdgate("ledger", "restore") == 0
    assert ledger_at(home, None).journal() == journal
    assert crowdgate("ledger", "verify") == 0


def test_a_restoration_that_forgets_the_conversion_is_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restoration, "_book_conversions", lambda *_, **__: [])
    cut_after(home / "ledger" / "ledger.db", LAST_BEFORE)
    assert crowdgate("ledger", "restore") == 5


def spent(home: Path) -> tuple[Fraction, ...]:
    """Return what is spent: epsilon, delta, the divergences at each order, and the cut mass."""
    ledger = ledger_at(home, None)
    additive, counted = ledger.spent(POPULATION), ledger.divergences(POPULATION)
    assert counted is not None
    return (additive.epsilon, additive.delta, *counted.amounts, counted.cut)


@pytest.mark.parametrize(
    "stated", ["epsilon: 60, delta: 0.4, accounting: additive,", "epsilon: 60, delta: 0.4, accounting: renyi,"]
)
def test_a_restoration_that_can_not_repeat_a_conversion_is_refused(
    home: Path, stated: str, capsys: pytest.CaptureFixture[str]
) -> None:
    budget = home / "policies" / "budgets" / "clinic.yaml"
    budget.write_text(budget.read_text().replace("epsilon: 80, delta: 0.4, accounting: renyi,", stated))
    cut_after(home / "ledger" / "ledger.db", LAST_BEFORE)
    assert crowdgate("ledger", "restore") == 5
    assert "write the amounts that `ledger convert` printed" in capsys.readouterr().err.lower()
