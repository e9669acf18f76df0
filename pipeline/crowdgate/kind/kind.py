"""Kind of release: everything in which one kind differs from another, as one typed record of functions.

A kind's author fills in `Kind`; mypy says what is missing. The rest of the library is handed an `AnyKind`, a
`Protection`, a `Protected` and a `Published`, which hide the kind's own types: what a policy specifies (S), the planned
mechanism (M), the candidate that it makes (C), what its files hold (P) and what its manifest says (X).

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

from crowdgate.candidate import Candidate, Figures, Shape, Static
from crowdgate.errors import Finding
from crowdgate.formats import Format
from crowdgate.histogram import Histogram, View
from crowdgate.policy.policy import MechanismSpec

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.formats.written import Writer
    from crowdgate.guarantee import Guarantee, Part
    from crowdgate.kind.forecast import Axes, Forecast
    from crowdgate.kind.picture import Picture
    from crowdgate.kind.prior import Prior, Told
    from crowdgate.kind.randomness import Randomness
    from crowdgate.kind.seen import Seen
    from crowdgate.manifest import Manifest, MechanismSaid
    from crowdgate.manifest.values import Said

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
class Page:
    """A README or an explanation: its template (a path below the package) and the values of the kind's own words."""

    template: str
    values: Mapping[str, object]


S = TypeVar("S", bound=MechanismSpec)
M = TypeVar("M")
C = TypeVar("C", bound=Candidate)
P = TypeVar("P")
X = TypeVar("X", bound="Manifest")


@dataclass(frozen=True)
class Planned(Generic[M]):
    """A mechanism with its numbers, and the parts of the guarantee that it spends."""

    mechanism: M
    parts: tuple[Part, ...]


Planning = tuple[Planned[M] | None, Sequence[Finding]]
"""The plan, or what stands against it (places below `mechanism`)."""


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[S, M, C, P, X]):
    """One kind of release.

    - `serves`: what its releases are for, in a phrase. `spec`: what a policy says. `shapes`: what measures can read of
      its candidates. `spends`: the names that parts of its guarantee can have. `attributes`: what gates may name.
      `beside`: what steps beside the mechanism take of epsilon, by their words.
    - `plan` gives the mechanism its numbers; `figures` are what it says of its classes; `views` what is counted in one
      pass; `protect` makes the candidate. `attacked` draws the same and stops there: all that an attacker can see.
    - `publish` makes of a candidate what the files hold; `files` writes these, `data` and `page` say what is in them,
      `measured` is the candidate that output measures read, and `pictures` show what a reader looks for first. `says`
      gives the class of manifests, `mechanism` what one says of it (`parameters` before there is a candidate);
      `private` figures for the curator.
    - `promise` and `notes` say what is guaranteed, and what else a person should know; `explained` how the data are
      protected, for somebody who is no programmer; `outlook` what is expected;
      `propose` gives specifications of this kind that would tell tables at these levels.
    - `claims` yields what does not hold of a manifest by itself; `read` recounts the files of a folder, and raises
      VerificationFailed for anything that is not as the manifest says. `refit` makes data again that follow from other
      files, and yields what differs; None where none do. `tells` gives the counts of people that a
      release tells later plans, which are none where people are missing by rules that depend on the data.
    """

    name: str
    serves: str
    spec: type[S]
    shapes: frozenset[Shape]
    spends: frozenset[str]
    attributes: Callable[[S], Sequence[str]]
    beside: Callable[[S], Mapping[str, Fraction]]
    plan: Callable[[S, Contract, Allowance], Planning[M]]
    figures: Callable[[M], Figures]
    views: Callable[[M], Mapping[str, View]]
    protect: Callable[[M, Static, Histograms, Randomness], C]
    attacked: Callable[[M, Histograms, Randomness], Seen]
    publish: Callable[[M, C, Contract], P]
    files: Callable[[X, P, Formats], Mapping[str, Writer]]
    parameters: Callable[[M], Json]
    mechanism: Callable[[M, C], MechanismSaid]
    data: Callable[[P], Said]
    page: Callable[[X, P], Page]
    measured: Callable[[X, P], Candidate]
    pictures: Callable[[X, P], Sequence[Picture]]
    private: Callable[[M, C, Histograms], Sections]
    promise: Callable[[M, Guarantee], list[str]]
    notes: Callable[[M], list[str]]
    explained: Callable[[M], Page]
    outlook: Callable[[M, Prior], Forecast]
    propose: Callable[[Axes], Sequence[S]]
    says: Callable[[], type[X]]
    claims: Callable[[X], Iterator[str]]
    read: Callable[[Path, X, Formats], P]
    refit: Callable[[X, P], Iterator[str]] | None
    tells: Callable[[X, P], Iterable[Told]]

    def of(self, spec: MechanismSpec) -> S:
        """The specification, which a policy of this kind holds."""
        if not isinstance(spec, self.spec):
            raise TypeError(f"{self.name} has another specification than {type(spec).__name__}")
        return spec

    def named(self, spec: MechanismSpec) -> Sequence[str]:
        """The attributes that gates may name."""
        return self.attributes(self.of(spec))

    def taken(self, spec: MechanismSpec) -> Mapping[str, Fraction]:
        """What steps beside the mechanism take of epsilon."""
        return self.beside(self.of(spec))

    def protection(
        self, spec: MechanismSpec, contract: Contract, allowance: Allowance
    ) -> tuple[Protection | None, Sequence[Finding]]:
        """The planned mechanism, or what stands against it."""
        planned, findings = self.plan(self.of(spec), contract, allowance)
        return (None if planned is None or findings else _Protection(self, planned)), findings

    def rivals(self, levels: Axes) -> Sequence[MechanismSpec]:
        """Specifications of this kind that would tell tables at these levels."""
        return self.propose(levels)

    def stated(self, manifest: Manifest) -> X:
        """A manifest of this kind."""
        if not isinstance(manifest, self.said):
            raise TypeError(f"{self.name} has another manifest than {type(manifest).__name__}")
        return manifest

    @property
    def said(self) -> type[X]:
        """Its manifests."""
        return self.says()

    @property
    def refits(self) -> bool:
        """Whether some of its data follow from other files."""
        return self.refit is not None

    def problems(self, manifest: Manifest) -> Iterator[str]:
        """What does not hold of a manifest by itself."""
        return self.claims(self.stated(manifest))

    def opened(self, folder: Path, manifest: Manifest, formats: Formats) -> Published:
        """What the files of a folder hold, recounted. Raises VerificationFailed."""
        return _Published(self, self.read(folder, self.stated(manifest), formats))


