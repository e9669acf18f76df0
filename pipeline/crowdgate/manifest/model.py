"""The manifest: all statements about a release, in fields, as canonical bytes. One statement has one text.

It is complete: from it and the data files, every other file, every verdict without a charge, and the guarantee can be
computed again. Numbers are exact text of bounded length, so that no number of a forged manifest takes long to read.
"""

import json
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import ConfigDict, FailFast, Field, ValidationError, model_validator

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.accounting.renyi_filter import Filter
from crowdgate.errors import VerificationFailed
from crowdgate.guarantee import Guarantee, JointCost, Part
from crowdgate.histogram import Histogram
from crowdgate.limits import (
    LARGEST_MANIFEST,
    MOST_APPROVERS,
    MOST_CLASS_SIZES,
    MOST_FILES,
    MOST_JOINT_FIGURES,
    MOST_NAMES,
    MOST_PEOPLE,
    MOST_SERIES,
    MOST_VALUES,
)
from crowdgate.manifest.estimand import EstimandFields
from crowdgate.manifest.gates import GateFields
from crowdgate.manifest.values import NAME, Count, Digest, Exact, FileName, Label, ManifestFields, Name, Version, Words
from crowdgate.policy.values import Line, Prose
from crowdgate.risk.class_sizes import ClassSizes

FORMAT = 3
"""The number of the current format. Templates and readers of every format that was ever published stay."""


NO_OTHER = {"additionalProperties": False}


class ReleaseFields(ManifestFields):
    """The identity of the release. `id` is policy, version and slot."""

    id: Annotated[str, Field(pattern=r"^[0-9A-Za-z.-]{1,63}/[0-9A-Za-z.-]{1,31}/[0-9TZ-]{10,16}$")]
    """Policy, version and slot."""
    policy: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    """The policy's name."""
    version: Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.-]{0,30}$")]
    """The policy's version."""
    slot: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{4}Z)?$")]
    """The slot of the release: a day, or day and minute (UTC)."""


class AboutFields(ManifestFields):
    """The policy owner's description of the release, as free text."""

    description: Prose
    """The description of the release."""
    owner: Line
    """The owner, who answers for the release."""
    purpose: Line | None = None
    """The purpose of the release, if the policy states it, as for the next four."""
    legal_basis: Line | None = None
    """The law or the decision that permits the release."""
    contact: Line | None = None
    """The contact for recipients and for people in the table."""
    retention: Line | None = None
    """The time for which the release is kept."""
    alternatives: Line | None = None
    """The alternatives that were considered."""


class ContractFields(ManifestFields):
    """The contract whose table was read, and its population."""

    id: Name
    """The contract's id."""
    version: Name
    """The contract's version."""
    population: Name
    """The population of the table."""


class PlaceFields(ManifestFields):
    """The line of the ledger's journal that charged this release: its number, and the digest of all lines up to it."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}-[0-9a-f]{8}$")]
    """The ledger's id."""
    line: Annotated[int, Field(ge=1, le=10**15)]
    """The number of the line."""
    digest: Digest


class CostFields(ManifestFields):
    """A privacy cost."""

    epsilon: Exact
    """Epsilon, exactly."""
    delta: Exact
    """Delta, exactly."""


class JointColumnFields(ManifestFields):
    """An attribute, the number of values of its level, and its value in every cell."""

    name: Label
    """The attribute."""
    values: Annotated[int, Field(ge=1, le=MOST_VALUES + 1)]
    """The number of values of the level."""
    codes: Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_JOINT_FIGURES)]
    """The attribute's value in every cell."""


class JointFields(ManifestFields):
    """Public joint counts of some attributes: the nonempty cells, in the order of their codes."""

    columns: Annotated[tuple[JointColumnFields, ...], Field(min_length=1, max_length=1000)]
    """The attributes that are counted together."""
    counts: Annotated[tuple[Count, ...], FailFast(), Field(min_length=1, max_length=MOST_JOINT_FIGURES)]
    """The number of people in each cell."""

    @classmethod
    def of(cls, counts: Histogram) -> "JointFields":
        """Return the fields that state joint counts."""
        columns = [
            JointColumnFields(name=name, values=size, codes=tuple(codes.tolist()))
            for name, size, codes in zip(counts.names, counts.sizes, counts.codes, strict=True)
        ]
        return cls(columns=tuple(columns), counts=tuple(counts.counts.tolist()))

    @property
    def histogram(self) -> Histogram:
        """The stated joint counts as a histogram."""
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


