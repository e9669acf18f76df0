"""One Prefect server for all flow tests, in its own folder."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest

# Prefect reads its settings when it is imported, so they are set before: nothing touches the user's home.
HOME = Path(tempfile.mkdtemp(prefix="prefect-home-"))
os.environ |= {
    "PREFECT_HOME": str(HOME),
    "PREFECT_LOGGING_LEVEL": "DEBUG",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_FLUSH_INTERVAL": "0.5",
    "PREFECT_LOGGING_TO_API_BATCH_INTERVAL": "0.2",
}

from tests.flows.server import Server, make_deployment  # noqa: E402
from tests.workshop import Workshop  # noqa: E402


def pytest_unconfigure() -> None:
    """Remove the folder after the tests."""
    shutil.rmtree(HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Start a Prefect server, in ten seconds on an idle machine; a flow then takes one."""
    from prefect.logging.configuration import setup_logging
    from prefect.settings import PREFECT_API_URL, PREFECT_LOCAL_STORAGE_PATH, PREFECT_SERVER_DATABASE_CONNECTION_URL
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=120):
        setup_logging()  # resets the root logger's handlers, once: before a test listens
        database = Path(str(PREFECT_SERVER_DATABASE_CONNECTION_URL.value()).partition("///")[2])
        yield Server(PREFECT_API_URL.value(), database, PREFECT_LOCAL_STORAGE_PATH.value())


@pytest.fixture
def again(workshop: Workshop, tmp_path: Path) -> Callable[[], None]:
    """Return a function that restores the working copy to its state at the fixture's first call: paths, ledger and
    files.
    """
    kept = tmp_path / "kept"

    def restore() -> None:
        if kept.exists():
            shutil.rmtree(workshop.root)
            shutil.copytree(kept, workshop.root)
        else:
            shutil.copytree(workshop.root, kept)

    return restore


@pytest.fixture(scope="session")
def deployed(server: Server, tmp_path_factory: pytest.TempPathFactory) -> UUID:
    """Make the bundled deployment, and the work pool of its runs; a test states the parameters and starts a worker."""
    return make_deployment(server, tmp_path_factory.mktemp("deployed"))
