"""The ledger: properties against a model, concurrency, kills, and one example for each refusal."""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from crowdgate.errors import EnvironmentFault, LedgerRefused, VerificationFailed
from crowdgate.ledger import sqlite
from crowdgate.ledger import values as ledger_values
from crowdgate.ledger.ledger import Budget, ChargeRequest, Entry, Ledger, Spend, State, create, open_ledger
from crowdgate.ledger.postgresql.database import PostgresqlStore
from crowdgate.ledger.sqlite import path_of
from tests.examples import examples
from tests.ledger import books


def spend(epsilon: str | int, delta: str | int = 0) -> Spend:
    return Spend(Fraction(epsilon), Fraction(delta))


BUDGET = Budget("us-cps", spend(4, "1e-8"), 300_000, "row", "add-remove")
ONE = spend(1, "1e-9")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/ledger.db"


@pytest.fixture
def ledger(url: str) -> Ledger:
    return open_ledger(url, create(url, "test"))


def reserve(ledger: Ledger, release_id: str, cost: Spend = ONE, digest: str = "d", budget: Budget = BUDGET) -> Spend:
    return ledger.reserve(ChargeRequest(release_id, digest, "census", budget, cost)).spent


def plain(entry: Entry | None) -> Entry | None:
    """Return an entry without the fields that distinguish charges."""
    return entry and replace(entry, number=0, since=None)


def edit(ledger: Ledger, statement: str) -> None:
    books.edit(place_of(ledger), statement)


def place_of(ledger: Ledger) -> Path | str:
    """Return the file of a ledger, or the URL of its database."""
    store = ledger._store
    return store.address.connection if isinstance(store, PostgresqlStore) else store.path


# Properties


@dataclass
class Run:
    """The model's state of one reservation."""

    population: str
    digest: str
    cost: Spend
    state: State = State.RESERVED
    reading: bool = False


PARTS = st.fractions(0, 3, max_denominator=7)
IDS = st.sampled_from(["a/1/1", "a/1/11", "a/11/1"])
POPULATIONS = st.sampled_from(["p", "p/q"])
ZERO = spend(0)


