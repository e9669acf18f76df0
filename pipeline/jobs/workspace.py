"""A working copy: the bundled policies and contracts with a new ledger of its own."""

import re
import shutil
import tempfile
from pathlib import Path

import pipeline
from pipeline.errors import EnvironmentFault
from pipeline.io import ledger
from pipeline.io.settings import FILE, PREFIX

FOLDERS = ("policies", "data_contracts")
LEDGER = "ledger/ledger.db"
DEPLOYMENTS = Path("flows/prefect.yaml")
DEMO_POLICY = "policies/census_income.yaml"
DEMO_TABLES = "policies/census_income_tables.yaml"
_LEDGER_KEY = re.compile(r"(?<=\bledger: )[a-z0-9-]{1,40}-[0-9a-f]{8}\b")


def init(folder: Path, name: str, url: str | None = None) -> Path:
    """Make a working copy in `folder` and return it. Uses the ledger at `url`, or creates one in the folder.

    Raises EnvironmentFault when any part is there already; then nothing is changed.
    """
    folder = folder.resolve()
    _refuse_existing(folder, url)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".crowdgate-init-") as scratch:
            parts = _build(Path(scratch), name, url)
            for part in parts:
                part.rename(folder / part.name)
    except OSError as error:
        raise EnvironmentFault(f"{folder}: no working copy can be made there: {error.strerror}") from None
    return folder


def bundled() -> Path:
    """The folder that holds the bundled policies/ and data_contracts/: in the wheel, or in the repository."""
    package = Path(pipeline.__file__).parent
    return package / "bundled" if (package / "bundled").is_dir() else package.parent


def _refuse_existing(folder: Path, url: str | None) -> None:
    for name in (*FOLDERS, FILE, DEPLOYMENTS.name, *([] if url else [Path(LEDGER).parts[0]])):
        if (folder / name).exists():
            raise EnvironmentFault(f"{folder / name} exists already and is not replaced; give another folder")


def _build(scratch: Path, name: str, url: str | None) -> list[Path]:
    for part in FOLDERS:
        shutil.copytree(bundled() / part, scratch / part, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    if url is None:
        (scratch / LEDGER).parent.mkdir(mode=0o700)
        ledger_id = ledger.create(f"{PREFIX}{scratch / LEDGER}", name)
    else:
        ledger_id = ledger.open_ledger(url, None).id
    shutil.copy(Path(pipeline.__file__).parent.parent / DEPLOYMENTS, scratch / DEPLOYMENTS.name)
    for budget in (scratch / "policies" / "budgets").glob("*.yaml"):
        budget.write_text(_LEDGER_KEY.sub(ledger_id, budget.read_text(encoding="utf-8")), encoding="utf-8")
    (scratch / FILE).write_text(f'ledger = "{url or PREFIX + LEDGER}"\n', encoding="utf-8")
    return sorted(scratch.iterdir(), key=lambda path: path.name == FILE)  # the settings last: then all is there
