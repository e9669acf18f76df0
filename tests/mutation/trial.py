"""Tests of one mutant, in a process of its own that finds other people's libraries imported."""

import importlib.util
import multiprocessing
import os
import resource
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import hypothesis
import pytest

PRELOADED = """pytest hypothesis numpy pandas scipy.stats scipy.optimize scipy.special pyarrow.parquet pyarrow.csv sqlalchemy
opendp.prelude pydantic jsonschema typer jinja2 yaml mpmath cryptography.hazmat.primitives great_expectations
open_data_contract_standard.model sklearn.linear_model sklearn.ensemble xdist.scheduler rich.console""".split()
CPU_SECONDS, SECONDS = 300, 1500
"""What tests may take: a mutant whose tests take more hangs, and is killed. Seconds of the processor do not depend on
what else runs; the others end what waits."""


class First:
    """Sends the name of the first test that fails."""

    def __init__(self, out: Connection) -> None:
        self.out = out

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.out.send(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.out.send(f"{report.nodeid} (not collected)")


def killer(root: Path, tests: list[str]) -> str | None:
    """The test that fails first, "timeout" if they do not end; None if all pass."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_play, args=(root, tests, send))
    process.start()
    send.close()
    process.join(SECONDS)
    ended = process.exitcode
    _end(process.pid)
    process.join()
    return _said(receive) or (None if ended in (0, 5) else "timeout")


def plant(file: Path, source: str) -> None:
    """Writes a source, and forgets what was compiled of the one before."""
    file.write_text(source, encoding="utf-8")
    Path(importlib.util.cache_from_source(file)).unlink(missing_ok=True)


def _said(receive: Connection) -> str | None:
    try:
        return str(receive.recv()) if receive.poll() else None
    except EOFError:
        return None


def _end(group: int | None) -> None:
    try:
        os.killpg(group or 0, signal.SIGKILL) if group else None
    except ProcessLookupError:
        return


def _play(root: Path, tests: list[str], out: Connection) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    os.chdir(root)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    hypothesis.settings.register_profile(
        "mutation",
        derandomize=True,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    said = [
        "-x",
        "-q",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
        "-p",
        "no:cacheprovider",
        "-m",
        "not statistical and not soak",
        "--hypothesis-profile=mutation",
    ]
    os._exit(pytest.main([*said, *tests], plugins=[First(out)]))