class AgainstModel(RuleBasedStateMachine):
    """State machine: after any sequence of calls, the ledger agrees with a dictionary of runs."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        url = self.new_url()
        self.ledger = open_ledger(url, create(url, "model"))
        self.live: dict[str, Run] = {}
        self.caps: dict[str, Spend] = {}
        self.bound: dict[str, str] = {}

    def new_url(self) -> str:
        return f"sqlite:///{self.folder.name}/ledger.db"

    def teardown(self) -> None:
        self.folder.cleanup()

    def spent(self, population: str) -> Spend:
        return sum((run.cost for run in self.live.values() if run.population == population), start=ZERO)

    def accepted(self, change: object, *arguments: object) -> bool:
        try:
            change(*arguments)  # type: ignore[operator]
        except LedgerRefused:
            return False
        return True

    @rule(
        release=IDS,
        population=POPULATIONS,
        contract=st.sampled_from("xy"),
        digest=st.sampled_from("de"),
        cost=st.builds(Spend, PARTS, PARTS),
        cap=st.builds(Spend, PARTS, PARTS),
    )
    def reserve(self, release: str, population: str, contract: str, digest: str, cost: Spend, cap: Spend) -> None:
        budget = Budget(population, cap, 10, "row", "add-remove")
        lower = cap.least(self.caps.get(population, cap))
        allowed = (
            release not in self.live
            and self.bound.get(contract, population) == population
            and (self.spent(population) + cost).within(lower)
        )
        assert self.accepted(self.ledger.reserve, ChargeRequest(release, digest, contract, budget, cost)) == allowed
        if allowed:
            self.live[release] = Run(population, digest, cost)
            self.caps.setdefault(population, cap)
            self.bound.setdefault(contract, population)

    @rule(release=IDS)
    def void(self, release: str) -> None:
        run = self.live.get(release)
        allowed = run is not None and run.state is State.RESERVED and not run.reading
        assert self.accepted(self.ledger.void, release) == allowed
        if allowed:
            del self.live[release]

    @rule(release=IDS)
    def begin_reading(self, release: str) -> None:
        run = self.live.get(release)
        allowed = run is not None and run.state is State.RESERVED and not run.reading
        assert self.accepted(self.ledger.begin_reading, release) == allowed
        if run is not None and allowed:
            run.reading = True

    @rule(release=IDS, state=st.sampled_from([State.COMMITTED, State.WITHHELD]))
    def commit(self, release: str, state: State) -> None:
        run = self.live.get(release)
        allowed = run is not None and run.state is State.RESERVED and run.reading
        assert self.accepted(self.ledger.commit, release, state, "m", "there", None) == allowed
        if run is not None and allowed:
            run.state = state

    @rule(release=IDS)
    def published(self, release: str) -> None:
        run = self.live.get(release)
        allowed = run is not None and run.state is State.COMMITTED
        assert self.accepted(self.ledger.published, release) == allowed
        if run is not None and allowed:
            run.state = State.PUBLISHED

    @rule(population=POPULATIONS, cap=st.builds(Spend, PARTS, PARTS))
    def raise_budget(self, population: str, cap: Spend) -> None:
        old = self.caps.get(population)
        allowed = old is not None and old != cap and old.within(cap)
        assert self.accepted(self.ledger.raise_budget, population, cap, None, "more years") == allowed
        if allowed:
            self.caps[population] = cap

    @invariant()
    def ledger_says_what_the_model_says(self) -> None:
        for population in ("p", "p/q"):
            assert self.ledger.spent(population) == self.spent(population)
        live = {entry.release_id: entry for entry in self.ledger.entries() if entry.state is not State.VOID}
        assert {
            name: Run(entry.population, entry.policy_digest, entry.spend, entry.state, entry.reading)
            for name, entry in live.items()
        } == self.live

    @invariant()
    def nothing_is_spent_over_a_registered_cap(self) -> None:
        for budget in self.ledger.budgets():
            assert budget.cap == self.caps[budget.population]
            assert self.ledger.spent(budget.population).within(budget.cap)

    @invariant()
    def the_journal_is_whole(self) -> None:
        assert self.ledger.verify() == self.ledger.journal()[-1]


TestAgainstModel = AgainstModel.TestCase
TestAgainstModel.settings = settings(max_examples=examples(20), stateful_step_count=20, deadline=None)


@pytest.mark.thorough
@given(st.lists(st.fractions(0, 2, max_denominator=1000), min_size=1, max_size=6), st.data())
@settings(max_examples=examples(20), deadline=None)
def test_a_budget_is_spent_to_exactly_its_cap_and_not_beyond(costs: list[Fraction], data: st.DataObject) -> None:
    excess = data.draw(st.fractions(Fraction(1, 10**30), 1, max_denominator=10**30).filter(bool))
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/ledger.db"
        ledger = open_ledger(url, create(url, "exact"))
        budget = replace(BUDGET, cap=Spend(sum(costs, Fraction(0)), Fraction(0)))
        for number, cost in enumerate(costs):
            reserve(ledger, f"r/{number}", Spend(cost, Fraction(0)), budget=budget)
        assert ledger.spent("us-cps") == budget.cap
        with pytest.raises(LedgerRefused):
            reserve(ledger, "one more", Spend(excess, Fraction(0)), budget=budget)


# Concurrency and kills

SPEND_MANY = """
import sys
from fractions import Fraction
from crowdgate.errors import LedgerRefused
from crowdgate.ledger.ledger import ChargeRequest, Budget, Spend, open_ledger
url, worker, common = sys.argv[1:]
ledger = open_ledger(url, None)
budget = Budget("p", Spend(Fraction(50), Fraction(0)), 1, "row", "add-remove")
print("ready", flush=True)
sys.stdin.readline()
accepted = 0
for number in range(25):
    try:
        name = f"r/{number}" if common == "common" else f"r/{worker}/{number}"
        ledger.reserve(ChargeRequest(name, "d", "c", budget, Spend(Fraction(1), Fraction(0))))
        accepted += 1
    except LedgerRefused:
        pass
print(accepted)
"""


def race(url: str, common: str, workers: int = 4) -> int:
    """Return the number of accepted reservations of `workers` processes that start together with 25 each."""
    command = [sys.executable, "-c", SPEND_MANY, url]
    pipe = subprocess.PIPE
    children = [
        subprocess.Popen([*command, str(worker), common], stdin=pipe, stdout=pipe, text=True)
        for worker in range(workers)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    return sum(int(child.communicate()[0]) for child in children)


@pytest.mark.thorough
def test_of_100_concurrent_spends_against_a_cap_of_50_exactly_50_are_accepted(url: str, ledger: Ledger) -> None:
    assert race(url, "own") == 50
    assert ledger.spent("p") == spend(50)
    ledger.verify()


@pytest.mark.thorough
def test_processes_that_race_for_the_same_ids_get_each_once(url: str, ledger: Ledger) -> None:
    assert race(url, "common") == 25
    assert ledger.spent("p") == spend(25)


def test_threads_that_share_a_ledger_can_not_overspend(ledger: Ledger) -> None:
    def spend_one(number: int) -> bool:
        try:
            reserve(ledger, f"r/{number}", spend(1))
        except LedgerRefused:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(spend_one, range(16))) == 4


def test_only_one_of_two_runs_begins_to_read(ledger: Ledger) -> None:
    reserve(ledger, "r")
    ledger.begin_reading("r")
    with pytest.raises(LedgerRefused, match="its reading has begun"):
        ledger.begin_reading("r")


RESERVE_AND_WAIT = """
import sys
from fractions import Fraction
from crowdgate.ledger import sqlite
from crowdgate.ledger.ledger import ChargeRequest, Budget, Spend, open_ledger
from crowdgate.ledger.postgresql.database import PostgresqlDatabase
def wait(*_):
    print("here", flush=True)
    sys.stdin.read()
