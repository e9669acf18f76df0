"""Upgrade of a working copy that an earlier version made: its schedules, and the JSON Schemas of its policies.

Policies have had one form only, so none changes: each keeps its digest, under which the ledger knows it, and the
version that was charged. A ledger has an upgrade of its own.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import ConfigurationError, EnvironmentFault, Problem
from crowdgate.limits import LARGEST_DOCUMENT
from crowdgate.planning.plan import bundle_of
from crowdgate.policy.files import budget_files, policy_files
from crowdgate.policy.policy import API_VERSION
from crowdgate.releases.schedule_upgrade import changed_text, schedule_changes
from crowdgate.releases.working_copy import bundled
from crowdgate.system import permissions
from crowdgate.system.atomic_file import locked_folder, replace_file
from crowdgate.system.fsync import fsync_path
from crowdgate.system.regular_files import read_plain

SCHEDULES = Path("schedules/prefect.yaml")
EARLIER_SCHEDULES = Path("flows/prefect.yaml")
"""The path of the schedules in working copies of the first versions."""
SCHEMAS = Path("policies/schema")


@dataclass(frozen=True)
class FileUpgrade:
    """An upgrade of one file: its path in the working copy, what changes, its bytes before (None: there is no such
    file) and after, and the file that it replaces at another path.
    """

    path: Path
    changes: tuple[str, ...]
    before: bytes | None
    after: bytes
    moved: Path | None = None

    def diff(self) -> list[str]:
        """Return the changed lines with those around them, as a unified diff."""
        old, new = ((data or b"").decode(errors="replace").splitlines() for data in (self.before, self.after))
        return list(unified_diff(old, new, str(self.moved or self.path), str(self.path), lineterm=""))

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        moved = None if self.moved is None else self.moved.as_posix()
        return {"file": self.path.as_posix(), "changes": list(self.changes), "moved_from": moved}


def upgrades(home: Path) -> list[FileUpgrade]:
    """Return the upgrades that a working copy needs. Raises ConfigurationError for a folder that is none, and for
    schedules that can't be read, EnvironmentFault for a schema that can't.
    """
    if not (home / "policies").is_dir() or not (home / "data_contracts").is_dir():
        expected = "a working copy, with policies/ and data_contracts/"
        raise ConfigurationError(Problem("command line", None, "folder", "no working copy is here", expected))
    return [*_schedules(home), *_schemas(home)]


def _schedules(home: Path) -> Iterator[FileUpgrade]:
    """Yield the upgrade of the schedules. Those of the first versions are moved, unless there are others already: then
    they are only removed, if they are what a killed upgrade left.
    """
    now = _bytes(home / SCHEDULES)
    for file in (EARLIER_SCHEDULES, SCHEDULES):
        found = _upgraded(home, file)
        if found is not None and (file == SCHEDULES or now in (None, found.after)):
            yield found
            return


def _upgraded(home: Path, file: Path) -> FileUpgrade | None:
    before = _bytes(home / file)  # first: `write_upgrades` compares it
    changes = [] if before is None else schedule_changes(home / file, lambda policy: _digest(home / policy))
    if before is None or not changes:
        return None
    moved = None if file == SCHEDULES else file
    first = [] if moved is None else [f"moved from {moved}, as paths are relative to its folder"]
    after = changed_text(before.decode("utf-8-sig"), changes).encode()
    return FileUpgrade(SCHEDULES, (*first, *map(str, changes)), before, after, moved)


def _digest(policy: Path) -> str | None:
    """Return the digest of a policy's files; None if they can't be read."""
    try:
        return bundle_of(policy).digest
    except ConfigurationError:
        return None


def _schemas(home: Path) -> Iterator[FileUpgrade]:
    """Yield an upgrade of each JSON Schema that is not the one of this version, where the working copy has schemas."""
    if (home / SCHEMAS).is_dir():
        for path in sorted((bundled("policies") / "schema").glob("*.json")):
            now, before = path.read_bytes(), _bytes(home / SCHEMAS / path.name)
            if now != before:
                said = "new in this version" if before is None else "replaced by the schema of this version"
                yield FileUpgrade(SCHEMAS / path.name, (said,), before, now)


def _bytes(path: Path) -> bytes | None:
    try:
        return read_plain(path, LARGEST_DOCUMENT)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise EnvironmentFault(f"{path}: it can't be read: {error.strerror}") from None


def policy_forms(home: Path) -> tuple[int, list[Path]]:
    """Return the number of policies and budgets in the form of this version, and the files that state another one or
    can't be read.
    """
    files = [path for path, _ in (*policy_files(home), *budget_files(home))]
    other = [path for path in files if _api_version(path) != API_VERSION]
    return len(files) - len(other), other


def _api_version(path: Path) -> Any:
    with suppress(ConfigurationError, AttributeError):
        return read_document(path).data.get("apiVersion")
    return None


def write_upgrades(home: Path, found: Sequence[FileUpgrade]) -> None:
    """Write upgrades, each file atomically. If this is interrupted, a second call finishes it.

    Raises EnvironmentFault if a file can't be written, or was changed since `upgrades` read it.
    """
    for each in found:
        path = home / each.path
        try:
            permissions.make_folder(path.parent, permissions.WORKING_COPY)
            with locked_folder(path.parent):
                if _bytes(home / (each.moved or each.path)) != each.before:
                    raise EnvironmentFault(f"{path}: it was changed in the meantime; run the command again")
                replace_file(path, f".{path.name}.part", each.after, permissions.WORKING_COPY)
            if each.moved is not None:
                (home / each.moved).unlink()
                fsync_path((home / each.moved).parent)
        except OSError as error:
            raise EnvironmentFault(f"{path}: it can't be written: {error.strerror}") from None
