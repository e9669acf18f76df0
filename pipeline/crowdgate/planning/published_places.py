"""Folders where a ledger's releases may be, by its entries and the policies of its working copies; and remains of a
run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import ConfigurationError, LedgerRefused
from crowdgate.ledger.contents import destinations
from crowdgate.ledger.private import has_private_record, private_file
from crowdgate.ledger.values import State
from crowdgate.publish.file_names import STAGING
from crowdgate.publish.object_store import local_folder
from crowdgate.publish.publisher import staged_folder

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger

POLICIES = "policies"
_SUFFIXES = (".yaml", ".yml")
_PUBLISHED = (State.PUBLISHED, State.WITHDRAWN)


def homes_of(ledger: Ledger, root: Path) -> list[Path]:
    """Return the folders that may be working copies of a ledger: `root`, and the parent of the ledger's folder."""
    return list(dict.fromkeys([root.resolve(), ledger.path.resolve().parent.parent]))


def released_folder(ledger: Ledger, root: Path, destination: str) -> Path:
    """Return the folder of a release at a destination that a ledger states. A relative one is looked for below `root`,
    then in the ledger's own working copy.
    """
    found = [home / destination for home in homes_of(ledger, root)]
    return next((each for each in found if each.exists()), found[0])


def staged_or_moved_folder(ledger: Ledger, root: Path, release_id: str, destination: str) -> Path:
    """Return the folder of a release that the ledger committed to: its staging folder, or its destination if a run was
    killed after it moved the files there."""
    moved = [home / destination for home in homes_of(ledger, root)]
    staged = [staged_folder(each.parents[release_id.count("/")], ledger.id, release_id) for each in moved]
    return next((each for each in (*staged, *moved) if each.exists()), staged[0])


def is_staged(folder: Path) -> bool:
    """Return whether a folder is the staging folder of a release, which nobody has received."""
    return folder.resolve().parent.name == STAGING


def places_of(ledger: Ledger) -> dict[str, list[str]]:
    """Return the destinations of a ledger's entries as the ledger states them, absolute or relative to a working copy,
    each with the paths of its published and withdrawn releases there.
    """
    found: dict[str, list[str]] = {}
    for release_id, destination, state in destinations(ledger.state()):
        there = found.setdefault(_root_of(destination, release_id), [])
        if state in _PUBLISHED:
            there.append(destination)
    return found


def _root_of(place: str, release_id: str) -> str:
    """Return the destination of a release at `place`: of a policy's release the folder above its id, of an entry of a
    KL repository its folder.
    """
    if place == release_id:
        return "."
    inside = place.endswith(f"/{release_id}")
    return (place[: -len(release_id) - 1] if inside else place.rpartition("/")[0]) or ("/" if place[0] == "/" else ".")


def policies_of(home: Path) -> list[Path]:
    """Return the files of all policies of a working copy that can be read."""
    return [path for path, to in _policies(home) if to is not None]


def policy_destinations(homes: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Return the destinations of all policies below policies/ in the working copies `homes`, and a sentence for each
    policy that is unreadable or names no destination: a release may be hidden where it publishes.
    """
    found = [each for home in homes for each in _policies(home)]
    return [to for _, to in found if to is not None], [_unread_policy(path) for path, to in found if to is None]


def _unread_policy(path: Path) -> str:
    said = f"it is unknown where the policy {path} publishes: the file can't be read, or names no destination"
    return f"{said}. Correct the file, or move it out of {POLICIES}/"


def release_folders(root: Path, unread: list[Path]) -> Iterator[str]:
    """Yield the folders at a destination that may hold a release, in order. Add those that can't be listed to
    `unread`.
    """
    return (slot for policy in _folders(str(root), unread) for version in _folders(policy, unread)
            for slot in _folders(version, unread))  # fmt: skip


def _folders(folder: str, unread: list[Path]) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return sorted(each.path for each in found if each.name != STAGING and each.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        unread.append(Path(folder))
        return []


def refuse_leftovers(ledger: Ledger, release_id: str, roots: Sequence[Path], *, released: bool) -> None:
    """Refuse a release id whose reading the ledger does not know although a run of it left files: the ledger is an
    older copy, or was cut off.

    Such files are staged files, a private record, or (`released`) a release. Raises LedgerRefused, and EnvironmentFault
    if that can't be checked.
    """
    left = [staged_folder(root, ledger.id, release_id) for root in roots]
    left += [root / release_id for root in roots] if released else []
    found = [path for path in left if os.path.lexists(path)]
    if has_private_record(ledger.path, ledger.id, release_id):
        found.append(private_file(ledger.path, ledger.id, release_id))
    if found:
        said = (
            f"a run of {release_id} left {found[0]}, so its table was read, but the ledger {ledger.id} says "
            "that it did not"
        )
        raise LedgerRefused(
            f"{said}: this is an older copy of the ledger. No data was read. Use the newest copy", "edited"
        )


def _policies(home: Path) -> Iterator[tuple[Path, Path | None]]:
    """Yield every policy file of a working copy with its destination; None for a file that is unreadable or names no
    destination.
    """
    unread: list[OSError] = []
    for folder, _, names in os.walk(home / POLICIES, onerror=unread.append):
        for name in sorted(names):
            path = Path(folder) / name
            if path.suffix in _SUFFIXES:
                yield from ((path, to) for to in _destination(home, path))
    for error in unread:
        if not isinstance(error, FileNotFoundError):
            yield Path(str(error.filename)), None


def _destination(home: Path, path: Path) -> Iterator[Path | None]:
    try:
        data: Any = read_document(path).data
        if data.get("kind") == "ReleasePolicy":
            yield local_folder(home, str(data["spec"]["publish"]["to"])).resolve()
    except (ConfigurationError, AttributeError, KeyError, TypeError, ValueError, OSError, RuntimeError):
        yield None
