"""Kind `dp_tables`: counts, sums, means and quantiles with discrete noise, made consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, OutputType, Static
from crowdgate.kind.kind import Allowance, Formats, Histograms, Json, Kind, KindPage, Planning, Sections
from crowdgate.kind.unit_costs import UNITS
from crowdgate.mechanisms.tables.spec import DpTablesSpec

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
    from crowdgate.kind.forecast import Axes, CountErrors, Forecast
    from crowdgate.kind.mechanism_output import MechanismOutput
    from crowdgate.kind.one_way_counts import OneWayCounts
    from crowdgate.kind.picture import Picture
    from crowdgate.kind.prior import Prior, ReportedCounts
    from crowdgate.kind.randomness import Randomness
    from crowdgate.kind.stated_laws import RecordedRandomness, StatedDraw
    from crowdgate.kinds.tables.manifest_fields import TablesManifest
    from crowdgate.kinds.tables.plan import TablesPlan
    from crowdgate.kinds.tables.release import AnsweredTables
    from crowdgate.kinds.tables.released_files import PublishedTables
    from crowdgate.manifest import MechanismFields
    from crowdgate.manifest.values import ManifestFields
    from crowdgate.policy.policy import GateRule


class TablesKind(Kind[DpTablesSpec, "TablesPlan", "AnsweredTables", "PublishedTables", "TablesManifest"]):
    """Counts, sums, means and quantiles with discrete noise, made consistent."""

    name = "dp_tables"
    serves = "figures that must be right, each with its error"
    product = "public tables"
    fit = "quoting and comparing figures, each with its error"
    unfit = "comparing cells whose intervals overlap, or learning about one person"
    spec = DpTablesSpec
    shapes = frozenset((OutputType.STATIC, OutputType.INPUT, OutputType.CELLS))
    spends = frozenset(("mechanism",))

    def plan(self, spec: DpTablesSpec, contract: Contract, allowance: Allowance) -> Planning:
        from crowdgate.kinds.tables.plan import plan

        return plan(self, spec, contract, allowance)

    def divergences(self, mechanism: TablesPlan, budget: Filter) -> Divergences:
        from crowdgate.kinds.tables.divergences import divergences

        return divergences(mechanism, budget)

    def smaller_errors(self, mechanism: TablesPlan) -> Iterator[tuple[str, str]]:
        from crowdgate.kinds.tables.smaller_errors import smaller_errors

        return smaller_errors(mechanism)

    def numeric_columns(self, mechanism: TablesPlan) -> frozenset[str]:
        from crowdgate.mechanisms.tables.workload import numeric_columns

        return numeric_columns(mechanism.mechanism.workload.items)

    def joint_law(self, mechanism: TablesPlan, gates: tuple[Fraction, ...]) -> JointLaw | None:
        from crowdgate.kinds.tables.joint_cost import joint_law

        return joint_law(mechanism.mechanism, gates)

    def protect(
        self, mechanism: TablesPlan, static: Static, counted: Histograms, randomness: Randomness
    ) -> AnsweredTables:
        from crowdgate.kinds.tables.release import protect

        return protect(mechanism, static, counted, randomness)

    def mechanism_output(self, mechanism: TablesPlan, counted: Histograms, randomness: Randomness) -> MechanismOutput:
        from crowdgate.kinds.tables.mechanism_output import mechanism_output

        return mechanism_output(mechanism, counted, randomness)

    def stated_laws(
        self,
        mechanism: TablesPlan,
        counted: Histograms,
        candidate: AnsweredTables,
        published: PublishedTables | None,
        recorded: RecordedRandomness,
    ) -> Iterator[StatedDraw]:
        from crowdgate.kinds.tables.stated_laws import stated_laws

        return stated_laws(mechanism, counted, candidate, published, recorded)

    def publish(self, mechanism: TablesPlan, candidate: AnsweredTables, contract: Contract) -> PublishedTables:
        from crowdgate.kinds.tables.release import publish

        return publish(mechanism, candidate, contract)

    def files(self, manifest: TablesManifest, published: PublishedTables, formats: Formats) -> Mapping[str, Writer]:
        from crowdgate.kinds.tables.files import files

        return files(manifest, published, formats)

    def most_lines(self, mechanism: TablesPlan, rows: int) -> tuple[int, int]:
        del rows
        workload = mechanism.mechanism.workload
        return 0, 2 * workload.cells + 4 * (len(workload.items) + len(workload.queries))

    def unproved(self, manifest: TablesManifest) -> str:
        del manifest
        return "Noisy numbers may have been replaced by others that fit each other."

    def parameters(self, mechanism: TablesPlan) -> Json:
        from crowdgate.kinds.tables.release import parameters

        return parameters(mechanism)

    def mechanism_fields(self, mechanism: TablesPlan, candidate: AnsweredTables) -> MechanismFields:
        from crowdgate.kinds.tables.release import mechanism_fields

        return mechanism_fields(mechanism, candidate)

    def data_fields(self, published: PublishedTables) -> ManifestFields:
        from crowdgate.kinds.tables.release import data_fields

        return data_fields(published)

    def page(self, manifest: TablesManifest, published: PublishedTables) -> KindPage:
        from crowdgate.kinds.tables.page import page

        return page(manifest, published)

    def output_candidate(self, manifest: TablesManifest, published: PublishedTables) -> Candidate:
        from crowdgate.kinds.tables.verify import output_candidate

        return output_candidate(manifest, published)

    def pictures(self, manifest: TablesManifest, published: PublishedTables) -> Sequence[Picture]:
        from crowdgate.kinds.tables.pictures import pictures

        return pictures(manifest, published)

    def private(self, mechanism: TablesPlan, candidate: AnsweredTables, counted: Histograms) -> Sections:
        from crowdgate.kinds.tables.release import private

        return private(mechanism, candidate, counted)

    @property
    def joint_costs(self) -> bool:
        """True: noise can be planned by the joint cost."""
        return True

    def joint_epsilon(self, mechanism: TablesPlan, guarantee: Guarantee) -> float | None:
        from crowdgate.kinds.tables.joint_cost import joint_epsilon

        return joint_epsilon(mechanism.mechanism, guarantee)

    def release_seconds(self, rows: int, cells: int) -> float | None:
        del rows
        return cells * UNITS.noisy_cell

    def notes(self, mechanism: TablesPlan) -> list[str]:
        from crowdgate.kinds.tables.plan import notes

        return notes(mechanism)

    def explanation(self, mechanism: TablesPlan) -> Explanation:
        from crowdgate.kinds.tables.explanation import explanation

        return explanation(mechanism)

    def outlook(self, mechanism: TablesPlan, prior: Prior, gates: Sequence[GateRule] = ()) -> Forecast:
        del gates
        from crowdgate.kinds.tables.outlook import outlook

        return outlook(mechanism, prior)

    def propose(self, levels: Axes, needed: Sequence[Axes] = ()) -> Sequence[DpTablesSpec]:
        from crowdgate.kinds.tables.outlook import propose

        return propose(levels, needed)

    def manifest_class(self) -> type[TablesManifest]:
        from crowdgate.kinds.tables.manifest_fields import TablesManifest

        return TablesManifest

    def manifest_problems(self, manifest: TablesManifest) -> Iterator[str]:
        from crowdgate.kinds.tables.verify import manifest_problems

        return manifest_problems(manifest)

    def read(self, folder: Path, manifest: TablesManifest, formats: Formats) -> PublishedTables:
        from crowdgate.kinds.tables.verify import read

        return read(folder, manifest, formats)

    def counts_for_planning(self, manifest: TablesManifest, published: PublishedTables) -> Iterable[ReportedCounts]:
        from crowdgate.kinds.tables.counts_for_planning import counts_for_planning

        return counts_for_planning(manifest, published)

    def one_way_counts(self, manifest: TablesManifest, published: PublishedTables) -> Iterator[OneWayCounts]:
        from crowdgate.kinds.tables.one_way_counts import one_way_counts

        return one_way_counts(manifest, published)

    def count_errors(self, mechanism: TablesPlan) -> CountErrors | None:
        from crowdgate.kinds.tables.outlook import count_errors

        return count_errors(mechanism.mechanism)


TABLES = TablesKind()
