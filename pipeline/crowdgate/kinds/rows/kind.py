"""Kind `safe_k_anonymity`: rows at levels, sampled, with the classes of fewer than k rows left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, OutputType, Static
from crowdgate.kind.kind import Allowance, Formats, Histograms, Json, Kind, KindPage, Planning, Sections
from crowdgate.kind.unit_costs import UNITS
from crowdgate.mechanisms.rows.charge_names import CHOICE_PART, JOINT_PART, MARGINS_PART
from crowdgate.mechanisms.rows.spec import SafeKAnonymity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from crowdgate.accounting.joint import JointLaw
    from crowdgate.accounting.renyi import Divergences
    from crowdgate.accounting.renyi_filter import Filter
    from crowdgate.contracts.contract import Contract
    from crowdgate.formats.byte_compare import Writer
    from crowdgate.guarantee import Guarantee
    from crowdgate.kind.explanation import Explanation
    from crowdgate.kind.forecast import Axes, Forecast
    from crowdgate.kind.mechanism_output import MechanismOutput
    from crowdgate.kind.picture import Picture
    from crowdgate.kind.prior import Prior, ReportedCounts
    from crowdgate.kind.randomness import Randomness
    from crowdgate.kind.stated_laws import RecordedRandomness, StatedDraw
    from crowdgate.kinds.rows.candidate import PublishedRows, RowsCandidate
    from crowdgate.kinds.rows.manifest_fields import RowsManifest
    from crowdgate.manifest import MechanismFields
    from crowdgate.manifest.values import ManifestFields
    from crowdgate.mechanisms.rows.safe_k import SafeK
    from crowdgate.policy.policy import GateRule


class RowsKind(Kind[SafeKAnonymity, "SafeK", "RowsCandidate", "PublishedRows", "RowsManifest"]):
    """Rows at levels, sampled, with the classes of fewer than k rows left out."""

    name = "safe_k_anonymity"
    serves = "rows of real people at coarse levels, where no combination may be invented"
    product = "public-use file"
    fit = "filtering, and comparing groups by the weights of their rows"
    unfit = "counting people without weights (rare combinations are suppressed), or learning about one person"
    spec = SafeKAnonymity
    shapes = frozenset((OutputType.STATIC, OutputType.INPUT, OutputType.ROWS, OutputType.TABLE, OutputType.SAMPLE,
                        OutputType.MARGINS))  # fmt: skip
    spends = frozenset(("mechanism", CHOICE_PART, JOINT_PART, MARGINS_PART))

    def shapes_of(self, spec: SafeKAnonymity) -> frozenset[OutputType]:
        return self.shapes if spec.margins is not None else self.shapes - {OutputType.MARGINS}

    def gate_attributes(self, spec: SafeKAnonymity) -> Sequence[str]:
        from crowdgate.kinds.rows.plan import gate_attributes

        return gate_attributes(spec)

    def other_charges(self, spec: SafeKAnonymity) -> Mapping[str, Fraction]:
        from crowdgate.kinds.rows.plan import other_charges

        return other_charges(spec)

    def plan(self, spec: SafeKAnonymity, contract: Contract, allowance: Allowance) -> Planning:
        from crowdgate.kinds.rows.plan import plan

        return plan(self, spec, contract, allowance)

    def divergences(self, mechanism: SafeK, budget: Filter) -> Divergences | None:
        from crowdgate.kinds.rows.divergences import divergences

        return divergences(mechanism, budget)

    def joint_law(self, mechanism: SafeK, gates: tuple[Fraction, ...]) -> JointLaw | None:
        from crowdgate.kinds.rows.joint_cost import joint_law

        return joint_law(mechanism, gates)

    def protect(self, mechanism: SafeK, static: Static, counted: Histograms, randomness: Randomness) -> RowsCandidate:
        from crowdgate.kinds.rows.release import protect

        return protect(mechanism, static, counted, randomness)

    def mechanism_output(self, mechanism: SafeK, counted: Histograms, randomness: Randomness) -> MechanismOutput:
        from crowdgate.kinds.rows.mechanism_output import mechanism_output

        return mechanism_output(mechanism, counted, randomness)

    def stated_laws(
        self,
        mechanism: SafeK,
        counted: Histograms,
        candidate: RowsCandidate,
        published: PublishedRows | None,
        recorded: RecordedRandomness,
    ) -> Iterator[StatedDraw]:
        from crowdgate.kinds.rows.stated_laws import stated_laws

        return stated_laws(mechanism, counted, candidate, published, recorded)

    def publish(self, mechanism: SafeK, candidate: RowsCandidate, contract: Contract) -> PublishedRows:
        from crowdgate.kinds.rows.release import publish

        del mechanism
        return publish(candidate, contract)

    def files(self, manifest: RowsManifest, published: PublishedRows, formats: Formats) -> Mapping[str, Writer]:
        from crowdgate.kinds.rows.files import files

        return files(manifest, published, formats)

    def most_lines(self, mechanism: SafeK, rows: int) -> tuple[int, int]:
        if mechanism.margins is None:
            return rows, 0
        return rows, 2 * mechanism.margins.tables(mechanism.levels).workload.cells

    def unproved(self, manifest: RowsManifest) -> str:
        if manifest.mechanism.margins is None:
            return "Rows may have been removed, added or replaced: without margins nothing else counts them."
        return "Rows and margins may have been replaced together by others that fit each other."

    def parameters(self, mechanism: SafeK) -> Json:
        from crowdgate.kinds.rows.release import parameters

        return parameters(mechanism)

    def mechanism_fields(self, mechanism: SafeK, candidate: RowsCandidate) -> MechanismFields:
        from crowdgate.kinds.rows.release import mechanism_fields

        return mechanism_fields(mechanism, candidate)

    def data_fields(self, published: PublishedRows) -> ManifestFields:
        from crowdgate.kinds.rows.release import data_fields

        return data_fields(published)

    def page(self, manifest: RowsManifest, published: PublishedRows) -> KindPage:
        from crowdgate.kinds.rows.page import page

        return page(manifest, published)

    def output_candidate(self, manifest: RowsManifest, published: PublishedRows) -> Candidate:
        from crowdgate.kinds.rows.verify import output_candidate

        return output_candidate(manifest, published)

    def pictures(self, manifest: RowsManifest, published: PublishedRows) -> Sequence[Picture]:
        from crowdgate.kinds.rows.pictures import pictures

        return pictures(manifest, published)

    def private(self, mechanism: SafeK, candidate: RowsCandidate, counted: Histograms) -> Sections:
        from crowdgate.kinds.rows.release import private

        return private(mechanism, candidate, counted)

    @property
    def joint_costs(self) -> bool:
        """True: class sizes can be planned by the joint cost."""
        return True

    def joint_epsilon(self, mechanism: SafeK, guarantee: Guarantee) -> float | None:
        from crowdgate.kinds.rows.joint_cost import joint_epsilon

        return joint_epsilon(mechanism, guarantee)

    def guarantee_text(self, mechanism: SafeK, guarantee: Guarantee) -> list[str]:
        from crowdgate.kinds.rows.plan import guarantee_text

        return guarantee_text(mechanism, guarantee)

    def release_seconds(self, rows: int, cells: int) -> float | None:
        del cells
        return rows * UNITS.sampled_row

    def notes(self, mechanism: SafeK) -> list[str]:
        from crowdgate.kinds.rows.plan import notes

        return notes(mechanism)

    def explanation(self, mechanism: SafeK) -> Explanation:
        from crowdgate.kinds.rows.explanation import explanation

        return explanation(mechanism)

    def outlook(self, mechanism: SafeK, prior: Prior, gates: Sequence[GateRule] = ()) -> Forecast:
        from crowdgate.kinds.rows.outlook import outlook

        return outlook(mechanism, prior, gates)

    def vary_costs(self, spec: SafeKAnonymity) -> Sequence[SafeKAnonymity]:
        from crowdgate.kinds.rows.outlook import vary_costs

        return vary_costs(spec)

    def propose(self, levels: Axes, needed: Sequence[Axes] = ()) -> Sequence[SafeKAnonymity]:
        from crowdgate.kinds.rows.outlook import propose

        del needed
        return propose(levels)

    def manifest_class(self) -> type[RowsManifest]:
        from crowdgate.kinds.rows.manifest_fields import RowsManifest

        return RowsManifest

    def manifest_problems(self, manifest: RowsManifest) -> Iterator[str]:
        from crowdgate.kinds.rows.verify import manifest_problems

        return manifest_problems(manifest)

    def read(self, folder: Path, manifest: RowsManifest, formats: Formats) -> PublishedRows:
        from crowdgate.kinds.rows.verify import read

        return read(folder, manifest, formats)

    def unvouched_problems(self, manifest: RowsManifest, published: PublishedRows) -> Iterator[str]:
        from crowdgate.kinds.rows.margins_check import unvouched_problems

        return unvouched_problems(manifest, published)

    def counts_for_planning(self, manifest: RowsManifest, published: PublishedRows) -> Iterable[ReportedCounts]:
        from crowdgate.kinds.rows.counts_for_planning import counts_for_planning

        return counts_for_planning(manifest, published)


ROWS = RowsKind()
