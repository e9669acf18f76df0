"""Permitted destinations of releases: apart from the ledger, private records, policies, contracts, staged files and the
key.

Publishing a destination publishes all below it, and write access to it covers all below it. Links are followed on both
sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from errno import ENAMETOOLONG
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate import ledger as ledgers
from crowdgate.errors import Code, ConfigurationError, CrowdgateError, Problem
from crowdgate.ledger.private import FOLDER
from crowdgate.planning.open_ledger import absolute_url
from crowdgate.publish.file_names import STAGING
from crowdgate.publish.object_store import local_folder
from crowdgate.settings import head_folders, ledger_url, signing_key_file

if TYPE_CHECKING:
    from crowdgate.policy.files import Bundle

LONGEST_BELOW = "/".join(["x" * 100] * 4)
"""A path as long as a policy's name, version and date, and the name of a file."""
EXPECTED = "a folder of its own for what is published, such as releases"


def destination_problems(bundle: Bundle) -> Iterator[Problem]:
    """Yield the conflicts of the destination folder that a policy names, including with the ledger of its working copy,
    if there is one.
    """
    with suppress(ValueError, OSError, RuntimeError):  # not a path: the plan reports that
        found = destination_conflict(
            bundle.root, local_folder(bundle.root, bundle.policy.spec.publish.to), ledger_file(bundle.root, None)
        )
        if found is not None:
            yield bundle.document.problem(("spec", "publish", "to"), found, EXPECTED, None, Code.DESTINATION)


def ledger_file(root: Path, option: str | None) -> Path | None:
    """Return the path of the ledger file that `option` or the working copy `root` names; None without one."""
    with suppress(CrowdgateError):
        url = ledger_url(root, option, absolute_url)
        return ledgers.open_ledger(url, None).path
    return None


def refuse_taken_destination(bundle: Bundle, to: Path | None, ledger: Path) -> None:
    """Raise ConfigurationError for a destination, the policy's or `to` in its place, that conflicts with another
    folder.
    """
    found = destination_conflict(bundle.root, to or local_folder(bundle.root, bundle.policy.spec.publish.to), ledger)
    if found is not None and to is not None:
        raise ConfigurationError(Problem("command line", None, "--to", found, EXPECTED))
    if found is not None:
        raise ConfigurationError(
            bundle.document.problem(("spec", "publish", "to"), found, EXPECTED, None, Code.DESTINATION)
        )


def destination_conflict(home: Path, to: Path, ledger: Path | None) -> str | None:
    """Return the reason why the destination `to` can't be used, in words: it overlaps another folder (equal, inside or
    around it), is a staging folder, or its path is too long. None if it can.
    """
    target = to.resolve()
    if STAGING in (*to.parts, *target.parts):
        return f"{str(to)!r} is in a staging folder, {STAGING}"
    if _too_long(target):
        return "a path that is longer than the file system takes"
    for whose, folder in _places(home, ledger):
        if _overlaps(target, folder.resolve(), home.resolve()):
            return f"{str(to)!r} is, lies in or contains the folder of {whose}"
    return None


def _too_long(target: Path) -> bool:
    """Return whether files of a release below the folder `target` would have a name or path that is too long."""
    try:
        (target / LONGEST_BELOW).lstat()
    except OSError as error:
        return error.errno == ENAMETOOLONG
    return False


def _overlaps(target: Path, folder: Path, home: Path) -> bool:
    """Return whether the destination `target` is inside `folder`, or `folder` inside it. Folders around the working
    copy `home` do not count, as every destination is inside them.
    """
    inside = target.is_relative_to(folder) and not home.is_relative_to(folder)
    return inside or folder.is_relative_to(target)


def _places(home: Path, ledger: Path | None) -> Iterator[tuple[str, Path]]:
    yield "the policies", home / "policies"
    yield "the contracts", home / "data_contracts"
    if ledger is not None:
        yield "the private records", ledger.parent / FOLDER
        yield "the ledger", ledger.parent
    for folder in head_folders(home):
        yield "the ledger's heads", folder
    key = signing_key_file(home)
    if key is not None:
        yield "the signing key", key.parent
