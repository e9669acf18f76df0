"""Signed statements of a repository: entries and the index. They are dated, and read by one function."""

from collections.abc import Sequence
from datetime import date
from typing import ClassVar, TypeVar

from crowdgate.errors import VerificationFailed
from crowdgate.policy.values import Day
from crowdgate.signing.canonical import SignedModel, parse_canonical
from crowdgate.signing.dsse import open_envelope
from crowdgate.signing.keys import PublicKey


class DatedStatement(SignedModel):
    """A signed statement as of a day; `words` is the name of its kind in errors."""

    words: ClassVar[str]
    date: Day


Said = TypeVar("Said", bound=DatedStatement)


def read_signed(
    envelope: bytes, trusted: Sequence[PublicKey], today: date, payload_type: str, model: type[Said]
) -> tuple[Said, tuple[str, ...]]:
    """Return the statement in the envelope, and the trusted keys that signed it.

    Raises VerificationFailed unless a trusted key signed it, for anything but a `model` of that type, and for a date
    after `today`.
    """
    found = open_envelope(envelope, trusted)
    if found.payload_type != payload_type:
        raise VerificationFailed(f"the envelope holds {found.payload_type!r}; expected {payload_type!r}")
    try:
        said = parse_canonical(found.payload, model)
    except ValueError as error:
        raise VerificationFailed(f"what is signed is no {model.words} of a KL repository: {error}") from None
    if date.fromisoformat(said.date) > today:
        raise VerificationFailed(f"the {model.words} is dated in the future")
    return said, found.signers
