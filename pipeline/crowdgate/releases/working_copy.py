"""A working copy: the bundled policies and contracts with a new ledger."""

import re
import shutil
import tempfile
from pathlib import Path

from crowdgate.errors import ConfigurationError, EnvironmentFault, Problem
from crowdgate.ledger import ledger
from crowdgate.ledger.sqlite import PREFIX
from crowdgate.releases.schedule import bind_schedules
from crowdgate.settings import FILE
from crowdgate.system import permissions
from crowdgate.system.regular_files import is_url

FOLDERS = {"policies": "policies", "data_contracts": "data_contracts", "schedules": "flows/schedules"}
"""The folders of a working copy, and their paths in a checkout."""
LEDGER = "ledger/ledger.db"
DEMO_POLICY = "policies/census_income.yaml"
DEMO_TABLES = "policies/census_income_tables.yaml"
_LEDGER_KEY = re.compile(r"(?<=\bledger: )[a-z0-9-]{1,40}-[0-9a-f]{8}\b")


def init(folder: Path, name: str, url: str | None = None) -> Path:
    """Make a working copy in `folder` and return it. Uses the ledger at `url`, or creates one in the folder.

    Raises ConfigurationError for a URL, and EnvironmentFault if any part exists; then nothing is changed.
    """
    if is_url(str(folder)):
        found, expected = f"the URL {str(folder)!r}", "a folder of this machine"
        raise ConfigurationError(Problem("command line", None, "folder", found, expected))
    folder = folder.resolve()
    _refuse_existing(folder, url)
    try:
        permissions.make_folders(folder, permissions.WORKING_COPY)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".crowdgate-init-") as scratch:
            parts = _build(Path(scratch), name, url)
            for part in parts:
                part.rename(folder / part.name)
    except OSError as error:
        raise EnvironmentFault(f"{folder}: no working copy can be made there: {error.strerror}") from None
    return folder


def bundled(folder: str) -> Path:
    """Return a bundled folder of a working copy: a copy in the wheel, or the one of the checkout."""
    package = Path(__file__).parents[1]
    copies = package / "bundled"
    return copies / folder if copies.is_dir() else package.parents[1] / FOLDERS[folder]


def _refuse_existing(folder: Path, url: str | None) -> None:
    for name in (*FOLDERS, FILE, *([] if url else [Path(LEDGER).parts[0]])):
        if (folder / name).exists():
            raise EnvironmentFault(f"{folder / name} exists already and is not replaced. Name another folder")


def _build(scratch: Path, name: str, url: str | None) -> list[Path]:
    for part in FOLDERS:
        shutil.copytree(bundled(part), scratch / part, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    if url is None:
        permissions.make_folder((scratch / LEDGER).parent, permissions.LEDGER)
        ledger_id = ledger.create(f"{PREFIX}{scratch / LEDGER}", name)
    else:
        ledger_id = ledger.open_ledger(url, None, reading=True).id
    for budget in (scratch / "policies" / "budgets").glob("*.yaml"):
        budget.write_text(_LEDGER_KEY.sub(ledger_id, budget.read_text(encoding="utf-8")), encoding="utf-8")
    bind_schedules(scratch)
    (scratch / FILE).write_text(f'ledger = "{url or PREFIX + LEDGER}"\n', encoding="utf-8")
    (scratch / FILE).chmod(permissions.WORKING_COPY.file)
    for part in FOLDERS:
        permissions.apply_modes(scratch / part, permissions.WORKING_COPY)
    return sorted(scratch.iterdir(), key=lambda path: path.name == FILE)  # the settings last: then all is there
