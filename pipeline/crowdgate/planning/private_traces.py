"""Files in the private folder of a ledger whose run the ledger does not know: it is an older copy, or was cut off."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import EnvironmentFault
from crowdgate.ledger.access_log import ANONYMITY_KEPT, ANONYMITY_MEASURED
from crowdgate.ledger.audits import BEGUN
from crowdgate.ledger.contents import charges
from crowdgate.ledger.private import FOLDER

if TYPE_CHECKING:
    from crowdgate.ledger.journal_rules import JournalState
    from crowdgate.ledger.ledger import Ledger

FOUND = "private-file-found"
"""Event: a restoration found a private file of an unknown run. The commitment is the SHA-256 of the file's name."""
ANONYMITY = "anonymity"
"""The first part of the names of anonymity measurements."""
SUFFIX = ".json"
_SLOT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{4}Z)?")
"""The last part of a release's id; those of other private files end in a digest."""


def name_digest(name: str) -> str:
    """Return the SHA-256 of a private file's name, which the ledger states where a run may leave such a file."""
    return hashlib.sha256(name.encode()).hexdigest()


def unknown_private_files(ledger: Ledger) -> list[Path]:
    """Return the private records, and the records of audits and measurements, whose run the ledger does not know.

    Raises EnvironmentFault if the folder can't be read.
    """
    folder, mark = ledger.path.parent / FOLDER, f"{ledger.id}~"
    names = [name for name in _names(folder) if name.startswith(mark) and name.endswith(SUFFIX)]
    known = _KnownRuns(ledger, ledger.state()) if names else None  # after the files are listed
    return [folder / name for name in sorted(names) if known is not None and not known.includes(name)]


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise EnvironmentFault(f"{folder}: private records can't be accessed: {error.strerror}") from None


def release_id_of(ledger: Ledger, path: Path) -> str | None:
    """Return the id of the release of a private record; None for the record of an audit or of a measurement."""
    parts = path.name.removeprefix(f"{ledger.id}~").removesuffix(SUFFIX).split("~")
    return "/".join(parts) if len(parts) == 3 and _SLOT.fullmatch(parts[2]) else None


class _KnownRuns:
    """The runs in a ledger's state that leave private files."""

    def __init__(self, ledger: Ledger, held: JournalState) -> None:
        self._mark = f"{ledger.id}~"
        self._charges = charges(held)
        self._audits = set(map(_audit_tail, (subject for subject, _ in held.recorded.get(BEGUN, ()))))
        self._measured = {subject for subject, _ in held.recorded.get(ANONYMITY_KEPT, ())}
        begun = (*held.recorded.get(ANONYMITY_MEASURED, ()), *held.recorded.get(FOUND, ()))
        self._digests = {commitment for _, commitment in begun}

    def includes(self, name: str) -> bool:
        """Return whether the ledger knows the run that left the private file `name`."""
        kind, *rest = name.removeprefix(self._mark).removesuffix(SUFFIX).split("~")
        charge = self._charges.get("/".join((kind, *rest)))
        if (charge is not None and charge.reading) or name_digest(name) in self._digests:
            return True
        measured = kind == ANONYMITY and "/".join(rest[:-1]) in self._measured
        return measured or "~".join(rest) in self._audits


def _audit_tail(subject: str) -> str:
    """Return the end of the names of an audit's private files: policy, version and the first digits of its digest."""
    version, _, key = subject.partition(" ")
    return f"{version.replace('/', '~')}~{key.rpartition(' ')[2][:16]}"
