"""Kind of release: everything in which one kind differs from another, as one abstract base class.

A kind's author writes a subclass of `Kind`; mypy says what is missing. The rest of the library is handed an `AnyKind`,
a `Protection`, a `Protected` and a `Published`, which hide the kind's own types: what a policy specifies (S), the
planned mechanism (M), the candidate that it makes (C), what its files hold (P) and what its manifest says (X).

Files, pages and numbers of a release are functions of P and X alone. Who verifies reads P out of the files, recounting,
and asks for all of them again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from crowdgate.candidate import Candidate, MechanismFigures, OutputType, Static
from crowdgate.errors import Finding
from crowdgate.formats import Format
from crowdgate.histogram import Histogram, View
from crowdgate.policy.policy import MechanismSpec

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.formats.byte_compare import Writer
    from crowdgate.guarantee import Guarantee, Part
    from crowdgate.kind.forecast import Axes, Forecast
    from crowdgate.kind.mechanism_output import MechanismOutput
    from crowdgate.kind.picture import Picture
    from crowdgate.kind.prior import Prior, ReportedCounts
    from crowdgate.kind.randomness import Randomness
    from crowdgate.manifest import Manifest, MechanismFields
    from crowdgate.manifest.values import ManifestFields

Json = dict[str, Any]
Sections = Mapping[str, Callable[[], Json]]
"""Parts of a record by name, each made when it is asked for: a fault in one leaves the others."""
Histograms = Mapping[str, Histogram]
Formats = Mapping[str, Format]


@dataclass(frozen=True)
class Allowance:
    """What a mechanism may spend, after the gates: all parts of it together."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class KindPage:
    """A README or an explanation: its template (a path below the package) and the values of the kind's own words.

    `earlier` holds values that took the place of these in releases of the same format, which keep verifying.
    """

    template: str
    values: Mapping[str, object]
    earlier: tuple[Mapping[str, object], ...] = ()


S = TypeVar("S", bound=MechanismSpec)
M = TypeVar("M")
C = TypeVar("C", bound=Candidate)
P = TypeVar("P")
X = TypeVar("X", bound="Manifest")


@dataclass(frozen=True)
class PlannedMechanism(Generic[M]):
    """A mechanism with its numbers, and the parts of the guarantee that it spends."""

    mechanism: M
    parts: tuple[Part, ...]


Planning = tuple[PlannedMechanism[M] | None, Sequence[Finding]]
"""The plan, or what stands against it (places below `mechanism`)."""


