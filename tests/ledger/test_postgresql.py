"""The ledger in PostgreSQL: the promises of every ledger, and those of roles, triggers, migrations and backups."""

import multiprocessing
import random
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from crowdgate.errors import EnvironmentFault, LedgerRefused
from crowdgate.ledger.copying import copy_ledger, tables
from crowdgate.ledger.ledger import Budget, ChargeRequest, Ledger, Spend, State, create, open_ledger
from crowdgate.ledger.postgresql import catalog, database, migrations
from crowdgate.ledger.postgresql.address import parse_address
from crowdgate.ledger.postgresql.database import PostgresqlDatabase
from crowdgate.ledger.schema import COLUMNS
from crowdgate.ledger.store import Database, SerializationConflict
from crowdgate.ledger.stores import placed
from crowdgate.ledger.upgrade import upgrade
from tests.ledger import test_ledger, test_series
from tests.ledger.books import edit
from tests.ledger.test_ledger import BUDGET, ONE, AgainstModel, reserve, spend
from tests.servers import PostgresqlServer

pytestmark = pytest.mark.thorough

OF_FILES = {
    "test_a_charge_is_synced_to_the_disk_when_it_is_committed",
    "test_a_file_that_is_no_ledger_is_refused_and_left_as_it_is",
    "test_a_ledger_that_is_taken_away_or_exchanged_while_open_refuses",
    "test_a_locked_ledger_is_a_fault_of_the_environment_and_not_for_long",
    "test_a_read_only_ledger_is_a_fault_of_the_environment",
    "test_a_row_of_a_series_that_was_changed_is_noticed",
    "test_a_url_of_anything_but_a_file_is_refused_without_repeating_it",
    "test_damaged_pages_refuse",
    "test_making_a_ledger_overwrites_no_file_of_another_kind",
    "test_the_database_itself_refuses_a_row_that_lacks_something",
    "test_the_database_itself_refuses_a_second_live_entry_of_an_id",
    "test_replay_accepts_only_slots_that_the_ledger_could_have_charged",
    "test_replay_refuses_slots_of_a_series_that_is_unread_or_full",
    "test_the_ledger_writes_ahead",
    "test_two_processes_at_one_slot_take_it_once",
    "test_who_may_not_write_file_and_folder_opens_a_ledger_that_nothing_changes",
}
"""Tests of `test_ledger` and `test_series` that are about SQLite's file, or edit it."""
SHARED = {
    name: test
    for name, test in {**vars(test_ledger), **vars(test_series)}.items()
    if name.startswith("test_") and name not in OF_FILES
    and {"ledger", "url", "damaged"} & {*signature(test).parameters} and "tmp_path" not in signature(test).parameters
}  # fmt: skip
globals().update({**SHARED, "damaged": test_ledger.damaged})  # they use the fixtures below


@pytest.fixture
def name(postgresql: PostgresqlServer) -> str:
    return postgresql.new_database()


@pytest.fixture
def url(postgresql: PostgresqlServer, name: str, tmp_path: Path) -> str:
    return f"{postgresql.url(name)}#{tmp_path}/ledger"


@pytest.fixture
def ledger(url: str) -> Ledger:
    return open_ledger(url, create(url, "test"))


def as_user(postgresql: PostgresqlServer, name: str, user: str, *roles: str) -> str:
    """Make a user with these roles, and return its name."""
    user = f"{user}_{name}"
    postgresql.execute(name, f'CREATE ROLE "{user}" LOGIN')
    for role in roles:
        postgresql.execute(name, f'GRANT {role} TO "{user}"')
    return user


def test_every_promise_of_a_ledger_is_shared() -> None:
    assert len(SHARED) > 30


def test_the_ledger_agrees_with_a_model_after_any_sequence_of_calls(url: str) -> None:
    """The state machine of `test_ledger`, in one database that each history empties."""

    class InPostgresql(AgainstModel):
        def new_url(self) -> str:
            edit(url, "DROP SCHEMA IF EXISTS crowdgate CASCADE")
            return url

    found = settings(max_examples=2, stateful_step_count=12, deadline=None, database=None)
    run_state_machine_as_test(InPostgresql, settings=found)


# Tables, triggers and rights


