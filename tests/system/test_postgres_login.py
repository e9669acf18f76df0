"""A server of PostgreSQL that a file names learns no password, whatever it asks for."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from crowdgate.errors import EnvironmentFault
from crowdgate.ledger.ledger import open_ledger
from crowdgate.sources.sql.postgres import Postgres
from tests.servers import PASSWORD

CLEARTEXT, MD5 = struct.pack("!ii", 8, 3), struct.pack("!ii4s", 12, 5, b"salt")
"""Requests of a password in clear, and of one hashed with a salt that the server chooses."""
_SSL, _GSS = 80877103, 80877104


@dataclass
class CuriousServer:
    """A server that asks each client for its password, and keeps what it gets."""

    asked: bytes
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    received: list[bytes] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def stop(self) -> None:
        """Answer the client that is there, and end."""
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()

    def serve(self) -> None:
        """Answer one client after another until the listener is closed."""
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client:
                client.settimeout(5)
                self.ask(client)

    def ask(self, client: socket.socket) -> None:
        """Refuse encryption, then ask for the password."""
        while True:
            length, code = struct.unpack("!ii", client.recv(8, socket.MSG_WAITALL))
            if code in (_SSL, _GSS):
                client.sendall(b"N")
                continue
            client.recv(length - 8, socket.MSG_WAITALL)
            client.sendall(b"R" + self.asked)
            self.received.append(client.recv(4096))
            return


@pytest.fixture(params=[CLEARTEXT, MD5], ids=["in clear", "with MD5"])
def curious(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[CuriousServer]:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    server = CuriousServer(request.param)
    yield server
    server.stop()


def refused_password(server: CuriousServer, error: Exception) -> None:
    """Check that the server asked, and got nothing but the end of the connection."""
    server.stop()
    assert server.received
    assert set(server.received) == {b""}
    assert PASSWORD not in str(error)


@pytest.mark.parametrize("option", ["", "?sslmode=disable"])
def test_a_ledger_of_somebody_else_gets_no_password(curious: CuriousServer, option: str) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'crowdgate[postgres]'")
    with pytest.raises(EnvironmentFault) as error:
        open_ledger(f"postgresql://u@127.0.0.1:{curious.port}/db{option}", None)
    refused_password(curious, error.value)


def test_a_table_of_somebody_else_gets_no_password(curious: CuriousServer) -> None:
    driver = pytest.importorskip("adbc_driver_postgresql.dbapi", reason="the extra `postgres` is not installed")
    settings = {"host": "127.0.0.1", "port": str(curious.port), "database": "db", "schema": "s", "timeout": "5"}
    with pytest.raises(driver.Error) as error, Postgres().session(settings):
        pass
    refused_password(curious, error.value)
