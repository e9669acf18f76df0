"""The record of an audit as bytes: one record has one text, and its digest is that of its setting."""

import hashlib
from typing import TypeVar

from pydantic import ValidationError

from crowdgate.audit.common.record import AnyRecord, RecordModel
from crowdgate.errors import VerificationFailed
from crowdgate.manifest import canonical


def digest_of(setting: RecordModel) -> str:
    """SHA-256 of everything that was played but the seed."""
    return hashlib.sha256(canonical(setting.model_dump(mode="json"))).hexdigest()


def record_bytes(record: AnyRecord) -> bytes:
    """The record as it is kept."""
    return canonical(record.model_dump(mode="json"))


R = TypeVar("R", bound=AnyRecord)


def parsed(data: bytes, kept: type[R]) -> R:
    """The record in `data`. Raises VerificationFailed for anything that is not written as a record of that type is."""
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
    raise VerificationFailed("it is not the record of an audit")
