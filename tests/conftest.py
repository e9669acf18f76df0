"""Fixtures of all tests, numbers of examples of properties, and the CPU seconds of every test folder."""

import gc
import resource
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from crowdgate import settings as settings_of_crowdgate
from crowdgate.audit.common import stored_records
from tests.examples import QUICK, examples, use_share
from tests.servers import PostgresqlServer, S3Server
from tests.workshop import Workshop, make_workshop

CPU = "cpu seconds"
SPENT: dict[str, float] = defaultdict(float)
DEAR: dict[str, float] = {}
"""Tests that are not marked `thorough` and took more than LONG."""
LONG = 0.5
"""The limit of CPU seconds."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--examples`, for the thorough run."""
    parser.addoption(
        "--examples", type=int, default=QUICK, metavar="PERCENT", help="of those that each property states, at least 5"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Configure hypothesis before any test is imported: properties without a number of examples use its default, or a
    share.
    """
    use_share(config.getoption("--examples"))
    settings.register_profile(
        "crowdgate", settings.default, max_examples=examples(settings().max_examples), deadline=None
    )
    settings.load_profile("crowdgate")


def pytest_collection_finish() -> None:
    """Leave out of garbage collections what was imported, which no test gives back: a twentieth of the CPU time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """Make a small working copy with good data."""
    return make_workshop(tmp_path / "workshop")


@pytest.fixture(scope="session")
def postgresql() -> PostgresqlServer:
    """Return the PostgreSQL server of this test run; skip the test where it can't be started."""
    return PostgresqlServer()


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """Return the S3 server of this test run, which the environment variables of the test name."""
    server = S3Server()
    for name, value in server.variables().items():
        monkeypatch.setenv(name, value)
    return server


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove settings of the machine, which must not decide a test."""
    variables = (value for name, value in vars(settings_of_crowdgate).items() if name.endswith("_VARIABLE"))
    for name in (*variables, "PREFECT_API_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True, scope="session")
def the_same_seed_for_every_audit() -> Iterator[None]:
    """Give every audit the same seed, so that its random findings do not decide a test: commands and flows draw their
    own.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stored_records, "secrets", SimpleNamespace(token_hex=lambda size: "5c" * size))
        yield


class Shared(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """A scheduler that keeps a file on one worker, and all flow tests: one demo and one Prefect server serve each."""

    def _split_scope(self, nodeid: str) -> str:
        return "tests/flows" if nodeid.startswith("tests/flows/") else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Shared:
    """Replace --dist loadgroup, which pytest 9.2 makes xdist 3.8 ignore."""
    return Shared(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure the CPU time of a test with its fixtures and the processes that it waited for."""
    item.user_properties.append((CPU, _cpu()))
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up the times in the process that prints, which receives the workers' reports."""
    if report.when == "teardown":
        seconds = sum(float(str(value)) for name, value in report.user_properties if name == CPU)
        SPENT[_folder(report.nodeid)] += seconds
        if seconds > LONG and "thorough" not in report.keywords:
            DEAR[report.nodeid] = seconds


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write the seconds into the last report of a test."""
    report = yield
    if report.when == "teardown":
        started = next(value for name, value in item.user_properties if name == CPU)
        report.user_properties = [(CPU, _cpu() - float(str(started)))]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for every folder, the slowest first."""
    terminalreporter.section("CPU seconds by folder")
    for folder, seconds in sorted(SPENT.items(), key=lambda pair: -pair[1]):
        terminalreporter.write_line(f"{seconds:8.1f}  {folder}")
    terminalreporter.write_line(f"{sum(SPENT.values()):8.1f}  in all, without imports")
    for test, seconds in sorted(DEAR.items(), key=lambda pair: -pair[1])[:10]:
        terminalreporter.write_line(f"{seconds:8.1f}  {test} might be thorough")


def _folder(nodeid: str) -> str:
    return str(Path(nodeid.partition("::")[0]).parent)


def _cpu() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
