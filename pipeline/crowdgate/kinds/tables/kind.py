"""Kind `dp_tables`: counts, sums, means and quantiles with discrete noise, made consistent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Figures, Shape, Static
from crowdgate.kind.kind import Allowance, Formats, Histograms, Json, Kind, Page, Planning, Sections
from crowdgate.mechanisms.tables.spec import DpTablesSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction
    from pathlib import Path

    from crowdgate.contracts.contract import Contract
    from crowdgate.formats.written import Writer
    from crowdgate.guarantee import Guarantee
    from crowdgate.histogram import View
    from crowdgate.kind.forecast import Axes, Forecast
    from crowdgate.kind.picture import Picture
    from crowdgate.kind.prior import Prior, Told
    from crowdgate.kind.randomness import Randomness
    from crowdgate.kind.seen import Seen
    from crowdgate.kinds.tables.plan import TablesPlan
    from crowdgate.kinds.tables.published import PublishedTables
    from crowdgate.kinds.tables.release import AnsweredTables
    from crowdgate.kinds.tables.said import TablesManifest
    from crowdgate.manifest import MechanismSaid
    from crowdgate.manifest.values import Said


class TablesKind(Kind[DpTablesSpec, "TablesPlan", "AnsweredTables", "PublishedTables", "TablesManifest"]):
    """Counts, sums, means and quantiles with discrete noise, made consistent."""

    name = "dp_tables"
    serves = "figures that must be right, each with its error"
    spec = DpTablesSpec
    shapes = frozenset((Shape.STATIC, Shape.INPUT, Shape.CELLS))
    spends = frozenset(("mechanism",))

    def attributes(self, spec: DpTablesSpec) -> Sequence[str]:
        from crowdgate.kinds.tables.plan import attributes

        return attributes(spec)

    def beside(self, spec: DpTablesSpec) -> Mapping[str, Fraction]:
        from crowdgate.kinds.tables.plan import beside

        return beside(spec)

    def plan(self, spec: DpTablesSpec, contract: Contract, allowance: Allowance) -> Planning[TablesPlan]:
        from crowdgate.kinds.tables.plan import plan

        return plan(spec, contract, allowance)

    def figures(self, mechanism: TablesPlan) -> Figures:
        from crowdgate.kinds.tables.plan import figures

        return figures(mechanism)

    def views(self, mechanism: TablesPlan) -> Mapping[str, View]:
        from crowdgate.kinds.tables.plan import views

        return views(mechanism)

    def protect(
        self, mechanism: TablesPlan, static: Static, counted: Histograms, randomness: Randomness
    ) -> AnsweredTables:
        from crowdgate.kinds.tables.release import protect

        return protect(mechanism, static, counted, randomness)

    def attacked(self, mechanism: TablesPlan, counted: Histograms, randomness: Randomness) -> Seen:
        from crowdgate.kinds.tables.attacked import attacked

        return attacked(mechanism, counted, randomness)

    def publish(self, mechanism: TablesPlan, candidate: AnsweredTables, contract: Contract) -> PublishedTables:
        from crowdgate.kinds.tables.release import publish

        return publish(mechanism, candidate, contract)

    def files(self, manifest: TablesManifest, published: PublishedTables, formats: Formats) -> Mapping[str, Writer]:
        from crowdgate.kinds.tables.files import files

        return files(manifest, published, formats)

    def parameters(self, mechanism: TablesPlan) -> Json:
        from crowdgate.kinds.tables.release import parameters

        return parameters(mechanism)

    def mechanism(self, mechanism: TablesPlan, candidate: AnsweredTables) -> MechanismSaid:
        from crowdgate.kinds.tables.release import stated

        return stated(mechanism, candidate)

    def data(self, published: PublishedTables) -> Said:
        from crowdgate.kinds.tables.release import data

        return data(published)

    def page(self, manifest: TablesManifest, published: PublishedTables) -> Page:
        from crowdgate.kinds.tables.page import page

        return page(manifest, published)

    def measured(self, manifest: TablesManifest, published: PublishedTables) -> Candidate:
        from crowdgate.kinds.tables.verify import measured

        return measured(manifest, published)

    def pictures(self, manifest: TablesManifest, published: PublishedTables) -> Sequence[Picture]:
        from crowdgate.kinds.tables.pictures import pictures

        return pictures(manifest, published)

    def private(self, mechanism: TablesPlan, candidate: AnsweredTables, counted: Histograms) -> Sections:
        from crowdgate.kinds.tables.release import private

        return private(mechanism, candidate, counted)

    def promise(self, mechanism: TablesPlan, guarantee: Guarantee) -> list[str]:
        from crowdgate.kinds.tables.plan import promise

        return promise(mechanism, guarantee)

    def notes(self, mechanism: TablesPlan) -> list[str]:
        from crowdgate.kinds.tables.plan import notes

        return notes(mechanism)

    def explained(self, mechanism: TablesPlan) -> Page:
        from crowdgate.kinds.tables.explained import explained

        return explained(mechanism)

    def outlook(self, mechanism: TablesPlan, prior: Prior) -> Forecast:
        from crowdgate.kinds.tables.outlook import outlook

        return outlook(mechanism, prior)

    def propose(self, levels: Axes) -> Sequence[DpTablesSpec]:
        from crowdgate.kinds.tables.outlook import propose

        return propose(levels)

    def says(self) -> type[TablesManifest]:
        from crowdgate.kinds.tables.said import TablesManifest

        return TablesManifest

    def claims(self, manifest: TablesManifest) -> Iterator[str]:
        from crowdgate.kinds.tables.verify import claims

        return claims(manifest)

    def read(self, folder: Path, manifest: TablesManifest, formats: Formats) -> PublishedTables:
        from crowdgate.kinds.tables.verify import read

        return read(folder, manifest, formats)

    def tells(self, manifest: TablesManifest, published: PublishedTables) -> Iterable[Told]:
        from crowdgate.kinds.tables.tells import tells

        return tells(manifest, published)


TABLES = TablesKind()
