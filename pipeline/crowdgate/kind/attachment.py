"""Files beside those of the kind that all releases have, or may have."""

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
    """Inputs of attachments: the manifest, the README's template and words of the release's kind, the records of
    audits, the public register that gates on matches compare with, and the bytes of dictionary.csv. Once the manifest
    is closed also its bytes, the signing key, and the trusted keys."""

    manifest: Manifest
    page: KindPage | None = None
    audits: Mapping[AuditQuestion, bytes] = field(default_factory=dict)
    register: bytes | None = None
    sealed: bytes = b""
    signer: SigningKey | None = None
    trusted: Sequence[PublicKey] = ()
    dictionary: bytes = b""


@dataclass(frozen=True)
class Attachment:
    """One file. `make` returns its bytes, or None if a release has none; `problems` yields the faults of bytes that
    were read (None: the file is missing).

    A `describing` attachment is made when the digests of the other files are known, under this name in policies. The
    manifest lists it. A `closing` attachment is made after the manifest, which does not name it; the manifest lists the
    others. Gates read some attachments: `evidence` adds their content to the candidate. The ledger's journal holds the
    digest of a `recorded` attachment, as the audit of a question.
    """

    make: Callable[[Context], bytes | None]
    problems: Callable[[Context, bytes | None], Iterator[str]]
    closing: bool = False
    describing: str | None = None
    evidence: Callable[[Manifest, Candidate, bytes], Candidate] | None = None
    recorded: AuditQuestion | None = None

    @property
    def is_last(self) -> bool:
        """True if it is made after the data files are written."""
        return self.closing or self.describing is not None


Attachments = Mapping[str, Attachment]
