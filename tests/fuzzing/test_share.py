"""A seeded share of the fuzzing, and proof that it detects faults. More by `python -m tests.fuzzing`."""

import os
import shutil
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from tests.fuzzing import trials
from tests.fuzzing.targets import SIGNED, TARGETS
from tests.fuzzing.trials import bounded, copies, numbered, trial
from tests.workshop import MARK, Workshop

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
TRIALS = len(TARGETS)
Starts = dict[bool, Workshop]


@pytest.fixture(scope="module")
def starts(tmp_path_factory: pytest.TempPathFactory) -> Starts:
    return copies(tmp_path_factory.mktemp("fuzzing"))


@pytest.mark.thorough
def test_no_mutated_file_makes_a_command_break_its_promises(starts: Starts, tmp_path: Path) -> None:
    found = []
    for target, seed in islice(numbered(14), TRIALS):
        command, ended, broken = trial(starts, target, seed, tmp_path)
        found += [f"{target} {seed} ({command}): {promise}: {ended.said[-300:]}" for promise in broken]
    assert not found, "\n".join(found)


@pytest.mark.thorough
def test_every_command_reads_the_unchanged_files(starts: Starts, tmp_path: Path) -> None:
    """Otherwise a mutation of a file would try out another refusal than its own."""
    ends: dict[str, int | None] = {}
    commands = {(each, name in SIGNED) for name, found in TARGETS.items() for each in found.commands}
    for number, (command, signed) in enumerate(commands):
        copy = shutil.copytree(starts[signed].root, tmp_path / str(number))
        ends[command] = bounded(command.split(), copy).code
    refused = {command for command, code in ends.items() if code}
    assert {command.partition(" ")[0] for command in refused} == {"verify", "replay"}, refused  # of what is withdrawn


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("target", "seed"),
    [
        ("parquet", "77-516"), ("parquet", "6-28"), ("budget", "77-61"), ("contract", "9-120"), ("settings", "1-11"),
        ("settings", "1-21"),
    ],
)  # fmt: skip
def test_what_was_found_once_is_not_found_again(target: str, seed: str, starts: Starts, tmp_path: Path) -> None:
    """Earlier findings: footers that crashed the library or nested endlessly; keys and paths of 70,000 letters;
    endlessly nested settings.
    """
    assert not trial(starts, target, seed, tmp_path)[2]


def raising() -> int:
    raise ValueError(MARK)


def hanging() -> int:
    time.sleep(60)
    return 0


def greedy() -> int:
    return len(b"x" * (trials.SPARE + (1 << 27))) and 0


def unending() -> int:
    return len(b"x" * (2 * trials.ADDRESSES)) and 0


def wordy() -> int:
    print("x" * 300_000)
    return 0


FAULTS: dict[Callable[[], int], set[str]] = {
    raising: {"it ends by 70", "it shows a traceback", "it quotes a value"},
    hanging: {"it takes more than 0.3 seconds"},
    greedy: {"it takes 1"},
    unending: {"it ends by 70", "it shows a traceback"},
    wordy: {"it says too much"},
    lambda: 9: {"it ends by 9"},
    lambda: 0: set(),
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_command_must_not_do_is_seen(fault: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "crowdgate", fault)
    monkeypatch.setattr(trials, "SECONDS", 0.3 if fault is hanging else 10)
    broken = list(trials._broken(bounded([]), False))
    assert len(broken) == len(FAULTS[fault])
    assert all(any(each.startswith(words) for words in FAULTS[fault]) for each in broken)


def test_a_release_by_a_ledger_of_other_rows_is_seen() -> None:
    assert list(trials._broken(trials.Ended(0, "", 0), True)) == ["it releases by a ledger whose rows are others"]
