"""Faults of databases, from the password to a view: one clear error each, without a secret or a cell."""

import io
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError, FileFault
from crowdgate.review.check import check
from crowdgate.review.table_check import check_table
from crowdgate.sources import SOURCES, open_source
from crowdgate.sources.counting import CountingTask, count_table, serial
from crowdgate.sources.encode import Reason
from crowdgate.sources.sql.table import DatabasePart
from tests.databases import DATABASES, patients, postgres_server
from tests.servers import PASSWORD
from tests.workshop import MARK, Workshop, crowdgate, good_rows

RULES = {name: reader.rule for name, reader in SOURCES.items()}


def clinic(workshop: Workshop, engine: str) -> Contract:
    """Put the clinic's table into an engine, and return its contract."""
    line = DATABASES[engine](workshop.contract.parent, patients(good_rows(60)))
    workshop.edit(workshop.contract, "{server: local, type: local, path: patients.parquet, format: parquet}", line)
    return read_contract(workshop.contract, RULES)


def count(contract: Contract) -> int:
    """Return the number of rows that counting reads."""
    task = CountingTask(contract, ("age", "ward"), {})
    return count_table(open_source(contract, ("age", "ward")), task, serial()).facts.rows


def fault(contract: Contract) -> str:
    """Return the message of the fault of counting, after a look for secrets in it, its causes and the log."""
    log, handler = io.StringIO(), logging.StreamHandler()
    handler.setStream(log)
    logging.getLogger().addHandler(handler)
    try:
        with pytest.raises(FileFault) as found:
            count(contract)
    finally:
        logging.getLogger().removeHandler(handler)
    text = "".join(traceback.format_exception(found.value)) + log.getvalue()
    assert not any(secret in text for secret in (MARK, PASSWORD))
    assert found.value.__cause__ is None
    assert found.value.__context__ is None
    return str(found.value)


@pytest.fixture
def postgres(workshop: Workshop) -> Contract:
    return clinic(workshop, "postgres")


def schema(contract: Contract) -> str:
    return contract.server.settings["schema"]


@pytest.mark.thorough
@pytest.mark.parametrize("engine", DATABASES)
def test_a_table_is_read_and_checked_by_its_catalogue(workshop: Workshop, engine: str) -> None:
    contract = clinic(workshop, engine)
    assert count(contract) == 60
    read = check_table(contract).read
    assert read is not None
    assert "the catalogue of patients; no cell, no count" in read


@pytest.mark.thorough
@pytest.mark.parametrize("engine", DATABASES)
def test_a_missing_table_or_column_is_named(workshop: Workshop, engine: str) -> None:
    contract = clinic(workshop, engine)
    assert contract.database is not None
    gone = replace(contract, database=replace(contract.database, name='no "table'))
    assert "no table 'no \"table'" in fault(gone)
    other = replace(contract, database=replace(contract.database, columns={"age": "years", "ward": "ward"}))
    assert "column 'age' is missing" in fault(other)


@pytest.mark.thorough
@pytest.mark.parametrize("engine", DATABASES)
def test_a_view_is_read_only_where_the_contract_declares_it(workshop: Workshop, engine: str) -> None:
    contract = clinic(workshop, engine)
    create = "CREATE VIEW {}seen AS SELECT * FROM {}patients WHERE ward = 'north'"
    if engine == "postgres":
        postgres_server().execute(create.format(f"{schema(contract)}.", f"{schema(contract)}."))
    elif engine == "duckdb":
        import duckdb

        with duckdb.connect(str(workshop.contract.parent / "patients.duckdb")) as connection:
            connection.execute(create.format("", ""))
    else:
        with closing(sqlite3.connect(workshop.contract.parent / "patients.sqlite")) as connection:
            connection.execute(create.format("", ""))
    assert contract.database is not None
    table = replace(contract.database, name="seen")
    assert "has a view of this name" in fault(replace(contract, database=table))
    assert count(replace(contract, database=replace(table, is_view=True))) == 20


