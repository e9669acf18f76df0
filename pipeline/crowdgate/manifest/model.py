"""The manifest: all that is said about a release, in fields, as canonical bytes. One statement has one text.

It is complete: from it and the data files every other file, every verdict that is not paid for and the guarantee can be
computed again. Numbers are exact text, bounded in length, so that no number of a forged manifest takes long to read.
"""

import json
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import ConfigDict, FailFast, Field, ValidationError, model_validator

from crowdgate.errors import VerificationFailed
from crowdgate.guarantee import Guarantee, Part
from crowdgate.histogram import Histogram
from crowdgate.limits import LARGEST_MANIFEST, MOST_FILES, MOST_JOINT_FIGURES, MOST_NAMES, MOST_PEOPLE, MOST_VALUES
from crowdgate.manifest.estimand import EstimandFields
from crowdgate.manifest.gates import GateFields
from crowdgate.manifest.values import Count, Digest, Exact, FileName, Label, ManifestFields, Words

NAME = "manifest.json"
FORMAT = 2
"""The number of this form. Templates and readers of a form that was ever published stay."""


NO_OTHER = {"additionalProperties": False}


class ReleaseFields(ManifestFields):
    """Which release this is. `id` is policy, version and slot."""

    id: Annotated[str, Field(pattern=r"^[0-9A-Za-z.-]{1,63}/[0-9A-Za-z.-]{1,31}/[0-9TZ-]{10,16}$")]
    """Policy, version and slot."""
    policy: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    """The policy's name."""
    version: Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.-]{0,30}$")]
    """The policy's version."""
    slot: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{4}Z)?$")]
    """The day, or day and minute (UTC), that the release is for."""


class AboutFields(ManifestFields):
    """What the policy owner says of it, in free words."""

    description: Words
    """What the release is."""
    owner: Words
    """Who answers for it."""


class ContractFields(ManifestFields):
    """The contract whose table was read, and the population that it is about."""

    id: Label
    """The contract's id."""
    version: Label
    """The contract's version."""
    population: Label
    """The population whose people the table is about."""


class PlaceFields(ManifestFields):
    """The line of the ledger's journal that charged this release: its number, and the digest of all lines up to it."""

    id: Label
    """The ledger's id."""
    line: Count
    """The number of the line."""
    digest: Digest


class CostFields(ManifestFields):
    """Privacy loss."""

    epsilon: Exact
    """Epsilon, exactly."""
    delta: Exact
    """Delta, exactly."""


class JointColumnFields(ManifestFields):
    """An attribute, how many values its level has, and its value in every cell."""

    name: Label
    """The attribute."""
    values: Annotated[int, Field(ge=1, le=MOST_VALUES + 1)]
    """How many values its level has."""
    codes: Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_JOINT_FIGURES)]
    """The attribute's value in every cell."""


class JointFields(ManifestFields):
    """Public counts of some attributes together: the cells that somebody is in, in the order of their codes."""

    columns: Annotated[tuple[JointColumnFields, ...], Field(min_length=1, max_length=1000)]
    """The attributes that are counted together."""
    counts: Annotated[tuple[Count, ...], FailFast(), Field(min_length=1, max_length=MOST_JOINT_FIGURES)]
    """How many people are in each cell."""

    @classmethod
    def of(cls, counts: Histogram) -> "JointFields":
        """The counts as they are written."""
        columns = [
            JointColumnFields(name=name, values=size, codes=tuple(codes.tolist()))
            for name, size, codes in zip(counts.names, counts.sizes, counts.codes, strict=True)
        ]
        return cls(columns=tuple(columns), counts=tuple(counts.counts.tolist()))

    @property
    def histogram(self) -> Histogram:
        """What is counted."""
        names, sizes = zip(*((each.name, each.values) for each in self.columns), strict=True)
        codes = tuple(np.array(each.codes, dtype=np.int64) for each in self.columns)
        return Histogram(names, sizes, codes, np.array(self.counts, dtype=np.int64))

    @model_validator(mode="after")
    def _counted(self) -> "JointFields":
        cells = list(zip(*(each.codes for each in self.columns), strict=False))
        if {len(each.codes) for each in self.columns} != {len(self.counts)} or 0 in self.counts:
            raise ValueError("a code of every column and a count of at least 1 for every cell")
        if any(code >= each.values for each in self.columns for code in each.codes):
            raise ValueError("codes of values that there are")
        if any(one >= other for one, other in pairwise(cells)):
            raise ValueError("cells in order, each once")
        if len({each.name for each in self.columns}) != len(self.columns):
            raise ValueError("each column once")
        return self