ledger = open_ledger(sys.argv[1], None)
if sys.argv[2] == "before commit":
    sqlite.SqliteDatabase.commit = PostgresqlDatabase.commit = wait
cap = Spend(Fraction(4), Fraction("1e-8"))
budget = Budget("us-cps", cap, 300_000, "row", "add-remove")
ledger.reserve(ChargeRequest("r", "d", "census", budget, Spend(Fraction(1), Fraction(0))))
wait()
"""


def killed(url: str, when: str) -> None:
    """Run a process until it reports its position, and kill it there."""
    command = [sys.executable, "-c", RESERVE_AND_WAIT, url, when]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "here\n"
        child.kill()
        assert child.wait() == -signal.SIGKILL


@pytest.mark.thorough
def test_a_run_killed_after_its_reservation_leaves_it_spent(url: str, ledger: Ledger) -> None:
    killed(url, "after reserve")
    assert ledger.spent("us-cps") == spend(1)
    assert plain(ledger.entry("r")) == Entry("r", "d", "us-cps", spend(1), State.RESERVED, None, None, None)
    with pytest.raises(LedgerRefused):
        reserve(ledger, "r")


def test_a_run_killed_before_the_commit_of_its_reservation_leaves_nothing(url: str, ledger: Ledger) -> None:
    killed(url, "before commit")
    assert ledger.budgets() == []
    assert reserve(ledger, "r") == ONE
    ledger.verify()


# Making and opening


def test_a_ledger_is_made_once_with_mode_0600_and_an_id_of_its_own(url: str, tmp_path: Path) -> None:
    first = create(url, "demo")
    assert first[:5] == "demo-"
    assert len(bytes.fromhex(first[5:])) == 4
    assert (tmp_path / "ledger.db").stat().st_mode & 0o777 == 0o600
    assert create(f"sqlite:///{tmp_path}/other.db", "demo") != first
    with pytest.raises(EnvironmentFault, match="is never replaced"):
        create(url, "demo")
    assert open_ledger(url, first).id == first


def test_the_ledger_writes_ahead(ledger: Ledger) -> None:
    with closing(sqlite3.connect(ledger.path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_charge_is_synced_to_the_disk_when_it_is_committed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's number for FULL is 2; with NORMAL, which is 1, a write-ahead log may lose its last commits."""
    levels, original = list[object](), sqlite.SqliteDatabase.commit

    def commit(database: sqlite.SqliteDatabase) -> None:
        levels.extend(database.rows("PRAGMA synchronous"))
        original(database)

    monkeypatch.setattr(sqlite.SqliteDatabase, "commit", commit)
    reserve(ledger, "r")
    assert {*levels} == {(2,)}


def test_making_a_ledger_overwrites_no_file_of_another_kind(url: str) -> None:
    path_of(url).write_text("notes")
    with pytest.raises(EnvironmentFault):
        create(url, "demo")
    assert path_of(url).read_text() == "notes"


def test_making_a_ledger_refuses_beside_the_log_of_a_lost_one(url: str, tmp_path: Path) -> None:
    (tmp_path / "ledger.db-wal").write_bytes(b"log")
    with pytest.raises(EnvironmentFault, match="log file of an earlier database"):
        create(url, "demo")
    assert os.listdir(tmp_path) == ["ledger.db-wal"]


def test_making_a_ledger_in_a_missing_folder_is_a_fault_of_the_environment(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault):
        create(f"sqlite:///{tmp_path}/no/ledger.db", "demo")


