"""An attested position: a line of a ledger's journal with the state up to it, for later processes.

The position is one file in the ledger's private folder, in two parts: an envelope (DSSE) of a statement that names the
ledger, the line, its digest and the SHA-256 of the second part; and the state, as a line of JSON and an image of the
charges (`charge_image`). Earlier versions stored all of the state as JSON: their positions name their line, and state
their charges to a restoration. Only a process that followed the journal from line 1 writes a position. A position
counts only if a trusted key signed it. Without the file, or its state, the journal is followed from line 1, so the file
may be deleted at any time.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import from_json

from crowdgate.accounting import lifetime, renyi, renyi_filter
from crowdgate.errors import CrowdgateError
from crowdgate.ledger import (
    access_log,
    charge_image,
    filter_rules,
    filters,
    journal,
    journal_rules,
    lazy_mapping,
    replay,
    schema,
    series,
    totals,
    transitions,
    values,
)
from crowdgate.ledger.charge_image import IMAGED, ChargeImage
from crowdgate.ledger.journal_rules import JournalState
from crowdgate.ledger.private import FOLDER, private_folder, put_private
from crowdgate.ledger.replay import JournalReplay
from crowdgate.ledger.store import Database
from crowdgate.limits import LARGEST_POSITION
from crowdgate.signing.canonical import Digest, SignedModel, canonical, parse_canonical
from crowdgate.signing.dsse import open_envelope, seal
from crowdgate.signing.keys import PublicKey, SigningKey
from crowdgate.system.large_pages import read_in_large_pages

PAYLOAD_TYPE = "application/vnd.crowdgate.ledger-position+json"
_RULES = (
    access_log, charge_image, filter_rules, filters, journal, journal_rules, lazy_mapping, replay, schema, series,
    totals, transitions, values, lifetime, renyi, renyi_filter,
)  # fmt: skip
_END = re.compile(b"\n}\n")
"""The last bytes of an envelope, which occur nowhere inside it."""
_LINE_END = b"\n"
"""The byte after the JSON of a state, which occurs nowhere inside it."""
_INVALID = (ValueError, KeyError, TypeError, IndexError, AttributeError, ZeroDivisionError, RecursionError)
"""Errors of a state that this program did not write."""


class PositionStatement(SignedModel):
    """The signed statement of an attested position: its ledger, and the number and digest of its line.

    `rules` is the SHA-256 of the source code that replayed the lines, `state` that of the ledger's state after the
    line.
    """

    format: Literal[1]
    ledger: str
    rules: Digest
    number: Annotated[int, Field(ge=1)]
    digest: Digest
    state: Digest


@dataclass(frozen=True)
class AttestedPosition:
    """A position in a ledger's journal that a trusted key signed: the bytes of its file, whose state begins at `start`.

    The state may be large, so it is never copied.
    """

    path: Path
    stated: PositionStatement
    data: memoryview
    start: int

    def is_line_of(self, database: Database) -> bool:
        """Return whether the journal in `database` has the line of this position, with the same digest."""
        found = journal.line_at(database, self.stated.number)
        return found is not None and found.digest == self.stated.digest

    @cached_property
    def has_state(self) -> bool:
        """True if the stored state has the signed SHA-256 and was made by the replay rules of this program."""
        return self.stated.rules == _rules_digest() and self._is_signed()

    def _is_signed(self) -> bool:
        return self.stated.state == hashlib.sha256(self.data[self.start :]).hexdigest()

    def rows(self) -> dict[str, list[Sequence[Any]]]:
        """Return the rows of each table in the stored state, which another version of this program may have written:
        earlier ones stored rows, not columns. The result is empty if the state lacks the signed SHA-256.
        """
        if not self._is_signed():
            return {}
        saved, image = self._parts()
        if "rows" in saved:
            return dict(saved["rows"])
        tables = saved["columns"].items()
        found: dict[str, list[Sequence[Any]]] = {
            name: list(zip(*map(_restored_column, columns), strict=True)) for name, columns in tables
        }
        for name in IMAGED if image else ():
            found[name] = [*ChargeImage(image).table(name)]
        return found

    def _parts(self) -> tuple[Any, memoryview]:
        """Return the JSON of the state and the image of its charges, which earlier versions stored in the JSON."""
        found = re.compile(_LINE_END).search(self.data, self.start)
        end = len(self.data) if found is None else found.start()
        saved = from_json(bytes(self.data[self.start : end]), cache_strings="none")  # digests, hardly any twice
        return saved, self.data[end + 1 :]

    def replay(self) -> JournalReplay | None:
        """Return a journal replay that continues after the line of this position; None without a valid state."""
        if not self.has_state:
            return None
        try:
            saved, image = self._parts()
            held = JournalState.restored(saved, ChargeImage(image))
        except (*_INVALID, sqlite3.Error):
            return None
        return JournalReplay(self.stated.number, self.stated.digest, held)

    def contradiction(self) -> str:
        """Return the error text for a journal that lacks the line of this position."""
        said = f"its journal does not have line {self.stated.number} as a trusted key signed it in {self.path}"
        return f"{said}: it is an older copy, was cut off or computed anew; after restoring it, remove that file"


def _restored_column(saved: Mapping[str, Sequence[Any]] | Sequence[Any]) -> Sequence[Any]:
    """Return the cells of a column; earlier versions stored rare values once, with their positions."""
    return [*map(saved["values"].__getitem__, saved["places"])] if isinstance(saved, Mapping) else saved


def position_file(ledger_file: Path, ledger_id: str) -> Path:
    """Return the path of the file that holds a ledger's attested position."""
    return ledger_file.parent / FOLDER / f"{ledger_id}.position"