class Kind(ABC, Generic[S, M, C, P, X]):
    """One kind of release: a subclass for each, whose methods import what they call.

    `name` is that of the mechanism in a policy, `serves` a phrase for what its releases are good for, `spec` the type
    of what a policy says. `shapes` are what measures can read of its candidates, `spends` the names that parts of its
    guarantee can have, and `refits` says whether `refit` can make data again from other files.
    """

    name: str
    serves: str
    spec: type[S]
    shapes: frozenset[OutputType]
    spends: frozenset[str]
    refits: bool = False

    @abstractmethod
    def attributes(self, spec: S) -> Sequence[str]:
        """Names of the attributes that gates may name."""

    @abstractmethod
    def other_charges(self, spec: S) -> Mapping[str, Fraction]:
        """Epsilon that steps beside the mechanism take, by what they are called."""

    @abstractmethod
    def plan(self, spec: S, contract: Contract, allowance: Allowance) -> Planning[M]:
        """Give the mechanism its numbers, or say what stands against it."""

    @abstractmethod
    def figures(self, mechanism: M) -> MechanismFigures:
        """What the mechanism says of its classes: k, levels and sampling rate."""

    @abstractmethod
    def views(self, mechanism: M) -> Mapping[str, View]:
        """Views that are counted in one pass over the table."""

    @abstractmethod
    def protect(self, mechanism: M, static: Static, counted: Histograms, randomness: Randomness) -> C:
        """Apply the mechanism: make the candidate."""

    @abstractmethod
    def mechanism_output(self, mechanism: M, counted: Histograms, randomness: Randomness) -> MechanismOutput:
        """Draw what `protect` draws and stop there: all that an attacker can see."""

    @abstractmethod
    def publish(self, mechanism: M, candidate: C, contract: Contract) -> P:
        """Make of a candidate what the files hold."""

    @abstractmethod
    def files(self, manifest: X, published: P, formats: Formats) -> Mapping[str, Writer]:
        """Writers of the files, by name."""

    @abstractmethod
    def parameters(self, mechanism: M) -> Json:
        """What can be said of the mechanism before there is a candidate."""

    @abstractmethod
    def mechanism(self, mechanism: M, candidate: C) -> MechanismFields:
        """What the manifest says of the mechanism."""

    @abstractmethod
    def data(self, published: P) -> ManifestFields:
        """What the manifest says of the files."""

    @abstractmethod
    def page(self, manifest: X, published: P) -> KindPage:
        """The kind's part of the README."""

    @abstractmethod
    def output_candidate(self, manifest: X, published: P) -> Candidate:
        """The candidate that output measures read."""

    @abstractmethod
    def pictures(self, manifest: X, published: P) -> Sequence[Picture]:
        """Pictures of what a reader looks for first."""

    @abstractmethod
    def private(self, mechanism: M, candidate: C, counted: Histograms) -> Sections:
        """Figures for the custodian's private record."""

    @abstractmethod
    def guarantee_text(self, mechanism: M, guarantee: Guarantee) -> list[str]:
        """The guarantee in words."""

    @abstractmethod
    def notes(self, mechanism: M) -> list[str]:
        """What else a person should know of the mechanism, in words."""

    @abstractmethod
    def explanation(self, mechanism: M) -> KindPage:
        """How the data are protected, for a reader who is no programmer."""

    @abstractmethod
    def outlook(self, mechanism: M, prior: Prior) -> Forecast:
        """What is expected of a release, from public figures."""

    @abstractmethod
    def propose(self, levels: Axes) -> Sequence[S]:
        """Specifications of this kind that would publish tables at these levels."""

    @abstractmethod
    def manifest_class(self) -> type[X]:
        """The class of this kind's manifests."""

    @abstractmethod
    def manifest_problems(self, manifest: X) -> Iterator[str]:
        """Yield what does not hold of a manifest by itself."""

    @abstractmethod
    def read(self, folder: Path, manifest: X, formats: Formats) -> P:
        """Recount the files of a folder. Raises VerificationFailed for anything that differs from the manifest."""

    @abstractmethod
    def counts_for_planning(self, manifest: X, published: P) -> Iterable[ReportedCounts]:
        """Counts of people for later plans; none where people are missing by rules that depend on the data."""

    def refit(self, manifest: X, published: P) -> Iterator[str]:
        """Yield what of the data differs when it is made again from other files; nothing where no data can be."""
        del manifest, published
        return iter(())

    def __eq__(self, other: object) -> bool:
        """Whether both are of one class: a kind has no state."""
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def of(self, spec: MechanismSpec) -> S:
        """The specification, which a policy of this kind holds."""
        if not isinstance(spec, self.spec):
            raise TypeError(f"{self.name} has another specification than {type(spec).__name__}")
        return spec

    def gate_attributes(self, spec: MechanismSpec) -> Sequence[str]:
        """The attributes that gates may name."""
        return self.attributes(self.of(spec))

    def other_charges_of(self, spec: MechanismSpec) -> Mapping[str, Fraction]:
        """What steps beside the mechanism take of epsilon."""
        return self.other_charges(self.of(spec))

    def protection(
        self, spec: MechanismSpec, contract: Contract, allowance: Allowance
    ) -> tuple[Protection | None, Sequence[Finding]]:
        """The planned mechanism, or what stands against it."""
        planned, findings = self.plan(self.of(spec), contract, allowance)
        return (None if planned is None or findings else _KindProtection(self, planned)), findings

    def rivals(self, levels: Axes) -> Sequence[MechanismSpec]:
        """Specifications of this kind that would tell tables at these levels."""
        return self.propose(levels)

    def typed_manifest(self, manifest: Manifest) -> X:
        """A manifest of this kind."""
        if not isinstance(manifest, self.manifest_model):
            raise TypeError(f"{self.name} has another manifest than {type(manifest).__name__}")
        return manifest

    @property
    def manifest_model(self) -> type[X]:
        """Its manifests."""
        return self.manifest_class()

    def problems(self, manifest: Manifest) -> Iterator[str]:
        """What does not hold of a manifest by itself."""
        return self.manifest_problems(self.typed_manifest(manifest))

    def recount(self, folder: Path, manifest: Manifest, formats: Formats) -> PublishedContents:
        """What the files of a folder hold, recounted. Raises VerificationFailed."""
        return _KindContents(self, self.read(folder, self.typed_manifest(manifest), formats))