@pytest.mark.thorough
def test_a_wrong_password_is_one_clear_error(postgres: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", f"{PASSWORD}wrong")
    assert "refuses the user or the password" in fault(postgres)
    assert "refuses the user" in str(check_table(postgres).absent)


@pytest.mark.thorough
def test_a_role_without_rights_is_one_clear_error(postgres: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    own = postgres_server()
    own.server.execute(own.database, f"GRANT CONNECT ON DATABASE {own.database} TO guest")
    own.execute(f"GRANT USAGE ON SCHEMA {schema(postgres)} TO guest")
    monkeypatch.setenv("PGUSER", "guest")
    assert "no right to read" in fault(postgres)
    table = f"{schema(postgres)}.patients"
    postgres_server().execute(f"GRANT SELECT ON {table} TO guest")
    assert count(postgres) == 60
    postgres_server().execute(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY", f"CREATE POLICY p ON {table} USING (ward = 'north')"
    )
    assert "row security" in fault(postgres)


@pytest.mark.thorough
def test_a_database_that_is_away_is_one_clear_error(postgres: Contract) -> None:
    away = {**postgres.server.settings, "port": "1"}
    assert "can't be reached" in fault(replace(postgres, server=replace(postgres.server, settings=away)))
    other = {**postgres.server.settings, "database": "elsewhere"}
    assert "does not exist" in fault(replace(postgres, server=replace(postgres.server, settings=other)))


@pytest.fixture
def slow(postgres: Contract) -> Contract:
    """A declared view whose rows never come."""
    at = schema(postgres)
    columns = "SELECT 'a' AS patient, 1 AS age, 'north' AS ward, '' AS note"
    postgres_server().execute(f"CREATE VIEW {at}.slow AS {columns} FROM (SELECT pg_sleep(60)) AS s")
    assert postgres.database is not None
    return replace(postgres, database=replace(postgres.database, name="slow", is_view=True))


@pytest.mark.thorough
def test_a_timeout_is_one_clear_error(slow: Contract) -> None:
    settings = {**slow.server.settings, "timeout": "1"}
    assert "longer than the contract's timeout" in fault(replace(slow, server=replace(slow.server, settings=settings)))


def _is_reading(schema_name: str) -> bool:
    """Return whether a session of Crowdgate runs its query on a table of this schema."""
    of = f"application_name = 'crowdgate' AND state = 'active' AND query LIKE '%{schema_name}%GROUP BY%'"
    with postgres_server().connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM pg_stat_activity WHERE {of}")
        return bool(cursor.fetchone()[0])


def _wait_until_reading(schema_name: str, is_alive: Callable[[], bool] = lambda: True) -> None:
    """Return once a session reads. Fails after a minute, or as soon as its process has ended."""
    deadline = time.monotonic() + 60
    while not _is_reading(schema_name):
        assert is_alive(), "the process ended before it read"
        assert time.monotonic() < deadline, "no session read within a minute"
        time.sleep(0.1)


@pytest.mark.thorough
def test_a_connection_that_is_lost_is_one_clear_error(slow: Contract) -> None:
    def end() -> None:
        _wait_until_reading(schema(slow))
        postgres_server().end_sessions()

    killer = threading.Thread(target=end)
    killer.start()
    assert "connection was lost" in fault(slow)
    killer.join()


@pytest.mark.thorough
@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_a_file_that_is_no_database_is_one_clear_error(workshop: Workshop, engine: str) -> None:
    contract = clinic(workshop, engine)
    path = workshop.contract.parent / f"patients.{engine}"
    path.write_bytes(MARK.encode() * 1000)
    assert "patients: the database" in fault(contract)
    with pytest.raises(ConfigurationError, match="the database"):  # it is here, so nothing is absent
        check_table(contract)
    path.unlink()
    assert "can't be reached" in fault(contract)
    assert check_table(contract).absent is not None


@pytest.mark.thorough
def test_a_table_that_changes_after_it_was_opened_is_a_file_fault(workshop: Workshop) -> None:
    for engine in DATABASES:
        contract = clinic(workshop, engine) if engine == "sqlite" else _again(workshop, engine)
        source = open_source(contract, ("age", "ward"))
        if engine == "postgres":
            postgres_server().execute(f"ALTER TABLE {schema(contract)}.patients ADD COLUMN more text")
        elif engine == "duckdb":
            import duckdb

            with duckdb.connect(str(workshop.contract.parent / "patients.duckdb")) as connection:
                connection.execute("ALTER TABLE patients ADD COLUMN more text")
        else:
            with closing(sqlite3.connect(workshop.contract.parent / "patients.sqlite")) as connection:
                connection.execute("ALTER TABLE patients ADD COLUMN more")
        with pytest.raises(FileFault, match="the input changed while it was read"):
            count_table(source, CountingTask(contract, ("age", "ward"), {}), serial())


def test_a_file_that_changes_between_two_reads_is_a_file_fault(workshop: Workshop) -> None:
    """Its size and the time of its last change are the same."""
    contract, path = clinic(workshop, "sqlite"), workshop.contract.parent / "patients.sqlite"
    source, before = open_source(contract, ("age", "ward")), path.stat()
    task = CountingTask(contract, ("age", "ward"), {})
    assert count_table(source, task, serial()).facts.rows == 60
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE patients SET ward = 'north'")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    with pytest.raises(FileFault, match="the input changed while it was read"):
        count_table(source, task, serial())
    with pytest.raises(FileFault, match="the input changed while it was read"):
        list(source.parts[0].read(("ward",), ()))


def _again(workshop: Workshop, engine: str) -> Contract:
    line = DATABASES[engine](workshop.contract.parent, patients(good_rows(60)))
    text = workshop.contract.read_text(encoding="utf-8")
    start = text.index("servers: [")
    workshop.contract.write_text(
        text[:start] + f"servers: [{line}]" + text[text.index("\n", start) :], encoding="utf-8"
    )
    return read_contract(workshop.contract, RULES)


@pytest.mark.thorough
@pytest.mark.parametrize("engine", DATABASES)
def test_rows_that_other_sessions_write_meanwhile_are_not_mixed(workshop: Workshop, engine: str) -> None:
    """The query sees one snapshot; a changed file is refused."""
    contract = clinic(workshop, engine)
    (part,) = open_source(contract, ("age", "ward")).parts
    batches = part.read(("age", "ward"), ())
    first = next(batches)
    if engine == "postgres":
        postgres_server().execute(f"DELETE FROM {schema(contract)}.patients")
    rest = [first, *batches]
    assert sum(int(batch.counts.sum()) for batch in rest if batch.counts is not None) == 60


@pytest.mark.thorough  # a resolver may take its time
def test_a_host_whose_name_is_not_known_is_a_table_that_is_not_here(workshop: Workshop) -> None:
    """Top-level domain invalid has no hosts (RFC 2606)."""
    text = workshop.contract.read_text(encoding="utf-8")
    start = text.index("servers: [")
    server = "server: db, type: postgres, host: db.invalid, port: 5432, database: d, schema: s"
    workshop.contract.write_text(
        f"{text[:start]}servers: [{{{server}}}]{text[text.index(chr(10), start) :]}", encoding="utf-8"
    )
    (warning,) = [each for each in check(workshop.policy).warnings if each.code == "CG217"]
    assert warning.words.startswith("the table of type postgres is not here (the database can't be reached")


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["client", "server"])
def test_a_kill_while_the_database_reads_charges_once(workshop: Workshop, where: str) -> None:
    contract = clinic(workshop, "postgres")
    at = schema(contract)
    postgres_server().execute(
        f"ALTER TABLE {at}.patients RENAME TO real",
        f"CREATE VIEW {at}.patients AS SELECT r.* FROM {at}.real AS r, (SELECT pg_sleep(60)) AS s",
    )
    workshop.edit(workshop.contract, "  - name: patients\n", "  - name: patients\n    physicalType: view\n")
    call = "from crowdgate_flows.command import main; main()"
    run = [sys.executable, "-c", call, "release", str(workshop.policy), "--as-of", "2030-01-01"]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=workshop.root) as client:
        try:
            _wait_until_reading(at, lambda: client.poll() is None)
        except AssertionError:
            client.kill()
            raise
        if where == "client":
            client.kill()
        postgres_server().end_sessions()
        said = client.communicate()[0].decode()
    assert client.returncode == (-signal.SIGKILL if where == "client" else 4)
    assert MARK not in said
    assert PASSWORD not in said
    postgres_server().execute(f"DROP VIEW {at}.patients", f"ALTER TABLE {at}.real RENAME TO patients")
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 5
    assert not workshop.release_dir("2030-01-01").exists()


