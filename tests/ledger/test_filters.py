"""A population in Renyi divergences: every event carries the vector, and the caps hold whatever is charged next."""

import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.accounting.renyi import Divergences, largest
from crowdgate.accounting.renyi_filter import Filter
from crowdgate.accounting.renyi_parts import opaque_cost, zcdp_cost
from crowdgate.errors import LedgerRefused, VerificationFailed
from crowdgate.ledger import schema
from crowdgate.ledger.filter_rules import allows
from crowdgate.ledger.filters import (
    OrderedCost,
    excess,
    lifetime_text,
    limits,
    on_grid,
    parse_units,
    parse_vector,
    vector_text,
    zero,
)
from crowdgate.ledger.heads import HeadStatement, head_of
from crowdgate.ledger.ledger import Budget, ChargeRequest, Ledger, Spend, State, create, open_ledger
from crowdgate.ledger.restoration import FoundCharge, OutsideFindings
from crowdgate.ledger.schema import DIVERGENCES, ENTRIES, FILTERS, POPULATIONS, TOTALS
from crowdgate.ledger.upgrade import upgrade
from crowdgate.planning.outside_findings import _open_charges
from crowdgate.signing.canonical import canonical, parse_canonical
from tests.examples import examples
from tests.ledger.books import BUDGET, ONE, append

LIFETIME = Lifetime.planned(BUDGET.cap.epsilon, BUDGET.cap.delta)
RENYI = replace(BUDGET, lifetime=LIFETIME)
ORDERS = LIFETIME.filter.orders
NOTHING = zero(LIFETIME)
SMALL = zcdp_cost(Fraction("0.015"), ORDERS)
"""About the divergences of tables at (1, 1e-9)."""


AMOUNTS = st.fractions(0, 2, max_denominator=9)
VECTORS = st.builds(
    lambda each, cut: on_grid(Divergences(tuple(each), cut)), st.lists(AMOUNTS, min_size=3, max_size=3),
    st.fractions(0, Fraction(1, 10**8), max_denominator=10**12),
)  # fmt: skip


def asked(
    release_id: str, divergences: Divergences | None = SMALL, spend: Spend = ONE, budget: Budget = RENYI
) -> ChargeRequest:
    return ChargeRequest(release_id, "d", "census", budget, spend, divergences=divergences)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    url = f"sqlite:///{tmp_path}/ledger.db"
    return open_ledger(url, create(url, "lifetime"))


def total(ledger: Ledger) -> Divergences:
    found = ledger.divergences(RENYI.population)
    assert found is not None
    return found


def times(number: int, one: Divergences) -> Divergences:
    return sum((one,) * number, NOTHING)