class AnyKind(Protocol):
    """A kind as the rest of the library sees it."""

    @property
    def name(self) -> str: ...

    @property
    def serves(self) -> str: ...

    @property
    def spec(self) -> type[MechanismSpec]: ...

    @property
    def shapes(self) -> frozenset[OutputType]: ...

    @property
    def spends(self) -> frozenset[str]: ...

    def gate_attributes(self, spec: MechanismSpec) -> Sequence[str]: ...

    def other_charges_of(self, spec: MechanismSpec) -> Mapping[str, Fraction]: ...

    def protection(
        self, spec: MechanismSpec, contract: Contract, allowance: Allowance
    ) -> tuple[Protection | None, Sequence[Finding]]: ...

    def rivals(self, levels: Axes) -> Sequence[MechanismSpec]: ...

    @property
    def manifest_model(self) -> type[Manifest]: ...

    @property
    def refits(self) -> bool: ...

    def problems(self, manifest: Manifest) -> Iterator[str]: ...

    def recount(self, folder: Path, manifest: Manifest, formats: Formats) -> PublishedContents: ...


Kinds = Mapping[str, AnyKind]


class PublishedContents(ABC):
    """What the files of a release hold, made or read."""

    @abstractmethod
    def files(self, manifest: Manifest, formats: Formats) -> Mapping[str, Writer]:
        """The files of the kind: all but attachments and manifest."""

    @abstractmethod
    def page(self, manifest: Manifest) -> KindPage:
        """The kind's part of the README."""

    @abstractmethod
    def data(self) -> ManifestFields:
        """What the manifest says of the files."""

    @abstractmethod
    def candidate(self, manifest: Manifest) -> Candidate:
        """What output measures read."""

    @abstractmethod
    def pictures(self, manifest: Manifest) -> Sequence[Picture]:
        """Pictures of what the files hold."""

    @abstractmethod
    def refit(self, manifest: Manifest) -> Iterator[str]:
        """What of the data is not as other files give it again."""

    @abstractmethod
    def counts_for_planning(self, manifest: Manifest) -> Iterable[ReportedCounts]:
        """Counts of people for later plans."""


class ProtectedCandidate(ABC):
    """A candidate with all that is said of it."""

    @property
    @abstractmethod
    def candidate(self) -> Candidate:
        """What measures read."""

    @abstractmethod
    def published(self, contract: Contract) -> PublishedContents:
        """What its files would hold."""

    @abstractmethod
    def mechanism(self) -> MechanismFields:
        """What the manifest says of the mechanism."""

    @abstractmethod
    def private(self, counted: Histograms) -> Sections:
        """Figures for the curator."""


