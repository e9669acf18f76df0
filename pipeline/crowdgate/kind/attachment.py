"""Files that releases of every kind have, or may have, beside those of their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdgate.candidate import AuditQuestion, Candidate
    from crowdgate.kind.kind import KindPage
    from crowdgate.manifest import Manifest
    from crowdgate.signing.keys import PublicKey, SigningKey


@dataclass(frozen=True, kw_only=True)
class Context:
    """What an attachment is made of: the manifest, the kind's page, the records of audits and the register that gates
    read. Once the manifest is closed also its bytes, the key that signs, and the keys that are trusted."""

    manifest: Manifest
    page: KindPage | None = None
    audits: Mapping[AuditQuestion, bytes] = field(default_factory=dict)
    register: bytes | None = None
    sealed: bytes = b""
    signer: SigningKey | None = None
    trusted: Sequence[PublicKey] = ()


@dataclass(frozen=True)
class Attachment:
    """One file. `make` gives its bytes, or None where a release has none; `problems` says what does not hold of bytes
    that were found (None: it is not there).

    A `closing` one is made after the manifest, which does not name it; the others are in it. Some are what gates are
    judged by: `evidence` is the candidate with what their bytes tell. The ledger's journal knows the digest of one that
    is `recorded`, as the audit of a question.
    """

    make: Callable[[Context], bytes | None]
    problems: Callable[[Context, bytes | None], Iterator[str]]
    closing: bool = False
    evidence: Callable[[Manifest, Candidate, bytes], Candidate] | None = None
    recorded: AuditQuestion | None = None


Attachments = Mapping[str, Attachment]