class LifetimeFields(ManifestFields):
    """The filter of a population whose releases are counted in Renyi divergences, as its ledger recorded it."""

    orders: Annotated[tuple[Annotated[int, Field(ge=2, le=1000)], ...], Field(min_length=1, max_length=10)]
    """The orders of the divergences."""
    shares: Annotated[tuple[Exact, ...], Field(max_length=10)]
    """The share of delta of each order."""
    caps: Annotated[tuple[Exact, ...], Field(max_length=10)]
    """The greatest sum of divergences at each order."""
    cut: Exact
    """The greatest sum of cut masses."""
    closed: CostFields | None = None
    """The additive budget that was closed before the filter was opened, if there was one."""

    @classmethod
    def of(cls, lifetime: Lifetime) -> "LifetimeFields":
        """Return the fields that state a lifetime."""
        kept, (epsilon, delta) = lifetime.filter, lifetime.closed
        closed = CostFields(epsilon=epsilon, delta=delta) if epsilon or delta else None
        return cls(orders=kept.orders, shares=kept.shares, caps=kept.caps, cut=kept.cut_cap, closed=closed)

    @property
    def lifetime(self) -> Lifetime:
        """The stated lifetime. Raises ValueError for a filter that none is."""
        kept = Filter(self.orders, self.shares, self.cut, self.caps)
        return Lifetime(kept) if self.closed is None else Lifetime(kept, (self.closed.epsilon, self.closed.delta))


class SeriesFields(ManifestFields):
    """The series that a release belongs to, which its first release paid for at once."""

    paid_by: Label
    """The id of the release that paid for the series."""
    releases: Annotated[int, Field(ge=2, le=MOST_SERIES)]
    """The number of releases of the series, fixed before the first."""
    epsilon: Exact
    """Epsilon of all releases of the series together, exactly."""
    delta: Exact
    """Delta of all releases of the series together, exactly."""


class ClassFields(ManifestFields):
    """The classes of a public table by some attributes: how many classes have each size."""

    over: Annotated[tuple[Label, ...], Field(min_length=1, max_length=1000)]
    """The attributes, in the order of their names."""
    sizes: Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_CLASS_SIZES)]
    """The sizes of classes, each once, ascending."""
    counts: Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_CLASS_SIZES)]
    """The number of classes of each size."""

    @classmethod
    def of(cls, over: Iterable[str], classes: ClassSizes) -> "ClassFields":
        """Return the fields that state the classes by the attributes `over`."""
        sizes, counts = (tuple(map(int, each.tolist())) for each in (classes.sizes, classes.counts))
        return cls(over=tuple(sorted(over)), sizes=sizes, counts=counts)

    @property
    def class_sizes(self) -> ClassSizes:
        """The stated classes."""
        return ClassSizes(np.array(self.sizes, dtype=np.float64), np.array(self.counts, dtype=np.float64))

    @model_validator(mode="after")
    def _counted(self) -> "ClassFields":
        rising = all(one < other for one, other in pairwise((0, *self.sizes)))
        if len(self.sizes) != len(self.counts) or not rising or 0 in self.counts:
            raise ValueError("sizes from 1 on in order, each once, with a number of classes of at least 1")
        if sum(a * b for a, b in zip(self.sizes, self.counts, strict=True)) > MOST_PEOPLE:
            raise ValueError(f"classes of at most {MOST_PEOPLE} people")
        if any(one >= other for one, other in pairwise(self.over)):
            raise ValueError("attributes in order, each once")
        return self


class ApprovalFields(ManifestFields):
    """An approval before the charge: who gave it, with which key, when, and the digest of the signed statement."""

    name: Line
    """The approver, as the policy names them."""
    key: Digest
    """The id of their key: the SHA-256 of its DER SubjectPublicKeyInfo."""
    day: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    """The day (UTC) that the approval states."""
    sha256: Digest
    """The SHA-256 of the signed statement, which the ledger's journal holds."""


