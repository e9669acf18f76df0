"""The record of an audit as bytes. A record has exactly one text, and its digest is that of its setting."""

import hashlib
from typing import TypeVar

from pydantic import ValidationError

from crowdgate.audit.common.record import AnyRecord, RecordModel
from crowdgate.errors import VerificationFailed
from crowdgate.manifest import canonical


def digest_of(setting: RecordModel) -> str:
    """Return the SHA-256, in hexadecimal, of an audit's setting: everything that decides the audit except its seed."""
    return hashlib.sha256(canonical(setting.model_dump(mode="json"))).hexdigest()


def record_bytes(record: AnyRecord) -> bytes:
    """Return an audit's record as the bytes of the JSON text that is stored."""
    return canonical(record.model_dump(mode="json"))


R = TypeVar("R", bound=AnyRecord)


def parsed(data: bytes, kept: type[R]) -> R:
    """Return the audit record of type `kept` in the bytes `data`. Raises VerificationFailed for anything that is not
    exactly the stored text of such a record."""
    try:
        record = kept.model_validate_json(data)
        if (
            record_bytes(record) == data
            and record.digest == digest_of(record.setting)
            and record.policy_results is not None
        ):
            return record
    except (ValidationError, ValueError, ArithmeticError, RecursionError, StopIteration):
        pass
    raise VerificationFailed("this file is not the record of an audit")
