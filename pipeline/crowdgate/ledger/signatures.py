"""Signatures of the journal's lines: one covers its line and, by the chain, all before it."""

import base64
import binascii
from collections.abc import Sequence

from sqlalchemy import Connection, insert, select

from crowdgate.ledger.journal import JournalLine
from crowdgate.ledger.schema import signatures
from crowdgate.signing.keys import PublicKey, SigningKey


def sign(connection: Connection, ledger_id: str, line: JournalLine, key: SigningKey) -> None:
    """Keeps a signature of a line; the caller holds the ledger's lock."""
    own = (signatures.c.number == line.number, signatures.c.key == key.public.id)
    if connection.execute(select(signatures.c.number).where(*own)).first() is None:
        text = base64.b64encode(key.sign(_statement(ledger_id, line))).decode()
        row = {"number": line.number, "key": key.public.id, "signature": text}
        connection.execute(insert(signatures).values(row))


def is_signed_by(connection: Connection, ledger_id: str, line: JournalLine, trusted: Sequence[PublicKey]) -> bool:
    """Whether one of these keys signed a line."""
    own = select(signatures.c.key, signatures.c.signature).where(signatures.c.number == line.number)
    said, keys = _statement(ledger_id, line), {key.id: key for key in trusted}
    return any(id in keys and keys[id].verify(_bytes(text), said) for id, text in connection.execute(own).tuples())


def is_signed(connection: Connection, number: int) -> bool:
    """Whether anybody signed the line of this number."""
    return connection.execute(select(signatures.c.number).where(signatures.c.number == number)).first() is not None


def _statement(ledger_id: str, line: JournalLine) -> bytes:
    return f"crowdgate ledger line\n{ledger_id}\n{line.number}\n{line.digest}\n".encode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