def test_a_ledger_that_could_not_be_finished_is_removed(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disk_error(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", disk_error)
    with pytest.raises(EnvironmentFault, match="Input/output error"):
        create(url, "demo")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["", "Demo", "a b", "a/b", "x" * 41, "demo\n", "é"])
def test_a_name_that_is_not_plain_is_refused(url: str, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        create(url, name)
    assert os.listdir(tmp_path) == []


def test_opening_a_missing_ledger_refuses_and_makes_nothing(url: str, tmp_path: Path) -> None:
    for missing in (url, f"sqlite:///{tmp_path}/no/ledger.db"):
        with pytest.raises(LedgerRefused, match="crowdgate ledger create"):
            open_ledger(missing, "demo-00000000")
    assert os.listdir(tmp_path) == []


def test_opening_a_ledger_of_another_id_refuses_and_names_both(url: str) -> None:
    there = create(url, "demo")
    with pytest.raises(LedgerRefused) as refusal:
        open_ledger(url, "demo-00000000")
    assert there in str(refusal.value)
    assert "demo-00000000" in str(refusal.value)


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be asked" * 50])
def test_a_file_that_is_no_ledger_is_refused_and_left_as_it_is(url: str, tmp_path: Path, content: bytes) -> None:
    path_of(url).write_bytes(content)
    path_of(url).chmod(0o600)
    with pytest.raises(LedgerRefused, match="not a ledger"):
        open_ledger(url, None)
    assert path_of(url).read_bytes() == content
    assert os.listdir(tmp_path) == ["ledger.db"]


def test_a_folder_and_a_database_of_another_kind_are_no_ledgers(url: str, tmp_path: Path) -> None:
    with pytest.raises(LedgerRefused, match="not a ledger"):
        open_ledger(f"sqlite:///{tmp_path}", None)
    with closing(sqlite3.connect(path_of(url))) as connection, connection:
        connection.execute("CREATE TABLE ledger (id TEXT)")
    path_of(url).chmod(0o600)
    with pytest.raises(LedgerRefused, match="not a ledger"):
        open_ledger(url, None)


def test_a_ledger_of_a_later_format_is_refused(url: str, ledger: Ledger) -> None:
    edit(ledger, "UPDATE ledger SET format = 5")
    with pytest.raises(LedgerRefused, match="of this version"):
        open_ledger(url, None)


def test_a_read_only_ledger_is_a_fault_of_the_environment(url: str, ledger: Ledger) -> None:
    ledger.path.chmod(0o400)
    with pytest.raises(EnvironmentFault, match="read-only"):
        open_ledger(url, ledger.id)


@pytest.mark.parametrize("writable", [(), ("ledger.db",), ("",), ("ledger.db", "")], ids=str)
def test_who_may_not_write_file_and_folder_opens_a_ledger_that_nothing_changes(
    url: str, ledger: Ledger, writable: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, original = list[str](), sqlite.connect

    def connected(path: Path, busy_seconds: float, mode: str) -> sqlite3.Connection:
        asked.append(mode)
        return original(path, busy_seconds, mode)

    monkeypatch.setattr(sqlite, "connect", connected)
    monkeypatch.setattr(
        "crowdgate.ledger.sqlite.os.access", lambda path, _: Path(path) in [ledger.path.parent / w for w in writable]
    )
    assert open_ledger(url, None, reading=True).id == ledger.id
    assert {*asked} == {"mode=rw" if len(writable) == 2 else "mode=ro&immutable=1"}


def test_a_locked_ledger_is_a_fault_of_the_environment_and_not_for_long(url: str, ledger: Ledger) -> None:
    hasty = open_ledger(url, ledger.id, busy_seconds=0.05)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(EnvironmentFault, match="locked"):
            reserve(hasty, "r")
        assert hasty.spent("us-cps") == spend(0)
        other.execute("ROLLBACK")
    assert reserve(hasty, "r") == ONE


@pytest.fixture
def damaged(ledger: Ledger) -> Ledger:
    reserve(ledger, "secret-release")
    return ledger


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET epsilon = 'x'",
        "UPDATE entries SET epsilon = '1/0'",
        "UPDATE entries SET epsilon = '-1/1'",
        "UPDATE entries SET state = 'gone'",
        "DROP TABLE entries",
    ],
)
def test_a_damaged_table_refuses_and_shows_no_statement(url: str, damaged: Ledger, statement: str) -> None:
    """A ledger object opened before returns its replayed state, which the damage can't reach."""
    edit(damaged, statement)
    with pytest.raises(LedgerRefused, match="is not used") as refusal:
        open_ledger(url, None).entry("secret-release")
    assert plain(damaged.entry("secret-release")) == Entry(
        "secret-release", "d", "us-cps", ONE, State.RESERVED, None, None, None
    )
    assert "secret" not in str(refusal.value).replace(str(damaged.path), "")
    assert "SELECT" not in str(refusal.value)


def test_damaged_pages_refuse(ledger: Ledger) -> None:
    for number in range(4):
        reserve(ledger, f"r/{number}")
    content = bytearray(ledger.path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    ledger.path.write_bytes(content)
    with pytest.raises(LedgerRefused, match="damaged"):
        ledger.entries()


def test_a_ledger_that_is_taken_away_or_exchanged_while_open_refuses(url: str, ledger: Ledger) -> None:
    ledger.path.unlink()
    with pytest.raises(LedgerRefused, match="was removed during the run"):
        reserve(ledger, "r")
    assert not ledger.path.exists()
    create(url, "other")
    with pytest.raises(LedgerRefused, match="no longer holds the ledger test-"):
        reserve(ledger, "r")


def test_a_url_is_a_relative_or_absolute_path() -> None:
    assert path_of("sqlite:///state/ledger.db") == Path("state/ledger.db")
    assert path_of("sqlite:////var/ledger.db") == Path("/var/ledger.db")


@pytest.mark.parametrize(
    "url",
    [
        "mysql://user:hunter2@host/db",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file:x?mode=memory",
        "sqlite:///x?mode=ro",
        "ledger.db",
    ],
)
def test_a_url_of_anything_but_a_file_is_refused_without_repeating_it(url: str) -> None:
    for use in (path_of, lambda url: create(url, "demo"), lambda url: open_ledger(url, None)):
        with pytest.raises(ValueError, match="sqlite:///PATH") as refusal:
            use(url)
        assert "hunter2" not in str(refusal.value)


def test_a_path_with_signs_that_mean_something_in_a_uri_is_that_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a %41#b&c.db"
    assert open_ledger(url, create(url, "demo")).path.name == "a %41#b&c.db"
    assert os.listdir(tmp_path) == ["a %41#b&c.db"]


def test_a_relative_ledger_stays_itself_when_the_working_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = open_ledger("sqlite:///ledger.db", create("sqlite:///ledger.db", "demo"))
    monkeypatch.chdir("/")
    assert ledger.entries() == []


# Budgets and reservations


def test_the_first_reservation_registers_the_budget_and_a_check_does_not(ledger: Ledger) -> None:
    assert ledger.check("census", BUDGET) == BUDGET
    assert ledger.budget("us-cps") is None
    reserve(ledger, "r")
    assert ledger.budget("us-cps") == BUDGET
    assert ledger.budgets() == [BUDGET]


def test_the_smaller_cap_and_the_larger_number_of_people_hold(ledger: Ledger) -> None:
    reserve(ledger, "r")
    wide = replace(BUDGET, cap=spend(9, "1e-9"), people=1)
    assert ledger.check("census", wide) == replace(BUDGET, cap=spend(4, "1e-9"))
    crowded = replace(BUDGET, cap=spend(2, "1e-7"), people=10**6)
    assert ledger.check("census", crowded) == replace(BUDGET, cap=spend(2, "1e-8"), people=10**6)
    assert ledger.budget("us-cps") == BUDGET


def test_a_file_that_states_more_than_the_registration_does_not_buy_more(ledger: Ledger) -> None:
    reserve(ledger, "r", spend(4))
    with pytest.raises(LedgerRefused):
        reserve(ledger, "s", spend(1), budget=replace(BUDGET, cap=spend(99, 1)))


def test_a_refusal_over_the_cap_says_what_is_needed_and_left_and_that_nothing_was_read(ledger: Ledger) -> None:
    reserve(ledger, "r", spend(3, "1e-9"))
    with pytest.raises(LedgerRefused) as refusal:
        reserve(ledger, "s", spend("1.5", "1/3"))
    assert str(refusal.value) == (
        "the budget of the population us-cps is too small for s, which costs epsilon 1.5 and delta 1/3. "
        "Left are epsilon 1 and delta 9e-09 of epsilon 4 and delta 1e-08. No data was read"
    )
    assert refusal.value.exit_code == 5


@pytest.mark.parametrize("cost", [spend("4.000000000000000000001"), spend(0, "1.0000000000000000000001e-8")])
def test_each_part_alone_can_exceed_the_cap(ledger: Ledger, cost: Spend) -> None:
    with pytest.raises(LedgerRefused):
        reserve(ledger, "r", cost)


def test_a_refused_reservation_leaves_nothing_behind(ledger: Ledger) -> None:
    before = ledger.journal()
    with pytest.raises(LedgerRefused):
        reserve(ledger, "r", spend(5))
    assert (ledger.budgets(), ledger.entries(), ledger.journal()) == ([], [], before)


def test_another_unit_than_the_registered_one_is_refused_naming_both(ledger: Ledger) -> None:
    reserve(ledger, "r")
    other = replace(BUDGET, unit="person:patient")
    with pytest.raises(LedgerRefused, match="row, not person:patient"):
        ledger.check("census", other)
    with pytest.raises(LedgerRefused, match="row, not person:patient"):
        reserve(ledger, "s", budget=other)


def test_another_relation_than_the_registered_one_is_refused_naming_both(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_values, "RELATIONS", ("add-remove", "replace-one"))
    reserve(ledger, "r")
    with pytest.raises(LedgerRefused, match="relation add-remove, not replace-one"):
        ledger.check("census", replace(BUDGET, relation="replace-one"))


def test_a_contract_stays_with_its_population(ledger: Ledger) -> None:
    reserve(ledger, "r")
    other = replace(BUDGET, population="other")
    with pytest.raises(
        LedgerRefused, match="census is registered in this ledger for the population us-cps, and its file names other"
    ):
        ledger.check("census", other)
    with pytest.raises(LedgerRefused, match="registered in this ledger for the population us-cps"):
        reserve(ledger, "s", budget=other)


def test_two_contracts_over_one_population_share_its_budget(ledger: Ledger) -> None:
    ledger.reserve(ChargeRequest("r", "d", "census", BUDGET, spend(3)))
    assert ledger.reserve(ChargeRequest("s", "d", "census-2", BUDGET, spend(1))).spent == spend(4)
    with pytest.raises(LedgerRefused):
        ledger.reserve(ChargeRequest("t", "d", "census-2", BUDGET, spend(1)))


def test_populations_do_not_share(ledger: Ledger) -> None:
    reserve(ledger, "r", spend(4))
    assert ledger.reserve(ChargeRequest("s", "d", "other", replace(BUDGET, population="us"), spend(4))).spent == spend(
        4
    )


@pytest.mark.parametrize("policy", [None, "one"])
def test_the_last_entries_are_the_last_of_all_with_that_policy_and_population(
    ledger: Ledger, policy: str | None
) -> None:
    budgets = [replace(BUDGET, population=name) for name in ("north", "south")]
    for at, name in enumerate(("one/1/a", "two/1/a", "one/1/b", "one/1/c", "two/1/b", "two/1/c")):
        ledger.reserve(ChargeRequest(name, "d", f"of {at % 2}", budgets[at % 2], Spend(Fraction(1, 9), Fraction(0))))
    for most in (1, 2, 9):
        for population in (None, "north", "south"):
            all_of_them = [
                each
                for each in ledger.entries()
                if population in (None, each.population) and policy in (None, each.release_id.partition("/")[0])
            ]
            assert ledger.last_entries(policy, most, lambda _: True, population) == all_of_them[-most:]


def test_an_id_used_with_another_digest_is_refused_and_with_the_same_it_exists(ledger: Ledger) -> None:
    reserve(ledger, "r", digest="one")
    with pytest.raises(LedgerRefused, match="new version or slot") as other:
        reserve(ledger, "r", digest="two")
    with pytest.raises(LedgerRefused) as same:
        reserve(ledger, "r", digest="one")
    assert (other.value.code, same.value.code) == ("refused", "held")
    ledger.begin_reading("r")
    with pytest.raises(LedgerRefused) as begun:
        reserve(ledger, "r", digest="one")
    assert begun.value.code == "exists"
    assert ledger.spent("us-cps") == ONE


def test_a_void_id_may_be_used_again_with_another_digest(ledger: Ledger) -> None:
    reserve(ledger, "r", digest="one")
    ledger.void("r")
    assert ledger.entry("r") is None
    assert reserve(ledger, "r", digest="two") == ONE
    assert [entry.state for entry in ledger.entries()] == [State.VOID, State.RESERVED]


def test_the_database_itself_refuses_a_second_live_entry_of_an_id(ledger: Ledger) -> None:
    reserve(ledger, "r")
    columns = "release_id, policy_digest, population, epsilon, delta, state, reading"
    with pytest.raises(sqlite3.IntegrityError):
        edit(ledger, f"INSERT INTO entries ({columns}) SELECT {columns} FROM entries")


# The life of a release


@pytest.mark.parametrize("end", [State.COMMITTED, State.WITHHELD])
def test_a_decided_release_stays_spent_and_remembers_what_was_decided(
    ledger: Ledger, end: Literal[State.COMMITTED, State.WITHHELD]
) -> None:
    reserve(ledger, "r")
    ledger.begin_reading("r")
    ledger.commit("r", end, "sha256:ab", "releases/a b/r\u00a0", "salted")
    assert plain(ledger.entry("r")) == Entry(
        "r", "d", "us-cps", ONE, end, "sha256:ab", "releases/a b/r\u00a0", "salted", True
    )
    assert ledger.spent("us-cps") == ONE
    for step in (ledger.void, ledger.begin_reading):
        with pytest.raises(LedgerRefused, match=f"r is {end}"):
            step("r")
    for other in (State.COMMITTED, State.WITHHELD):
        with pytest.raises(LedgerRefused, match=f"r is {end}"):
            ledger.commit("r", other, "m", "elsewhere", None)


def test_only_a_committed_release_is_published_and_only_once(ledger: Ledger) -> None:
    reserve(ledger, "r")
    ledger.begin_reading("r")
    with pytest.raises(LedgerRefused, match="reserved and its reading has begun"):
        ledger.published("r")
    ledger.commit("r", State.COMMITTED, "m", "d", None)
    ledger.published("r")
    with pytest.raises(LedgerRefused, match="published"):
        ledger.published("r")
    with pytest.raises(LedgerRefused, match="published"):
        ledger.commit("r", State.COMMITTED, "m", "d", None)


def test_a_run_that_began_to_read_can_not_be_void(ledger: Ledger) -> None:
    reserve(ledger, "r")
    ledger.begin_reading("r")
    with pytest.raises(LedgerRefused, match="its reading has begun"):
        ledger.void("r")
    assert ledger.spent("us-cps") == ONE


def test_nothing_is_decided_before_the_reading_begins(ledger: Ledger) -> None:
    reserve(ledger, "r")
    with pytest.raises(LedgerRefused, match="r is reserved"):
        ledger.commit("r", State.WITHHELD, None, None, None)


def test_an_id_without_a_reservation_has_no_next_step(ledger: Ledger) -> None:
    for step in (ledger.void, ledger.begin_reading, ledger.published):
        with pytest.raises(LedgerRefused, match="r has no charge in this ledger"):
            step("r")


def test_a_commit_needs_a_state_that_decides_and_what_was_published(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="state"):
        ledger.commit("r", State.VOID, "m", "d", None)  # type: ignore[arg-type]
    for digest, place in ((None, "d"), ("m", None)):
        with pytest.raises(ValueError, match="committed release must have"):
            ledger.commit("r", State.COMMITTED, digest, place, None)


def test_a_crashed_run_keeps_its_first_private_record_and_the_journal_all(ledger: Ledger) -> None:
    reserve(ledger, "r")
    ledger.note_private("r", "first")
    ledger.note_private("r", "second")
    entry = ledger.entry("r")
    assert entry is not None
    assert (entry.state, entry.private_commitment) == (State.RESERVED, "first")
    assert [line.commitment for line in ledger.journal() if line.event == "entry.private"] == ["first", "second"]


# Raising a budget, the journal


def test_a_raised_budget_allows_more_and_the_journal_says_why(ledger: Ledger) -> None:
    reserve(ledger, "r", spend(4))
    new = ledger.raise_budget("us-cps", spend(5, "1e-8"), 400_000, "a fifth year, decided by the board")
    assert ledger.budget("us-cps") == new == replace(BUDGET, cap=spend(5, "1e-8"), people=400_000)
    assert "decided by the board" in (ledger.journal()[-1].detail or "")
    with pytest.raises(LedgerRefused):
        reserve(ledger, "s", spend(1))
    assert reserve(ledger, "s", spend(1), budget=new) == spend(5)


@pytest.mark.parametrize(
    ("cap", "people"),
    [(None, None), (spend(4, "1e-8"), 300_000), (spend(5, "1e-9"), None), (spend(3, 1), None), (spend(9, 1), 1)],
)
def test_a_budget_is_never_lowered(ledger: Ledger, cap: Spend | None, people: int | None) -> None:
    reserve(ledger, "r")
    with pytest.raises(LedgerRefused, match="can't be lowered"):
        ledger.raise_budget("us-cps", cap, people, "because")
    assert ledger.budget("us-cps") == BUDGET


def test_a_budget_is_raised_only_if_registered_with_a_reason_and_people(ledger: Ledger) -> None:
    with pytest.raises(LedgerRefused, match="not registered"):
        ledger.raise_budget("us-cps", spend(9, 1), None, "because")
    with pytest.raises(ValueError, match="reason"):
        ledger.raise_budget("us-cps", spend(9, 1), None, " ")
    with pytest.raises(ValueError, match="people"):
        ledger.raise_budget("us-cps", None, 0, "because")


def test_the_journal_keeps_every_change_and_record_in_order(ledger: Ledger) -> None:
    reserve(ledger, "r")
    ledger.begin_reading("r")
    ledger.record("private-record-opened", "r", "salted")
    assert [(line.number, line.event, line.subject, line.commitment) for line in ledger.journal()] == [
        (1, "ledger.created", ledger.id, None),
        (2, "budget.registered", "us-cps", None),
        (3, "contract.bound", "census", None),
        (4, "entry.reserved", "r", None),
        (5, "entry.reading", "r", None),
        (6, "private-record-opened", "r", "salted"),
    ]


@pytest.mark.parametrize("event", ["entry.void", "", "A", "x" * 41, "a\n"])
def test_a_record_can_not_pass_for_a_line_of_the_ledgers_own(ledger: Ledger, event: str) -> None:
    with pytest.raises(ValueError, match="event"):
        ledger.record(event, "r", None)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE entries SET epsilon = '1/100'", "entries differ"),
        ("DELETE FROM entries", "entries differ"),
        ("UPDATE populations SET people = 1", "populations differ"),
        ("UPDATE contracts SET contract = 'x'", "contracts differ"),
        ("UPDATE journal SET subject = 'x' WHERE number = 2", "line 2"),
        ("DELETE FROM journal WHERE number = 3", "line 3"),
        ("UPDATE journal SET digest = 'x' WHERE number = 4", "line 4"),
        ("DELETE FROM journal WHERE number = 4", "entries, totals differ"),
        ("UPDATE totals SET epsilon = '0/1'", "totals differ"),
    ],
)
def test_an_edited_ledger_fails_its_verification(ledger: Ledger, statement: str, said: str) -> None:
    reserve(ledger, "r")
    ledger.verify()
    edit(ledger, statement)
    with pytest.raises(VerificationFailed, match=said):
        ledger.verify()