def read_position(ledger_file: Path, ledger_id: str, trusted: Sequence[PublicKey]) -> AttestedPosition | None:
    """Return the attested position of a ledger if one of the `trusted` keys signed it; None if it is missing or
    invalid.
    """
    path = position_file(ledger_file, ledger_id)
    try:
        data = read_in_large_pages(path, LARGEST_POSITION)
        end = _end_of_envelope(data)
        opened = open_envelope(bytes(data[:end]), trusted)
        stated = parse_canonical(opened.payload, PositionStatement)
    except (OSError, ValueError, CrowdgateError):
        return None
    own = opened.payload_type == PAYLOAD_TYPE and stated.ledger == ledger_id
    return AttestedPosition(path, stated, data, end) if own else None


def _end_of_envelope(data: memoryview) -> int:
    found = _END.search(data)
    if found is None:
        raise ValueError("no envelope")
    return found.end()


def write_position(ledger_file: Path, ledger_id: str, seen: JournalReplay, signer: SigningKey) -> None:
    """Write an attested position at the last line of a journal that was replayed from line 1. Does nothing where
    writing is not possible.
    """
    try:
        state = state_bytes(seen.held)
        stated = PositionStatement(
            format=1,
            ledger=ledger_id,
            rules=_rules_digest(),
            number=seen.number,
            digest=seen.digest,
            state=hashlib.sha256(state).hexdigest(),
        )
        data = seal(PAYLOAD_TYPE, canonical(stated), [signer]) + state
        if len(data) <= LARGEST_POSITION:
            private_folder(ledger_file)
            put_private(position_file(ledger_file, ledger_id), data)
    except (OSError, ValueError, OverflowError, AttributeError, CrowdgateError, sqlite3.Error):
        return


def state_bytes(held: JournalState) -> bytes:
    """Return the stored form of a state: a line of JSON, then the image of its charges. Raises what `ChargeImage.of`
    raises.
    """
    return json.dumps(held.saved(), separators=(",", ":")).encode() + _LINE_END + ChargeImage.of(held.rows).data


@cache
def _rules_digest() -> str:
    """Return the SHA-256 of the source of all modules that replay a journal; "", which no statement holds, if a module
    is unreadable.
    """
    try:
        files = [Path(str(module.__file__)).read_bytes() for module in _RULES]
    except OSError:
        return ""
    return hashlib.sha256(b"\0".join(files)).hexdigest()
