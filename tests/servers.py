"""Servers for tests, PostgreSQL and S3, started once a test run and stopped when it ends.

A server belongs to the process that started the run, the parent of all workers: a small program watches it, and stops
the server when it is gone, also after a kill. Where the server's programs are missing, tests skip with the reason.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

PROGRAMS = "/usr/lib/postgresql"
"""The folder in which Debian keeps the programs of each version of PostgreSQL."""
NO_POSTGRESQL = "PostgreSQL is not installed: apt-get install postgresql"
PASSWORD = "ZZSECRETZZ"
"""The password of the users `owner` and `guest` of PostgreSQL; must never be seen."""
PATIENCE = 60.0
"""Seconds that a server may take to start."""
_WATCH = """
import os, shutil, signal, subprocess, sys, time
owner, server = int(sys.argv[1]), subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL)
while os.path.exists(f"/proc/{owner}") and server.poll() is None:
    time.sleep(0.2)
server.send_signal(signal.SIGINT)
server.wait()
shutil.rmtree(sys.argv[2], ignore_errors=True)
"""


def run_owner() -> int:
    """Return the process id of the test run: of pytest, or of the parent that started this worker."""
    return os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


def started_once(name: str, start: Callable[[Path], None]) -> Path:
    """Return the folder of a server of this test run; the first caller starts it there, others wait for it."""
    folder = Path(tempfile.gettempdir()) / f"crowdgate-{name}-{run_owner()}"
    folder.mkdir(mode=0o755, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "started").exists():
            start(folder)
            (folder / "started").touch()
    return folder


def watched(command: list[str], folder: Path) -> None:
    """Start a server that is stopped, and its folder removed, when the test run has ended."""
    with open(folder / "log", "w") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", _WATCH, str(run_owner()), str(folder), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    process.returncode = 0  # it outlives this process, which never waits for it


def wait_for(ready: Callable[[], bool], log: Path) -> None:
    """Wait until a server answers."""
    until = time.monotonic() + PATIENCE
    while not ready():
        if time.monotonic() > until:
            raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")
        time.sleep(0.05)


def postgresql_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, of the newest version; None if it is not installed."""
    versions = sorted(Path(PROGRAMS).glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    found = str(versions[-1]) if versions else shutil.which("pg_isready")
    return None if found is None else Path(found).parent


def _as_user(command: list[str]) -> list[str]:
    """Return the command as it runs without the rights of root, which PostgreSQL refuses."""
    return command if os.geteuid() else ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]


def _start_postgresql(folder: Path) -> None:
    programs = postgresql_programs()
    assert programs is not None
    data = folder / "data"
    data.mkdir(mode=0o700)
    if not os.geteuid():
        for each in (folder, data):
            shutil.chown(each, "nobody", "nogroup")
    made = [f"{programs}/initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run(_as_user([*made, "--locale=C.UTF-8"]), check=True, capture_output=True, cwd=folder)
    rules = data / "pg_hba.conf"
    rules.write_text(f"local all owner,guest scram-sha-256\n{rules.read_text()}")
    server = [f"{programs}/postgres", "-D", str(data), "-k", str(folder), "-c", "listen_addresses="]
    sizes = ["-c", "shared_buffers=16MB", "-c", "max_connections=60", "-c", "max_wal_size=64MB"]
    watched(_as_user([*server, *sizes]), folder)
    ready = [f"{programs}/pg_isready", "-q", "-h", str(folder)]
    wait_for(lambda: subprocess.run(ready, check=False).returncode == 0, folder / "log")
    roles = "; ".join(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'" for name in ("owner", "guest"))
    psql = [f"{programs}/psql", "-q", "-h", str(folder), "-U", "postgres", "-c", roles]
    subprocess.run(psql, check=True, capture_output=True)


class PostgresqlServer:
    """A PostgreSQL server of this test run, reached through a socket in `folder`; its superuser is `postgres`.

    All users but `owner` and `guest` log in without a password.
    """

    def __init__(self) -> None:
        if postgresql_programs() is None or (not os.geteuid() and shutil.which("setpriv") is None):
            pytest.skip(NO_POSTGRESQL)
        pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'crowdgate[postgres]'")
        self.folder = started_once("postgresql", _start_postgresql)

    def url(self, database: str, user: str = "postgres") -> str:
        """Return the URL of a database for a user."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """Make an empty database, and return its name."""
        name = f"t{uuid4().hex[:16]}"
        self.execute("postgres", f'CREATE DATABASE "{name}"')
        return name

    def execute(self, database: str, statement: str, user: str = "postgres") -> list[tuple[object, ...]]:
        """Execute one statement as a user, and return its rows."""
        import psycopg

        with psycopg.connect(self.url(database, user), autocommit=True) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []

    def program(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of PostgreSQL, such as psql or pg_dump, on this server."""
        programs, environment = postgresql_programs(), {**os.environ, "PGHOST": str(self.folder)}
        command = [f"{programs}/{name}", *arguments]
        return subprocess.run(command, env=environment, check=False, capture_output=True, text=True)


def _start_s3(folder: Path) -> None:
    watched([sys.executable, str(Path(__file__).with_name("s3_server.py")), str(folder / "port")], folder)
    wait_for((folder / "port").exists, folder / "log")


class S3Server:
    """The S3 server of this test run; CROWDGATE_TEST_S3 names another one, such as moto's, by its URL."""

    def __init__(self) -> None:
        pytest.importorskip("obstore", reason="obstore is not installed: pip install 'crowdgate[s3]'")
        named = os.environ.get("CROWDGATE_TEST_S3")
        self.url = named or f"http://127.0.0.1:{(started_once('s3', _start_s3) / 'port').read_text()}"

    def variables(self) -> dict[str, str]:
        """Return the environment variables by which a client finds the server."""
        keys = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "secret-of-tester"}
        return {**keys, "AWS_ENDPOINT_URL": self.url, "AWS_REGION": "us-east-1"}

    def new_bucket(self, name: str = "bucket") -> str:
        """Return the name of an empty bucket."""
        bucket = f"{name}-{uuid4().hex[:16]}"
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/{bucket}", method="PUT"))
        return bucket
