"""Kind of release: everything in which one kind differs from another, as one abstract base class.

The author of a kind writes a subclass of `Kind`. A subclass that lacks a member can't be instantiated, and mypy names
the member. The rest of the library calls the methods of an `AnyKind` and passes their results from step to step: a
`Protection`, a candidate, and the contents of the files.

Files, pages and numbers of a release are functions of contents and manifest alone. Verification reads the contents
out of the files, recounting, and calls the same functions again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from crowdgate.candidate import Candidate, MechanismFigures, OutputType, Static
from crowdgate.errors import Finding
from crowdgate.formats import Format
from crowdgate.histogram import Histogram, View
from crowdgate.policy.policy import MechanismSpec

if TYPE_CHECKING:
    from crowdgate.accounting.joint import JointLaw
    from crowdgate.accounting.renyi import Divergences
    from crowdgate.accounting.renyi_filter import Filter
    from crowdgate.contracts.contract import Contract
    from crowdgate.formats.byte_compare import Writer
    from crowdgate.guarantee import Guarantee, JointCost, Part
    from crowdgate.kind.explanation import Explanation
    from crowdgate.kind.forecast import Axes, CountErrors, Forecast
    from crowdgate.kind.mechanism_output import MechanismOutput
    from crowdgate.kind.one_way_counts import OneWayCounts
    from crowdgate.kind.picture import Picture
    from crowdgate.kind.prior import Prior, ReportedCounts
    from crowdgate.kind.randomness import Randomness
    from crowdgate.kind.stated_laws import RecordedRandomness, StatedDraw
    from crowdgate.manifest import Manifest, MechanismFields
    from crowdgate.manifest.values import ManifestFields
    from crowdgate.policy.policy import GateRule

Json = dict[str, Any]
Sections = Mapping[str, Callable[[], Json]]
"""Parts of a record by name, each made on first use: a fault in one does not affect the others."""
Histograms = Mapping[str, Histogram]
Formats = Mapping[str, Format]


@dataclass(frozen=True)
class Allowance:
    """The privacy cost that the mechanism may spend after the gates: all its parts together.

    With `gates`, the epsilons of the charged gates, the policy states shares: the joint cost of mechanism and gates is
    planned to meet epsilon, gates included, and delta.
    """

    epsilon: Fraction
    delta: Fraction
    gates: tuple[Fraction, ...] | None = None

    @property
    def total(self) -> Fraction:
        """The epsilon of mechanism and gates together."""
        return self.epsilon + sum(self.gates or (), Fraction(0))


@dataclass(frozen=True)
class KindPage:
    """A README: its template (a path below the package) and the values of the kind's own words.

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


