"""Series in a ledger: the first slot pays for all, later ones cost nothing, and nothing is given back once it read."""

import multiprocessing
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from crowdgate.accounting import part_laws
from crowdgate.accounting.dominating_pairs import DominatingPair, composed
from crowdgate.accounting.joint import JointLaw
from crowdgate.accounting.release_series import ReleaseSeries
from crowdgate.accounting.renyi import Divergences
from crowdgate.errors import LedgerRefused
from crowdgate.ledger import reservations
from crowdgate.ledger.ledger import Budget, ChargeRequest, Ledger, Spend, State, create, open_ledger
from crowdgate.ledger.schema import ENTRIES, SERIES, TOTALS
from crowdgate.ledger.series import SeriesRequest
from crowdgate.ledger.values import ZERO
from tests.examples import examples
from tests.ledger.books import BUDGET, ONE, append, edit
from tests.ledger.test_filters import LIFETIME, NOTHING, RENYI, SMALL, times, total

TWELVE = SeriesRequest(12, Spend(Fraction("2.5"), Fraction("5e-9")), "a" * 64)
VERSION = "a/1"


def asked(
    slot: int, series: SeriesRequest | None = TWELVE, digest: str = "d", version: str = VERSION, budget: Budget = BUDGET
) -> ChargeRequest:
    divergences = SMALL if budget.lifetime else None
    return ChargeRequest(
        f"{version}/{slot}", digest, "census", budget, ONE, version=version, holder=f"flow-{slot}",
        divergences=divergences, series=series,
    )  # fmt: skip


def run(
    ledger: Ledger, slot: int, end: Literal[State.WITHHELD, State.COMMITTED] | None = State.WITHHELD, **more: object
) -> None:
    """Charge and read a slot, and end it (None: it crashes)."""
    ledger.reserve(asked(slot, **more))  # type: ignore[arg-type]
    name = f"{more.get('version', VERSION)}/{slot}"
    ledger.begin_reading(name)
    if end is not None:
        ledger.commit(name, end, "m", "there", None)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    url = f"sqlite:///{tmp_path}/ledger.db"
    return open_ledger(url, create(url, "series"))


def spent(ledger: Ledger) -> Spend:
    ledger.verify()
    return ledger.spent(BUDGET.population)


def test_twelve_slots_cost_the_series_and_a_thirteenth_is_refused(ledger: Ledger) -> None:
    """Slots may come in any order, be withheld, published or crash: each counts."""
    for at, slot in enumerate((7, 3, 12, 1, 2, 4, 5, 6, 8, 9, 10, 11)):
        run(ledger, slot, (State.WITHHELD, State.COMMITTED, None)[at % 3])
        assert spent(ledger) == TWELVE.spend
    with pytest.raises(LedgerRefused, match="all 12 releases of the series that a/1/7 paid for"):
        ledger.reserve(asked(13))
    found = ledger.series_payer(VERSION, "d")
    assert found is not None
    assert (found[0].release_id, found[1]) == ("a/1/7", 12)


def test_under_renyi_the_series_costs_the_sum_of_its_orders(ledger: Ledger) -> None:
    few = replace(TWELVE, releases=3)
    for slot in range(3):
        run(ledger, slot, budget=RENYI, series=few)
        assert total(ledger) == times(3, SMALL)
    many = replace(TWELVE, releases=1 + LIFETIME.filter.left(times(3, SMALL), SMALL))
    with pytest.raises(LedgerRefused, match="counted in Renyi divergences"):
        ledger.reserve(asked(1, many, version="a/2", budget=RENYI))


def test_a_first_slot_that_never_read_gives_the_series_back(ledger: Ledger) -> None:
    ledger.reserve(asked(1))
    ledger.void("a/1/1")
    assert spent(ledger) == ZERO
    run(ledger, 2)
    assert spent(ledger) == TWELVE.spend


