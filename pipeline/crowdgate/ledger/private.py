"""The private record of a run: confidential measurements and reasons, in a file for the curator beside the ledger."""

import hashlib
import json
import os
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from crowdgate.errors import VerificationFailed

FOLDER = "private"


def private_file(ledger_file: Path, ledger_id: str, release_id: str) -> Path:
    """Where the private record of a release lies."""
    return ledger_file.parent / FOLDER / f"{ledger_id}~{release_id.replace('/', '~')}.json"


def write_private(ledger_file: Path, ledger_id: str, release_id: str, record: Mapping[str, Any]) -> str:
    """Write the record (mode 0600) and return its commitment: the SHA-256 of the file, which holds a secret salt."""
    path = private_file(ledger_file, ledger_id, release_id)
    folder = path.parent
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    salted = {"release": release_id, "salt": secrets.token_hex(32), **record}
    data = (json.dumps(salted, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        os.fchmod(handle, 0o600)
        file.write(data)
        file.flush()
        os.fsync(handle)
    return hashlib.sha256(data).hexdigest()


def read_private(path: Path, commitments: Collection[str]) -> tuple[dict[str, Any], bool]:
    """The record without its salt, and whether it is one of those that were committed to; without any it may be.

    Raises VerificationFailed for another record than was committed to, and for none. Nothing of it is in the message.
    """
    try:
        data = path.read_bytes()
        record = json.loads(data)
        record.pop("salt")
    except (OSError, ValueError, KeyError, AttributeError):
        raise VerificationFailed(f"{path}: no private record that can be read") from None
    committed = hashlib.sha256(data).hexdigest() in commitments
    if commitments and not committed:
        raise VerificationFailed(f"{path}: it is not the record that the ledger committed to")
    return record, committed