class FactsFields(ManifestFields):
    """Public facts that gates were judged by: the bound on people, the most rows of one privacy unit, the population's
    budget in force, what it has spent with this release included, and for gates that read them the public counts of
    every value of a column, at the finest level that could be released, and with `joint` of several columns together
    (where the contract has such). `informed` says that the policy was first used
    after a private record of the population had been opened (from format 2 on; otherwise it is absent)."""

    people: Annotated[int, Field(ge=1, le=MOST_PEOPLE)]
    """The bound on all people of the population."""
    rows_per_unit: Annotated[int, Field(ge=1, le=10**6)]
    """The most rows of one privacy unit."""
    budget: CostFields
    """The population's budget for life, as it was in force."""
    spent: CostFields
    """What the population had spent with this release included."""
    margins: dict[Label, Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_VALUES + 1)]]
    """Public counts of every value of a column, for gates that read them."""
    informed: Literal[True] | None = None
    """There, and true, where the policy was first used after a private record of the population had been opened."""
    joint: Annotated[tuple[JointFields, ...], Field(min_length=1, max_length=100)] | None = None
    """Public counts of several columns together, for gates that read them."""

    @model_validator(mode="after")
    def _each_once(self) -> "FactsFields":
        told = [frozenset(column.name for column in each.columns) for each in self.joint or ()]
        if len({*told}) != len(told):
            raise ValueError("joint counts of the same columns once")
        return self


class PartFields(ManifestFields):
    """What one step spends."""

    name: Label
    """What the part pays for."""
    epsilon: Exact
    """Epsilon of this part, exactly."""
    delta: Exact
    """Delta of this part, exactly."""


class GuaranteeFields(ManifestFields):
    """The guarantee of the whole release, its parts, and in words; `plain` says what it comes to for people, with all
    that they have lost before (a manifest of format 1 does not)."""

    epsilon: Exact
    """Epsilon of the whole release, exactly."""
    delta: Exact
    """Delta of the whole release, exactly."""
    relation: Literal["add-remove"]
    """Which tables are compared: one with a unit more or less than the other."""
    unit: Literal["row", "person"]
    """Whether a row or a person is protected."""
    parts: Annotated[tuple[PartFields, ...], Field(min_length=1, max_length=100)]
    """What each step spends. Parts add up to the whole."""
    plain: Annotated[tuple[Words, ...], Field(max_length=100)] | None = None
    """What it comes to for people, in sentences."""
    words: Annotated[tuple[Words, ...], Field(max_length=100)] = ()
    """The guarantee in words."""

    @classmethod
    def of(
        cls, guarantee: Guarantee, words: tuple[str, ...] = (), plain: tuple[str, ...] | None = None
    ) -> "GuaranteeFields":
        """The guarantee as it is written."""
        parts = tuple(PartFields(name=p.name, epsilon=p.epsilon, delta=p.delta) for p in guarantee.parts)
        return cls.model_validate(
            {"epsilon": guarantee.epsilon, "delta": guarantee.delta, "relation": guarantee.relation,
             "unit": guarantee.unit, "parts": parts, "words": words, "plain": plain}
        )  # fmt: skip

    @property
    def guarantee(self) -> Guarantee:
        """What is stated. Raises ValueError when the parts do not add up to the totals."""
        parts = tuple(Part(part.name, part.epsilon, part.delta) for part in self.parts)
        return Guarantee(self.epsilon, self.delta, self.relation, self.unit, parts)


class FileFields(ManifestFields):
    """A file's digest and size."""

    sha256: Digest
    bytes: Count
    """The file's size."""


class SoftwareFields(ManifestFields):
    """The versions that wrote it: other versions of pyarrow may write other bytes."""

    crowdgate: Label
    """The version of Crowdgate."""
    pyarrow: Label
    """The version of PyArrow, on which the bytes of Parquet files depend."""


class MechanismFields(ManifestFields):
    """What is said of a mechanism: its kind, and the rate at which secret coins keep a row, 1 without coins. Every kind
    of release has further fields of its own."""

    kind: str
    """The kind of release."""
    beta: Exact
    """The rate at which secret coins keep a row, 1 without coins."""


