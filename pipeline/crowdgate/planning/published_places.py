"""Folders where a ledger's releases may be, by its entries and the policies of its working copies; and remains of a
run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate import manifest
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import ConfigurationError, LedgerRefused
from crowdgate.ledger.contents import charges
from crowdgate.ledger.private import has_private_record, private_file
from crowdgate.ledger.values import State
from crowdgate.publish.file_names import STAGING
from crowdgate.publish.publisher import staged_folder
from crowdgate.system.regular_files import plain_file

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger

POLICIES = "policies"
_SUFFIXES = (".yaml", ".yml")


def destinations_of(ledger: Ledger, homes: Sequence[Path]) -> list[Path]:
    """Return the destinations of a ledger's entries, and of all policies below policies/ in the working copies `homes`.

    Relative paths count from each working copy.
    """
    found = [(home / to).resolve() for home in homes for to in places_of(ledger)]
    named = [to for home in homes for _, to in _policies(home) if to is not None]
    return list(dict.fromkeys([*found, *named]))


def places_of(ledger: Ledger) -> list[str]:
    """Return the destinations of a ledger's entries as the ledger states them: absolute, or relative to a working
    copy.
    """
    placed = ((each.release_id, each.destination) for each in charges(ledger.state()).values() if each.destination)
    return list(dict.fromkeys(_root_of(to, release_id) for release_id, to in placed))


def releases_of(ledger: Ledger, place: str) -> list[str]:
    """Return the paths of a ledger's published and withdrawn releases at a destination, as `places_of` states it."""
    ended = (State.PUBLISHED, State.WITHDRAWN)
    found = (each for each in charges(ledger.state()).values() if each.destination and each.state in ended)
    return [str(each.destination) for each in found if _root_of(str(each.destination), each.release_id) == place]


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


def unread_places(homes: Sequence[Path], roots: Sequence[Path]) -> Iterator[str]:
    """Yield a sentence for each policy of the working copies `homes` that is unreadable or names no destination, and
    each unreadable folder or manifest at the destinations `roots`.

    A release may be hidden there.
    """
    for home in homes:
        for path, to in _policies(home):
            if to is None:
                said = (
                    f"it is unknown where the policy {path} publishes: the file can't be read, or names no destination"
                )
                yield f"{said}. Correct the file, or move it out of {POLICIES}/"
    for root in roots:
        for folder in [root, *(path for depth in ("*", "*/*", "*/*/*") for path in root.glob(depth))]:
            if STAGING not in folder.parts and folder.is_dir() and not _is_listed(folder):
                yield f"{folder} can't be read, so which releases lie there is unknown"
        for path in root.glob(f"*/*/*/{manifest.NAME}"):
            if _is_forbidden(path):
                yield f"{path} can't be read, so which release lies there is unknown"


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


def _is_listed(folder: Path) -> bool:
    try:
        with os.scandir(folder):
            return True
    except OSError:
        return False


def _is_forbidden(path: Path) -> bool:
    """Return whether permissions forbid reading a file. Files that are not regular do not count: anybody could create
    them.
    """
    try:
        with plain_file(path):
            return False
    except PermissionError:
        return True
    except OSError:
        return False


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
            yield (home / str(data["spec"]["publish"]["to"])).resolve()
    except (ConfigurationError, AttributeError, KeyError, TypeError, ValueError, OSError, RuntimeError):
        yield None