def test_the_tables_have_the_columns_of_every_ledger_and_the_catalog_is_the_shipped_one(url: str) -> None:
    """After a new migration: write `catalog_lines` of a new ledger into catalog.txt, sorted."""
    create(url, "test")
    with database.open_store(url, 1, True).transaction(writing=False) as found:
        assert sorted(catalog.catalog_lines(found)) == catalog.EXPECTED.read_text().splitlines()
        for table, columns in COLUMNS.items():
            assert list(found.rows(f"SELECT {', '.join(columns)} FROM {table} WHERE false")) == []


FORBIDDEN = [
    "UPDATE crowdgate.journal SET subject = 'x'",
    "DELETE FROM crowdgate.journal WHERE number = 2",
    "TRUNCATE crowdgate.journal",
    "UPDATE crowdgate.signatures SET signature = 'x'",
    "DELETE FROM crowdgate.signatures",
    "DELETE FROM crowdgate.entries",
    "TRUNCATE crowdgate.totals CASCADE",
    "UPDATE crowdgate.ledger SET id = 'x'",
    "ALTER TABLE crowdgate.journal DISABLE TRIGGER ALL",
    "DROP TRIGGER no_update ON crowdgate.journal",
    "DROP TABLE crowdgate.journal CASCADE",
    "CREATE TABLE crowdgate.other (a INTEGER)",
    "SET session_replication_role = replica",
    "SET ROLE crowdgate_admin",
]


@pytest.mark.parametrize("role", ["crowdgate_spend", "crowdgate_read"])
def test_a_role_can_not_change_or_delete_a_line_by_hand(
    postgresql: PostgresqlServer, name: str, ledger: Ledger, role: str
) -> None:
    reserve(ledger, "r")
    before, user = ledger.journal(), as_user(postgresql, name, "hand", role)
    for statement in FORBIDDEN:
        said = postgresql.program("psql", "-U", user, "-d", name, "-v", "ON_ERROR_STOP=1", "-c", statement)
        assert said.returncode != 0, statement
    assert ledger.verify() == before[-1]
    assert ledger.journal() == before


def test_not_even_the_owner_or_a_superuser_changes_a_line_while_the_triggers_are_on(
    postgresql: PostgresqlServer, name: str, ledger: Ledger
) -> None:
    reserve(ledger, "r")
    owner = as_user(postgresql, name, "owner", "crowdgate_admin")
    for user in (owner, "postgres"):
        for statement in FORBIDDEN[:7]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
                postgresql.execute(name, statement, user) if "signatures" not in statement else _fail()
    ledger.verify()


def _fail() -> None:
    raise psycopg.errors.InsufficientPrivilege("append-only")  # no signature is there to change


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE crowdgate.journal DISABLE TRIGGER no_update",
        "DROP TRIGGER no_delete ON crowdgate.journal",
        "CREATE RULE quiet AS ON INSERT TO crowdgate.totals DO INSTEAD NOTHING",
        "CREATE VIEW crowdgate.more AS SELECT 1",
        "DROP INDEX crowdgate.one_live_entry",
        "ALTER TABLE crowdgate.entries ALTER reading DROP NOT NULL",
        "CREATE TRIGGER more BEFORE INSERT ON crowdgate.journal EXECUTE FUNCTION crowdgate.refuse_change()",
        "CREATE OR REPLACE FUNCTION crowdgate.refuse_change() RETURNS trigger LANGUAGE plpgsql "
        "AS 'BEGIN RETURN OLD; END'",
        "ALTER TABLE crowdgate.entries ENABLE ROW LEVEL SECURITY",
    ],
)
def test_a_changed_schema_is_refused_by_the_next_command(
    postgresql: PostgresqlServer, name: str, url: str, ledger: Ledger, statement: str
) -> None:
    postgresql.execute(name, statement)
    with pytest.raises(LedgerRefused, match="is not used"):
        reserve(open_ledger(url, ledger.id), "r")


@pytest.mark.parametrize("table", ["populations", "entries", "totals", "journal"])
def test_an_edit_of_a_superuser_is_refused_by_the_next_command(url: str, ledger: Ledger, table: str) -> None:
    reserve(ledger, "r")
    column = {"populations": "people = 7", "journal": "event = 'x'"}.get(table, "epsilon = '0/1'")
    edit(url, f"UPDATE {table} SET {column}")
    with pytest.raises(LedgerRefused, match="is not used"):
        reserve(open_ledger(url, ledger.id), "s")