class Manifest(ManifestFields):
    """What is said of a release of any kind.

    `estimand` says whose rows its numbers speak of (a manifest of format 1 does not). `policyDigest` is the SHA-256 of
    policy, contract, levels and budget as the ledger has it; `formats` are those of the data; `files` are all files but
    this one and the signature; `key` says that the secret key of coins and noise came from the operating system
    ("injected": made for a test, never published).
    """

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    """The form of this file."""
    kind: Literal["Release"]
    """What this file is: the manifest of a release."""
    format: Literal[1, 2]
    """The number of the manifest's form."""
    release: ReleaseFields
    """Which release this is."""
    about: AboutFields
    """What the policy owner says of it."""
    policy_digest: Annotated[Digest, Field(alias="policyDigest")]
    contract: ContractFields
    """The contract whose table was read, and its population."""
    ledger: PlaceFields
    """The line of the ledger that charged this release."""
    facts: FactsFields
    """Public facts that gates were judged by."""
    estimand: EstimandFields | None = None
    """Whose rows the numbers speak of. Format 1 does not say."""
    mechanism: MechanismFields
    """How the data were protected."""
    guarantee: GuaranteeFields
    """What is promised."""
    verdicts: Annotated[tuple[GateFields, ...], FailFast(), Field(max_length=1000)]
    """What each gate said. Gates that read confidential data are not among them."""
    data: ManifestFields
    """What the data files hold."""
    formats: Annotated[tuple[Label, ...], Field(min_length=1, max_length=20)]
    """The formats of the data files."""
    files: Annotated[dict[FileName, FileFields], Field(max_length=MOST_FILES, json_schema_extra=NO_OTHER)]
    """All files but this one and the signature, by name."""
    key: Literal["operating system", "injected"]
    """Where the secret key of coins and noise came from. Of a published release it is always the operating system."""
    software: SoftwareFields
    """The versions that wrote the release."""

    constants: ClassVar[dict[str, Any]] = {"apiVersion": "crowdgate/v1", "kind": "Release", "format": FORMAT}

    @model_validator(mode="after")
    def _formed(self) -> "Manifest":
        if self.format == 1 and (self.facts.informed or self.facts.joint):
            raise ValueError("informed or joint counts, from format 2 on")
        if self.format == 1 and any(gate.since_format_2 for gate in self.verdicts):
            raise ValueError("reasons, references or waivers of gates, from format 2 on")
        if (self.estimand is None) != (self.format == 1) or (self.guarantee.plain is None) != (self.format == 1):
            raise ValueError("an estimand and a plain guarantee, from format 2 on")
        return self

    def sealed(self) -> bytes:
        """The manifest as it is published."""
        return canonical(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """The manifest as JSON."""
        return json_fields(self)


M = TypeVar("M", bound=Manifest)


def json_fields(said: ManifestFields) -> dict[str, Any]:
    """A part as JSON, without what it does not say."""
    stated: dict[str, Any] = said.model_dump(mode="json", by_alias=True, exclude_none=True)
    return stated


def canonical(value: Any) -> bytes:
    """Canonical JSON: sorted keys, no spaces to spare, UTF-8, one newline at the end."""
    return (json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def parsed(model: type[M], data: bytes) -> M:
    """The manifest in `data`. Raises VerificationFailed that says where it is none, never what stands there."""
    try:
        found = model.model_validate_json(data)
        if found.sealed() == data:
            return found
    except ValidationError as error:
        raise VerificationFailed("\n".join(_fault(each["loc"], each["msg"]) for each in error.errors()[:20])) from None
    except (ValueError, RecursionError):
        pass
    raise VerificationFailed(f"{NAME}: it is not written as a manifest is")


def kind_in(data: bytes) -> str:
    """The kind of release that a manifest names. Raises VerificationFailed."""
    if len(data) > LARGEST_MANIFEST:
        raise VerificationFailed(f"{NAME}: larger than {LARGEST_MANIFEST} bytes")
    if data.count(b":") > MOST_NAMES:
        raise VerificationFailed(f"{NAME}: more than {MOST_NAMES} names")
    try:
        return str(_Kind.model_validate_json(data).mechanism.kind)
    except (ValueError, RecursionError):
        raise VerificationFailed(f"{NAME}: it is not the manifest of a release") from None


def policy_digest_in(data: bytes) -> str:
    """The digest of the policy that a manifest names, of any kind. Raises VerificationFailed for what is none."""
    try:
        return _Policy.model_validate_json(data).policy_digest
    except (ValueError, RecursionError):
        raise VerificationFailed(f"{NAME}: it is not the manifest of a release") from None


class _Policy(ManifestFields):
    model_config = ConfigDict(extra="ignore")
    policy_digest: Annotated[Digest, Field(alias="policyDigest")]


class _KindName(ManifestFields):
    model_config = ConfigDict(extra="ignore")
    kind: Annotated[str, Field(max_length=100)]


class _Kind(ManifestFields):
    model_config = ConfigDict(extra="ignore")
    mechanism: _KindName


def _fault(place: tuple[str | int, ...], message: str) -> str:
    where = ".".join(str(each) for each in place)[:200] or "the whole"
    return f"{NAME}: {ascii(where)[1:-1]}: {message[:200]}"
