"""Flows that are killed, or stopped as cancelled ones are, at any of their steps; by hand (`soak`)."""

import os
import signal
import subprocess
import sys
from itertools import product

import pytest

from tests.flows.server import Server
from tests.releases.test_kills import SLOT, ends_well
from tests.workshop import Workshop

SCRIPT = """
import os, signal, sys
from crowdgate.releases import release as job
from crowdgate.ledger.ledger import Ledger
from crowdgate.publish import publisher
from crowdgate_flows.command import main
policy, slot, holder, name, when, number = sys.argv[1:]
place = {"ledger": Ledger, "job": job, "publisher": publisher}[holder]
original, signalled = getattr(place, name), []
def stop():
    if not signalled:
        signalled.append(True)
        os.kill(os.getpid(), int(number))
def stopped(*args, **kwargs):
    if when == "before":
        stop()
    made = original(*args, **kwargs)
    stop()
    return made
setattr(place, name, stopped)
sys.argv = ["crowdgate", "release", policy, "--as-of", slot, "--prefect"]
main()
"""
POINTS = [
    ("ledger", "reserve"), ("ledger", "begin_reading"), ("job", "count_table"), ("job", "protect"),
    ("publisher", "stage"),
    ("ledger", "commit"), ("publisher", "publish"), ("ledger", "published"),
]  # fmt: skip
SIGNALS = {"killed": signal.SIGKILL, "cancelled": signal.SIGTERM}


@pytest.mark.soak
@pytest.mark.parametrize(("point", "when", "how"), list(product(POINTS, ("before", "after"), SIGNALS)))
def test_a_flow_that_is_stopped_ends_well(
    workshop: Workshop, server: Server, monkeypatch: pytest.MonkeyPatch, point: tuple[str, str], when: str, how: str
) -> None:
    environment = {**os.environ, "PREFECT_API_URL": server.url, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = (str(workshop.policy), SLOT, *point, when, str(int(SIGNALS[how])))
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], env=environment, capture_output=True, check=False
    )
    assert ended.returncode != 0 or point == ("ledger", "published")
    ends_well(workshop, monkeypatch)
