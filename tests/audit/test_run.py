"""Running an audit: its results depend neither on the number of processes nor on where a run was stopped."""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.audit.common.saved_progress import TrialBatch, seed_of
from crowdgate.audit.common.trials import Schedule, batches, play_games, processes, serial
from crowdgate.audit.singling_out.play import IsolationTally
from crowdgate.errors import EnvironmentFault, VerificationFailed
from tests.audit.playing import SEED, schedule
from tests.examples import examples

DIGEST = "d" * 64


WHOLE = dict(serial(schedule(), batches(schedule())))


def recalled(_: Schedule, missing: Sequence[TrialBatch]) -> Iterator[tuple[TrialBatch, IsolationTally]]:
    """Return the tallies of earlier batches."""
    return ((batch, WHOLE[batch]) for batch in missing)


def played(path: Path, executor: object = recalled) -> object:
    return play_games(schedule(), path, DIGEST, SEED, executor)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, object]:
    path = tmp_path_factory.mktemp("kept") / "run.partial"
    found = played(path)
    return path.read_bytes(), found


@settings(max_examples=examples(40), deadline=None)
@given(share=st.floats(0, 1))
def test_a_run_that_was_stopped_at_any_byte_goes_on_to_the_same_counts(
    kept: tuple[bytes, object], share: float
) -> None:
    data, found = kept
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.partial"
        path.write_bytes(data[: round(share * len(data))])
        again: list[TrialBatch] = []

        def counted(of: Schedule, missing: Sequence[TrialBatch]) -> Iterator[tuple[TrialBatch, IsolationTally]]:
            again.extend(missing)
            return recalled(of, missing)

        assert played(path, counted) == found
        whole_lines = data[: round(share * len(data))].count(b"\n")
        assert len(again) == len(WHOLE) - max(0, whole_lines - 1)
        assert path.read_bytes() == data


@pytest.mark.thorough
def test_one_and_two_processes_give_the_same_counts(tmp_path: Path) -> None:
    found = [play_games(schedule(), tmp_path / str(count), DIGEST, SEED, processes(count)) for count in (1, 2)]
    assert found[0] == found[1]
    assert found[0] == played(tmp_path / "recalled")
    assert [(each.trials, each.must) for each in found[0]] == [(120, "judged"), (60, "be caught")]
    assert found[0][0].kept == 120 * 12


@pytest.mark.parametrize(("digest", "seed"), [("e" * 64, SEED), (DIGEST, "6")])
def test_what_was_played_of_another_audit_or_with_another_seed_is_refused(
    kept: tuple[bytes, object], tmp_path: Path, digest: str, seed: str
) -> None:
    path = tmp_path / "run.partial"
    path.write_bytes(kept[0])
    with pytest.raises(VerificationFailed, match="belongs to another audit or seed"):
        play_games(schedule(), path, digest, seed, recalled)


@pytest.mark.parametrize("old", [b'"trials":50', b'"at":1', b'"light"', b'"game":0'])
def test_what_is_no_batch_of_the_audit_is_refused(kept: tuple[bytes, object], tmp_path: Path, old: bytes) -> None:
    path = tmp_path / "run.partial"
    path.write_bytes(kept[0].replace(old, old[:-2] + b"7" + old[-1:] if old.endswith(b'"') else old[:-1] + b"7", 1))
    with pytest.raises(VerificationFailed):
        played(path)


@pytest.mark.parametrize("count", [-1, 500, 0.5, "x", 10**30, [1]])
def test_counts_that_can_not_be_are_refused(kept: tuple[bytes, object], tmp_path: Path, count: object) -> None:
    path = tmp_path / "run.partial"
    header, first, *rest = kept[0].splitlines(keepends=True)
    line = json.loads(first)
    line["tally"]["light"][0][0] = count
    path.write_bytes(b"".join([header, json.dumps(line).encode() + b"\n", *rest]))
    with pytest.raises(VerificationFailed, match="belongs to another audit or seed"):
        played(path)


def test_two_runs_do_not_play_one_audit_at_once(tmp_path: Path) -> None:
    path = tmp_path / "run.partial"

    def inside(of: Schedule, missing: Sequence[TrialBatch]) -> Iterator[tuple[TrialBatch, IsolationTally]]:
        with pytest.raises(EnvironmentFault, match="another run"):
            played(path)
        return recalled(of, missing)

    played(path, inside)


def test_a_pipe_in_place_of_saved_progress_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "partial")
    with pytest.raises(VerificationFailed):
        seed_of(tmp_path / "partial")
