"""A release on a machine without any network: it needs none, and requests none."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from crowdgate.ledger.ledger import open_ledger
from tests.workshop import Workshop

pytestmark = pytest.mark.thorough

UNSHARE = (["unshare", "--net"], ["unshare", "--user", "--map-root-user", "--net"])
SLOT = "2030-01-01"
COMMAND = """
import socket, sys
from crowdgate_flows.command import main

def told(event, given):
    if event.startswith(("socket.connect", "socket.get", "socket.send")) and event != "socket.gethostname":
        print("ASKED", event, given[1:], file=sys.stderr)

sys.addaudithook(told)
main()
"""
LOOPBACK = """
import fcntl, socket, struct
UP, SET_FLAGS = 1, 0x8914
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
"""
REACHES = """
import socket
try:
    socket.create_connection(("192.0.2.1", 9), timeout=60)
except OSError as error:
    print(error.errno)
"""


@cache
def _alone() -> tuple[list[str] | None, str]:
    """Return the command that starts a program in its own network namespace, or why the system refuses."""
    said = ""
    for command in UNSHARE:
        try:
            tried = subprocess.run([*command, "true"], check=False, capture_output=True, text=True)
        except OSError as error:
            return None, str(error)
        if tried.returncode == 0:
            return command, ""
        said = tried.stderr.strip()
    return None, said


def alone(script: str, *arguments: object, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a Python script in an empty network namespace, without even loopback."""
    command, why = _alone()
    if command is None:
        pytest.skip(f"the system makes no network namespace: {why}")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings}
    words = [*command, sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(words, env=environment, check=False, capture_output=True, text=True)


def published(workshop: Workshop) -> bool:
    manifest = workshop.release_dir(SLOT) / "manifest.json"
    states = [str(entry.state) for entry in open_ledger(workshop.ledger, None).entries()]
    return manifest.is_file() and states == ["published"]


def test_where_a_program_is_alone_nothing_can_be_reached() -> None:
    """Error 101: the network is unreachable."""
    assert alone(REACHES).stdout == "101\n"


def test_the_command_releases_without_a_network_and_asks_for_none(workshop: Workshop) -> None:
    ended = alone(COMMAND, "release", workshop.policy, "--as-of", SLOT)
    assert (ended.returncode, "ASKED" in ended.stderr) == (0, False), ended.stderr
    assert published(workshop)


@pytest.mark.soak
def test_the_flow_releases_with_a_server_of_its_own_and_no_other(workshop: Workshop, tmp_path: Path) -> None:
    """Prefect's server is reached by loopback, the only interface."""
    settings = {"PREFECT_HOME": str(tmp_path / "prefect"), "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "true"}
    script = LOOPBACK + COMMAND.replace("sys.addaudithook(told)", "")
    ended = alone(script, "release", workshop.policy, "--as-of", SLOT, "--prefect", **settings)
    assert ended.returncode == 0, ended.stderr
    assert published(workshop)
