"""Processes that Crowdgate starts get no secret of its environment."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from crowdgate.contracts.contract import Expectation
from crowdgate.formats import parquet
from crowdgate.settings import KEY_VARIABLE, PASSPHRASE_VARIABLE, WEBHOOK_VARIABLE
from crowdgate.sources.engine import engine
from crowdgate.sources.workers import executor_of
from tests.workshop import MARK

SECRETS = (
    KEY_VARIABLE,
    PASSPHRASE_VARIABLE,
    WEBHOOK_VARIABLE,
    "PGPASSWORD",
    "PREFECT_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
)
AGE = Expectation("age", "expect_column_mean_to_be_between", ("age",), {"column": "age", "min_value": 1})


@contextmanager
def reader_of_releases() -> Iterator[None]:
    child = parquet._Trial()
    child._running()
    yield
    parquet._end_process(child._running())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")
@pytest.mark.parametrize(
    "start",
    [lambda: executor_of(2), lambda: engine([AGE]), reader_of_releases],
    ids=["workers", "expectations", "reader of releases"],
)
def test_a_child_process_gets_no_secret(
    monkeypatch: pytest.MonkeyPatch, start: Callable[[], AbstractContextManager[object]]
) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, MARK)
    before = children()
    with start():
        started = children() - before
        assert started
        for each in started:
            lines = Path(f"/proc/{each}/environ").read_text().split("\0")
            assert {line.partition("=")[0] for line in lines if MARK in line} == set()


def children() -> set[str]:
    """Return the ids of this process's children."""
    return {each for path in Path("/proc/self/task").glob("*/children") for each in path.read_text().split()}
