"""Kind `safe_k_anonymity`: rows at levels, sampled, with the classes of fewer than k rows left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Figures, Shape, Static
from crowdgate.kind.kind import Allowance, Formats, Histograms, Json, Kind, Page, Planning, Sections
from crowdgate.mechanisms.rows.parts import CHOICE_PART, JOINT_PART, MARGINS_PART
from crowdgate.mechanisms.rows.spec import SafeKAnonymity

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
    from crowdgate.kinds.rows.candidate import PublishedRows, RowsCandidate
    from crowdgate.kinds.rows.said import RowsManifest
    from crowdgate.manifest import MechanismSaid
    from crowdgate.manifest.values import Said
    from crowdgate.mechanisms.rows.safe_k import SafeK


class RowsKind(Kind[SafeKAnonymity, "SafeK", "RowsCandidate", "PublishedRows", "RowsManifest"]):
    """Rows at levels, sampled, with the classes of fewer than k rows left out."""

    name = "safe_k_anonymity"
    serves = "rows of real people at coarse levels, where no combination may be invented"
    spec = SafeKAnonymity
    shapes = frozenset((Shape.STATIC, Shape.INPUT, Shape.ROWS, Shape.TABLE, Shape.SAMPLE))
    spends = frozenset(("mechanism", CHOICE_PART, JOINT_PART, MARGINS_PART))

    def attributes(self, spec: SafeKAnonymity) -> Sequence[str]:
        from crowdgate.kinds.rows.plan import attributes

        return attributes(spec)

    def beside(self, spec: SafeKAnonymity) -> Mapping[str, Fraction]:
        from crowdgate.kinds.rows.plan import beside

        return beside(spec)

    def plan(self, spec: SafeKAnonymity, contract: Contract, allowance: Allowance) -> Planning[SafeK]:
        from crowdgate.kinds.rows.plan import plan

        return plan(spec, contract, allowance)

    def figures(self, mechanism: SafeK) -> Figures:
        from crowdgate.kinds.rows.plan import figures

        return figures(mechanism)

    def views(self, mechanism: SafeK) -> Mapping[str, View]:
        from crowdgate.kinds.rows.plan import views

        return views(mechanism)

    def protect(self, mechanism: SafeK, static: Static, counted: Histograms, randomness: Randomness) -> RowsCandidate:
        from crowdgate.kinds.rows.release import protect

        return protect(mechanism, static, counted, randomness)

    def attacked(self, mechanism: SafeK, counted: Histograms, randomness: Randomness) -> Seen:
        from crowdgate.kinds.rows.attacked import attacked

        return attacked(mechanism, counted, randomness)

    def publish(self, mechanism: SafeK, candidate: RowsCandidate, contract: Contract) -> PublishedRows:
        from crowdgate.kinds.rows.release import publish

        return publish(mechanism, candidate, contract)

    def files(self, manifest: RowsManifest, published: PublishedRows, formats: Formats) -> Mapping[str, Writer]:
        from crowdgate.kinds.rows.files import files

        return files(manifest, published, formats)

    def parameters(self, mechanism: SafeK) -> Json:
        from crowdgate.kinds.rows.release import parameters

        return parameters(mechanism)

    def mechanism(self, mechanism: SafeK, candidate: RowsCandidate) -> MechanismSaid:
        from crowdgate.kinds.rows.release import mechanism as stated

        return stated(mechanism, candidate)

    def data(self, published: PublishedRows) -> Said:
        from crowdgate.kinds.rows.release import data

        return data(published)

    def page(self, manifest: RowsManifest, published: PublishedRows) -> Page:
        from crowdgate.kinds.rows.page import page

        return page(manifest, published)

    def measured(self, manifest: RowsManifest, published: PublishedRows) -> Candidate:
        from crowdgate.kinds.rows.verify import measured

        return measured(manifest, published)

    def pictures(self, manifest: RowsManifest, published: PublishedRows) -> Sequence[Picture]:
        from crowdgate.kinds.rows.pictures import pictures

        return pictures(manifest, published)

    def private(self, mechanism: SafeK, candidate: RowsCandidate, counted: Histograms) -> Sections:
        from crowdgate.kinds.rows.release import private

        return private(mechanism, candidate, counted)

    def promise(self, mechanism: SafeK, guarantee: Guarantee) -> list[str]:
        from crowdgate.kinds.rows.plan import promise

        return promise(mechanism, guarantee)

    def notes(self, mechanism: SafeK) -> list[str]:
        from crowdgate.kinds.rows.plan import notes

        return notes(mechanism)

    def explained(self, mechanism: SafeK) -> Page:
        from crowdgate.kinds.rows.explained import explained

        return explained(mechanism)

    def outlook(self, mechanism: SafeK, prior: Prior) -> Forecast:
        from crowdgate.kinds.rows.outlook import outlook

        return outlook(mechanism, prior)

    def propose(self, levels: Axes) -> Sequence[SafeKAnonymity]:
        from crowdgate.kinds.rows.outlook import propose

        return propose(levels)

    def says(self) -> type[RowsManifest]:
        from crowdgate.kinds.rows.said import RowsManifest

        return RowsManifest

    def claims(self, manifest: RowsManifest) -> Iterator[str]:
        from crowdgate.kinds.rows.verify import claims

        return claims(manifest)

    def read(self, folder: Path, manifest: RowsManifest, formats: Formats) -> PublishedRows:
        from crowdgate.kinds.rows.verify import read

        return read(folder, manifest, formats)

    def tells(self, manifest: RowsManifest, published: PublishedRows) -> Iterable[Told]:
        from crowdgate.kinds.rows.tells import tells

        return tells(manifest, published)


ROWS = RowsKind()
