"""The private record of a run: confidential measurements and reasons, in a file next to the ledger for the curator."""

import errno
import hashlib
import json
import os
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from crowdgate.errors import EnvironmentFault, VerificationFailed
from crowdgate.limits import LARGEST_PRIVATE_RECORD
from crowdgate.system import permissions
from crowdgate.system.atomic_file import locked_folder, replace_file
from crowdgate.system.fsync import fsync_path
from crowdgate.system.regular_files import is_absent, read_plain

FOLDER = "private"
PART = ".part"


def private_file(ledger_file: Path, ledger_id: str, release_id: str) -> Path:
    """Return the path of the private record of a release."""
    return ledger_file.parent / FOLDER / private_name(ledger_id, release_id)


def private_name(ledger_id: str, release_id: str) -> str:
    """Return the name of the file that holds the private record of a release."""
    return f"{ledger_id}~{release_id.replace('/', '~')}.json"


def has_private_record(ledger_file: Path, ledger_id: str, release_id: str) -> bool:
    """Return whether anything exists at the path of a release's private record. Raises EnvironmentFault if that is
    unknown.
    """
    path = private_file(ledger_file, ledger_id, release_id)
    try:
        return not is_absent(path)
    except OSError as error:
        raise EnvironmentFault(f"{path.parent}: private records can't be accessed: {error.strerror}") from None


def private_folder(ledger_file: Path) -> Path:
    """Return the folder of private records, created if missing. Raises EnvironmentFault."""
    folder = ledger_file.parent / FOLDER
    try:
        permissions.make_folder(folder, permissions.PRIVATE_RECORD)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        fsync_path(ledger_file.parent)  # otherwise a power cut could remove the folder with all records
    except OSError as error:
        raise EnvironmentFault(f"{folder}: private records can't be stored there: {error.strerror}") from None
    return folder


def write_private(ledger_file: Path, ledger_id: str, release_id: str, record: Mapping[str, Any]) -> str:
    """Write the private record of a release, and return its commitment: the SHA-256 of the file, which holds a secret
    salt.
    """
    private_folder(ledger_file)
    salted = {"release": release_id, "salt": secrets.token_hex(32), **record}
    data = (json.dumps(salted, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()
    put_private(private_file(ledger_file, ledger_id, release_id), data)
    return hashlib.sha256(data).hexdigest()


def put_private(path: Path, data: bytes) -> None:
    """Write a file of the private folder atomically, replacing an older one. Raises OSError."""
    with locked_folder(path.parent):
        replace_file(path, PART, data, permissions.PRIVATE_RECORD)


def remove_private(path: Path) -> None:
    """Remove a private record, its page, and what a killed run left of a record. Raises OSError."""
    with locked_folder(path.parent) as folder:
        for each in (path.with_name(PART), path.with_suffix(".html"), path):
            each.unlink(missing_ok=True)
        os.fsync(folder)


def private_records(ledger_file: Path, ledger_id: str) -> dict[str, Path]:
    """Return the private records of a ledger, by name, in order. Raises EnvironmentFault."""
    folder, before = ledger_file.parent / FOLDER, f"{ledger_id}~"
    try:
        found = sorted(each for each in folder.iterdir() if each.name.startswith(before) and each.suffix == ".json")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise EnvironmentFault(f"{folder}: private records can't be listed: {error.strerror}") from None
    return {each.name.removeprefix(before).removesuffix(".json").replace("~", "/"): each for each in found}


def read_private(path: Path, commitments: Collection[str]) -> tuple[dict[str, Any], bool]:
    """Return the record without its salt, and whether it is one of those that were committed to (without any, it may
    be).

    Raises VerificationFailed for another record than was committed to, and for none. The message holds nothing of the
    record.
    """
    try:
        data = read_plain(path, LARGEST_PRIVATE_RECORD)
        record = json.loads(data)
        record.pop("salt")
    except OSError as error:
        raise VerificationFailed(f"{path}: this private record can't be read: {error.strerror}") from None
    except (ValueError, KeyError, AttributeError, RecursionError):
        raise VerificationFailed(f"{path}: this file is not a private record") from None
    committed = hashlib.sha256(data).hexdigest() in commitments
    if commitments and not committed:
        raise VerificationFailed(f"{path}: this private record differs from the one that the ledger recorded")
    return record, committed