class FactsFields(ManifestFields):
    """Public facts that gates were judged by.

    They are the bound on people, the most rows of one privacy unit, the population's budget in force, and its spend
    including this release. For gates that read them there are the public counts of every value of a column, at the
    finest level that could be released, and with `joint` those of several columns together (if the contract has such).
    With a `lifetime` that is counted in Renyi divergences the whole budget counts as spent. `informed` means that the
    policy was first used after a private record of the population had been opened (from format 2 on; otherwise it is
    absent).
    """

    people: Annotated[int, Field(ge=1, le=MOST_PEOPLE)]
    """The bound on all people of the population."""
    rows_per_unit: Annotated[int, Field(ge=1, le=10**6)]
    """The most rows of one privacy unit."""
    budget: CostFields
    """The population's lifetime budget in force."""
    spent: CostFields
    """The population's spend including this release."""
    margins: dict[Label, Annotated[tuple[Count, ...], FailFast(), Field(max_length=MOST_VALUES + 1)]]
    """Public counts of every value of a column, for gates that read them."""
    informed: Literal[True] | None = None
    """Present, and true, if the policy was first used after a private record of the population had been opened."""
    joint: Annotated[tuple[JointFields, ...], Field(min_length=1, max_length=100)] | None = None
    """Public counts of several columns together, for gates that read them."""
    classes: Annotated[tuple[ClassFields, ...], Field(max_length=1000)] | None = None
    """Class sizes of a public table by the attributes of each gate on unique people, which it counts; empty if the
    table is not public. Where this is absent, such gates follow the rule of an earlier version."""
    lifetime: LifetimeFields | None = None
    """The caps of a lifetime that is counted in Renyi divergences."""
    approvals: Annotated[tuple[ApprovalFields, ...], Field(min_length=1, max_length=MOST_APPROVERS)] | None = None
    """The approvals before the charge, if the policy asks for them."""
    series: SeriesFields | None = None
    """The series that paid for the release, if its policy declares one."""

    @property
    def since_format_3(self) -> bool:
        """True if the facts hold what manifests of earlier formats lack."""
        return any(each is not None for each in (self.classes, self.series, self.approvals))

    @model_validator(mode="after")
    def _kept(self) -> "FactsFields":
        if self.lifetime is not None:
            whole = (self.budget.epsilon, self.budget.delta)
            if (self.spent.epsilon, self.spent.delta) != whole or not self.lifetime.lifetime.keeps(*whole):
                raise ValueError("a lifetime whose caps keep the budget, all of which counts as spent")
        return self

    @model_validator(mode="after")
    def _each_once(self) -> "FactsFields":
        told = [frozenset(column.name for column in each.columns) for each in self.joint or ()]
        if len({*told}) != len(told):
            raise ValueError("joint counts of the same columns once")
        if len({each.over for each in self.classes or ()}) != len(self.classes or ()):
            raise ValueError("classes by the same columns once")
        return self


class PartFields(ManifestFields):
    """The privacy cost of one step."""

    name: Label
    """The step that this part pays for."""
    epsilon: Exact
    """Epsilon of this part, exactly."""
    delta: Exact
    """Delta of this part, exactly."""


class PointFields(ManifestFields):
    """A point of a joint cost: the release is (epsilon, delta)-differentially private."""

    epsilon: Exact
    delta: Exact


class LawFields(ManifestFields):
    """The law of the privacy loss of one part, by name."""

    part: Label
    """The step."""
    law: Literal[
        "sampled class",
        "pure",
        "discrete gaussians",
        "discrete laplace",
        "sampled pure",
        "sampled discrete gaussians",
        "sampled discrete laplace",
        "epsilon and delta",
    ]
    """The law of its privacy loss, with the mechanism's numbers."""


class JointCostFields(ManifestFields):
    """The joint cost of all parts, of which each has a share of epsilon."""

    laws: Annotated[tuple[LawFields, ...], Field(min_length=1, max_length=100)]
    """The law of each part."""
    curve: Annotated[tuple[PointFields, ...], Field(min_length=1, max_length=20)]
    """Points that the release keeps, one of them at the whole epsilon."""
    replaced: PointFields
    """The point that it keeps if one unit is replaced by another."""
    replacements: Annotated[tuple[PointFields, ...], Field(min_length=1, max_length=20)] | None = None
    """Further points that it keeps if one unit is replaced by another, at smaller epsilons."""