def test_views_and_tables_of_groups_are_warned_about(workshop: Workshop) -> None:
    clinic(workshop, "sqlite")
    assert "CG227" not in {each.code for each in check(workshop.policy).warnings}
    with closing(sqlite3.connect(workshop.contract.parent / "patients.sqlite")) as connection:
        connection.execute("CREATE VIEW seen AS SELECT * FROM patients")
        connection.execute("CREATE TABLE homes (id, ward)")
    join = "{table: homes, key: id, by: note, columns: {region: ward}, of: groups}"
    place = "    physicalName: seen\n    physicalType: view\n"
    facts = f"{place}    customProperties:\n      - {{property: joins, value: [{join}]}}\n"
    workshop.edit(workshop.contract, "  - name: patients\n    customProperties:\n", f"  - name: patients\n{facts}")
    viewed, groups = [each for each in check(workshop.policy).warnings if each.code == "CG227"]
    assert "seen: the query of a view" in str(viewed)
    assert "homes: the contract attests" in str(groups)


def test_duckdb_reads_parquet_and_nothing_else(workshop: Workshop) -> None:
    duckdb = pytest.importorskip("duckdb")
    workshop.write(good_rows(60))
    server = "{server: x, type: duckdb, database: patients.parquet, schema: main}"
    workshop.edit(workshop.contract, "{server: local, type: local, path: patients.parquet, format: parquet}", server)
    contract = read_contract(workshop.contract, RULES)
    assert count(contract) == 60
    (part,) = open_source(contract, ("age",)).parts
    assert isinstance(part, DatabasePart)
    (workshop.root / "other.csv").write_text("a\n1\n", encoding="utf-8")
    for refused in ("INSTALL httpfs", "LOAD httpfs", f"FROM read_csv('{workshop.root}/other.csv')",
                    "SET enable_external_access = true"):  # fmt: skip
        with part.dialect.session(part.settings) as session, pytest.raises(duckdb.Error):
            list(session.rows(refused))


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_check_says_what_the_contract_states_and_the_database_lacks(workshop: Workshop, engine: str) -> None:
    clinic(workshop, engine)
    workshop.edit(workshop.contract, "      - name: age\n", "      - name: age\n        physicalName: years\n")
    with pytest.raises(ConfigurationError, match="patients has no column 'age'"):
        check_table(read_contract(workshop.contract, RULES))
    workshop.edit(workshop.contract, "  - name: patients\n", "  - name: patients\n    physicalName: people\n")
    with pytest.raises(ConfigurationError, match="the database has no table 'people'"):
        check_table(read_contract(workshop.contract, RULES))


def test_invalid_utf8_and_nul_are_faulty_cells(workshop: Workshop) -> None:
    contract = clinic(workshop, "sqlite")
    with closing(sqlite3.connect(workshop.contract.parent / "patients.sqlite")) as connection:
        connection.execute("UPDATE patients SET ward = CAST(x'6e6f727468ff' AS TEXT) WHERE ward = 'north'")
        connection.execute("UPDATE patients SET ward = 'south' || char(0) || 'x' WHERE ward = 'south'")
        connection.commit()
    task = CountingTask(contract, ("ward",), {})
    facts = count_table(open_source(contract, ("ward",)), task, serial()).facts
    assert facts.reasons["ward", Reason.UNREADABLE] == 20
    assert facts.invalid["ward"] == 40
