"""Signatures of the journal's lines: one covers its line and, by the chain, all before it."""

import base64
import binascii
from collections.abc import Sequence

from crowdgate.ledger.journal import JournalLine
from crowdgate.ledger.schema import SIGNATURES
from crowdgate.ledger.store import Database
from crowdgate.signing.keys import PublicKey, SigningKey


def sign(database: Database, ledger_id: str, line: JournalLine, key: SigningKey) -> None:
    """Store the signature of a journal line with `key`; the caller holds the ledger's lock."""
    own = f"SELECT 1 FROM {SIGNATURES} WHERE number = ? AND key = ?"
    if not any(database.rows(own, line.number, key.public.id)):
        text = base64.b64encode(key.sign(_statement(ledger_id, line))).decode()
        added = f"INSERT INTO {SIGNATURES} (number, key, signature) VALUES (?, ?, ?)"
        database.change(added, line.number, key.public.id, text)


def is_signed_by(database: Database, ledger_id: str, line: JournalLine, trusted: Sequence[PublicKey]) -> bool:
    """Return whether one of the `trusted` keys signed a journal line."""
    own = database.rows(f"SELECT key, signature FROM {SIGNATURES} WHERE number = ?", line.number)
    said, keys = _statement(ledger_id, line), {key.id: key for key in trusted}
    return any(id in keys and keys[id].verify(_bytes(text), said) for id, text in own)


def signers(database: Database, ledger_id: str, line: JournalLine, known: Sequence[PublicKey]) -> frozenset[str]:
    """Return the ids of those of the `known` keys that signed a journal line."""
    return frozenset(key.id for key in known if is_signed_by(database, ledger_id, line, [key]))


def is_signed(database: Database, number: int) -> bool:
    """Return whether a signature of any key is stored for the journal line with this number."""
    return any(database.rows(f"SELECT 1 FROM {SIGNATURES} WHERE number = ?", number))


def _statement(ledger_id: str, line: JournalLine) -> bytes:
    return f"crowdgate ledger line\n{ledger_id}\n{line.number}\n{line.digest}\n".encode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
