"""Kind of release: everything in which one kind differs from another, as one typed record of functions.

A kind's author fills in `Kind`; mypy says what is missing. The rest of the library is handed an `AnyKind`, a
`Protection` and a `Protected`, which hide the kind's own types: what a policy specifies (S), the planned mechanism (M)
and the candidate that it makes (C).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from crowdgate.candidate import Candidate, Figures, Shape, Static
from crowdgate.contracts.contract import Contract
from crowdgate.errors import Finding
from crowdgate.formats import Format
from crowdgate.guarantee import Guarantee, Part
from crowdgate.histogram import Histogram, View
from crowdgate.kind.forecast import Axes, Forecast, Prior
from crowdgate.kind.randomness import Randomness
from crowdgate.policy.policy import MechanismSpec

Json = dict[str, Any]
Writer = Callable[[Path], None]
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
    """A README: the name of its template (a path below the package) and the values of the kind's own words."""

    template: str
    values: Mapping[str, object]


S = TypeVar("S", bound=MechanismSpec)
M = TypeVar("M")
C = TypeVar("C", bound=Candidate)


@dataclass(frozen=True)
class Planned(Generic[M]):
    """A mechanism with its numbers, and the parts of the guarantee that it spends."""

    mechanism: M
    parts: tuple[Part, ...]


Planning = tuple[Planned[M] | None, Sequence[Finding]]
"""The plan, or what stands against it (places below `mechanism`)."""


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[S, M, C]):
    """One kind of release.

    - `spec`: what a policy says. `shapes`: what measures can read of its candidates. `spends`: the names that parts of
      its guarantee can have. `attributes`: what gates may name. `beside`: what steps beside the mechanism take of
      epsilon, by their words.
    - `plan` gives the mechanism its numbers; `figures` are what it says of its classes; `views` what is counted in one
      pass; `protect` makes the candidate.
    - `files` are what is published beside README and manifest; `mechanism` and `data` sections of the manifest
      (`parameters` before there is a candidate); `page` the README; `private` figures for the curator.
    - `promise` and `notes` say what is guaranteed, and what else a person should know; `outlook` what is expected;
      `propose` gives specifications of this kind that would tell tables at these levels.
    - `verify` yields what does not hold of a published folder with these claims.
    """

    name: str
    spec: type[S]
    shapes: frozenset[Shape]
    spends: frozenset[str]
    attributes: Callable[[S], Sequence[str]]
    beside: Callable[[S], Mapping[str, Fraction]]
    plan: Callable[[S, Contract, Allowance], Planning[M]]
    figures: Callable[[M], Figures]
    views: Callable[[M], Mapping[str, View]]
    protect: Callable[[M, Static, Histograms, Randomness], C]
    files: Callable[[M, C, Contract, Formats], Mapping[str, Writer]]
    parameters: Callable[[M], Json]
    mechanism: Callable[[M, C], Json]
    data: Callable[[C], Json]
    page: Callable[[M, C], Page]
    private: Callable[[M, C, Histograms], Sections]
    promise: Callable[[M, Guarantee], list[str]]
    notes: Callable[[M], list[str]]
    outlook: Callable[[M, Prior], Forecast]
    propose: Callable[[Axes], Sequence[S]]
    verify: Callable[[Path, Json, Formats], Iterator[str]]

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
    ) -> tuple["Protection | None", Sequence[Finding]]:
        """The planned mechanism, or what stands against it."""
        planned, findings = self.plan(self.of(spec), contract, allowance)
        return (None if planned is None or findings else _Protection(self, planned)), findings

    def rivals(self, levels: Axes) -> Sequence[MechanismSpec]:
        """Specifications of this kind that would tell tables at these levels."""
        return self.propose(levels)

    def problems(self, folder: Path, claims: Json, formats: Formats) -> Iterator[str]:
        """What does not hold of a published folder."""
        return self.verify(folder, claims, formats)


class AnyKind(Protocol):
    """A kind as the rest of the library sees it."""

    @property
    def name(self) -> str: ...

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
    ) -> tuple["Protection | None", Sequence[Finding]]: ...

    def rivals(self, levels: Axes) -> Sequence[MechanismSpec]: ...

    def problems(self, folder: Path, claims: Json, formats: Formats) -> Iterator[str]: ...


Kinds = Mapping[str, AnyKind]


class Protected(ABC):
    """A candidate with all that is said and written of it."""

    @property
    @abstractmethod
    def candidate(self) -> Candidate:
        """What measures read."""

    @abstractmethod
    def files(self, contract: Contract, formats: Formats) -> Mapping[str, Writer]:
        """The published files beside README and manifest."""

    @abstractmethod
    def page(self) -> Page:
        """The kind's part of the README."""

    @abstractmethod
    def mechanism(self) -> Json:
        """What the manifest says of the mechanism."""

    @abstractmethod
    def data(self) -> Json:
        """What the manifest says of the files."""

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
    def outlook(self, prior: Prior) -> Forecast:
        """What is expected."""

    @abstractmethod
    def protect(self, static: Static, counted: Histograms, randomness: Randomness) -> Protected:
        """Apply it."""


@dataclass(frozen=True, eq=False)
class _Protection(Protection, Generic[S, M, C]):
    of: Kind[S, M, C]
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

    def outlook(self, prior: Prior) -> Forecast:
        return self.of.outlook(self.planned.mechanism, prior)

    def protect(self, static: Static, counted: Histograms, randomness: Randomness) -> Protected:
        made = self.of.protect(self.planned.mechanism, static, counted, randomness)
        return _Protected(self.of, self.planned.mechanism, made)


@dataclass(frozen=True, eq=False)
class _Protected(Protected, Generic[S, M, C]):
    of: Kind[S, M, C]
    by: M
    made: C

    @property
    def candidate(self) -> Candidate:
        return self.made

    def files(self, contract: Contract, formats: Formats) -> Mapping[str, Writer]:
        return self.of.files(self.by, self.made, contract, formats)

    def page(self) -> Page:
        return self.of.page(self.by, self.made)

    def mechanism(self) -> Json:
        return self.of.mechanism(self.by, self.made)

    def data(self) -> Json:
        return self.of.data(self.made)

    def private(self, counted: Histograms) -> Sections:
        return self.of.private(self.by, self.made, counted)