def test_a_spender_releases_and_a_reader_only_reads(
    postgresql: PostgresqlServer, name: str, ledger: Ledger, tmp_path: Path
) -> None:
    spender, reader, nobody = (
        as_user(postgresql, name, user, *roles)
        for user, roles in {"s": ["crowdgate_spend"], "r": ["crowdgate_read"], "n": []}.items()
    )
    at = {user: f"{postgresql.url(name, user)}#{tmp_path}/ledger" for user in (spender, reader, nobody)}
    reserve(open_ledger(at[spender], ledger.id), "r")
    assert open_ledger(at[reader], ledger.id, reading=True).spent("us-cps") == ONE
    with pytest.raises(EnvironmentFault, match="crowdgate_spend"):
        reserve(open_ledger(at[reader], ledger.id), "s")
    with pytest.raises(EnvironmentFault, match="refuses this user a right"):
        open_ledger(at[nobody], ledger.id, reading=True)
    assert ledger.spent("us-cps") == ONE


def test_a_user_who_may_not_make_a_ledger_is_told_what_that_needs(
    postgresql: PostgresqlServer, name: str, ledger: Ledger, tmp_path: Path
) -> None:
    spender = as_user(postgresql, name, "s", "crowdgate_spend")
    empty = postgresql.new_database()
    target = f"{postgresql.url(empty, spender)}#{tmp_path}/ledger"
    for make in (lambda: create(target, "again"), lambda: copy_ledger(ledger, target)):
        with pytest.raises(EnvironmentFault, match="owns the database and may create roles"):
            make()
    assert postgresql.execute(empty, "SELECT FROM pg_namespace WHERE nspname = 'crowdgate'") == []


# Addresses and errors


@pytest.mark.parametrize(
    "bad",
    [
        "postgresql://", "postgresql:///", "postgresql://host", "postgresql://u:hunter2@host/db", "postgresql://host/a/b",
        "postgresql://host/db?options=-c%20fsync%3Doff", "postgresql://host/db?password=hunter2", "postgresql://h:x/db",
        "postgresql://host/db?dbname=other", "postgresql://host/db?require_auth=password", "postgresql://host/d\nb",
        "postgresql://host/db?sslkey=/tmp/any.so:key", "postgresql://host/db?sslkey=own.key&sslkey=any%3Akey",
    ],
)  # fmt: skip
def test_a_url_without_a_database_or_with_a_password_is_refused_without_repeating_it(bad: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="postgresql://USER@HOST/DATABASE") as refused:
        parse_address(bad, tmp_path)
    assert "hunter2" not in str(refused.value)


def test_the_folder_of_private_records_is_that_of_the_working_copy_or_the_stated_one(tmp_path: Path) -> None:
    plain = placed("postgresql://u@h:5433/my%20db?sslmode=require", tmp_path)
    assert plain == f"postgresql://u@h:5433/my%20db?sslmode=require#{tmp_path}/ledger"
    assert placed(plain, Path("/elsewhere")) == plain
    assert parse_address(f"{plain[:-7]}/own", tmp_path).folder == tmp_path / "own"
    assert parse_address(plain, tmp_path).name == "the database my db on h:5433"


def test_errors_are_told_apart_and_quote_no_address(
    postgresql: PostgresqlServer, name: str, url: str, ledger: Ledger, tmp_path: Path
) -> None:
    hasty = open_ledger(url, ledger.id, busy_seconds=0.05)
    with psycopg.connect(postgresql.url(name)) as other:
        other.execute("LOCK TABLE crowdgate.totals IN EXCLUSIVE MODE")
        with pytest.raises(EnvironmentFault, match="locked by another run"):
            reserve(hasty, "r")
    with pytest.raises(LedgerRefused, match="but the budget names other-"):
        open_ledger(url, "other-00000000")
    with pytest.raises(LedgerRefused, match="no ledger in the database"):
        open_ledger(postgresql.url(postgresql.new_database()), None)
    with pytest.raises(LedgerRefused, match="no ledger in the database"):
        open_ledger(postgresql.url("absent"), None)
    with pytest.raises(EnvironmentFault, match="refuses this user"):
        open_ledger(postgresql.url(name, "mallory"), None)
    with pytest.raises(EnvironmentFault, match="can't be reached"):
        open_ledger(f"postgresql://u@/db?host={tmp_path}", None)
    with pytest.raises(EnvironmentFault, match="holds a ledger already"):
        create(url, "again")