class AnyKind(Protocol):
    """A kind as the rest of the library sees it."""

    @property
    def name(self) -> str: ...

    @property
    def serves(self) -> str: ...

    @property
    def spec(self) -> type[MechanismSpec]: ...

    @property
    def shapes(self) -> frozenset[Shape]: ...

    @property
    def spends(self) -> frozenset[str]: ...

    def named(self, spec: MechanismSpec) -> Sequence[str]: ...

    def taken(self, spec: MechanismSpec) -> Mapping[str, Fraction]: ...

    def protection(
        self, spec: MechanismSpec, contract: Contract, allowance: Allowance
    ) -> tuple[Protection | None, Sequence[Finding]]: ...

    def rivals(self, levels: Axes) -> Sequence[MechanismSpec]: ...

    @property
    def said(self) -> type[Manifest]: ...

    @property
    def refits(self) -> bool: ...

    def problems(self, manifest: Manifest) -> Iterator[str]: ...

    def opened(self, folder: Path, manifest: Manifest, formats: Formats) -> Published: ...


Kinds = Mapping[str, AnyKind]


class Published(ABC):
    """What the files of a release hold, made or read."""

    @abstractmethod
    def files(self, manifest: Manifest, formats: Formats) -> Mapping[str, Writer]:
        """The files of the kind: all but attachments and manifest."""

    @abstractmethod
    def page(self, manifest: Manifest) -> Page:
        """The kind's part of the README."""

    @abstractmethod
    def data(self) -> Said:
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
    def tells(self, manifest: Manifest) -> Iterable[Told]:
        """Counts of people for later plans."""


