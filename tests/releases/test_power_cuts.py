"""A power cut at any moment of a release: no state is half published, drawn twice, uncharged or lost.

One release of a tiny table is traced (`tracing.py` describes the states after a cut, and the assumptions about SQLite).
Each distinct state is restored into its own working copy, where the release is requested again.
"""

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from crowdgate.errors import LedgerRefused
from crowdgate.kind.run import Request
from crowdgate.ledger import reservations
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import Entry, Ledger, State, open_ledger
from crowdgate.publish import publisher
from crowdgate.publish.file_names import STAGING
from crowdgate.releases import release as job
from tests.releases.tracing import ATOMIC, Files, Tracer, lay
from tests.workshop import Workshop, good_rows, make_workshop

SLOT = "2030-01-01"
ID = f"clinic/1/{SLOT}"
CHARGED = "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n"
MOST_WHOLE = 8
"""The number of states that repeat the whole release, which takes longest; all other states are tried."""


@dataclass(frozen=True)
class Traced:
    """A working copy before the release, all states that a cut may leave, and the published bytes."""

    before: Workshop
    cuts: list[Files]
    published: dict[str, bytes]


def traced(root: Path) -> Traced:
    """Run and trace a release."""
    workshop = make_workshop(root / "traced")
    workshop.edit(workshop.policy, CHARGED, "")
    workshop.write(good_rows(30))
    tracer = Tracer(workshop.root, ("releases", "ledger"))
    with tracer.watching():
        ask(workshop)
    random, cuts = Random(14), dict[object, Files]()
    for moment in tracer.moments:
        for cut in moment.cuts(random):
            cuts.setdefault(frozenset(cut.items()), cut)
    return Traced(workshop, list(cuts.values()), files_of(workshop))


def ask(workshop: Workshop) -> str:
    """Return the end of the release: published, or the code of the ledger's refusal."""
    try:
        return job.release(Request(workshop.policy, SLOT), draw_key).outcome
    except LedgerRefused as refused:
        return refused.code


def files_of(workshop: Workshop) -> dict[str, bytes]:
    folder = workshop.release_dir(SLOT)
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def book(workshop: Workshop) -> tuple[Ledger, Entry | None]:
    ledger = open_ledger(workshop.ledger, None)
    return ledger, ledger.entry(ID)


def after(cut: Files, before: Workshop, folder: Path) -> Workshop:
    """Return a working copy in the state after the cut."""
    for name in ("policies", "data_contracts"):
        shutil.copytree(before.root / name, folder / name, copy_function=os.link)
    shutil.copy(before.root / "crowdgate.toml", folder)
    lay(cut, folder)
    for path in (folder / "ledger").glob("ledger.db*"):
        path.chmod(0o600)  # modes are not traced
    return Workshop(folder)


def problems(cut: Files, found: Traced, folder: Path) -> Iterator[str]:
    """Yield the problems of a state, and of the next run on it."""
    workshop = after(cut, found.before, folder)
    ledger, entry = book(workshop)
    decided = entry is not None and entry.state in (State.COMMITTED, State.PUBLISHED)
    if files_of(workshop) and (not decided or files_of(workshop) != found.published):
        yield "half published"
    if entry is not None and entry.private_commitment is not None:
        kept = [path.read_bytes() for path in (folder / "ledger" / "private").glob("*.json")]
        if entry.private_commitment not in [hashlib.sha256(data).hexdigest() for data in kept]:
            yield "private record lost"
    end, files = ask(workshop), files_of(workshop)
    if decided and (end, files) != ("published", found.published):
        yield f"committed, and then {end}" if files in ({}, found.published) else "double"
    if (entry is None or entry.lease) and end != "published":
        yield f"nothing read, and then {end}"
    if end not in ("published", "spent") or (end == "published") != bool(files):
        yield f"ended as {end}"
    yield from _books(workshop, ledger, end, files)


def _books(workshop: Workshop, ledger: Ledger, end: str, files: dict[str, bytes]) -> Iterator[str]:
    spent, entry = ledger.spent("clinic-patients").epsilon, book(workshop)[1]
    if spent != 2 or entry is None:
        yield f"charged {spent}"
    listed = os.listdir(workshop.root / "releases" / STAGING) if end == "published" else []
    staged = sorted(name for name in listed if not name.endswith(".head"))
    if staged:
        yield f"left behind: {staged}"
    digest = hashlib.sha256(files["manifest.json"]).hexdigest() if files else None
    if files and (entry is None or entry.manifest_digest != digest or entry.state is not State.PUBLISHED):
        yield "uncharged, or published other than the ledger says"
    if files and not publisher.is_complete(workshop.release_dir(SLOT), digest or ""):
        yield "half published in the end"


def wrong(found: Traced, root: Path) -> tuple[int, dict[str, int]]:
    """Return the number of tried states, and the problems with their frequencies."""
    charged = {
        digest: _charged(cut, found, root) for digest, cut in {_database(cut): cut for cut in found.cuts}.items()
    }
    begun = [cut for cut in found.cuts if charged[_database(cut)]]
    whole = [cut for cut in found.cuts if not charged[_database(cut)]]
    chosen, counts = begun + Random(14).sample(whole, min(MOST_WHOLE, len(whole))), Counter[str]()
    for cut in chosen:
        with TemporaryDirectory(dir=root) as folder:
            counts.update(problems(cut, found, Path(folder)))
    return len(chosen), dict(counts)


def _database(cut: Files) -> bytes:
    return repr(sorted((name, data) for name, data in cut.items() if ATOMIC in name)).encode()


def _charged(cut: Files, found: Traced, root: Path) -> bool:
    with TemporaryDirectory(dir=root) as folder:
        return book(after(cut, found.before, Path(folder)))[1] is not None


@pytest.mark.thorough
def test_after_a_power_cut_at_any_moment_nothing_is_half_double_uncharged_or_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """About 250 distinct states exist and 147 are tried: all that are charged, and MOST_WHOLE of the others."""
    monkeypatch.setattr(reservations, "LEASE_SECONDS", -1)  # the next run comes when leases have run out
    tried, counts = wrong(traced(tmp_path), tmp_path)
    assert counts == {}
    assert tried > 100