def test_a_line_that_is_exchanged_for_another_whole_line_breaks_the_chain_after_it(tmp_path: Path) -> None:
    ledgers = []
    for name in ("one", "two"):
        url = f"sqlite:///{tmp_path}/{name}.db"
        ledgers.append(open_ledger(url, create(url, name)))
        ledgers[-1].record("opened", name)
        ledgers[-1].record("closed", "both")
    one, two = ledgers
    edit(one, "DELETE FROM journal WHERE number <= 2")
    with closing(sqlite3.connect(one.path)) as connection:
        connection.execute(f"ATTACH '{two.path}' AS two")
        connection.execute("INSERT INTO journal SELECT * FROM two.journal WHERE number <= 2")
        connection.commit()
    with pytest.raises(VerificationFailed, match="line 3 of its journal"):
        one.verify()


# Values


@pytest.mark.parametrize("bad", [Fraction(-1), 0.5, 1, float("nan")])
def test_an_amount_is_an_exact_fraction_of_at_least_0(bad: Fraction) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        Spend(bad, Fraction(0))
    with pytest.raises(ValueError, match="delta"):
        Spend(Fraction(0), bad)


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("population", ""),
        ("population", "a\nb"),
        ("population", " a"),
        ("people", 0),
        ("people", True),
        ("people", 1.5),
        ("people", 10**16),
        ("unit", "person"),
        ("unit", "person:"),
        ("unit", "rows"),
        ("relation", "replace-one"),
    ],
)
def test_a_budget_with_a_wrong_part_is_refused_by_its_name(field: str, bad: Any) -> None:
    with pytest.raises(ValueError, match=field):
        replace(BUDGET, **{field: bad})


