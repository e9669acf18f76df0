"""Fixtures shared by all tests, and the CPU seconds of every folder of tests."""

import resource
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workshop import Workshop, make_workshop

CPU = "cpu seconds"
SPENT: Counter[str] = Counter()


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A small working copy with good data."""
    return make_workshop(tmp_path / "workshop")


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the machine must not decide a test."""
    for name in ("CROWDGATE_LEDGER", "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Times a test with its fixtures and the processes that it waited for."""
    before = _cpu()
    item.user_properties.append((CPU, before))
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Adds up in the process that prints, to which workers send their reports."""
    if report.when == "teardown":
        SPENT[_folder(report.nodeid)] += sum(value for name, value in report.user_properties if name == CPU)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[pytest.TestReport]:
    report = yield
    if report.when == "teardown":
        started = dict(item.user_properties)[CPU]
        report.user_properties = [(CPU, _cpu() - started)]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for every folder, the dearest first."""
    terminalreporter.section("CPU seconds by folder")
    for folder, seconds in SPENT.most_common():
        terminalreporter.write_line(f"{seconds:8.1f}  {folder}")
    terminalreporter.write_line(f"{SPENT.total():8.1f}  in all, without imports")


def _folder(nodeid: str) -> str:
    return str(Path(nodeid.partition("::")[0]).parent)


def _cpu() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