def test_the_first_charge_records_orders_shares_and_caps(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1"))
    assert ledger.budget(RENYI.population) == RENYI
    (line,) = (each for each in ledger.journal() if each.event == "budget.registered")
    assert line.row(FILTERS) == {
        "population": RENYI.population, "caps": lifetime_text(LIFETIME), "spent": vector_text(NOTHING)
    }  # fmt: skip


@pytest.mark.parametrize("end", ["crash", "withheld", "published"])
def test_a_charge_that_was_read_keeps_its_whole_vector(ledger: Ledger, end: str) -> None:
    ledger.reserve(asked("a/1/1"))
    ledger.begin_reading("a/1/1")
    if end == "withheld":
        ledger.commit("a/1/1", State.WITHHELD, None, None, None)
    if end == "published":
        ledger.commit("a/1/1", State.COMMITTED, "m", "there", None)
        ledger.published("a/1/1")
        ledger.withdraw("a/1/1", "a complaint")
    with pytest.raises(LedgerRefused):
        ledger.void("a/1/1")
    assert total(ledger) == SMALL
    ledger.verify()


def test_a_charge_that_read_nothing_is_given_back(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1"))
    ledger.reserve(asked("a/1/2"))
    ledger.void("a/1/1")
    assert total(ledger) == SMALL
    assert ledger.journal()[-1].row(FILTERS)["spent"] == vector_text(SMALL)
    ledger.verify()


def test_a_charge_of_unknown_law_costs_that_of_any_with_its_epsilon_and_delta(ledger: Ledger) -> None:
    ledger.reserve(asked("kl/census/1", None))
    assert total(ledger) == opaque_cost(ONE.epsilon, ONE.delta, ORDERS)


def test_a_release_may_not_cost_more_than_the_lifetime(ledger: Ledger) -> None:
    with pytest.raises(LedgerRefused, match="more than the lifetime budget"):
        ledger.reserve(asked("a/1/1", SMALL, Spend(Fraction(5), Fraction(0))))
    assert ledger.budgets() == []


def test_charges_end_where_no_order_is_within_its_cap(ledger: Ledger) -> None:
    number = LIFETIME.filter.left(NOTHING, SMALL)
    assert number >= 13
    for slot in range(number):
        ledger.reserve(asked(f"a/1/{slot}"))
    with pytest.raises(LedgerRefused, match=r"counted in Renyi divergences, and 9\d % of it is used"):
        ledger.reserve(asked("a/1/more"))
    assert total(ledger) == times(number, SMALL)
    assert ledger.spent(RENYI.population).epsilon == number > RENYI.cap.epsilon
    ledger.verify()


def test_one_order_within_its_cap_suffices_and_cut_masses_have_their_own(ledger: Ledger) -> None:
    caps = LIFETIME.filter.caps
    ledger.reserve(asked("a/1/1", Divergences((caps[0] * 2, caps[1] * 2, caps[2]))))
    with pytest.raises(LedgerRefused):
        ledger.reserve(asked("a/1/2", Divergences((Fraction(0),) * 3, LIFETIME.filter.cut_cap * 2)))
    ledger.reserve(asked("a/1/3", Divergences((Fraction(0),) * 3, LIFETIME.filter.cut_cap)))
    ledger.verify()


def test_concurrent_charges_stop_at_the_cap(ledger: Ledger) -> None:
    number, ended = LIFETIME.filter.left(NOTHING, SMALL), list[bool]()

    def charge(slots: Sequence[int]) -> None:
        own = open_ledger(f"sqlite:///{ledger.path}", None)
        for slot in slots:
            try:
                own.reserve(asked(f"a/1/{slot}"))
                ended.append(True)
            except LedgerRefused:
                ended.append(False)

    threads = [threading.Thread(target=charge, args=(range(at, number + 6, 3),)) for at in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (ended.count(True), ended.count(False)) == (number, 6)
    assert total(ledger) == times(number, SMALL)
    ledger.verify()


@pytest.mark.thorough
@given(VECTORS, VECTORS)
def test_replay_allows_what_the_filter_allows(spent: Divergences, more: Divergences) -> None:
    total = parse_units(vector_text(spent + more))
    assert allows(limits(lifetime_text(LIFETIME)), total) == LIFETIME.filter.allows(spent, more)
    assert parse_vector(vector_text(spent)) == spent


# The file of the budget


def test_a_file_of_another_accounting_is_refused(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1"))
    with pytest.raises(LedgerRefused, match="Write `accounting: renyi`"):
        ledger.reserve(asked("a/1/2", None, budget=BUDGET))
    town = replace(BUDGET, population="town")
    ledger.reserve(ChargeRequest("t/1/1", "d", "town", town, ONE))
    with pytest.raises(LedgerRefused, match="registered with accounting additive"):
        ledger.reserve(ChargeRequest("t/1/2", "d", "town", replace(town, lifetime=LIFETIME), ONE))


@pytest.mark.parametrize("cap", [Spend(Fraction(3), Fraction("1e-8")), Spend(Fraction(5), Fraction("1e-8"))])
def test_a_file_of_other_amounts_is_refused(ledger: Ledger, cap: Spend) -> None:
    ledger.reserve(asked("a/1/1"))
    with pytest.raises(LedgerRefused, match="its file states"):
        ledger.reserve(
            asked("a/1/2", budget=replace(RENYI, cap=cap, lifetime=Lifetime.planned(cap.epsilon, cap.delta)))
        )


def test_divergences_at_other_orders_are_refused(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1"))
    other = Filter.planned(BUDGET.cap.epsilon, BUDGET.cap.delta, (7, 10, 14))
    with pytest.raises(LedgerRefused, match="other orders"):
        ledger.reserve(asked("a/1/2", budget=replace(RENYI, lifetime=Lifetime(other))))


def test_a_raise_keeps_orders_shares_and_what_was_spent(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1"))
    new = ledger.raise_budget(RENYI.population, Spend(Fraction(9), Fraction("1e-7")), None, "more years")
    assert new == ledger.budget(RENYI.population)
    assert new.lifetime is not None
    assert (new.lifetime.filter.orders, new.lifetime.filter.shares) == (ORDERS, LIFETIME.filter.shares)
    assert new.lifetime.delta(Fraction(9)) <= Fraction("1e-7")
    assert total(ledger) == SMALL
    ledger.reserve(asked("a/1/2", budget=new))
    ledger.raise_budget(RENYI.population, None, 400_000, "more people")
    ledger.verify()


def test_a_ledger_of_format_2_asks_for_an_upgrade(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    with mock.patch.object(schema, "FORMAT", 2):
        ledger = open_ledger(url, create(url, "old"))
    with pytest.raises(LedgerRefused, match="crowdgate ledger upgrade"):
        ledger.check("census", RENYI)
    with pytest.raises(LedgerRefused, match="crowdgate ledger upgrade"):
        ledger.reserve(asked("a/1/1"))
    ledger.reserve(asked("a/1/1", None, budget=BUDGET))
    ledger.void("a/1/1")
    upgrade(url)
    upgraded = open_ledger(url, None)
    upgraded.convert(BUDGET.population, None, "a lifetime")
    upgraded.reserve(asked("a/1/1"))
    assert total(upgraded) == SMALL
    upgraded.verify()


# Conversion


def test_a_budget_without_a_charge_is_converted_as_it_is(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1", None, budget=BUDGET))
    ledger.void("a/1/1")
    with pytest.raises(LedgerRefused, match="Leave out"):
        ledger.convert(BUDGET.population, ONE, "a lifetime")
    assert ledger.convert(BUDGET.population, None, "a lifetime") == RENYI == ledger.budget(RENYI.population)
    ledger.reserve(asked("a/1/2"))
    assert total(ledger) == SMALL
    ledger.verify()


def test_a_charged_budget_is_closed_and_a_second_one_is_added(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1", None, budget=BUDGET))
    ledger.begin_reading("a/1/1")
    ledger.reserve(asked("a/1/2", None, budget=BUDGET))
    with pytest.raises(LedgerRefused, match="second budget"):
        ledger.convert(BUDGET.population, None, "a lifetime")
    more = Spend(Fraction(2), Fraction("1e-9"))
    both = ledger.convert(BUDGET.population, more, "a lifetime")
    assert both.cap == BUDGET.cap + more
    assert both.lifetime == Lifetime(Filter.planned(2, Fraction("1e-9")), (BUDGET.cap.epsilon, BUDGET.cap.delta))
    ledger.void("a/1/2")
    assert total(ledger) == zero(both.lifetime)
    with pytest.raises(LedgerRefused):
        ledger.begin_reading("a/1/2")
    orders = both.lifetime.filter.orders
    ledger.reserve(asked("a/1/3", zcdp_cost(Fraction("0.01"), orders), budget=both))
    assert total(ledger) == zcdp_cost(Fraction("0.01"), orders)
    raised = ledger.raise_budget(BUDGET.population, both.cap + more, None, "more years")
    assert raised.lifetime is not None
    assert raised.lifetime.closed == both.lifetime.closed
    assert raised.lifetime.filter.orders == orders
    with pytest.raises(LedgerRefused, match="already"):
        ledger.convert(BUDGET.population, more, "again")
    ledger.verify()


@pytest.mark.parametrize(
    "more", [Spend(Fraction(101), Fraction("1e-8")), Spend(ONE.epsilon, Fraction(1) - BUDGET.cap.delta)]
)
def test_amounts_that_no_filter_has_are_refused(ledger: Ledger, more: Spend) -> None:
    ledger.reserve(asked("a/1/1", None, budget=BUDGET))
    with pytest.raises(LedgerRefused, match="no filter has"):
        ledger.convert(BUDGET.population, more, "a lifetime")
    both = ledger.convert(BUDGET.population, ONE, "a lifetime")
    with pytest.raises(LedgerRefused, match="no filter has"):
        ledger.raise_budget(BUDGET.population, both.cap + Spend(Fraction(100), Fraction(0)), None, "more years")


def test_an_overspent_budget_is_raised_before_it_is_closed(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1", None, budget=BUDGET))
    lost = FoundCharge("a/1/2", "a head", BUDGET.population, Spend(Fraction(9), Fraction(0)))
    ledger.restore(OutsideFindings(charges=(lost,)))
    with pytest.raises(LedgerRefused, match="raise it first"):
        ledger.convert(BUDGET.population, ONE, "a lifetime")


# Restorations and heads


def test_a_restored_charge_counts_its_vector_or_that_of_any_such_release(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1"))
    known = FoundCharge("a/1/2", "a ledger", RENYI.population, ONE, counted=OrderedCost(ORDERS, SMALL))
    other = FoundCharge("a/1/3", "another", RENYI.population, ONE, counted=OrderedCost((7, 10, 14), SMALL))
    unknown = FoundCharge("a/1/4", "a manifest", RENYI.population, ONE)
    found = OutsideFindings(charges=(known, other, unknown))
    assert len(ledger.restore(found)) > 2
    assert total(ledger) == times(2, SMALL) + times(2, opaque_cost(ONE.epsilon, ONE.delta, ORDERS))
    journal = ledger.journal()
    assert ledger.restore(found) == []
    assert ledger.journal() == journal
    ledger.verify()


def older_copy(ledger: Ledger, folder: Path) -> tuple[Path, HeadStatement]:
    """A copy of a ledger before its second charge, and the head after that."""
    ledger.reserve(asked("a/1/1"))
    copy = folder / "copy.db"
    copy.write_bytes(ledger.path.read_bytes())
    copy.chmod(0o600)
    ledger.reserve(asked("a/1/2", SMALL + SMALL))
    last = ledger.head()
    return copy, head_of(ledger.id, (last.number, last.digest), "2030-01-01", ledger.state())


def test_what_a_head_states_above_all_charges_is_booked(ledger: Ledger, tmp_path: Path) -> None:
    copy, head = older_copy(ledger, tmp_path)
    assert parse_canonical(canonical(head), type(head)) == head
    older = open_ledger(f"sqlite:///{copy}", None)
    older.restore(OutsideFindings(heads=(replace_open(head),)))
    assert total(older) == times(3, SMALL)
    assert older.spent(RENYI.population) == ONE + ONE
    assert older.restore(OutsideFindings(heads=(replace_open(head),))) == []
    older.verify()


@pytest.mark.parametrize("form", ["own", "earlier"])
def test_an_open_charge_of_a_head_is_booked_with_its_vector(ledger: Ledger, tmp_path: Path, form: str) -> None:
    """An earlier head states none: then the divergences of any release of its cost are booked."""
    copy, head = older_copy(ledger, tmp_path)
    if form == "earlier":
        head = head.model_copy(update={"open": tuple(each.model_copy(update={"renyi": None}) for each in head.open)})
    assert (b"renyi" in canonical(head).partition(b'"totals"')[0]) == (form == "own")
    assert parse_canonical(canonical(head), type(head)) == head
    older = open_ledger(f"sqlite:///{copy}", None)
    older.restore(OutsideFindings(charges=tuple(_open_charges(head)), heads=(head,)))
    any_law = opaque_cost(ONE.epsilon, ONE.delta, ORDERS)
    assert total(older) == (times(3, SMALL) if form == "own" else largest([SMALL + any_law, times(3, SMALL)]))
    assert older.spent(RENYI.population) == ONE + ONE
    older.verify()


def replace_open(head: HeadStatement) -> HeadStatement:
    """Return the head without charges that have not ended, which it would name as findings of their own."""
    return head.model_copy(update={"open": ()})


HALVES = Spend(Fraction(1, 2), Fraction("1e-10"))


@pytest.mark.thorough
@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(VECTORS, st.booleans(), st.sampled_from([ONE, HALVES])), min_size=1, max_size=4), st.data())
def test_open_charges_of_a_head_need_no_vector(
    charges: list[tuple[Divergences, bool, Spend]], data: st.DataObject
) -> None:
    """Whatever a copy lacks, the restored total is at least that of the head, at each order and in cut mass.

    An open charge is booked with the divergences of any release of its cost, which may be below its own at an order.
    What the head states in total above all bookings is booked on top.
    """
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/ledger.db"
        ledger = open_ledger(url, create(url, "lifetime"))
        cap = replace(RENYI, cap=Spend(Fraction(100), Fraction("0.9")), lifetime=LARGE)
        copies = [ledger.path.read_bytes()]
        for at, (vector, ended, spend) in enumerate(charges):
            ledger.reserve(asked(f"a/1/{at}", vector, spend, cap))
            if ended:
                ledger.begin_reading(f"a/1/{at}")
                ledger.commit(f"a/1/{at}", State.WITHHELD, None, None, None)
            copies.append(ledger.path.read_bytes())
        last, truth, spent = ledger.head(), ledger.divergences(RENYI.population), ledger.spent(RENYI.population)
        head = head_of(ledger.id, (last.number, last.digest), "2030-01-01", ledger.state())
        opened = [FoundCharge(each.release, "a head", each.population, each.spend) for each in head.open]
        ledger.path.write_bytes(copies[data.draw(st.integers(0, len(copies) - 1))])
        older = open_ledger(url, None)
        older.restore(OutsideFindings(charges=opened, heads=(head,), budgets={RENYI.population: cap}))
        restored = older.divergences(RENYI.population)
        assert restored is not None
        assert truth is not None
        assert excess(truth, restored) == zero(LARGE)
        assert spent.within(older.spent(RENYI.population))


LARGE = Lifetime.planned(Fraction(100), Fraction("0.9"))


def test_heads_of_additive_budgets_say_nothing_of_filters(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1", None, budget=BUDGET))
    last = ledger.head()
    data = canonical(head_of(ledger.id, (last.number, last.digest), "2030-01-01", ledger.state()))
    assert b"renyi" not in data


# Edited journals


def entry_rows(ledger: Ledger, vector: str, spent: str) -> list[tuple[str, dict[str, object]]]:
    state = ledger.state()
    number = state.last + 1
    entry = {
        "number": number, "release_id": "b/1/1", "policy_digest": "d", "population": RENYI.population,
        "epsilon": "1/1", "delta": "1/1000000000", "state": "reserved", "reading": False, "manifest_digest": None,
        "destination": None, "private_commitment": None, "sample": None, "holder": None,
        "since": "2030-01-01T00:00:00Z",
    }  # fmt: skip
    return [
        (ENTRIES, entry),
        (TOTALS, {"population": RENYI.population, "epsilon": "2/1", "delta": "1/500000000"}),
        (DIVERGENCES, {"number": number, "amounts": vector}),
        (FILTERS, {"population": RENYI.population, "caps": state.rows[FILTERS][RENYI.population][1], "spent": spent}),
    ]


def refused(ledger: Ledger) -> bool:
    try:
        open_ledger(f"sqlite:///{ledger.path}", None).verify()
    except VerificationFailed:
        return True
    return False


def test_a_correct_line_is_accepted(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1"))
    append(ledger, "entry.reserved", "b/1/1", entry_rows(ledger, vector_text(SMALL), vector_text(SMALL + SMALL)))
    assert not refused(ledger)


MUCH = Divergences(SMALL.amounts, LIFETIME.filter.cut_cap * 2)
GREAT = Divergences((Fraction(99),) * 3)
FORGED = {
    "a total that does not follow": (vector_text(SMALL), vector_text(SMALL)),
    "a charge above all caps": (vector_text(GREAT), vector_text(GREAT + SMALL)),
    "a cut mass above its cap": (vector_text(MUCH), vector_text(MUCH + SMALL)),
    "a vector of two orders": ("1 2 0", vector_text(SMALL + SMALL)),
    "a negative amount": ("-1 1 1 0", vector_text(SMALL)),
    "text that is no vector": ("much", vector_text(SMALL)),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_charge_is_refused(ledger: Ledger, case: str) -> None:
    ledger.reserve(asked("a/1/1"))
    append(ledger, "entry.reserved", "b/1/1", entry_rows(ledger, *FORGED[case]))
    assert refused(ledger)


def test_a_charge_without_a_vector_is_refused(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1"))
    append(ledger, "entry.reserved", "b/1/1", entry_rows(ledger, vector_text(SMALL), vector_text(SMALL))[:2])
    assert refused(ledger)


def raised(new: Lifetime, epsilon: str, spent: Divergences) -> list[tuple[str, dict[str, object]]]:
    budget = {
        "population": RENYI.population, "epsilon": epsilon, "delta": "1/100000000", "people": 300_000, "unit": "row",
        "relation": "add-remove",
    }  # fmt: skip
    caps: dict[str, object] = {"population": RENYI.population, "caps": lifetime_text(new), "spent": vector_text(spent)}
    return [(POPULATIONS, budget), (FILTERS, caps)]


NINE = Filter.planned(9, Fraction("1e-8"), ORDERS)
RAISES = {
    "caps that do not keep the budget": (Lifetime(Filter.planned(10, Fraction("1e-8"), ORDERS)), SMALL),
    "other orders": (Lifetime(Filter.planned(9, Fraction("1e-8"), (3, 4, 6))), SMALL),
    "other shares": (
        Lifetime(Filter.planned(9, Fraction("1e-8"), ORDERS, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))), SMALL
    ),
    "a smaller total": (Lifetime(NINE), NOTHING),
    "smaller caps": (Lifetime(replace(NINE, caps=tuple(cap / 9 for cap in NINE.caps))), SMALL),
    "a closed budget": (Lifetime(NINE, (Fraction(1), Fraction(0))), SMALL),
}  # fmt: skip


@pytest.mark.parametrize("case", RAISES)
def test_a_forged_raise_is_refused(ledger: Ledger, case: str) -> None:
    ledger.reserve(asked("a/1/1"))
    new, spent = RAISES[case]
    append(ledger, "budget.raised", RENYI.population, raised(new, "9/1", spent), reason="r")
    assert refused(ledger)


def test_a_correct_raise_is_accepted(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1"))
    append(ledger, "budget.raised", RENYI.population, raised(Lifetime(NINE), "9/1", SMALL), reason="r")
    assert not refused(ledger)


@pytest.mark.parametrize(("epsilon", "delta"), [("4/1", "1/100000000"), ("5/1", "1/100000000"), ("5/1", "1/10000000")])
def test_a_forged_conversion_of_a_charged_budget_is_refused(ledger: Ledger, epsilon: str, delta: str) -> None:
    """As if nothing had been charged, or with a filter for the whole beside what was spent."""
    ledger.reserve(asked("a/1/1", None, budget=BUDGET))
    new = Lifetime.planned(Fraction(epsilon), Fraction(delta))
    (name, budget), counted = raised(new, epsilon, zero(new))
    rows = [(name, {**budget, "delta": delta}), counted]
    append(ledger, "budget.converted", RENYI.population, rows, reason="r")
    assert refused(ledger)


def test_a_correct_conversion_of_a_charged_budget_is_accepted(ledger: Ledger) -> None:
    ledger.reserve(asked("a/1/1", None, budget=BUDGET))
    closed = (BUDGET.cap.epsilon, BUDGET.cap.delta)
    new = Lifetime.planned(Fraction(5), Fraction("1e-7"), closed)
    (name, budget), counted = raised(new, "5/1", zero(new))
    rows = [(name, {**budget, "delta": "1/10000000"}), counted]
    append(ledger, "budget.converted", RENYI.population, rows, reason="r")
    assert not refused(ledger)


# All histories


@dataclass
class Run:
    """The model's state of a charge; `vector` is None for one that no filter counts."""

    spend: Spend
    vector: Divergences | None
    reading: bool = False


IDS = st.sampled_from([f"a/1/{slot}" for slot in range(6)])
COSTS = st.builds(
    Spend, st.fractions(0, 2, max_denominator=5), st.fractions(0, Fraction(1, 10**8), max_denominator=10**10)
)
MORE = Spend(Fraction(3), Fraction("1e-8"))


class BothAccountings(RuleBasedStateMachine):
    """One population with either accounting, and a model of its charges: sums, caps, raises and a conversion."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.url = f"sqlite:///{self.folder.name}/ledger.db"
        self.ledger = open_ledger(self.url, create(self.url, "model"))
        self.live: dict[str, Run] = {}
        self.budget: Budget | None = None

    def teardown(self) -> None:
        self.folder.cleanup()

    def spent(self) -> Spend:
        return sum((run.spend for run in self.live.values()), start=Spend(Fraction(0), Fraction(0)))

    def counted(self) -> Divergences:
        vectors = (run.vector for run in self.live.values() if run.vector is not None)
        return sum(vectors, Divergences.zero(3))

    def accepted(self, change: object, *arguments: object) -> bool:
        try:
            change(*arguments)  # type: ignore[operator]
        except LedgerRefused:
            return False
        return True

    @rule(release=IDS, spend=COSTS, vector=VECTORS, first=st.sampled_from([BUDGET, RENYI]))
    def reserve(self, release: str, spend: Spend, vector: Divergences, first: Budget) -> None:
        budget = self.budget or first
        if budget.lifetime is None:
            within = (self.spent() + spend).within(budget.cap)
        else:
            within = spend.within(budget.cap) and budget.lifetime.filter.allows(self.counted(), vector)
        allowed = release not in self.live and within
        assert self.accepted(self.ledger.reserve, asked(release, vector, spend, budget)) == allowed
        if allowed:
            self.budget = budget
            self.live[release] = Run(spend, None if budget.lifetime is None else vector)

    @rule(release=IDS)
    def void(self, release: str) -> None:
        allowed = release in self.live and not self.live[release].reading
        assert self.accepted(self.ledger.void, release) == allowed
        if allowed:
            del self.live[release]

    @rule(release=IDS)
    def read(self, release: str) -> None:
        allowed = release in self.live and not self.live[release].reading
        assert self.accepted(self.ledger.begin_reading, release) == allowed
        if allowed:
            self.live[release].reading = True

    @rule(epsilon=st.integers(4, 7))
    def raise_budget(self, epsilon: int) -> None:
        if self.budget is None:
            return
        cap = replace(self.budget.cap, epsilon=Fraction(epsilon))
        allowed = cap != self.budget.cap and self.budget.cap.within(cap)
        accepted = self.accepted(self.ledger.raise_budget, RENYI.population, cap, None, "more years")
        assert accepted == allowed
        if allowed:
            self.budget = self.ledger.budget(RENYI.population)
            assert self.budget is not None
            assert self.budget.cap == cap

    @rule(second=st.booleans())
    def convert(self, second: bool) -> None:
        if self.budget is None:
            return
        allowed = self.budget.lifetime is None and second == bool(self.live)
        assert self.accepted(self.ledger.convert, RENYI.population, MORE if second else None, "a lifetime") == allowed
        if allowed:
            cap = self.budget.cap + MORE if second else self.budget.cap
            self.budget = self.ledger.budget(RENYI.population)
            assert self.budget is not None
            assert self.budget.cap == cap
            assert self.budget.lifetime is not None

    @rule()
    def start_anew(self) -> None:
        self.ledger = open_ledger(self.url, None)

    @invariant()
    def totals_are_sums(self) -> None:
        assert self.ledger.spent(RENYI.population) == self.spent()
        found = self.ledger.divergences(RENYI.population)
        if self.budget is not None and self.budget.lifetime is not None:
            assert found == self.counted()
            assert self.budget.lifetime.filter.allows(self.counted(), Divergences.zero(3))
            assert self.budget.lifetime.keeps(self.budget.cap.epsilon, self.budget.cap.delta)

    @invariant()
    def the_journal_is_whole(self) -> None:
        assert self.ledger.verify() == self.ledger.journal()[-1]


TestBothAccountings = BothAccountings.TestCase
TestBothAccountings.settings = settings(max_examples=examples(20), stateful_step_count=20, deadline=None)