@pytest.mark.parametrize(("release", "digest", "contract"), [("", "d", "c"), ("r", "d\n", "c"), ("r", "d", "x" * 301)])
def test_labels_of_a_reservation_are_one_printable_line(
    ledger: Ledger, release: str, digest: str, contract: str
) -> None:
    with pytest.raises(ValueError, match="printable"):
        ledger.reserve(ChargeRequest(release, digest, contract, BUDGET, ONE))


def test_an_amount_of_too_many_digits_is_refused_before_anything_is_written(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="digits"):
        reserve(ledger, "r", Spend(Fraction(1, 10**300), Fraction(0)))
    assert ledger.entries() == []


def test_an_inherited_sample_serves_one_release_for_life(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'samples.db'}"
    ledger = open_ledger(url, create(url, "test"))
    budget = Budget("p", Spend(Fraction(9), Fraction(1, 10)), 10, "row", "add-remove")
    once = Spend(Fraction(1), Fraction(0))
    ledger.reserve(ChargeRequest("a/1/2030-01-01", "d", "c", budget, once, sample="spring"))
    ledger.void("a/1/2030-01-01")
    ledger.reserve(ChargeRequest("a/1/2030-01-02", "d", "c", budget, once, sample="spring"))
    with pytest.raises(LedgerRefused, match="already released by a/1/2030-01-02"):
        ledger.reserve(ChargeRequest("a/1/2030-01-03", "d", "c", budget, once, sample="spring"))
    ledger.reserve(ChargeRequest("a/1/2030-01-04", "d", "c", budget, once, sample="autumn"))
    assert ledger.spent("p").epsilon == 2


MAY_LACK = {
    "entries": {"manifest_digest", "destination", "private_commitment", "sample", "holder", "since"},
    "journal": {"commitment", "detail"},
}


def test_the_database_itself_refuses_a_row_that_lacks_something(ledger: Ledger) -> None:
    """Columns that a charge or a line gets later, or never, are exempt."""
    with closing(sqlite3.connect(ledger.path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert MAY_LACK.keys() < {*tables}
        for table in tables:
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            free = {name for _, name, _, always, _, key in columns if not always and not key}
            assert free == MAY_LACK.get(table, set()), table
