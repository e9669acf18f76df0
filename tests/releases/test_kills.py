"""A release killed at any call of many functions, and of the system: then run again, and once more after a minute.

By hand (`soak`): every named point before and after the call, and the first calls of the system's functions one by one.
At any moment at most one set of bytes is published, whole, for one charge. A run that began to read isn't repeated.
"""

from itertools import count, product
from pathlib import Path

import pytest

from crowdgate.errors import CrowdgateError
from crowdgate.kind.run import Request, Result
from crowdgate.ledger import reservations
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import Entry, State, open_ledger
from crowdgate.publish.file_names import STAGING
from crowdgate.releases import release as job
from crowdgate.verification.release import verify
from tests.releases.killing import run_until
from tests.workshop import Workshop, make_workshop

SLOT = "2030-01-01"
ID = f"clinic/1/{SLOT}"
NAMED = {
    "ledger": ("attest", "check", "entry", "reserve", "begin_reading", "commit", "published"),
    "job": (
        "plan_release", "refuse_unanchored", "probe", "open_source", "claim_destination", "judge_static", "count_table",
        "count", "protect", "judge", "write_private", "remove_claim", "write_signed_catalogue",
    ),
    "publisher": ("sweep", "stage", "publish"),
}  # fmt: skip
SYSTEM = ("fsync", "rename", "replace", "link", "unlink", "mkdir", "open", "chmod")
POINTS = [(holder, name) for holder, names in NAMED.items() for name in names] + [("os", name) for name in SYSTEM]
CALLS = 8
"""The greatest number of calls of a system function that are tried: a release makes fewer of most."""


def run(workshop: Workshop) -> Result | CrowdgateError:
    try:
        return job.release(Request(workshop.policy, SLOT), draw_key)
    except CrowdgateError as refused:
        return refused


def charged(workshop: Workshop) -> Entry | None:
    return open_ledger(workshop.ledger, None).entry(ID)


def check(workshop: Workshop) -> None:
    """Check the invariants at any moment: no partial release, at most one charge, and an intact ledger."""
    ledger = open_ledger(workshop.ledger, None)
    ledger.verify()
    entry, spent = ledger.entry(ID), ledger.spent("clinic-patients").epsilon
    assert spent == (0 if entry is None else 2)
    there = workshop.release_dir(SLOT)
    if there.exists():
        assert entry is not None
        assert entry.state in (State.COMMITTED, State.PUBLISHED)
        verify(there, workshop.ledger)
    others = [path for path in (workshop.root / "releases").rglob("*") if path.is_file()]
    assert all(there in path.parents or STAGING in path.parts or path.name == "file" for path in others)


def ends_well(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the next run publishes, or reports the release as spent; or waits for a lease, and then does so."""
    check(workshop)
    before = charged(workshop)
    again = run(workshop)
    check(workshop)
    if isinstance(again, CrowdgateError) and before is not None and before.lease:
        assert again.code == "held"
        with monkeypatch.context() as patch:
            patch.setattr(reservations, "LEASE_SECONDS", -1)
            again = run(workshop)
        check(workshop)
    if before is not None and before.reading and before.state is State.RESERVED:
        assert isinstance(again, CrowdgateError)
        assert again.code == "spent"
    else:
        assert isinstance(again, Result)
        assert again.path is not None


@pytest.mark.soak
@pytest.mark.parametrize(("point", "when"), list(product(POINTS, ("before", "after"))))
def test_a_run_that_is_killed_at_any_call_ends_well(
    point: tuple[str, str], when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for nth in count(1):
        workshop = make_workshop(tmp_path / str(nth))
        if not run_until(workshop.policy, *point, when, nth, SLOT):
            break
        ends_well(workshop, monkeypatch)
        print("kill", *point, when, nth)
        if nth == (CALLS if point[0] == "os" else 2):
            break
