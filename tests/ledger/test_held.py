"""A correctly chained line must be a change that the ledger itself could make: anything else is refused."""

import copy
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

from crowdgate.errors import LedgerRefused, VerificationFailed
from crowdgate.ledger.journal import JournalLine
from crowdgate.ledger.journal_rules import JournalState
from crowdgate.ledger.ledger import Ledger, Spend, State, create, open_ledger
from crowdgate.ledger.values import amounts
from tests.ledger.books import append, asked

READ, LEASE = "a/1/2030-01-01", "a/1/2030-01-02"
Row = dict[str, Any]


@pytest.fixture
def ledger(tmp_path: Any) -> Ledger:
    """Make a ledger with a published and a withheld release, a lease, one given back, and every other event once."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    made = open_ledger(url, create(url, "test"))
    for slot in (READ, LEASE, "b/1/x", "b/1/y"):
        made.reserve(asked(slot, "flow"))
    made.begin_reading(READ)
    made.note_private(READ, "first")
    made.commit(READ, State.COMMITTED, "sha256:ab", "releases", "salted")
    made.published(READ)
    made.begin_reading("b/1/x")
    made.commit("b/1/x", State.WITHHELD, None, None, None)
    made.void("b/1/y")
    made.raise_budget("us-cps", None, 400_000, "more people")
    made.freeze("us-cps", True, "a complaint")
    made.freeze("us-cps", False, "settled")
    made.record("note", "x", "y")
    return made


def charge(ledger: Ledger, of: str, /, **changed: object) -> tuple[str, Row]:
    """Return the row of a charge, with some of its cells changed."""
    lines = [line for line in ledger.journal() if line.subject == of]
    return "entries", {**dict(lines[-1].rows())["entries"], **changed}


def total(epsilon: int) -> tuple[str, Row]:
    spent = amounts(Spend(Fraction(epsilon), Fraction(epsilon, 10**9)))
    return "totals", {"population": "us-cps", **spent}


def budget(**changed: object) -> tuple[str, Row]:
    row = {"population": "us-cps", "epsilon": "4/1", "delta": "1/100000000", "people": 400_000, "unit": "row"}
    return "populations", {**row, "relation": "add-remove", **changed}


def fresh(ledger: Ledger, release_id: str = "a/1/z", **changed: object) -> tuple[str, Row]:
    made = {"release_id": release_id, "number": 5, "since": "2030-01-01T00:00:00Z", **changed}
    return charge(ledger, LEASE, **made)


Lines = dict[str, Callable[[Ledger], tuple[Any, ...]]]
HONEST: Lines = {
    "a charge": lambda of: ("entry.reserved", "a/1/z", [fresh(of), total(4)]),
    "a first read": lambda of: ("entry.reading", LEASE, [charge(of, LEASE, reading=True)]),
    "a lease given back": lambda of: ("entry.void", LEASE, [charge(of, LEASE, state="void"), total(2)]),
    "a raise": lambda _: ("budget.raised", "us-cps", [budget(epsilon="5/1")], None, {"reason": "more"}),
    "a freeze": lambda _: (
        "population.frozen", "us-cps", [("freezes", {"population": "us-cps", "frozen": True})], None, {"reason": "why"},
    ),
    "a contract": lambda _: ("contract.bound", "new", [("contracts", {"contract": "new", "population": "us-cps"})]),
    "a private record": lambda of: ("entry.private", LEASE, [charge(of, LEASE, private_commitment="c")], "c"),
    "a note": lambda _: ("note", "x", [], "c"),
}  # fmt: skip
FORGED: Lines = {
    "a published one given back": lambda of: ("entry.void", READ, [charge(of, READ, state="void"), total(2)]),
    "a read one given back": lambda of: ("entry.void", "b/1/x", [charge(of, "b/1/x", state="void"), total(2)]),
    "more given back than it cost": lambda of: ("entry.void", LEASE, [charge(of, LEASE, state="void"), total(1)]),
    "given back without a total": lambda of: ("entry.void", LEASE, [charge(of, LEASE, state="void")]),
    "given back with another": lambda of: (
        "entry.void", LEASE, [charge(of, LEASE, state="void"), total(2), charge(of, READ, state="void")],
    ),
    "a charge made cheaper": lambda of: ("entry.reading", LEASE, [charge(of, LEASE, reading=True, epsilon="1/100")]),
    "a charge of others": lambda of: ("entry.reading", LEASE, [charge(of, LEASE, reading=True, population="other")]),
    "another's charge": lambda of: ("entry.reading", READ, [charge(of, LEASE, reading=True)]),
    "read twice": lambda of: ("entry.reading", "b/1/x", [charge(of, "b/1/x", reading=True, state="reserved")]),
    "a total in a read": lambda of: ("entry.reading", LEASE, [charge(of, LEASE, reading=True), total(0)]),
    "a total in a note": lambda _: ("note", "x", [total(0)]),
    "a total in a raise": lambda _: ("budget.raised", "us-cps", [total(0)], None, {"reason": "more"}),
    "a charge over the cap": lambda of: ("entry.reserved", "a/1/z", [fresh(of, epsilon="2/1"), total(5)]),
    "a charge that costs nothing in all": lambda of: ("entry.reserved", "a/1/z", [fresh(of), total(3)]),
    "a charge of one that is charged": lambda of: ("entry.reserved", READ, [fresh(of, READ), total(4)]),
    "a number once more": lambda of: ("entry.reserved", "a/1/z", [fresh(of, number=4), total(4)]),
    "a number in parts": lambda of: ("entry.reserved", "a/1/z", [fresh(of, number=5.0), total(4)]),
    "a charge that was read": lambda of: ("entry.reserved", "a/1/z", [fresh(of, reading=True), total(4)]),
    "a lease of another time": lambda of: ("entry.reserved", "a/1/z", [fresh(of, since="2031-01-01"), total(4)]),
    "published unread": lambda of: ("entry.published", LEASE, [charge(of, LEASE, state="published")]),
    "committed unread": lambda of: ("entry.committed", LEASE, [charge(of, LEASE, state="committed")]),
    "another private record": lambda of: ("entry.private", READ, [charge(of, READ, private_commitment="c")], "c"),
    "a budget registered anew": lambda _: ("budget.registered", "us-cps", [budget(epsilon="9/1")]),
    "a budget lowered": lambda _: ("budget.raised", "us-cps", [budget(epsilon="3/1")], None, {"reason": "less"}),
    "people fewer": lambda _: ("budget.raised", "us-cps", [budget(people=5)], None, {"reason": "less"}),
    "people in parts": lambda _: ("budget.raised", "us-cps", [budget(people=4e5 + 1)], None, {"reason": "more"}),
    "another unit": lambda _: (
        "budget.raised", "us-cps", [budget(epsilon="9/1", unit="person:id")], None, {"reason": "more"},
    ),
    "a raise without a reason": lambda _: ("budget.raised", "us-cps", [budget(epsilon="9/1")]),
    "a reason that is none": lambda _: ("budget.raised", "us-cps", [budget(epsilon="9/1")], None, {"reason": {}}),
    "another's budget": lambda _: ("budget.raised", "us", [budget(epsilon="9/1")], None, {"reason": "more"}),
    "a contract bound anew": lambda _: (
        "contract.bound", "census", [("contracts", {"contract": "census", "population": "us-cps"})],
    ),
    "a thaw of what is not frozen": lambda _: (
        "population.thawed", "us-cps", [("freezes", {"population": "us-cps", "frozen": False})], None, {"reason": "w"},
    ),
    "a freeze of nobody": lambda _: (
        "population.frozen", "x", [("freezes", {"population": "x", "frozen": True})], None, {"reason": "why"},
    ),
    "an upgrade": lambda of: ("ledger.upgraded", of.id, [("ledger", {"id": of.id, "format": 2}), total(3)]),
    "an event of nobody": lambda _: ("entry.forgiven", LEASE, []),
    "an event without a name": lambda _: ("", LEASE, []),
    "no time": lambda _: ("note", "x", [], None, {"at": None}),
    "an odd time": lambda _: ("note", "x", [], None, {"at": "2030-13-01T00:00:00Z"}),
    "an odd author": lambda _: ("note", "x", [], None, {"by": {"a": 1}}),
    "more than is said": lambda _: ("note", "x", [], None, {"more": 1}),
}  # fmt: skip


def written(ledger: Ledger, line: tuple[Any, ...]) -> None:
    append(ledger, *line[:4], **(line[4] if len(line) > 4 else {}))


@pytest.mark.thorough
@pytest.mark.parametrize("what", HONEST)
def test_what_the_ledger_itself_writes_is_followed(ledger: Ledger, what: str) -> None:
    """This ensures that the refusals below are not about the form of a line."""
    written(ledger, HONEST[what](ledger))
    open_ledger(f"sqlite:///{ledger.path}", None).verify()
    ledger.attest()


@pytest.mark.thorough
@pytest.mark.parametrize("what", FORGED)
def test_what_it_would_not_write_is_refused(ledger: Ledger, what: str) -> None:
    """Chain and tables agree, yet a newly opened ledger and an older ledger object both refuse the line."""
    written(ledger, FORGED[what](ledger))
    for each in (ledger, open_ledger(f"sqlite:///{ledger.path}", None)):
        with pytest.raises(LedgerRefused) as refused:
            each.reserve(asked("c/1/2030-01-03"))
        assert refused.value.code == "edited"
    with pytest.raises(VerificationFailed):
        open_ledger(f"sqlite:///{ledger.path}", None).verify()


FREE = {
    ("entry.reserved", "policy_digest"),
    ("entry.reserved", "sample"),
    ("entry.reserved", "holder"),
    ("budget.registered", "people"),
    ("budget.registered", "epsilon"),
    ("budget.registered", "delta"),
    ("budget.raised", "people"),
    ("budget.raised", "epsilon"),
    ("budget.raised", "delta"),
    *((f"entry.{state}", each) for state in ("committed", "withheld") for each in ("manifest_digest", "destination")),
    *((f"entry.{state}", "private_commitment") for state in ("committed", "withheld")),
}
"""Columns that a run may set freely. Everything else follows from the lines before."""


def changed(line: JournalLine) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the line with one cell of one row changed, in every way."""
    said = line.detail_values
    for at, each in enumerate(said.get("rows", [])):
        for column, value in each["row"].items():
            other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else _text(value)
            rows = [dict(row) for row in said["rows"]]
            rows[at] = {"table": each["table"], "row": {**each["row"], column: other}}
            yield column, {**said, "rows": rows}


def _text(value: str | None) -> str:
    if value is None:
        return "x"
    return f"1{value}" if value[0].isdigit() else f"{value}x"


def test_every_cell_of_every_line_follows_from_those_before_or_is_free(ledger: Ledger) -> None:
    lines, let = ledger.journal(), set()
    for at, line in enumerate(lines):
        for column, said in changed(line):
            held = JournalState()
            for before in lines[:at]:
                held.add(before.event, before.subject, before.commitment, before.detail_values)
            try:
                held.add(line.event, line.subject, line.commitment, said)
            except (ValueError, KeyError):
                continue
            let.add((line.event, column))
    assert let == FREE


def test_no_line_but_a_note_or_a_commitment_can_be_written_twice(ledger: Ledger) -> None:
    held = JournalState()
    for line in ledger.journal():
        said = (line.event, line.subject, line.commitment, line.detail_values)
        held.add(*said)
        if "." in line.event and line.event != "entry.private":
            with pytest.raises((ValueError, KeyError)):
                copy.deepcopy(held).add(*said)
