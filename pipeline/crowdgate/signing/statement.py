"""Signed statements, as in-toto Statements v1: digests by name, and Crowdgate's statements about them.

Predicate types are names, not addresses, as in-toto's TypeURI allows. The statement of a release names every file of
it, including its manifest; a catalogue names every release of a destination; a withdrawal names the release that was
withdrawn. An approval names the release that somebody approves, with the digest of the policy's files or of its
manifest.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError

from crowdgate.errors import EnvironmentFault, VerificationFailed
from crowdgate.limits import MOST_SUBJECTS
from crowdgate.signing.canonical import Digest, SignedModel, canonical, parse_canonical
from crowdgate.signing.dsse import envelope_contents, open_envelope, seal
from crowdgate.signing.keys import PublicKey, SigningKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
RELEASE = "urn:crowdgate:release:v1"
CATALOGUE = "urn:crowdgate:catalogue:v1"
WITHDRAWAL = "urn:crowdgate:withdrawal:v1"
APPROVAL = "urn:crowdgate:approval:v1"

_PART = r"[0-9A-Za-z][0-9A-Za-z.-]{0,62}"
ReleaseId = Annotated[str, Field(pattern=rf"^{_PART}/{_PART}/{_PART}$")]
"""Policy, version and slot: always a folder below the destination, even in a forged statement."""
Amount = Annotated[str, Field(pattern=r"^[0-9]{1,300}(/[0-9]{1,300}|\.[0-9]{1,300})?(e-[0-9]{1,3})?$")]
"""An exact amount of epsilon or delta, as text."""
FileName = Annotated[str, Field(pattern=r"^[^/\\\p{C}]+$", max_length=255)]


class Digests(SignedModel):
    """The digests of one subject."""

    sha256: Digest


class FileSubject(SignedModel):
    """One file of a release."""

    name: FileName
    digest: Digests


class ReleaseSubject(SignedModel):
    """One release of a destination; the digest is that of its manifest."""

    name: ReleaseId
    digest: Digests


class LedgerPlace(SignedModel):
    """A position of a ledger: its id, and number and digest of the last line of its journal at that time."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,60}$")]
    line: Annotated[int, Field(ge=1, le=2**53)]
    digest: Digest


class ReleasePredicate(SignedModel):
    """The statement about the files of a release."""

    release: ReleaseId
    policy_digest: Annotated[Digest, Field(alias="policyDigest")]
    ledger: LedgerPlace


class CataloguePredicate(SignedModel):
    """The statement about the releases of a destination: the ledger that listed them, and its position then.

    `withdrawn` are the listed releases that were withdrawn, of which only a tombstone is there (None: none was).
    """

    ledger: LedgerPlace
    withdrawn: Annotated[
        tuple[ReleaseId, ...] | None, Field(min_length=1, strict=False, exclude_if=lambda value: value is None)
    ] = None


def _printable(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("one printable line without leading or trailing blanks")
    return text


StatedDay = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class WithdrawalPredicate(SignedModel):
    """The statement about a withdrawal: its day (UTC) and reason, the privacy cost that stays charged, as exact text,
    with its population and the digest of its policy, and the line of the ledger that records it.
    """

    day: StatedDay
    reason: Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_printable)]
    epsilon: Amount
    delta: Amount
    population: Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_printable)]
    policy_digest: Annotated[Digest, Field(alias="policyDigest")]
    ledger: LedgerPlace


class ApprovalPredicate(SignedModel):
    """The statement about an approval: what it comes before, its day (UTC), the digest of the policy's files, the
    privacy cost as exact text with its population, and the ledger's last line when it was signed.
    """

    before: Literal["charge", "publication"]
    day: StatedDay
    policy_digest: Annotated[Digest, Field(alias="policyDigest")]
    population: Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_printable)]
    epsilon: Amount
    delta: Amount
    author: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_printable)]
    """The user and the machine that signed, as the machine names them."""
    ledger: LedgerPlace


Subject = TypeVar("Subject", bound=FileSubject | ReleaseSubject)


def _ordered(subjects: tuple[Subject, ...]) -> tuple[Subject, ...]:
    names = [subject.name for subject in subjects]
    if any(name in (".", "..") for name in names) or sorted(set(names)) != names:
        raise ValueError("names in their order, each once")
    return subjects


Files = Annotated[
    tuple[FileSubject, ...], Field(min_length=1, max_length=MOST_SUBJECTS, strict=False), AfterValidator(_ordered)
]
Releases = Annotated[
    tuple[ReleaseSubject, ...], Field(min_length=1, max_length=MOST_SUBJECTS, strict=False), AfterValidator(_ordered)
]


class ReleaseStatement(SignedModel):
    """The statement of one release: all its files except the envelope itself."""

    type: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")]
    subject: Files
    predicate_type: Annotated[Literal["urn:crowdgate:release:v1"], Field(alias="predicateType")]
    predicate: ReleasePredicate

    def files(self) -> dict[str, str]:
        """Return the digest of each file by its name."""
        return {subject.name: subject.digest.sha256 for subject in self.subject}


class CatalogueStatement(SignedModel):
    """The statement of a destination: all releases that the ledger published there."""

    type: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")]
    subject: Releases
    predicate_type: Annotated[Literal["urn:crowdgate:catalogue:v1"], Field(alias="predicateType")]
    predicate: CataloguePredicate

    def releases(self) -> dict[str, str]:
        """Return the digest of each release's manifest by its id, withdrawn releases included."""
        return {subject.name: subject.digest.sha256 for subject in self.subject}

    def withdrawn(self) -> frozenset[str]:
        """Return the ids of the listed releases that were withdrawn."""
        return frozenset(self.predicate.withdrawn or ())


