"""Kind `dp_synthetic`: rows that are nobody's, drawn from a model of noisy tables, with a certificate of every pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Figures, Shape, Static
from crowdgate.kind.kind import Allowance, Formats, Histograms, Json, Kind, Page, Planning, Sections
from crowdgate.mechanisms.synthetic.spec import DpSyntheticSpec

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
    from crowdgate.kinds.synthetic.plan import SyntheticPlan
    from crowdgate.kinds.synthetic.published import PublishedSynthetic
    from crowdgate.kinds.synthetic.release import SyntheticCandidate
    from crowdgate.kinds.synthetic.said import SyntheticManifest
    from crowdgate.manifest import MechanismSaid
    from crowdgate.manifest.values import Said


class SyntheticKind(
    Kind[DpSyntheticSpec, "SyntheticPlan", "SyntheticCandidate", "PublishedSynthetic", "SyntheticManifest"]
):
    """Rows that are nobody's, drawn from a model of noisy tables, with a certificate of every pair."""

    name = "dp_synthetic"
    serves = "rows of many columns to explore and to train on, which are nobody's and invent combinations"
    spec = DpSyntheticSpec
    shapes = frozenset((Shape.STATIC, Shape.INPUT, Shape.PAIRS))
    spends = frozenset(("mechanism",))
    refits = True

    def attributes(self, spec: DpSyntheticSpec) -> Sequence[str]:
        from crowdgate.kinds.synthetic.plan import attributes

        return attributes(spec)

    def beside(self, spec: DpSyntheticSpec) -> Mapping[str, Fraction]:
        from crowdgate.kinds.synthetic.plan import beside

        return beside(spec)

    def plan(self, spec: DpSyntheticSpec, contract: Contract, allowance: Allowance) -> Planning[SyntheticPlan]:
        from crowdgate.kinds.synthetic.plan import plan

        return plan(spec, contract, allowance)

    def figures(self, mechanism: SyntheticPlan) -> Figures:
        from crowdgate.kinds.synthetic.plan import figures

        return figures(mechanism)

    def views(self, mechanism: SyntheticPlan) -> Mapping[str, View]:
        from crowdgate.kinds.synthetic.plan import views

        return views(mechanism)

    def protect(
        self, mechanism: SyntheticPlan, static: Static, counted: Histograms, randomness: Randomness
    ) -> SyntheticCandidate:
        from crowdgate.kinds.synthetic.release import protect

        return protect(mechanism, static, counted, randomness)

    def attacked(self, mechanism: SyntheticPlan, counted: Histograms, randomness: Randomness) -> Seen:
        from crowdgate.kinds.synthetic.attacked import attacked

        return attacked(mechanism, counted, randomness)

    def publish(
        self, mechanism: SyntheticPlan, candidate: SyntheticCandidate, contract: Contract
    ) -> PublishedSynthetic:
        from crowdgate.kinds.synthetic.release import publish

        return publish(mechanism, candidate, contract)

    def files(
        self, manifest: SyntheticManifest, published: PublishedSynthetic, formats: Formats
    ) -> Mapping[str, Writer]:
        from crowdgate.kinds.synthetic.files import files

        return files(manifest, published, formats)

    def parameters(self, mechanism: SyntheticPlan) -> Json:
        from crowdgate.kinds.synthetic.release import parameters

        return parameters(mechanism)

    def mechanism(self, mechanism: SyntheticPlan, candidate: SyntheticCandidate) -> MechanismSaid:
        from crowdgate.kinds.synthetic.release import stated

        return stated(mechanism, candidate)

    def data(self, published: PublishedSynthetic) -> Said:
        from crowdgate.kinds.synthetic.release import data

        return data(published)

    def page(self, manifest: SyntheticManifest, published: PublishedSynthetic) -> Page:
        from crowdgate.kinds.synthetic.page import page

        return page(manifest, published)

    def measured(self, manifest: SyntheticManifest, published: PublishedSynthetic) -> Candidate:
        from crowdgate.kinds.synthetic.verify import measured

        return measured(manifest, published)

    def pictures(self, manifest: SyntheticManifest, published: PublishedSynthetic) -> Sequence[Picture]:
        from crowdgate.kinds.synthetic.pictures import pictures

        return pictures(manifest, published)

    def private(self, mechanism: SyntheticPlan, candidate: SyntheticCandidate, counted: Histograms) -> Sections:
        from crowdgate.kinds.synthetic.release import private

        return private(mechanism, candidate, counted)

    def promise(self, mechanism: SyntheticPlan, guarantee: Guarantee) -> list[str]:
        from crowdgate.kinds.synthetic.plan import promise

        return promise(mechanism, guarantee)

    def notes(self, mechanism: SyntheticPlan) -> list[str]:
        from crowdgate.kinds.synthetic.plan import notes

        return notes(mechanism)

    def explained(self, mechanism: SyntheticPlan) -> Page:
        from crowdgate.kinds.synthetic.explained import explained

        return explained(mechanism)

    def outlook(self, mechanism: SyntheticPlan, prior: Prior) -> Forecast:
        from crowdgate.kinds.synthetic.outlook import outlook

        return outlook(mechanism, prior)

    def propose(self, levels: Axes) -> Sequence[DpSyntheticSpec]:
        from crowdgate.kinds.synthetic.outlook import propose

        return propose(levels)

    def says(self) -> type[SyntheticManifest]:
        from crowdgate.kinds.synthetic.said import SyntheticManifest

        return SyntheticManifest

    def claims(self, manifest: SyntheticManifest) -> Iterator[str]:
        from crowdgate.kinds.synthetic.verify import claims

        return claims(manifest)

    def read(self, folder: Path, manifest: SyntheticManifest, formats: Formats) -> PublishedSynthetic:
        from crowdgate.kinds.synthetic.verify import read

        return read(folder, manifest, formats)

    def tells(self, manifest: SyntheticManifest, published: PublishedSynthetic) -> Iterable[Told]:
        from crowdgate.kinds.synthetic.tells import tells

        return tells(manifest, published)

    def refit(self, manifest: SyntheticManifest, published: PublishedSynthetic) -> Iterator[str]:
        from crowdgate.kinds.synthetic.refit import refit

        return refit(manifest, published)


SYNTHETIC = SyntheticKind()