class Protection(ABC):
    """A planned mechanism of whatever kind."""

    @property
    @abstractmethod
    def kind(self) -> AnyKind:
        """Its kind."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """What it spends."""

    @abstractmethod
    def figures(self) -> MechanismFigures:
        """What it says of its classes."""

    @abstractmethod
    def views(self) -> Mapping[str, View]:
        """What is counted in one pass."""

    @abstractmethod
    def parameters(self) -> Json:
        """What can be said of it before there is a candidate."""

    @abstractmethod
    def guarantee_text(self, guarantee: Guarantee) -> list[str]:
        """The guarantee in words."""

    @abstractmethod
    def notes(self) -> list[str]:
        """What else a person should know of it, in words."""

    @abstractmethod
    def explanation(self) -> KindPage:
        """How it protects, for somebody who is no programmer."""

    @abstractmethod
    def outlook(self, prior: Prior) -> Forecast:
        """What is expected."""

    @abstractmethod
    def protect(self, static: Static, counted: Histograms, randomness: Randomness) -> ProtectedCandidate:
        """Apply it."""

    @abstractmethod
    def mechanism_output(self, counted: Histograms, randomness: Randomness) -> MechanismOutput:
        """All that it draws, of which everything that is published is made."""


@dataclass(frozen=True, eq=False)
class _KindProtection(Protection, Generic[S, M, C, P, X]):
    of: Kind[S, M, C, P, X]
    planned: PlannedMechanism[M]

    @property
    def kind(self) -> AnyKind:
        return self.of

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.planned.parts

    def figures(self) -> MechanismFigures:
        return self.of.figures(self.planned.mechanism)

    def views(self) -> Mapping[str, View]:
        return self.of.views(self.planned.mechanism)

    def parameters(self) -> Json:
        return self.of.parameters(self.planned.mechanism)

    def guarantee_text(self, guarantee: Guarantee) -> list[str]:
        return self.of.guarantee_text(self.planned.mechanism, guarantee)

    def notes(self) -> list[str]:
        return self.of.notes(self.planned.mechanism)

    def explanation(self) -> KindPage:
        return self.of.explanation(self.planned.mechanism)

    def outlook(self, prior: Prior) -> Forecast:
        return self.of.outlook(self.planned.mechanism, prior)

    def protect(self, static: Static, counted: Histograms, randomness: Randomness) -> ProtectedCandidate:
        made = self.of.protect(self.planned.mechanism, static, counted, randomness)
        return _KindCandidate(self.of, self.planned.mechanism, made)

    def mechanism_output(self, counted: Histograms, randomness: Randomness) -> MechanismOutput:
        return self.of.mechanism_output(self.planned.mechanism, counted, randomness)


@dataclass(frozen=True, eq=False)
class _KindCandidate(ProtectedCandidate, Generic[S, M, C, P, X]):
    of: Kind[S, M, C, P, X]
    by: M
    made: C

    @property
    def candidate(self) -> Candidate:
        return self.made

    def published(self, contract: Contract) -> PublishedContents:
        return _KindContents(self.of, self.of.publish(self.by, self.made, contract))

    def mechanism(self) -> MechanismFields:
        return self.of.mechanism(self.by, self.made)

    def private(self, counted: Histograms) -> Sections:
        return self.of.private(self.by, self.made, counted)


@dataclass(frozen=True, eq=False)
class _KindContents(PublishedContents, Generic[S, M, C, P, X]):
    of: Kind[S, M, C, P, X]
    held: P

    def files(self, manifest: Manifest, formats: Formats) -> Mapping[str, Writer]:
        return self.of.files(self.of.typed_manifest(manifest), self.held, formats)

    def page(self, manifest: Manifest) -> KindPage:
        return self.of.page(self.of.typed_manifest(manifest), self.held)

    def data(self) -> ManifestFields:
        return self.of.data(self.held)

    def candidate(self, manifest: Manifest) -> Candidate:
        return self.of.output_candidate(self.of.typed_manifest(manifest), self.held)

    def pictures(self, manifest: Manifest) -> Sequence[Picture]:
        return self.of.pictures(self.of.typed_manifest(manifest), self.held)

    def refit(self, manifest: Manifest) -> Iterator[str]:
        return self.of.refit(self.of.typed_manifest(manifest), self.held)

    def counts_for_planning(self, manifest: Manifest) -> Iterable[ReportedCounts]:
        return self.of.counts_for_planning(self.of.typed_manifest(manifest), self.held)