class Kind(ABC, Generic[S, M, C, P, X]):
    """One kind of release. A subclass has no state, and its methods import the functions that they call.

    Its types: the specification in a policy (S), the planned mechanism (M), the candidate that the mechanism makes (C),
    the contents of the published files (P) and the manifest (X). Only `read` raises VerificationFailed.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the mechanism in policies and manifests."""

    @property
    @abstractmethod
    def serves(self) -> str:
        """Phrase for the data of releases of this kind, and what they are good for."""

    @property
    @abstractmethod
    def product(self) -> str:
        """Noun for a release of this kind in titles."""

    @property
    @abstractmethod
    def fit(self) -> str:
        """Phrase for the uses that releases of this kind allow."""

    @property
    @abstractmethod
    def unfit(self) -> str:
        """Phrase for the uses that releases of this kind do not allow."""

    @property
    @abstractmethod
    def spec(self) -> type[S]:
        """Type of the mechanism's part of a policy."""

    @property
    @abstractmethod
    def shapes(self) -> frozenset[OutputType]:
        """Output types of candidates that measures can read."""

    @property
    @abstractmethod
    def spends(self) -> frozenset[str]:
        """Names that the mechanism's own parts of a guarantee can have."""

    @abstractmethod
    def plan(self, spec: S, contract: Contract, allowance: Allowance) -> Planning:
        """Choose the mechanism's numbers, or return the findings against the specification."""

    @abstractmethod
    def parameters(self, mechanism: M) -> Json:
        """Parameters of the mechanism that are known before there is a candidate."""

    @abstractmethod
    def notes(self, mechanism: M) -> list[str]:
        """Sentences about the mechanism for `check` and `plan`; may be empty."""

    def smaller_errors(self, mechanism: M) -> Iterator[tuple[str, str]]:
        """Settings with which a release of the same guarantee has smaller errors: for each the key of the mechanism
        that it is about, and a clause; none unless a kind knows some."""
        del mechanism
        return iter(())

    def release_seconds(self, rows: int, cells: int) -> float | None:
        """CPU seconds from the counts of a table to the files, by its rows and the cells of all views, from measured
        unit costs; None (unknown) unless a kind estimates them."""
        del rows, cells
        return None

    def numeric_columns(self, mechanism: M) -> frozenset[str]:
        """Columns whose numbers are published as sums, means or quantiles; none unless a kind publishes some."""
        del mechanism
        return frozenset()

    @abstractmethod
    def explanation(self, mechanism: M) -> Explanation:
        """Explanation of the protection, for a reader who is no programmer."""

    @abstractmethod
    def outlook(self, mechanism: M, prior: Prior, gates: Sequence[GateRule] = ()) -> Forecast:
        """Forecast of a release from public figures. Measures that are listed have the options of the `gates` on
        them."""

    @abstractmethod
    def propose(self, levels: Axes, needed: Sequence[Axes] = ()) -> Sequence[S]:
        """Specifications of this kind that publish tables at these levels, for comparisons; may be empty. A kind that
        can publish some tables alone also proposes the `needed` ones, whose columns are among these."""

    def vary_costs(self, spec: S) -> Sequence[S]:
        """Specifications that differ from `spec` in how they divide its privacy cost among the parts of a release."""
        del spec
        return ()

    @abstractmethod
    def protect(self, mechanism: M, static: Static, counted: Histograms, randomness: Randomness) -> C:
        """Apply the mechanism to the counted views, and make the candidate."""

    @abstractmethod
    def mechanism_output(self, mechanism: M, counted: Histograms, randomness: Randomness) -> MechanismOutput:
        """Draw what `protect` draws, and return all that an attacker can observe."""

    @abstractmethod
    def private(self, mechanism: M, candidate: C, counted: Histograms) -> Sections:
        """Figures for the custodian's private record."""

    @abstractmethod
    def publish(self, mechanism: M, candidate: C, contract: Contract) -> P:
        """Make the contents of the files."""

    @abstractmethod
    def mechanism_fields(self, mechanism: M, candidate: C) -> MechanismFields:
        """Fields of the manifest that describe the mechanism."""

    @abstractmethod
    def data_fields(self, published: P) -> ManifestFields:
        """Fields of the manifest that describe the contents of the files."""

    @abstractmethod
    def files(self, manifest: X, published: P, formats: Formats) -> Mapping[str, Writer]:
        """Writers of the kind's files by name: all files but attachments and manifest."""

    @abstractmethod
    def page(self, manifest: X, published: P) -> KindPage:
        """The kind's part of the README."""

    @abstractmethod
    def pictures(self, manifest: X, published: P) -> Sequence[Picture]:
        """Pictures of the figures that a recipient needs first."""

    @abstractmethod
    def output_candidate(self, manifest: X, published: P) -> Candidate:
        """Candidate that output measures read."""

    @abstractmethod
    def counts_for_planning(self, manifest: X, published: P) -> Iterable[ReportedCounts]:
        """Counts of people for later plans; none where people are missing by rules that depend on the data."""

    def one_way_counts(self, manifest: X, published: P) -> Iterator[OneWayCounts]:
        """Unbiased counts by one attribute, with the covariance of their noise; none unless a kind publishes some."""
        del manifest, published
        return iter(())

    def count_errors(self, mechanism: M) -> CountErrors | None:
        """Expected standard errors of the noise on published counts; None unless a kind publishes counts with noise."""
        del mechanism
        return None

    @abstractmethod
    def manifest_class(self) -> type[X]:
        """Class of this kind's manifests."""

    @abstractmethod
    def manifest_problems(self, manifest: X) -> Iterator[str]:
        """Contradictions within a manifest, and between the guarantee and the mechanism's parameters."""

    @abstractmethod
    def read(self, folder: Path, manifest: X, formats: Formats) -> P:
        """Recount the files of a folder. Raises VerificationFailed for anything that differs from the manifest."""

    @abstractmethod
    def unproved(self, manifest: X) -> str:
        """Sentence about the data: the changes that nothing but a signature or the ledger can tell."""

    def stated_laws(
        self,
        mechanism: M,  # noqa: ARG002
        counted: Histograms,  # noqa: ARG002
        candidate: C,  # noqa: ARG002
        published: P | None,  # noqa: ARG002
        recorded: RecordedRandomness,  # noqa: ARG002
    ) -> Iterator[StatedDraw]:
        """Numbers that one release drew beside their stated distributions, and contradictions between its parts; none
        unless a kind states them. `counted` counts the table of the release, `recorded` is its randomness, and what is
        `published` is compared unless it is None."""
        return iter(())

    @property
    def audited_draws(self) -> int:
        """Number of fresh releases in an audit of the stated distributions, unless a policy states another."""
        return 25

    @property
    def attacked_tables(self) -> int:
        """Number of drawn tables in an audit of membership, unless a policy states another."""
        return 300

    @property
    def attacked_releases(self) -> int:
        """Number of releases of one table in an audit of inference, unless a policy states another."""
        return 300

    def shapes_of(self, spec: S) -> frozenset[OutputType]:
        """Output types of the candidates of a specification; all of the kind's unless it has optional ones."""
        del spec
        return self.shapes

    def gate_attributes(self, spec: S) -> Sequence[str]:
        """Attributes that gates may name; none unless a kind publishes rows of people."""
        del spec
        return ()

    def other_charges(self, spec: S) -> Mapping[str, Fraction]:
        """Epsilon of steps other than the mechanism, by the name of the step; none unless a kind has such steps."""
        del spec
        return {}

    def most_lines(self, mechanism: M, rows: int) -> tuple[int, int]:
        """Greatest numbers of lines of the data in one format, if the table has at most so many rows: lines of labels,
        and lines of labels and noisy numbers."""
        del mechanism
        return rows, 0

    def joint_epsilon(self, mechanism: M, guarantee: Guarantee) -> float | None:  # noqa: ARG002
        """Return the epsilon that all parts of a release spend together at its delta; None if it is not known, or if
        the policy states shares."""
        return None

    def divergences(self, mechanism: M, budget: Filter) -> Divergences | None:  # noqa: ARG002
        """Return the Renyi divergences of the mechanism, by the laws of its steps, for a lifetime with this filter;
        None if a law is not known. Charged gates are not counted."""
        return None

    def joint_law(self, mechanism: M, gates: tuple[Fraction, ...]) -> JointLaw | None:  # noqa: ARG002
        """Return the joint law of one release with charged `gates` of these epsilons; None if it is not known."""
        return None

    def guarantee_text(self, mechanism: M, guarantee: Guarantee) -> list[str]:
        """The guarantee in words. If the number of people is known, each part is spent twice."""
        from crowdgate.manifest import guarantee_sentences

        del mechanism
        return guarantee_sentences(guarantee, None)

    def unvouched_problems(self, manifest: X, published: P) -> Iterator[str]:
        """Differences that only a trusted key or the ledger can excuse: from data that another machine computes a
        little differently; none if all data are exact."""
        del manifest, published
        return iter(())

    def refit(self, manifest: X, published: P) -> Iterator[str]:
        """Differences between the data and those recomputed from the other files; none if no data follow from other
        files."""
        del manifest, published
        return iter(())

    @property
    def joint_costs(self) -> bool:
        """True if policies may state shares, so that releases have a joint cost."""
        return False

    @property
    def refits(self) -> bool:
        """True if this kind has data that follow from its other files."""
        return type(self).refit is not Kind.refit

    def __eq__(self, other: object) -> bool:
        """Return whether both are of one class; unlike identity this survives pickling."""
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


AnyKind = Kind[Any, Any, Any, Any, Any]
"""A kind of unknown types: manifests, mechanisms and contents must be its own."""
Kinds = Mapping[str, AnyKind]


@dataclass(frozen=True, eq=False)
class Protection:
    """A planned mechanism: its kind, its numbers (of the kind's type M), the parts of the guarantee that it spends, its
    class size, levels and sampling rate, the views to count in one pass over the table, and the joint cost of mechanism
    and gates if the policy states shares."""

    kind: AnyKind
    mechanism: Any
    parts: tuple[Part, ...]
    figures: MechanismFigures
    views: Mapping[str, View]
    joint: JointCost | None = None


Planning = tuple[Protection | None, Sequence[Finding]]
"""The planned mechanism, or None and the findings against it (places below `mechanism`)."""
