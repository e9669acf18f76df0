"""Tests in their own process, with libraries imported before: the functions that they call, and the first failure."""

import importlib.util
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

import hypothesis
import pytest

PRELOADED = [
    "cryptography.hazmat.primitives",
    "great_expectations",
    "hypothesis",
    "jinja2",
    "jsonschema",
    "mpmath",
    "numpy",
    "open_data_contract_standard.model",
    "opendp.prelude",
    "pandas",
    "pyarrow.csv",
    "pyarrow.parquet",
    "pydantic",
    "pytest",
    "rich.console",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "typer",
    "xdist.scheduler",
    "yaml",
]
CPU_SECONDS, SECONDS = 300, 1200
"""Time limits of tests: CPU seconds do not depend on the load of the machine; wall seconds end tests that wait."""
HOUSE = ("pipeline", "flows", "")
"""Folders of the tree that are searched for modules."""
GRACE = 10.0
"""Seconds in which tests may end normally after a failure."""
EXAMPLES = 30
"""The number of examples of a property that states none."""


class Ran(NamedTuple):
    """A test that ended: CPU seconds, whether it passed, and the first lines of the functions that it called."""

    test: str
    seconds: float
    passed: bool
    calls: list[tuple[str, int]]


@dataclass(eq=False)
class Watch:
    """A plugin that sends the events of each test."""

    out: Connection
    root: Path
    recording: bool
    failed: set[str] = field(default_factory=set)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure a test with its fixtures."""
        seen: dict[int, CodeType] = {}

        def noted(frame: FrameType, _: str, __: object) -> None:
            seen[id(frame.f_code)] = frame.f_code

        start = time.process_time()
        sys.settrace(noted if self.recording else None)  # told of calls alone
        try:
            return (yield)
        finally:
            sys.settrace(None)
            seconds, passed = time.process_time() - start, item.nodeid not in self.failed
            self.out.send(Ran(item.nodeid, seconds, passed, list(self._calls(seen.values()))))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a failure in any of a test's three phases."""
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a module that can't be imported as one failure of all its tests."""
        if report.failed:
            self.out.send(Ran(f"{report.nodeid} (not collected)", 0.0, False, []))

    def _calls(self, seen: Iterable[CodeType]) -> Iterator[tuple[str, int]]:
        for code in seen:
            if code.co_filename.startswith(f"{self.root}/pipeline/"):
                yield str(Path(code.co_filename).relative_to(self.root)), code.co_firstlineno


def recorded(root: Path, tests: Sequence[str]) -> list[Ran]:
    """Return every test with the functions that it calls, without a fault."""
    return list(_heard(root, tests, True))


def killer(root: Path, tests: Sequence[str]) -> str | None:
    """Return the first test that fails, "timeout" if they do not end; None if all pass."""
    for ran in _heard(root, tests, False):
        if not ran.passed:
            return ran.test
    return None


def plant(file: Path, source: str) -> None:
    """Write a source, and remove the compiled previous one."""
    file.write_text(source, encoding="utf-8")
    Path(importlib.util.cache_from_source(file)).unlink(missing_ok=True)


def _heard(root: Path, tests: Sequence[str], recording: bool) -> Iterator[Ran]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_play, args=(root, tests, send, recording))
    process.start()
    send.close()
    until = time.monotonic() + SECONDS
    try:
        while receive.poll(max(0.0, until - time.monotonic())):
            yield receive.recv()
    except EOFError:
        process.join()
    finally:
        _end(process)
    if process.exitcode not in (0, 1, 5) and not recording:
        yield Ran("timeout", SECONDS, False, [])


def _end(process: ForkServerProcess) -> None:
    process.join(GRACE)
    with suppress(ProcessLookupError):
        os.killpg(process.pid or 0, signal.SIGKILL)
    process.join()


def _play(root: Path, tests: Sequence[str], out: Connection, recording: bool) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    os.chdir(root)
    sys.path[:0] = [str(root / part) for part in HOUSE]
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    hypothesis.settings.register_profile(
        "mutation",
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=EXAMPLES,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    said = ["-q", "-p", "no:cacheprovider", "-m", "not statistical and not soak", "--hypothesis-profile=mutation"]
    unseen = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what was imported before
    stop = [] if recording else ["-x"]
    os._exit(pytest.main([*said, *unseen, *stop, *tests], plugins=[Watch(out, root, recording)]))
