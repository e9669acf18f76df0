"""The signed index of a repository: the digests of all its entries, so that no entry can be removed or added unnoticed.

If somebody restores an older index and removes the entries that it lacks, readers can't tell it from the current one.
Only its date reveals it to a reader who knows a later index.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from crowdgate.anonymity.kl.signed_statement import DatedStatement, read_signed
from crowdgate.errors import EnvironmentFault
from crowdgate.limits import MOST_ENTRIES
from crowdgate.signing.canonical import Digest, canonical
from crowdgate.signing.dsse import seal
from crowdgate.signing.keys import PublicKey, SigningKey

NAME = "index.dsse.json"
SUFFIX = ".dsse.json"
PAYLOAD_TYPE = "application/vnd.crowdgate.kl-index.v1+json"


def _check_digests(digests: tuple[str, ...]) -> tuple[str, ...]:
    if sorted(set(digests)) != list(digests):
        raise ValueError("digests in their order, each once")
    return digests


class Index(DatedStatement):
    """The index of a repository: the SHA-256 of the files of all its entries."""

    words: ClassVar[str] = "index"
    type: Literal["urn:crowdgate:kl-index:v1"]
    entries: Annotated[
        tuple[Digest, ...], Field(min_length=1, max_length=MOST_ENTRIES, strict=False), AfterValidator(_check_digests)
    ]


def file_name(digest: str) -> str:
    """Return the name of an entry's file, made of the digest of its bytes."""
    return f"{digest}{SUFFIX}"


def signed_index(digests: Iterable[str], day: date, key: SigningKey) -> bytes:
    """Return the signed index of these entries. Raises EnvironmentFault for more entries than readers accept."""
    held = tuple(sorted(set(digests)))
    if len(held) > MOST_ENTRIES:
        raise EnvironmentFault(f"a repository holds at most {MOST_ENTRIES} entries")
    index = Index(type="urn:crowdgate:kl-index:v1", date=day.isoformat(), entries=held)
    return seal(PAYLOAD_TYPE, canonical(index), [key])


def read_index(envelope: bytes, trusted: Sequence[PublicKey], today: date) -> Index:
    """Return the index in these bytes. Raises VerificationFailed unless a trusted key signed it and it is dated at most
    `today`."""
    return read_signed(envelope, trusted, today, PAYLOAD_TYPE, Index)[0]
