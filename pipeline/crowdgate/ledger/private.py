"""The private record of a run: confidential measurements and reasons, in a file for the curator beside the ledger."""

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = "private"


def write_private(ledger_file: Path, ledger_id: str, release_id: str, record: Mapping[str, Any]) -> str:
    """Write the record (mode 0600) and return its commitment: the SHA-256 of the file, which holds a secret salt."""
    folder = ledger_file.parent / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    salted = {"release": release_id, "salt": secrets.token_hex(32), **record}
    data = (json.dumps(salted, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()
    path = folder / f"{ledger_id}~{release_id.replace('/', '~')}.json"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        os.fchmod(handle, 0o600)
        file.write(data)
        file.flush()
        os.fsync(handle)
    return hashlib.sha256(data).hexdigest()
