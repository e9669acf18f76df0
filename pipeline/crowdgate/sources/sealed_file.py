"""Encrypted temporary files for confidential counts that exceed memory.

Each file has a random key of its own (AES-256-GCM), which stays in the memory of the run. So what a killed run leaves
on a disk can't be read, and a file that was changed is refused.
"""

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from crowdgate.errors import EnvironmentFault
from crowdgate.system import lazy_libraries, permissions
from crowdgate.system.regular_files import plain_file

_KEY_BITS = 256
_NONCE = 12
"""The bytes of a nonce of AES-GCM."""


@dataclass(frozen=True)
class SealedFile:
    """A file of encrypted blocks: its path, its key, and where each block begins and ends. Confidential: it opens the
    file."""

    path: Path
    key: bytes = field(repr=False)
    edges: tuple[int, ...] = field(repr=False)

    def size(self, number: int) -> int:
        """Return the bytes of a block in the file."""
        return self.edges[number + 1] - self.edges[number]

    def read(self, number: int) -> bytes:
        """Return the content of a block. Raises EnvironmentFault if it can't be read as it was written."""
        try:
            with plain_file(self.path) as file:
                file.seek(self.edges[number])
                data = file.read(self.size(number))
            return lazy_libraries.aead.AESGCM(self.key).decrypt(_nonce(number), data, None)
        except (OSError, lazy_libraries.exceptions.InvalidTag):
            pass
        raise EnvironmentFault(f"{self.path.parent}: a temporary file of this run was changed or can't be read")


def write_sealed(folder: Path, blocks: Iterable[bytes]) -> SealedFile:
    """Write blocks of bytes to a new file of a folder. If that fails, nothing of the file stays. Raises
    EnvironmentFault."""
    path, key, edges = folder / secrets.token_hex(8), lazy_libraries.aead.AESGCM.generate_key(_KEY_BITS), [0]
    cipher = lazy_libraries.aead.AESGCM(key)
    try:
        handle = permissions.open_file(path, os.O_WRONLY | os.O_EXCL, permissions.SPILLED)
        with os.fdopen(handle, "wb") as file:
            for number, block in enumerate(blocks):
                edges.append(edges[-1] + file.write(cipher.encrypt(_nonce(number), block, None)))
    except BaseException as error:
        path.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        reason = error.strerror
    else:
        return SealedFile(path, key, tuple(edges))
    wanted = "free some space there, and run again with the next slot"
    raise EnvironmentFault(f"{folder.parent}: temporary files of rows by person can't be written: {reason}; {wanted}")


def _nonce(number: int) -> bytes:
    # a key serves one file, and a number one block of it
    return number.to_bytes(_NONCE, "big")
