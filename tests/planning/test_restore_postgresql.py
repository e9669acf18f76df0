"""Restorations of a ledger in PostgreSQL: from any history of cuts, kills and older copies, and from pg_dump."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import LedgerRefused
from crowdgate.ledger.ledger import create, open_ledger
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.restore import restore
from crowdgate.settings import FILE
from tests.ledger.books import contents_of, cut_after, edit, put_contents
from tests.planning.test_restore_machine import Histories, run
from tests.planning.test_restore_series import SeriesHistories
from tests.servers import PostgresqlServer
from tests.workshop import Workshop, crowdgate


def move_to(workshop: Workshop, url: str) -> None:
    """Let a working copy name a ledger in PostgreSQL."""
    (workshop.root / FILE).write_text(f'ledger = "{url}"\n')


@pytest.mark.thorough
@pytest.mark.parametrize("machine", [Histories, SeriesHistories])
@pytest.mark.parametrize(("histories", "steps"), [(3, 8), pytest.param(100, 20, marks=pytest.mark.soak)])
def test_at_least_the_truth_is_spent_after_any_history_in_postgresql(
    postgresql: PostgresqlServer, histories: int, steps: int, machine: type[Histories]
) -> None:
    url = postgresql.url(postgresql.new_database())

    class PostgresqlHistories(machine):  # type: ignore[valid-type, misc]
        """Histories of a ledger in one database, which each history empties."""

        def make_ledger(self) -> str:
            edit(url, "DROP SCHEMA IF EXISTS crowdgate CASCADE")
            move_to(self.workshop, url)
            return create(f"{url}#{self.workshop.root / 'ledger'}", "clinic")

        def backup(self) -> Any:
            return contents_of(url)

        def put(self, backup: Any) -> None:
            put_contents(url, backup)

        def cut_after(self, number: int) -> None:
            cut_after(url, number)

        def restore_from(self, backup: Any) -> None:
            """Put an older copy as pg_restore does, then run the command."""
            self.put(backup)
            restore(self.workshop.root, None, None)

    run(histories, steps, machine=PostgresqlHistories)


@pytest.mark.thorough
def test_a_nightly_copy_is_restored_and_what_it_lacks_is_booked(
    postgresql: PostgresqlServer, workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workshop.root)
    name, later = postgresql.new_database(), postgresql.new_database()
    assert crowdgate("ledger", "copy", postgresql.url(name)) == 0
    move_to(workshop, postgresql.url(name))
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    dump = postgresql.program("pg_dump", "-U", "postgres", "-Fc", "-f", str(tmp_path / "dump"), name)
    assert dump.returncode == 0, dump.stderr
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-02") == 0
    spent = ledger_at(workshop.root, None).spent("clinic-patients")
    put = postgresql.program("pg_restore", "-U", "postgres", "-d", later, str(tmp_path / "dump"))
    assert put.returncode == 0, put.stderr
    move_to(workshop, postgresql.url(later))
    assert open_ledger(postgresql.url(later), None).spent("clinic-patients").epsilon == spent.epsilon - Fraction(2)
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-03") == 5
    assert crowdgate("ledger", "restore", "copy.db") == 2
    assert crowdgate("ledger", "restore") == 0
    assert ledger_at(workshop.root, None).spent("clinic-patients") == spent
    assert crowdgate("ledger", "verify") == 0
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-03") == 0
    move_to(workshop, postgresql.url(name))  # the lost one again: it lacks what was booked
    with pytest.raises(LedgerRefused):
        ledger_at(workshop.root, None).admit()
