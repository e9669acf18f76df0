"""A power cut at any moment of a release to an object store: the store and what this machine kept agree again.

A request to the store is done when it returns; the disk of this machine keeps what `tracing.py` says. Each distinct
pair of both is restored, and the release is requested again.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from crowdgate.ledger import reservations
from crowdgate.ledger.ledger import State
from crowdgate.publish.latest_pointer import pointer_bytes
from crowdgate.publish.object_store import ObjectAddress, StoredObject
from crowdgate.releases import object_destination
from tests.releases.test_power_cuts import CHARGED, ID, after, ask, book
from tests.releases.tracing import Files, Tracer
from tests.workshop import Workshop, good_rows, make_workshop

URL = "s3://bucket/portal"
Objects = dict[str, bytes]


class MemoryStore:
    """An object store in memory; `around` is called before and after each request."""

    def __init__(self, objects: Objects, around: Callable[[], None] = lambda: None) -> None:
        self.objects, self.around, self.address = objects, around, ObjectAddress("bucket", "portal")

    def put_new(self, name: str, data: bytes) -> bool:
        if name in self.objects:
            return False
        self.requested(lambda: self.objects.update({name: data}))
        return True

    def replace(self, name: str, data: bytes, tag: str | None) -> bool:
        there = self.objects.get(name)
        if tag != (None if there is None else digest(there)):
            return False
        self.requested(lambda: self.objects.update({name: data}))
        return True

    def read(self, name: str, most: int) -> StoredObject | None:
        there = self.objects.get(name)
        assert there is None or len(there) <= most
        return None if there is None else StoredObject(there, digest(there))

    def remove(self, name: str) -> None:
        self.requested(lambda: self.objects.pop(name, None))

    def names(self, below: str) -> list[str]:
        return sorted(name for name in self.objects if name.startswith(f"{below}/"))

    def requested(self, change: Callable[[], Any]) -> None:
        """Change the objects between two moments."""
        self.around()
        change()
        self.around()


class TracerOfBoth(Tracer):
    """Traces the folders of a working copy and the objects of a store."""

    def __init__(self, root: Path, objects: Objects) -> None:
        self.objects, self.remotes = objects, list[Objects]()
        super().__init__(root, ("outbox", "ledger"))

    def _moment(self, step: str) -> None:
        super()._moment(step)
        self.remotes.append(dict(self.objects))

    def note(self) -> None:
        """Add a moment before or after a request."""
        self._moment("request")


@dataclass(frozen=True)
class Traced:
    """A working copy before the release, all states that a cut may leave, and the objects at its end."""

    before: Workshop
    cuts: list[tuple[Files, Objects]]
    published: Objects


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def traced(root: Path, use: Callable[[MemoryStore], None]) -> Traced:
    """Run and trace a release."""
    workshop = make_workshop(root / "traced")
    workshop.edit(workshop.policy, CHARGED, "")
    workshop.edit(workshop.policy, "to: releases", f"to: '{URL}'")
    workshop.write(good_rows(30))
    objects = Objects()
    tracer = TracerOfBoth(workshop.root, objects)
    use(MemoryStore(objects, tracer.note))
    with tracer.watching():
        assert ask(workshop) == "published"
    random, cuts = Random(14), dict[object, tuple[Files, Objects]]()
    for (earlier, before), (moment, remote) in pairwise([*zip(tracer.moments, tracer.remotes, strict=True)]):
        same = replace(earlier, step=moment.step) == moment and before == remote
        for cut in () if same else moment.cuts(random):
            cuts.setdefault((frozenset(cut.items()), frozenset(remote.items())), (cut, remote))
    return Traced(workshop, list(cuts.values()), objects)


def release_in(objects: Objects) -> Objects:
    """Return what a reader sees of the release: nothing without its manifest."""
    seen = {name: data for name, data in objects.items() if name.startswith(ID)}
    return seen if f"{ID}/manifest.json" in seen else {}


def problems(cut: Files, found: Traced, folder: Path, objects: Objects) -> Iterator[str]:
    """Yield the problems of a state, and of the next run on it."""
    workshop = after(cut, found.before, folder)
    entry = book(workshop)[1]
    decided = entry is not None and entry.state in (State.COMMITTED, State.PUBLISHED)
    if release_in(objects) and (not decided or release_in(objects) != release_in(found.published)):
        yield "half published, or uncharged"
    end = ask(workshop)
    ledger, entry = book(workshop)
    if decided and (end, release_in(objects)) != ("published", release_in(found.published)):
        yield f"committed, and then {end}"
    if end not in ("published", "spent") or (end == "published") != bool(release_in(objects)):
        yield f"ended as {end}"
    if entry is None or ledger.spent("clinic-patients").epsilon != 2:
        yield "charged not once"
    if end == "published":
        yield from _at_the_end(objects, workshop)


def _at_the_end(objects: Objects, workshop: Workshop) -> Iterator[str]:
    sealed, own = objects.get(f"{ID}/manifest.json", b"{}"), workshop.root / "outbox" / "bucket" / "portal" / ID
    if (own / "manifest.json").read_bytes() != sealed:
        yield "the custodian's copy is of another release"
    for name, stated in json.loads(sealed).get("files", {}).items():
        if digest(objects.get(f"{ID}/files/{stated['sha256']}/{name}", b"")) != stated["sha256"]:
            yield "a file is missing"
    if objects.get("clinic/latest.json") != pointer_bytes(ID, digest(sealed)):
        yield "no pointer"
    if any(name.startswith(".crowdgate-staging") for name in objects):
        yield "a claim is left"


@pytest.mark.thorough
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_after_a_power_cut_at_any_moment_the_store_and_the_ledger_agree_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    """About 90 distinct states exist; without soak those are tried in which more than a claim was put."""

    def use(store: MemoryStore) -> None:
        monkeypatch.setattr(object_destination, "ObjectStore", lambda _: store)

    monkeypatch.setattr(reservations, "LEASE_SECONDS", -1)  # the next run comes when leases have run out
    found, counts = traced(tmp_path, use), Counter[str]()
    begun = [each for each in found.cuts if len(each[1]) > 1]
    chosen = found.cuts if whole else begun
    for cut, remote in chosen:
        objects = dict(remote)
        use(MemoryStore(objects))
        with TemporaryDirectory(dir=tmp_path) as folder:
            counts.update(problems(cut, found, Path(folder), objects))
    assert counts == {}
    assert len(found.cuts) > 70
    assert len(begun) > 5