class GuaranteeFields(ManifestFields):
    """The guarantee of the whole release, its parts, and its text.

    `plain` is the guarantee for people in sentences, with all earlier charges (a manifest of format 1 lacks it).
    """

    epsilon: Exact
    """Epsilon of the whole release, exactly."""
    delta: Exact
    """Delta of the whole release, exactly."""
    relation: Literal["add-remove"]
    """The neighbouring relation: one table has a privacy unit more or less than the other."""
    unit: Literal["row", "person"]
    """The privacy unit: a row or a person."""
    parts: Annotated[tuple[PartFields, ...], Field(min_length=1, max_length=100)]
    """The privacy cost of each step. Parts add up to the whole."""
    joint: JointCostFields | None = None
    """The joint cost of the parts, if the policy states shares."""
    plain: Annotated[tuple[Words, ...], Field(max_length=100)] | None = None
    """The guarantee for people, in sentences."""
    words: Annotated[tuple[Words, ...], Field(max_length=100)] = ()
    """The guarantee in words."""

    @classmethod
    def of(
        cls, guarantee: Guarantee, words: tuple[str, ...] = (), plain: tuple[str, ...] | None = None
    ) -> "GuaranteeFields":
        """Return the fields that state a guarantee, with its texts."""
        parts = tuple(PartFields(name=p.name, epsilon=p.epsilon, delta=p.delta) for p in guarantee.parts)
        return cls.model_validate(
            {"epsilon": guarantee.epsilon, "delta": guarantee.delta, "relation": guarantee.relation,
             "unit": guarantee.unit, "parts": parts, "joint": _joint(guarantee.joint), "words": words, "plain": plain}
        )  # fmt: skip

    @property
    def guarantee(self) -> Guarantee:
        """The stated guarantee. Raises ValueError when the parts do not add up to the totals."""
        parts = tuple(Part(part.name, part.epsilon, part.delta) for part in self.parts)
        stated = self.joint
        joint = None
        if stated is not None:
            replaced = _points((stated.replaced, *(stated.replacements or ())))
            laws = tuple((each.part, each.law) for each in stated.laws)
            joint = JointCost.stated(_points(stated.curve), laws, replaced)
        return Guarantee(self.epsilon, self.delta, self.relation, self.unit, parts, joint)


def _joint(joint: JointCost | None) -> JointCostFields | None:
    if joint is None:
        return None
    laws = tuple(LawFields.model_validate({"part": part, "law": law}) for part, law in joint.laws)
    curve, (first, *others) = _stated(joint.curve), _stated((joint.replaced, *joint.replacements))
    return JointCostFields(laws=laws, curve=curve, replaced=first, replacements=tuple(others) or None)


def _points(stated: Iterable[PointFields]) -> tuple[tuple[Fraction, Fraction], ...]:
    return tuple((point.epsilon, point.delta) for point in stated)


def _stated(points: Iterable[tuple[Fraction, Fraction]]) -> tuple[PointFields, ...]:
    return tuple(PointFields(epsilon=epsilon, delta=delta) for epsilon, delta in points)


class FileFields(ManifestFields):
    """A file's digest and size."""

    sha256: Digest
    bytes: Count
    """The file's size."""


class SoftwareFields(ManifestFields):
    """The software versions that wrote the release: other versions of pyarrow may write other bytes."""

    crowdgate: Version
    """The version of Crowdgate."""
    pyarrow: Version
    """The version of PyArrow, on which the bytes of Parquet files depend."""


class MechanismFields(ManifestFields):
    """The mechanism: its kind, and the rate of Bernoulli sampling, 1 without sampling. Every kind of release has
    further fields of its own.
    """

    kind: str
    """The kind of release."""
    beta: Exact
    """The rate of Bernoulli sampling, by secret random bits; 1 without sampling."""