class WithdrawalStatement(SignedModel):
    """The statement of one withdrawn release: its id, with the digest of its manifest, and why it was withdrawn."""

    type: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")]
    subject: Annotated[tuple[ReleaseSubject], Field(strict=False)]
    predicate_type: Annotated[Literal["urn:crowdgate:withdrawal:v1"], Field(alias="predicateType")]
    predicate: WithdrawalPredicate

    @property
    def release_id(self) -> str:
        """The id of the withdrawn release."""
        return self.subject[0].name

    @property
    def manifest_digest(self) -> str:
        """The SHA-256 of the manifest of the withdrawn release."""
        return self.subject[0].digest.sha256

    @property
    def plain(self) -> str:
        """The withdrawal in sentences."""
        return withdrawal_text(self.predicate.day, self.predicate.reason)


class ApprovalStatement(SignedModel):
    """The statement of one approval: the id of the release, with the digest of the policy's files before the charge,
    or that of its manifest before publication.
    """

    type: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")]
    subject: Annotated[tuple[ReleaseSubject], Field(strict=False)]
    predicate_type: Annotated[Literal["urn:crowdgate:approval:v1"], Field(alias="predicateType")]
    predicate: ApprovalPredicate

    @property
    def release_id(self) -> str:
        """The id of the approved release."""
        return self.subject[0].name

    @property
    def digest(self) -> str:
        """The SHA-256 that is approved: of the policy's files, or of the manifest."""
        return self.subject[0].digest.sha256


def withdrawal_text(day: str, reason: str) -> str:
    """Return the sentences about a withdrawal."""
    stop = "" if reason.endswith((".", "!", "?")) else "."
    return (
        f"It was withdrawn on {day}. Reason: {reason}{stop} Its files were removed, and the privacy cost stays charged."
    )


Statement = TypeVar("Statement", ReleaseStatement, CatalogueStatement, WithdrawalStatement, ApprovalStatement)


def release_statement(
    release_id: str, policy_digest: str, ledger_place: LedgerPlace, files: Mapping[str, str]
) -> ReleaseStatement:
    """Return the statement of a release. `files` are the SHA-256 of all files of its folder except the envelope itself.

    Raises EnvironmentFault for a statement that could not be read again, such as one with more files than `limits`
    allows.
    """
    predicate = {"release": release_id, "policyDigest": policy_digest, "ledger": ledger_place}
    return _valid_statement(ReleaseStatement, RELEASE, predicate, files)


def catalogue_statement(
    ledger_place: LedgerPlace, releases: Mapping[str, str], withdrawn: Collection[str] = ()
) -> CatalogueStatement:
    """Return the statement of a destination. `releases` are the SHA-256 of the manifests by release id, `withdrawn` the
    ids of those that were withdrawn.

    Raises EnvironmentFault as `release_statement` does.
    """
    predicate = {"ledger": ledger_place, "withdrawn": tuple(sorted(withdrawn)) or None}
    return _valid_statement(CatalogueStatement, CATALOGUE, predicate, releases)


def withdrawal_statement(release_id: str, manifest_digest: str, predicate: WithdrawalPredicate) -> WithdrawalStatement:
    """Return the statement of a withdrawn release. Raises EnvironmentFault as `release_statement` does."""
    return _valid_statement(WithdrawalStatement, WITHDRAWAL, predicate, {release_id: manifest_digest})


def approval_statement(release_id: str, digest: str, predicate: ApprovalPredicate) -> ApprovalStatement:
    """Return the statement that approves the release with this digest. Raises EnvironmentFault as `release_statement`
    does.
    """
    return _valid_statement(ApprovalStatement, APPROVAL, predicate, {release_id: digest})


def _valid_statement(
    model: type[Statement], predicate_type: str, predicate: object, subjects: Mapping[str, str]
) -> Statement:
    stated = {
        "_type": STATEMENT,
        "subject": tuple(_subjects(subjects)),
        "predicateType": predicate_type,
        "predicate": predicate,
    }
    try:
        return model.model_validate(stated)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise EnvironmentFault(
            f"this can't be signed, because its value is not allowed in a statement: {place}: {first['msg']}"
        ) from None


def _subjects(digests: Mapping[str, str]) -> Iterator[dict[str, object]]:
    for name, digest in sorted(digests.items()):
        yield {"name": name, "digest": {"sha256": digest}}


def sign_statement(
    statement: ReleaseStatement | CatalogueStatement | WithdrawalStatement | ApprovalStatement,
    keys: Sequence[SigningKey],
) -> bytes:
    """Return the DSSE envelope of a statement, signed with each of the keys."""
    return seal(PAYLOAD_TYPE, canonical(statement), keys)


def verify_statement(
    envelope: bytes, trusted: Sequence[PublicKey], model: type[Statement]
) -> tuple[Statement, tuple[str, ...]]:
    """Return the statement in an envelope, and the ids of the trusted keys that signed it.

    Raises VerificationFailed as `open_envelope` does, and if the envelope holds anything but a statement of this type.
    """
    found = open_envelope(envelope, trusted)
    return _read(found.payload_type, found.payload, model), found.signers


def _read(payload_type: str, payload: bytes, model: type[Statement]) -> Statement:
    if payload_type != PAYLOAD_TYPE:
        raise VerificationFailed(f"the envelope holds {payload_type!r}; expected {PAYLOAD_TYPE!r}")
    try:
        return parse_canonical(payload, model)
    except ValueError as error:
        raise VerificationFailed(f"the signed statement is not of the expected form: {error}") from None


def read_unverified(envelope: bytes) -> ReleaseStatement:
    """Return the statement of a release in an envelope, without checking signatures. Raises VerificationFailed for
    other content.
    """
    return _read(*envelope_contents(envelope), ReleaseStatement)
