"""The pointer to the latest release, where several writers publish and withdraw in one store at once.

A schedule decides whose request is next, so that each way in which requests can follow each other can be tried.
"""

import hashlib
import json
import random
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import EnvironmentFault
from crowdgate.publish.object_store import ObjectStore, parse_object_url
from crowdgate.publish.objects import publish_objects, withdraw_objects
from tests.releases.test_object_destination import REQUESTS, in_process
from tests.servers import S3Server

Work = Callable[[ObjectStore], object]
OLD, NEW, OTHER = (f"clinic/1/2030-01-0{day}" for day in (1, 2, 3))

RARE = 5
"""The factor of orders for writers of which few orders leave a wrong pointer."""


class Turns:
    """A seeded order of the requests of several writers, one request at a time. A writer is drawn at random, and goes
    on with a probability that is drawn once: short turns in some orders, long ones in others.
    """

    def __init__(self, seed: int, writers: int) -> None:
        self.random, self.waiting, self.running = random.Random(seed), set[int](), writers
        self.changed, self.next, self.last = threading.Condition(), -1, -1
        self.goes_on = self.random.choice((0.0, 0.5, 0.8, 0.95))

    def _draw(self) -> None:
        if self.waiting and len(self.waiting) == self.running:
            stays = self.last in self.waiting and self.random.random() < self.goes_on
            self.next = self.last = self.last if stays else self.random.choice(sorted(self.waiting))
        self.changed.notify_all()

    def take(self, writer: int) -> None:
        """Wait until it is this writer's turn."""
        with self.changed:
            self.waiting.add(writer)
            self._draw()
            self.changed.wait_for(lambda: self.next == writer)
            self.waiting.discard(writer)
            self.next = -1

    def leave(self) -> None:
        """Note that a writer makes no more requests."""
        with self.changed:
            self.running -= 1
            self._draw()


def store_in_turns(url: str, turns: Turns, writer: int) -> ObjectStore:
    """Return a client whose every request waits for its writer's turn."""
    store = ObjectStore(parse_object_url(url))

    def waiting(original: Callable[..., Any]) -> Callable[..., Any]:
        def request(*given: Any) -> Any:
            turns.take(writer)
            return original(*given)

        return request

    for name in REQUESTS:
        setattr(store, name, waiting(getattr(store, name)))
    return store


def at_once(url: str, seed: int, works: list[Work]) -> None:
    """Let writers work at once, their requests in an order of this seed."""
    turns = Turns(seed, len(works))

    def write(writer: int, work: Work) -> None:
        try:
            work(store_in_turns(url, turns, writer))
        finally:
            turns.leave()

    threads = [threading.Thread(target=write, args=each) for each in enumerate(works)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def published(folder: Path, release_id: str) -> Work:
    """Return the publication of a release of one small file."""
    here = folder / release_id
    here.mkdir(parents=True, exist_ok=True)
    data = release_id.encode()
    (here / "data.csv").write_bytes(data)
    stated = {"data.csv": {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}}
    (here / "manifest.json").write_text(json.dumps({"files": stated}))
    return lambda store: publish_objects(store, here, release_id)


def withdrawn(folder: Path, release_id: str) -> Work:
    """Return the withdrawal of a release."""
    here = folder / "withdrawn" / release_id
    here.mkdir(parents=True, exist_ok=True)
    (here / "withdrawn.json").write_text("{}")
    return lambda store: withdraw_objects(store, here, release_id)


def late(work: Work) -> Work:
    """Return the publication of a run that another one may overtake, whose release is then withdrawn."""

    def publish(store: ObjectStore) -> None:
        with suppress(EnvironmentFault):
            work(store)

    return publish


def expect_latest(store: ObjectStore, release_id: str | None) -> None:
    """Check that the pointer names this release and its manifest, or that no release is left."""
    found = store.read("clinic/latest.json", 4096)
    assert found is not None, "the pointer is missing"
    sealed = None if release_id is None else store.read(f"{release_id}/manifest.json", 1 << 16)
    digest = None if sealed is None else hashlib.sha256(sealed.data).hexdigest()
    assert json.loads(found.data) == {"release": release_id, "manifest": digest}


def write_at_once(bucket: str, folder: Path, seeds: int) -> None:
    """Try seeded orders of each group of writers, and check the pointer that they leave."""
    own = {each: (published(folder, each), withdrawn(folder, each)) for each in (OLD, NEW, OTHER)}
    groups: list[tuple[list[str], list[Work], str | None]] = [
        ([OLD], [own[OLD][1], own[NEW][0]], NEW),
        ([OLD, NEW], [own[NEW][1], own[OLD][1]], None),
        ([OLD, NEW], [own[NEW][1], own[OLD][1], own[OTHER][0]], OTHER),
        ([OLD], [own[NEW][0], own[OTHER][0]], OTHER),
        ([OLD], [late(own[NEW][0]), lambda store: [step(store) for step in own[NEW]]], OLD),
    ]
    for number, (before, works, latest) in enumerate(groups):
        for seed in range(seeds if number < len(groups) - 1 else RARE * seeds):
            url = f"s3://{bucket}/{number}-{seed}"
            store = ObjectStore(parse_object_url(url))
            for each in before:
                own[each][0](store)
            at_once(url, seed, works)
            expect_latest(store, latest)


@pytest.mark.thorough
@pytest.mark.parametrize("seeds", [6, pytest.param(500, marks=pytest.mark.soak)])
def test_writers_at_once_leave_a_pointer_to_the_latest_release_that_is_there(
    tmp_path: Path, s3: S3Server, seeds: int
) -> None:
    assert in_process(write_at_once, s3.new_bucket(), tmp_path, seeds) == 0


def finish_late(url: str, folder: Path) -> None:
    """Publish a release whose last steps come after it was published by another run and withdrawn."""
    publish, withdraw = published(folder, NEW), withdrawn(folder, NEW)
    slow = ObjectStore(parse_object_url(url))
    original = slow.send

    def send(name: str, data: bytes, mode: Any) -> None:
        if name.endswith("manifest.json"):
            quick = ObjectStore(parse_object_url(url))
            publish(quick)
            withdraw(quick)
        original(name, data, mode)

    slow.send = send  # type: ignore[method-assign]
    with pytest.raises(EnvironmentFault, match="was withdrawn"):
        publish(slow)
    store = ObjectStore(parse_object_url(url))
    assert store.names(NEW) == [f"{NEW}/withdrawn.json"]
    expect_latest(store, None)


@pytest.mark.thorough
def test_a_run_that_is_late_brings_no_withdrawn_release_back(tmp_path: Path, s3: S3Server) -> None:
    assert in_process(finish_late, f"s3://{s3.new_bucket()}/p", tmp_path) == 0