class Manifest(ManifestFields):
    """The manifest of a release of any kind.

    `estimand` describes the rows that its numbers are about (a manifest of format 1 lacks it). `policyDigest` is the
    SHA-256 of policy, contract, levels and budget as the ledger has it; `formats` are those of the data; `files` are
    all files except this one and the signature; `key` is the origin of the secret key of sampling and noise: the
    operating system ("injected": made for a test, never published).
    """

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    """The form of this file."""
    kind: Literal["Release"]
    """The kind of this file: Release."""
    format: Literal[1, 2, 3]
    """The number of the manifest's form."""
    release: ReleaseFields
    """The identity of the release."""
    about: AboutFields
    """The policy owner's description of the release."""
    policy_digest: Annotated[Digest, Field(alias="policyDigest")]
    contract: ContractFields
    """The contract whose table was read, and its population."""
    ledger: PlaceFields
    """The line of the ledger that charged this release."""
    facts: FactsFields
    """Public facts that gates were judged by."""
    estimand: EstimandFields | None = None
    """The rows that the numbers are about. Format 1 lacks it."""
    mechanism: MechanismFields
    """The mechanism that protects the data."""
    guarantee: GuaranteeFields
    """The privacy guarantee."""
    verdicts: Annotated[tuple[GateFields, ...], FailFast(), Field(max_length=1000)]
    """The verdict of each gate. Gates that read confidential data are not among them."""
    data: ManifestFields
    """The description of the data files."""
    formats: Annotated[tuple[Label, ...], Field(min_length=1, max_length=20)]
    """The formats of the data files."""
    files: Annotated[dict[FileName, FileFields], Field(max_length=MOST_FILES, json_schema_extra=NO_OTHER)]
    """All files except this one and the signature, by name."""
    key: Literal["operating system", "injected"]
    """The origin of the secret key of sampling and noise. For a published release it is always the operating system."""
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
        if self.format < 3 and (self.guarantee.joint is not None or self.facts.since_format_3):
            raise ValueError("a joint cost, class sizes, approvals or a series, from format 3 on")
        return self

    @property
    def charged_epsilon(self) -> Fraction:
        """Epsilon that the release, or the series it belongs to, is charged."""
        return self.guarantee.epsilon if self.facts.series is None else self.facts.series.epsilon

    @property
    def use_text(self) -> str:
        """Uses that the data allow, in sentences; empty unless a kind states them."""
        return ""

    def sealed(self) -> bytes:
        """Return the bytes of the manifest's file as they are published: canonical JSON."""
        return canonical(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """The manifest as an object of JSON."""
        return json_fields(self)


M = TypeVar("M", bound=Manifest)


def json_fields(said: ManifestFields) -> dict[str, Any]:
    """Return a part of a manifest as an object of JSON, without absent fields."""
    stated: dict[str, Any] = said.model_dump(mode="json", by_alias=True, exclude_none=True)
    return stated


def canonical(value: Any) -> bytes:
    """Return a value as canonical JSON: sorted keys, no trailing blanks, UTF-8, one newline at the end."""
    return (json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def parsed(model: type[M], data: bytes) -> M:
    """Return the manifest in `data`. Raises VerificationFailed that names the faulty place, never its content."""
    try:
        found = model.model_validate_json(data)
        if found.sealed() == data:
            return found
    except ValidationError as error:
        raise VerificationFailed("\n".join(_fault(each["loc"], each["msg"]) for each in error.errors()[:20])) from None
    except (ValueError, RecursionError):
        pass
    raise VerificationFailed(f"{NAME}: its bytes differ from those that Crowdgate would write for this manifest")


def kind_in(data: bytes) -> str:
    """Return the kind of release that a manifest names. Raises VerificationFailed."""
    if len(data) > LARGEST_MANIFEST:
        raise VerificationFailed(f"{NAME}: larger than {LARGEST_MANIFEST} bytes")
    if data.count(b":") > MOST_NAMES:
        raise VerificationFailed(f"{NAME}: more than {MOST_NAMES} names")
    try:
        return str(_Kind.model_validate_json(data).mechanism.kind)
    except (ValueError, RecursionError):
        raise VerificationFailed(f"{NAME}: this file is not the manifest of a release") from None


def policy_digest_in(data: bytes) -> str:
    """Return the policy digest in a manifest of any kind. Raises VerificationFailed for anything else."""
    try:
        return _Policy.model_validate_json(data).policy_digest
    except (ValueError, RecursionError):
        raise VerificationFailed(f"{NAME}: this file is not the manifest of a release") from None


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
    where = ".".join(str(each) for each in place)[:200] or "the whole file"
    return f"{NAME}: {ascii(where)[1:-1]}: {message.replace('Value error, ', 'expected ')[:200]}"
