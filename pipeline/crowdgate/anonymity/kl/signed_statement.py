"""What is signed in a repository, entries and the index: of a day, and read in one way."""

from collections.abc import Sequence
from datetime import date
from typing import ClassVar, TypeVar

from crowdgate.errors import VerificationFailed
from crowdgate.policy.values import Day
from crowdgate.signing.canonical import SignedModel, parse_canonical
from crowdgate.signing.dsse import open_envelope
from crowdgate.signing.keys import PublicKey


class DatedStatement(SignedModel):
    """What is said as of a day; `words` is what errors call it."""

    words: ClassVar[str]
    date: Day


Said = TypeVar("Said", bound=DatedStatement)


def read_signed(
    envelope: bytes, trusted: Sequence[PublicKey], today: date, payload_type: str, model: type[Said]
) -> tuple[Said, tuple[str, ...]]:
    """What is in the envelope, and which of the trusted keys signed it.

    Raises VerificationFailed unless one of them did, for anything but a `model` of that type, and after `today`.
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
