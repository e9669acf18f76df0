"""A seeded mixture of resealed forgeries and plain damage, verified in a process that may be stopped."""

import multiprocessing
import random
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

from crowdgate.verification.release import verify
from tests.forgery.files import edits
from tests.forgery.forgery import Change, Forgery, excused, outcome, sampled
from tests.forgery.generated import forgeries

LONGEST, MOST_MEMORY, DEAR = 10.0, 4 << 30, 8
"""Seconds after which a verification is stopped; bytes that its process may use; slow forgeries in a whole mixture."""

HUNG = "cut: it did not end"
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])


@dataclass(frozen=True)
class Ended:
    """The result of one verification, its seconds, and the peak memory of its process so far, in KiB."""

    name: str
    end: str
    seconds: float
    memory: int


def mixture(folder: Path, size: int, seed: int, dear: bool = False) -> list[Forgery]:
    """Return a mixture: half forgeries that are detectable without a signature, half damage."""
    every = [forgery for forgery in forgeries(folder, seed) if not excused(forgery.name)]
    chosen = sampled(every, size // 2, seed) + (sampled(every, DEAR, seed, dear=True) if dear else [])
    return [*chosen, *islice(damaged(folder, seed), size - len(chosen))]


def damaged(folder: Path, seed: int) -> Iterator[Forgery]:
    """Yield one to three changes of the bytes of some files, endlessly; digests are not adjusted."""
    names = sorted(path.name for path in folder.iterdir())
    draw = random.Random(f"{seed} damage")
    number = 0
    while True:
        number += 1
        files = [draw.choice(names) for _ in range(draw.choice((1, 1, 2, 3)))]
        salt = draw.randrange(1 << 32)
        yield Forgery(f"damage: {', '.join(files)}: number {number}", _damaging(files, salt))


def _damaging(files: list[str], salt: int) -> Change:
    def apply(folder: Path) -> None:
        draw = random.Random(salt)
        for name in files:
            data = (folder / name).read_bytes()
            _, edit = draw.choice(list(edits(data, draw)))
            (folder / name).write_bytes(edit(data))

    return apply


def verified(folder: Path, size: int, seed: int) -> Iterator[Ended]:
    """Yield the results of the whole mixture, one by one in another process; a hanging one is stopped, and the next
    follow.
    """
    names = [forgery.name for forgery in mixture(folder, size, seed, dear=True)]
    start = 0
    while start < size:
        for ended in _until_one_hangs(folder, names, seed, start):
            start += 1
            yield ended


def _until_one_hangs(folder: Path, names: list[str], seed: int, start: int) -> Iterator[Ended]:
    ours, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=_work, args=(folder, len(names), seed, start, theirs))
    process.start()
    theirs.close()
    try:
        ours.recv()  # it has begun
        for name in names[start:]:
            if not ours.poll(2 * LONGEST):
                yield Ended(name, HUNG, 2 * LONGEST, 0)
                return
            yield ours.recv()
    except EOFError:
        yield Ended(names[start], "its process died", 0, 0)
    finally:
        process.kill()
        process.join()
        ours.close()


def _work(folder: Path, size: int, seed: int, start: int, pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    chosen = mixture(folder, size, seed, dear=True)
    pipe.send(None)
    for forgery in chosen[start:]:
        pipe.send(timed(folder, forgery))


def timed(folder: Path, forgery: Forgery) -> Ended:
    """Return the result of one verification with its seconds (copying included) and memory."""
    with TemporaryDirectory() as scratch:
        began = time.perf_counter()
        end = outcome(folder, forgery, verify, Path(scratch))
        seconds = time.perf_counter() - began
    return Ended(forgery.name, end, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