def test_no_slot_starts_before_the_first_one_reads(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed before it reads leaves a lease. Once it has expired, the next slot pays in its place."""
    ledger.reserve(asked(1))
    with pytest.raises(LedgerRefused, match="has not begun to read") as refused:
        ledger.reserve(asked(2))
    assert refused.value.code == "held"
    monkeypatch.setattr(reservations, "LEASE_SECONDS", -1)
    ledger.reserve(asked(2))
    monkeypatch.undo()
    with pytest.raises(LedgerRefused):
        ledger.begin_reading("a/1/1")
    ledger.begin_reading("a/1/2")
    assert spent(ledger) == TWELVE.spend
    found = ledger.series_payer(VERSION, "d")
    assert found is not None
    assert found[0].release_id == "a/1/2"


def test_a_later_slot_that_never_read_is_free_again(ledger: Ledger) -> None:
    two = replace(TWELVE, releases=2)
    run(ledger, 1, series=two)
    ledger.reserve(asked(2, two))
    with pytest.raises(LedgerRefused, match="all 2 releases"):
        ledger.reserve(asked(3, two))
    ledger.void("a/1/2")
    assert spent(ledger) == TWELVE.spend
    run(ledger, 3, series=two)
    with pytest.raises(LedgerRefused, match="all 2 releases"):
        ledger.reserve(asked(2, two))


def test_after_the_first_release_nothing_of_a_series_can_be_changed(ledger: Ledger) -> None:
    """The custodian who looks at it may stop, or pay for something else: what is spent stays spent."""
    run(ledger, 1)
    with pytest.raises(LedgerRefused, match="was charged for version a/1 with other files"):
        ledger.reserve(asked(2, replace(TWELVE, releases=2), digest="other"))
    with pytest.raises(LedgerRefused, match="of another law"):
        ledger.reserve(asked(2, replace(TWELVE, law="b" * 64)))
    with pytest.raises(LedgerRefused, match="of another law"):
        ledger.reserve(asked(2, replace(TWELVE, releases=24)))
    with pytest.raises(LedgerRefused, match="too small"):
        run(ledger, 1, version="a/2", digest="other")
    small = replace(TWELVE, spend=ONE)
    run(ledger, 1, version="a/2", digest="other", series=small)
    assert spent(ledger) == TWELVE.spend + ONE


def test_a_series_that_is_declared_after_a_release_pays_for_all_its_releases(ledger: Ledger) -> None:
    """The trap: the release before it was not fixed together with it, so it stays charged by itself."""
    run(ledger, 1, series=None)
    run(ledger, 1, version="a/2", digest="other")
    assert spent(ledger) == ONE + TWELVE.spend
    run(ledger, 2, version="a/2", digest="other")
    assert spent(ledger) == ONE + TWELVE.spend


def test_the_same_digest_belongs_to_the_series_only_in_its_version_and_population(ledger: Ledger) -> None:
    run(ledger, 1, series=replace(TWELVE, spend=ONE))
    run(ledger, 1, version="b/1", series=replace(TWELVE, spend=ONE))
    assert spent(ledger) == ONE + ONE


def test_a_conversion_keeps_a_series_that_the_closed_budget_paid_for(ledger: Ledger) -> None:
    """Its outputs may still come: they are of one release that was made before the conversion."""
    run(ledger, 1)
    ledger.convert(BUDGET.population, Spend(Fraction(1), Fraction("1e-8")), "more")
    converted = ledger.budget(BUDGET.population)
    assert converted is not None
    ledger.reserve(replace(asked(2), budget=converted, divergences=SMALL))
    ledger.begin_reading("a/1/2")
    assert total(ledger) == NOTHING
    assert spent(ledger) == TWELVE.spend
    with pytest.raises(LedgerRefused, match="Renyi divergences"):
        ledger.reserve(replace(asked(1, version="a/2"), budget=converted, divergences=times(9, SMALL)))


def test_a_ledger_of_an_earlier_format_takes_no_series(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    from crowdgate.ledger import journal_rules

    monkeypatch.setattr(journal_rules.JournalState, "form", property(lambda _: 2))
    with pytest.raises(LedgerRefused, match="ledger upgrade"):
        ledger.reserve(asked(1))


# --- forged lines ---

FORGED: dict[str, Callable[[dict[str, object], dict[str, object]], object]] = {
    "a slot that pays nothing for a series of its own": lambda _, slot: slot.update(number=99),
    "of another digest": lambda entry, _: entry.update(policy_digest="other"),
    "of another version": lambda entry, _: entry.update(release_id="b/1/2"),
    "a series of more releases": lambda _, slot: slot.update(releases=13),
    "of another law": lambda _, slot: slot.update(law="b" * 64),
    "paid by a slot that paid nothing": lambda _, slot: slot.update(payer=2),
}


@pytest.mark.parametrize("what", [None, *FORGED])
def test_replay_accepts_only_slots_that_the_ledger_could_have_charged(ledger: Ledger, what: str | None) -> None:
    run(ledger, 1)
    run(ledger, 2)
    at = "2030-01-01T00:00:00Z"
    entry: dict[str, object] = asked(3).due(None).row(3, at) | {"epsilon": "0/1", "delta": "0/1"}
    slot: dict[str, object] = {"number": 3, "payer": 1, "releases": 12, "law": TWELVE.law}
    if what is not None:
        FORGED[what](entry, slot)
    row = {"population": BUDGET.population, "epsilon": "5/2", "delta": "1/200000000"}
    append(ledger, "entry.reserved", str(entry["release_id"]), [(ENTRIES, entry), (TOTALS, row), (SERIES, slot)])
    fresh = open_ledger(f"sqlite:///{ledger.path}", None)
    if what is None:
        fresh.attest()
    else:
        with pytest.raises(LedgerRefused):
            fresh.attest()


@pytest.mark.parametrize("read", [False, True])
def test_replay_refuses_slots_of_a_series_that_is_unread_or_full(ledger: Ledger, read: bool) -> None:
    """The forger appends a slot that costs nothing: while the first can be given back, or beyond the last."""
    two = replace(TWELVE, releases=2)
    ledger.reserve(asked(1, two))
    if read:
        ledger.begin_reading("a/1/1")
        run(ledger, 2, series=two)
    number = 3 if read else 2
    entry = asked(9).due(None).row(number, "2030-01-01T00:00:00Z") | {"epsilon": "0/1", "delta": "0/1"}
    slot = {"number": number, "payer": 1, "releases": 2, "law": two.law}
    row = {"population": BUDGET.population, "epsilon": "5/2", "delta": "1/200000000"}
    append(ledger, "entry.reserved", "a/1/9", [(ENTRIES, entry), (TOTALS, row), (SERIES, slot)])
    with pytest.raises(LedgerRefused):
        open_ledger(f"sqlite:///{ledger.path}", None).attest()


def test_a_row_of_a_series_that_was_changed_is_noticed(ledger: Ledger) -> None:
    run(ledger, 1)
    edit(ledger.path, "UPDATE series SET releases = 1000")
    with pytest.raises(LedgerRefused):
        open_ledger(f"sqlite:///{ledger.path}", None).reserve(asked(2))


# --- the exact composition of what was read ---

LOSSES = st.sampled_from([0.2, 0.5, 1.0])
SLOT_LOSS, SLOTS = 0.5, 3
STEPS = st.tuples(st.sampled_from(["slot", "other"]), LOSSES, st.sampled_from(["lease", "void", "crash", "end"]))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=6))
def test_what_is_spent_is_never_below_the_exact_composition_of_what_was_read(
    steps: list[tuple[str, float, str]],
) -> None:
    """Slots of a series and single releases of randomised response, some interrupted or given back."""
    law = JointLaw(None, (part_laws.pure(SLOT_LOSS),))
    cost = ReleaseSeries(law, SLOTS).epsilon(BUDGET.cap.delta / 2)
    assert cost is not None
    series = SeriesRequest(SLOTS, Spend(cost, BUDGET.cap.delta / 2), "a" * 64)
    read: list[DominatingPair] = []
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/ledger.db"
        ledger = open_ledger(url, create(url, "histories"))
        for at, (what, loss, end) in enumerate(steps):
            single = replace(asked(at, None, version="b/1"), spend=Spend(Fraction(str(loss)), Fraction(0)))
            request = asked(at, series) if what == "slot" else single
            with suppress(LedgerRefused):
                ledger.reserve(request)
                if end in ("crash", "end"):
                    ledger.begin_reading(request.release_id)
                    read.append(part_laws.pure(SLOT_LOSS if what == "slot" else loss))
                if end == "end":
                    ledger.commit(request.release_id, State.WITHHELD, "m", "there", None)
                if end == "void":
                    ledger.void(request.release_id)
        counted = ledger.spent(BUDGET.population)
    if read:
        exact = composed(read).delta(np.array([float(counted.epsilon)]))[0]
        assert float(exact) <= float(counted.delta) * (1 + 1e-9) + 1e-15  # rounding of at most 64 products of floats


# --- several processes, and every sequence of steps ---


def _race(path: Path, slot: int) -> None:
    found = open_ledger(f"sqlite:///{path}", None)
    with suppress(LedgerRefused):
        found.reserve(replace(asked(slot), holder=f"process-{os.getpid()}"))
        found.begin_reading(f"a/1/{slot}")


def test_two_processes_at_one_slot_take_it_once(ledger: Ledger) -> None:
    run(ledger, 1)
    fork = multiprocessing.get_context("fork")
    racing = [fork.Process(target=_race, args=(ledger.path, 2)) for _ in range(2)]
    for each in racing:
        each.start()
    for each in racing:
        each.join()
    found = ledger.series_payer(VERSION, "d")
    assert found is not None
    assert (found[1], spent(ledger)) == (2, TWELVE.spend)


class SeriesMachine(RuleBasedStateMachine):
    """Slots of a series of three and single releases, in both accountings: what has begun to read is always paid."""

    budget = BUDGET
    three = SeriesRequest(3, Spend(Fraction(1), Fraction("2e-9")), "c" * 64)
    slots = st.integers(1, 5)

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        url = f"sqlite:///{self.folder.name}/ledger.db"
        self.ledger = open_ledger(url, create(url, "machine"))
        self.read: set[str] = set()
        self.most = ZERO

    def teardown(self) -> None:
        self.folder.cleanup()

    @rule(slot=slots, version=st.sampled_from(["a/1", "a/2"]), expire=st.booleans())
    def reserve(self, slot: int, version: str, expire: bool) -> None:
        request = replace(asked(slot, self.three, "d", version, self.budget), holder=None)
        kept, reservations.LEASE_SECONDS = reservations.LEASE_SECONDS, -1 if expire else 60
        try:
            with suppress(LedgerRefused):
                self.ledger.reserve(request)
        finally:
            reservations.LEASE_SECONDS = kept

    @rule(slot=slots, version=st.sampled_from(["a/1", "a/2"]))
    def begin(self, slot: int, version: str) -> None:
        with suppress(LedgerRefused):
            self.ledger.begin_reading(f"{version}/{slot}")
            self.read.add(f"{version}/{slot}")

    @rule(slot=slots, version=st.sampled_from(["a/1", "a/2"]))
    def void(self, slot: int, version: str) -> None:
        with suppress(LedgerRefused):
            self.ledger.void(f"{version}/{slot}")

    @precondition(lambda self: self.read)
    @rule(data=st.data())
    def withhold(self, data: st.DataObject) -> None:
        with suppress(LedgerRefused):
            self.ledger.commit(data.draw(st.sampled_from(sorted(self.read))), State.WITHHELD, None, None, None)

    @invariant()
    def what_was_read_is_paid(self) -> None:
        for version in ("a/1", "a/2"):
            read = [each for each in self.read if each.startswith(version)]
            assert len(read) <= self.three.releases
            found = self.ledger.series_payer(version, "d")
            if read:
                assert found is not None
                assert found[0].reading
                assert found[0].spend == self.three.spend
        versions = {each.rpartition("/")[0] for each in self.read}
        least = sum((self.three.spend for _ in versions), ZERO)
        assert least.within(self.ledger.spent(BUDGET.population))
        open_ledger(f"sqlite:///{self.ledger.path}", None).attest()


class RenyiSeriesMachine(SeriesMachine):
    """Slots of a series and single releases, with sums of Renyi divergences."""

    budget = RENYI

    @invariant()
    def orders_are_paid(self) -> None:
        versions = {each.rpartition("/")[0] for each in self.read}
        counted = self.ledger.divergences(BUDGET.population) or NOTHING
        due: Divergences = times(3 * len(versions), SMALL)
        assert all(one >= other for one, other in zip(counted.amounts, due.amounts, strict=True))


TestSeriesMachine = SeriesMachine.TestCase
TestSeriesMachine.settings = settings(max_examples=examples(15), stateful_step_count=15, deadline=None)
TestRenyiSeriesMachine = RenyiSeriesMachine.TestCase
TestRenyiSeriesMachine.settings = settings(max_examples=examples(15), stateful_step_count=15, deadline=None)