class Protected(ABC):
    """A candidate with all that is said of it."""

    @property
    @abstractmethod
    def candidate(self) -> Candidate:
        """What measures read."""

    @abstractmethod
    def published(self, contract: Contract) -> Published:
        """What its files would hold."""

    @abstractmethod
    def mechanism(self) -> MechanismSaid:
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
    def figures(self) -> Figures:
        """What it says of its classes."""

    @abstractmethod
    def views(self) -> Mapping[str, View]:
        """What is counted in one pass."""

    @abstractmethod
    def parameters(self) -> Json:
        """What can be said of it before there is a candidate."""

    @abstractmethod
    def promise(self, guarantee: Guarantee) -> list[str]:
        """The guarantee in words."""

    @abstractmethod
    def notes(self) -> list[str]:
        """What else a person should know of it, in words."""

    @abstractmethod
    def explained(self) -> Page:
        """How it protects, for somebody who is no programmer."""

    @abstractmethod
    def outlook(self, prior: Prior) -> Forecast:
        """What is expected."""

    @abstractmethod
    def protect(self, static: Static, counted: Histograms, randomness: Randomness) -> Protected:
        """Apply it."""

    @abstractmethod
    def attacked(self, counted: Histograms, randomness: Randomness) -> Seen:
        """All that it draws, of which everything that is published is made."""


@dataclass(frozen=True, eq=False)
class _Protection(Protection, Generic[S, M, C, P, X]):
    of: Kind[S, M, C, P, X]
    planned: Planned[M]

    @property
    def kind(self) -> AnyKind:
        return self.of

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.planned.parts

    def figures(self) -> Figures:
        return self.of.figures(self.planned.mechanism)

    def views(self) -> Mapping[str, View]:
        return self.of.views(self.planned.mechanism)

    def parameters(self) -> Json:
        return self.of.parameters(self.planned.mechanism)

    def promise(self, guarantee: Guarantee) -> list[str]:
        return self.of.promise(self.planned.mechanism, guarantee)

    def notes(self) -> list[str]:
        return self.of.notes(self.planned.mechanism)

    def explained(self) -> Page:
        return self.of.explained(self.planned.mechanism)

    def outlook(self, prior: Prior) -> Forecast:
        return self.of.outlook(self.planned.mechanism, prior)

    def protect(self, static: Static, counted: Histograms, randomness: Randomness) -> Protected:
        made = self.of.protect(self.planned.mechanism, static, counted, randomness)
        return _Protected(self.of, self.planned.mechanism, made)

    def attacked(self, counted: Histograms, randomness: Randomness) -> Seen:
        return self.of.attacked(self.planned.mechanism, counted, randomness)


@dataclass(frozen=True, eq=False)
class _Protected(Protected, Generic[S, M, C, P, X]):
    of: Kind[S, M, C, P, X]
    by: M
    made: C

    @property
    def candidate(self) -> Candidate:
        return self.made

    def published(self, contract: Contract) -> Published:
        return _Published(self.of, self.of.publish(self.by, self.made, contract))

    def mechanism(self) -> MechanismSaid:
        return self.of.mechanism(self.by, self.made)

    def private(self, counted: Histograms) -> Sections:
        return self.of.private(self.by, self.made, counted)


@dataclass(frozen=True, eq=False)
class _Published(Published, Generic[S, M, C, P, X]):
    of: Kind[S, M, C, P, X]
    held: P

    def files(self, manifest: Manifest, formats: Formats) -> Mapping[str, Writer]:
        return self.of.files(self.of.stated(manifest), self.held, formats)

    def page(self, manifest: Manifest) -> Page:
        return self.of.page(self.of.stated(manifest), self.held)

    def data(self) -> Said:
        return self.of.data(self.held)

    def candidate(self, manifest: Manifest) -> Candidate:
        return self.of.measured(self.of.stated(manifest), self.held)

    def pictures(self, manifest: Manifest) -> Sequence[Picture]:
        return self.of.pictures(self.of.stated(manifest), self.held)

    def refit(self, manifest: Manifest) -> Iterator[str]:
        if self.of.refit is not None:
            yield from self.of.refit(self.of.stated(manifest), self.held)

    def tells(self, manifest: Manifest) -> Iterable[Told]:
        return self.of.tells(self.of.stated(manifest), self.held)
