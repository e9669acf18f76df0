"""Leases: taken over by their own run, freed, expired, and never read twice."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.errors import LedgerRefused
from crowdgate.ledger import reservations
from crowdgate.ledger.ledger import Ledger, Reservation, State, create, open_ledger
from crowdgate.ledger.values import ZERO
from tests.examples import examples
from tests.ledger.books import ONE, asked

ID = "a/1/2030-01-01"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    url = f"sqlite:///{tmp_path}/ledger.db"
    return open_ledger(url, create(url, "test"))


def run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reservations, "LEASE_SECONDS", -1)


def test_a_run_takes_up_its_own_lease_and_is_charged_once(ledger: Ledger) -> None:
    first = ledger.reserve(asked(ID, "flow-1"))
    assert ledger.reserve(asked(ID, "flow-1")) == first
    assert ledger.spent("us-cps") == ONE
    ledger.begin_reading(ID, first.number)
    with pytest.raises(LedgerRefused) as again:
        ledger.reserve(asked(ID, "flow-1"))
    assert again.value.code == "exists"


@pytest.mark.parametrize("holder", ["flow-2", None])
def test_another_run_waits_until_a_lease_has_run_out(
    ledger: Ledger, holder: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ledger.reserve(asked(ID, "flow-1"))
    with pytest.raises(LedgerRefused, match="ledger free") as held:
        ledger.reserve(asked(ID, holder))
    assert held.value.code == "held"
    run_out(monkeypatch)
    second = ledger.reserve(asked(ID, holder))
    assert (second.number > first.number, ledger.spent("us-cps")) == (True, ONE)


def test_a_run_that_stalled_while_its_lease_ran_out_can_write_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ledger.reserve(asked(ID, "flow-1"))
    run_out(monkeypatch)
    second = ledger.reserve(asked(ID, "flow-2"))
    writes: tuple[Callable[[], None], ...] = (
        lambda: ledger.begin_reading(ID, first.number),
        lambda: ledger.void(ID, first.number),
        lambda: ledger.note_private(ID, "salted", first.number),
    )
    for write in writes:
        with pytest.raises(LedgerRefused):
            write()
    ledger.begin_reading(ID, second.number)
    late: tuple[Callable[[], None], ...] = (
        lambda: ledger.commit(ID, State.WITHHELD, None, None, None, first.number),
        lambda: ledger.published(ID, first.number),
    )
    for write in late:
        with pytest.raises(LedgerRefused):
            write()
    ledger.commit(ID, State.WITHHELD, None, None, None, second.number)
    assert [entry.state for entry in ledger.entries()] == [State.VOID, State.WITHHELD]


def test_a_lease_that_was_freed_can_never_begin(ledger: Ledger) -> None:
    first = ledger.reserve(asked(ID, "flow-1"))
    ledger.void(ID)
    assert ledger.spent("us-cps") == ZERO
    with pytest.raises(LedgerRefused, match="was given back"):
        ledger.begin_reading(ID, first.number)
    again = ledger.reserve(asked(ID, "flow-1"))
    with pytest.raises(LedgerRefused, match="was given back"):
        ledger.begin_reading(ID, first.number)
    ledger.begin_reading(ID, again.number)


def test_what_has_begun_to_read_is_never_freed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ledger.reserve(asked(ID, "flow-1"))
    ledger.begin_reading(ID, first.number)
    run_out(monkeypatch)
    with pytest.raises(LedgerRefused):
        ledger.void(ID)
    with pytest.raises(LedgerRefused):
        ledger.reserve(asked(ID, "flow-2"))
    assert ledger.spent("us-cps") == ONE


def test_a_frozen_population_is_neither_charged_nor_read(ledger: Ledger) -> None:
    held = ledger.reserve(asked(ID, "flow-1"))
    with pytest.raises(LedgerRefused, match="unknown to this ledger"):
        ledger.freeze("US-cps", True, "a name that was mistaken")
    ledger.freeze("us-cps", True, "a complaint")
    for change in (
        lambda: ledger.reserve(asked("a/1/2030-01-02")),
        lambda: ledger.reserve(asked(ID, "flow-1")),
        lambda: ledger.begin_reading(ID, held.number),
        lambda: ledger.check("census", asked(ID).budget),
        lambda: ledger.freeze("us-cps", True, "again"),
    ):
        with pytest.raises(LedgerRefused, match="frozen"):
            change()
    ledger.freeze("us-cps", False, "settled")
    ledger.begin_reading(ID, held.number)
    ledger.verify()
    assert [line.detail_values["reason"] for line in ledger.journal() if "reason" in line.detail_values] == [
        "a complaint",
        "settled",
    ]


def test_a_version_of_a_policy_has_one_digest(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/2030-01-01", digest="one", version="a/1"))
    with pytest.raises(LedgerRefused, match="Give the changed policy a new version"):
        ledger.reserve(asked("a/1/2030-01-02", digest="two", version="a/1"))
    with pytest.raises(LedgerRefused, match="Give the changed policy a new version"):
        ledger.check("census", asked(ID).budget, "a/1", "two")
    ledger.reserve(asked("a/10/2030-01-02", digest="two", version="a/10"))
    ledger.void("a/1/2030-01-01")  # nothing was read by it
    ledger.reserve(asked("a/1/2030-01-02", digest="two", version="a/1"))


STEPS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from(["reserve", "begin", "commit", "free"])), max_size=12
)


@pytest.mark.thorough
@settings(max_examples=examples(60), deadline=None)
@given(STEPS)
def test_of_all_runs_that_want_a_release_one_reads(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    """Leases expire at once, and runs continue with theirs, as stalled runs do."""
    url = f"sqlite:///{tmp_path_factory.mktemp('leases')}/ledger.db"
    ledger = open_ledger(url, create(url, "test"))
    held: dict[str, Reservation] = {}
    readers: list[tuple[str, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        run_out(patch)
        for run, step in steps:
            number = held[run].number if run in held else -1
            try:
                if step == "reserve":
                    held[run] = ledger.reserve(asked(ID, run))
                elif step == "begin":
                    ledger.begin_reading(ID, number)
                    readers.append((run, number))
                elif step == "commit":
                    ledger.commit(ID, State.WITHHELD, None, None, None, number)
                    assert readers == [(run, number)]
                else:
                    ledger.void(ID, number)
            except LedgerRefused:
                continue
    charged = [entry for entry in ledger.entries() if entry.state is not State.VOID]
    assert len(readers) <= 1 >= len(charged)
    assert not readers or charged[0].number == readers[0][1]
    assert ledger.spent("us-cps") == (ONE if charged else ZERO)
    ledger.verify()