def test_a_server_that_stops_during_a_change_leaves_nothing_and_says_so(
    postgresql: PostgresqlServer, name: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(self: PostgresqlDatabase) -> None:
        ours = f"datname = '{name}' AND pid <> pg_backend_pid() AND query NOT LIKE '%pg_terminate%'"
        postgresql.execute("postgres", f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {ours}")
        self.connection.execute(b"COMMIT")

    with monkeypatch.context() as patch:
        patch.setattr(PostgresqlDatabase, "commit", stopped)
        with pytest.raises(EnvironmentFault, match=r"was stopped|can't be reached"):
            reserve(ledger, "r")
    assert ledger.spent("us-cps") == spend(0)
    assert reserve(ledger, "r") == ONE


# Migrations, copies and backups


def test_migrations_are_numbered_and_a_ledger_that_lacks_one_is_upgraded(
    url: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = migrations.migrations()
    assert [each.number for each in known] == list(range(1, len(known) + 1))
    more = migrations.Migration(len(known) + 1, known[-1].name, "digest")
    monkeypatch.setattr(migrations, "migrations", lambda: (*known, more))
    monkeypatch.setattr(migrations.Migration, "text", "SELECT 1")
    with pytest.raises(LedgerRefused, match="lacks 1 migrations"):
        open_ledger(url, ledger.id)
    before = ledger.journal()
    assert upgrade(url) == ledger.id
    assert open_ledger(url, ledger.id).journal() == before
    with pytest.raises(LedgerRefused, match="nothing to upgrade"):
        upgrade(url)
    monkeypatch.setattr(migrations, "migrations", lambda: known)
    with pytest.raises(LedgerRefused, match="another version of Crowdgate"):
        open_ledger(url, ledger.id)


def test_a_copy_says_the_same_there_and_back(postgresql: PostgresqlServer, ledger: Ledger, tmp_path: Path) -> None:
    for at in range(3):
        reserve(ledger, f"r/{at}")
    ledger.begin_reading("r/0")
    ledger.freeze("us-cps", True, "a complaint")
    file, again = f"sqlite:///{tmp_path}/copy.db", f"{postgresql.url(postgresql.new_database())}#{tmp_path}/again"
    assert copy_ledger(ledger, file) == ledger.head()
    assert copy_ledger(open_ledger(file, ledger.id), again) == ledger.head()
    returned = open_ledger(again, ledger.id)
    assert returned.journal() == ledger.journal()
    assert returned.entries() == ledger.entries()
    returned.freeze("us-cps", False, "settled")
    with pytest.raises(EnvironmentFault, match="exists already"):
        copy_ledger(ledger, file)


def test_a_run_that_goes_on_during_a_copy_disturbs_it_not(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crowdgate.ledger import copying

    reserve(ledger, "r")
    before, refuse, others = ledger.head(), copying.refuse_difference, iter("st")

    def compared(there: Database, here: Database) -> None:
        refuse(there, here)
        reserve(ledger, next(others))

    monkeypatch.setattr(copying, "refuse_difference", compared)
    assert copy_ledger(ledger, f"sqlite:///{tmp_path}/copy.db") == before
    assert ledger.head().number > before.number


@pytest.mark.parametrize("table", [table for table, _ in tables() if table in ("journal", "totals", "entries")])
def test_a_copy_that_differs_in_one_row_is_refused_and_not_left(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """Planted: one table is copied without its last row."""
    from crowdgate.ledger import copying

    reserve(ledger, "r")
    copied = copying._copy_rows
    rows = PostgresqlDatabase.rows

    def lossy(there: PostgresqlDatabase, here: PostgresqlDatabase, name: str, columns: tuple[str, ...]) -> None:
        with monkeypatch.context() as patch:
            if name == table:
                patch.setattr(PostgresqlDatabase, "rows", lambda *asked: iter([*rows(*asked)][:-1]))
            copied(there, here, name, columns)

    monkeypatch.setattr(copying, "_copy_rows", lossy)
    with pytest.raises(LedgerRefused, match="the copy"):
        copy_ledger(ledger, f"sqlite:///{tmp_path}/copy.db")
    assert not (tmp_path / "copy.db").exists()


# Conflicts


def is_change(database: PostgresqlDatabase) -> bool:
    """Return whether a transaction may write: only such a one fails when it is committed."""
    return [*database.rows("SHOW transaction_read_only")] == [("off",)]


@pytest.fixture
def aborting(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Roll back a third of all commits as the server does after a serialization failure."""
    coins, commit = random.Random(1), PostgresqlDatabase.commit

    def aborted(self: PostgresqlDatabase) -> None:
        if is_change(self) and coins.random() < 1 / 3:
            raise psycopg.errors.SerializationFailure("planted")
        commit(self)

    monkeypatch.setattr(PostgresqlDatabase, "commit", aborted)
    return ledger


def test_a_change_that_the_server_rolls_back_is_made_again_and_once(aborting: Ledger) -> None:
    ledger = aborting
    for at in range(4):
        reserve(ledger, f"r/{at}")
        with pytest.raises(LedgerRefused, match="another run of"):
            reserve(ledger, f"r/{at}")
    assert ledger.spent("us-cps") == spend(4, "4e-9")
    ledger.verify()


def test_a_change_that_is_always_rolled_back_ends_with_an_error(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def aborted(_: PostgresqlDatabase) -> None:
        raise psycopg.errors.DeadlockDetected("planted")

    with monkeypatch.context() as patch:
        patch.setattr(PostgresqlDatabase, "commit", aborted)
        patch.setattr("crowdgate.ledger.ledger.sleep", lambda _: None)
        with pytest.raises(SerializationConflict, match="try again"):
            reserve(ledger, "r")
    assert ledger.journal()[1:] == []


def attempts(url: str, worker: int, each: int, cap: int, results: "multiprocessing.Queue[tuple[int, int]]") -> None:
    """Request `each` charges, a fifth of them under ids of all workers; one commit in ten is aborted."""
    coins, commit = random.Random(worker), PostgresqlDatabase.commit

    def aborted(self: PostgresqlDatabase) -> None:
        if is_change(self) and coins.random() < 0.1:
            raise psycopg.errors.SerializationFailure("planted")
        commit(self)

    PostgresqlDatabase.commit = aborted  # type: ignore[method-assign]
    ledger, accepted, other = open_ledger(url, None), 0, 0
    budget = Budget("p", Spend(Fraction(cap), Fraction(0)), 1000, "row", "add-remove")
    for at in range(each):
        name = f"a/1/{at}" if at % 5 == 0 else f"a/1/{worker}-{at}"
        try:
            ledger.reserve(ChargeRequest(name, "d", "c", budget, Spend(Fraction(1), Fraction(0)), version="a/1"))
            accepted += 1
        except LedgerRefused as refused:
            other += refused.code not in ("held", "refused")
    results.put((accepted, other))


@pytest.mark.parametrize(
    ("processes", "each"),
    [
        pytest.param(4, 250, marks=pytest.mark.thorough, id="1,000"),
        pytest.param(8, 1250, marks=pytest.mark.soak, id="10,000"),
    ],
)
def test_concurrent_attempts_with_forced_aborts_hit_the_cap_and_no_more(
    url: str, ledger: Ledger, processes: int, each: int
) -> None:
    cap = processes * each * 2 // 5
    results: multiprocessing.Queue[tuple[int, int]] = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=attempts, args=(url, at, each, cap, results)) for at in range(processes)]
    for worker in workers:
        worker.start()
    found = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    ledger.verify()
    entries = [entry for entry in ledger.entries() if entry.state is not State.VOID]
    assert sum(accepted for accepted, _ in found) == len(entries) == cap == ledger.spent("p").epsilon
    assert sum(other for _, other in found) == 0
    assert len({entry.release_id for entry in entries}) == cap


def test_a_program_that_takes_no_lock_can_not_make_a_ledger_overspend(
    postgresql: PostgresqlServer, name: str, url: str, ledger: Ledger
) -> None:
    """By hand, in SQL, a spender sets a total back between two releases: the next command refuses the ledger."""
    reserve(ledger, "r", budget=replace(BUDGET, cap=spend(1, "1e-8")))
    spender = as_user(postgresql, name, "s", "crowdgate_spend")
    postgresql.execute(name, "UPDATE crowdgate.totals SET epsilon = '0/1'", spender)
    with pytest.raises(LedgerRefused, match="is not used"):
        reserve(open_ledger(url, ledger.id), "s")
    with pytest.raises(LedgerRefused):
        reserve(ledger, "s")
