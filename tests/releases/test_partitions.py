"""Results do not depend on partitions, order, source or workers: the same key gives the same files."""

import pickle
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdgate.errors import EnvironmentFault
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.kind.run import Request
from crowdgate.noise import NoiseSource
from crowdgate.publish.file_names import STAGING
from crowdgate.releases import release as job
from crowdgate.sampling import SecretKey
from crowdgate.sources import csv, files, parquet, workers
from crowdgate.sources.counting import Counter, Executor, ExecutorFor, PartialCounts
from crowdgate.sources.source import Piece
from crowdgate.sources.workers import executor_of
from tests.workshop import POLICY, Row, Workshop, good_rows, make_workshop, write_csv, write_parquet

CHARGED = "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n"
TABLES = """\
apiVersion: crowdgate/v1
kind: ReleasePolicy
metadata: {name: clinic, version: 1, owner: board}
spec:
  contract: clinic
  budget: clinic-patients
  privacy: {epsilon: 2, delta: 0.01}
  mechanism:
    kind: dp_tables
    SAMPLING
    raw: true
    tables:
      - {attributes: {age: 10 years}}
      - {attributes: {age: 50 years, ward: exact}}
      - {sum: age, by: {ward: exact}}
      - {quantiles: age, level: 10 years}
  gates:
    - {measure: pso_bound, at_most: 1}
  publish: {to: releases, formats: [parquet, csv]}
"""
PERSON = ("{property: privacyUnit, value: row}", "{property: privacyUnit, value: {person: patient, rows: 2}}")
MODES = {
    "rows": (POLICY.replace(CHARGED, ""), False),
    "rows of people": (POLICY.replace(CHARGED, ""), True),
    "tables": (TABLES.replace("    SAMPLING\n", ""), False),
    "tables of people": (TABLES.replace("    SAMPLING\n", ""), True),
    "sampled tables": (TABLES.replace("SAMPLING", "sampling: {beta: 0.5}"), False),
}
ROWS = [{**row, "patient": f"p{i % 230}"} for i, row in enumerate(good_rows(600))]
ROWS += [{"patient": None, "age": 1, "ward": "north", "note": ""}, {**ROWS[0], "ward": "nowhere", "age": "x"}]


def one_file(folder: Path) -> Path:
    write_parquet(folder / "all.parquet", ROWS)
    return folder / "all.parquet"


def csv_file(folder: Path) -> Path:
    write_csv(folder / "all.csv", ROWS)
    return folder / "all.csv"


def shuffled() -> list[Row]:
    rows = list(ROWS)
    random.Random(1).shuffle(rows)
    return rows


def ten_parts(folder: Path) -> Path:
    for i in range(10):
        write_parquet(folder / f"part-{i}.parquet", ROWS[i::10])
    return folder


def a_shuffled_folder(folder: Path) -> Path:
    for i in range(7):
        write_parquet(folder / f"part-{9 - i}.parquet", shuffled()[i::7])
    return folder


def shuffled_csv_file(folder: Path) -> Path:
    write_csv(folder / "all.csv", shuffled())
    return folder / "all.csv"


def backwards(_: object = None) -> Executor:
    """Return an executor that sends every part and result as bytes, in reverse order."""

    def run(counter: Counter, parts: Sequence[Piece]) -> Iterator[PartialCounts]:
        for part in reversed(parts):
            there: Any = pickle.loads(pickle.dumps((counter, part)))
            yield pickle.loads(pickle.dumps(there[0]([there[1]], None)))

    return run


def small_parts(patch: pytest.MonkeyPatch) -> None:
    for module, limit in ((files, "PART_ROWS"), (parquet, "PART_ROWS"), (files, "PART_BYTES"), (csv, "PART_BYTES")):
        patch.setattr(module, limit, 50)


@contextmanager
def backwards_executor(*_: object) -> Iterator[ExecutorFor]:
    yield backwards


def other_workers(patch: pytest.MonkeyPatch) -> None:
    small_parts(patch)
    patch.setattr(job, "executor_for", backwards_executor)


def two_workers(patch: pytest.MonkeyPatch) -> None:
    small_parts(patch)
    patch.setattr(job, "executor_for", lambda *_: executor_of(2))


DYING = """\
import os, random
from crowdgate.sources import worker
answer, draw = worker._answer, random.Random(os.getpid())
worker._answer = lambda *asked: os.kill(os.getpid(), 9) if draw.random() < 0.5 else answer(*asked)
worker.main()
"""
"""The source of a worker that is killed at every second group, by chance."""


def three_dying_workers(patch: pytest.MonkeyPatch) -> None:
    small_parts(patch)
    patch.setattr(workers, "_COMMAND", (sys.executable, "-c", DYING))
    patch.setattr(job, "executor_for", lambda *_: executor_of(3))


def recorded(values: Any, sensitivity: int, _: object) -> Any:
    """Return noise that is the same in every run."""
    return values + sensitivity * (np.arange(values.size).reshape(values.shape) * 7 % 11 - 5)


def staged(workshop: Workshop, slot: str, path: Path | None = None, cluster: str | None = None) -> dict[str, bytes]:
    with pytest.raises(EnvironmentFault, match="injected"):
        job.release(
            Request(workshop.policy, slot, input=path, cluster=cluster),
            lambda: SecretKey(bytes(range(32)), injected=True),
        )
    (folder,) = (workshop.root / "releases" / STAGING).glob(f"*~clinic~1~{slot}")
    return {
        each.name: each.read_bytes() for each in folder.iterdir() if each.name not in ("README.md", "manifest.json")
    }


WAYS: list[tuple[Callable[[Path], Path], Callable[[pytest.MonkeyPatch], None]]] = [
    (make, how)
    for make in (one_file, csv_file, shuffled_csv_file, ten_parts, a_shuffled_folder)
    for how in ((lambda _: None), small_parts, other_workers)
]
WAYS += [(a_shuffled_folder, two_workers), (ten_parts, three_dying_workers)]


@pytest.mark.thorough
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("mode", MODES)
def test_the_same_key_gives_the_same_files_however_the_rows_are_read(
    mode: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mode is tried with one whole file and a quarter of the other ways, all of them with all under `soak`."""
    monkeypatch.setattr(
        job, "KeyedRandomness", lambda key: KeyedRandomness(key, vectors=NoiseSource(recorded, recorded))
    )
    workshop = make_workshop(tmp_path / "w")
    policy, person = MODES[mode]
    workshop.policy.write_text(policy, encoding="utf-8")
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 600, delta: 0.9")
    if person:
        workshop.edit(workshop.contract, *PERSON)
        workshop.edit(workshop.budget, "unit: row", 'unit: "person:patient"')
    found = []
    for number, (make, how) in enumerate([WAYS[0], *WAYS[1 + list(MODES).index(mode) % every :: every]]):
        (folder := tmp_path / str(number)).mkdir()
        with pytest.MonkeyPatch.context() as patch:
            how(patch)
            found.append(staged(workshop, f"2030-01-{number + 1:02}", make(folder)))
    assert all(each == found[0] for each in found)
    assert len(found[0]["data.csv"] if "data.csv" in found[0] else found[0]["tables.csv"]) > 100
