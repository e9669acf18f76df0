"""Kind `dp_synthetic`: synthetic rows drawn from a model of noisy tables, with a certificate of each pair of
columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, OutputType, Static
from crowdgate.kind.kind import Allowance, Formats, Histograms, Json, Kind, KindPage, Planning, Sections
from crowdgate.mechanisms.synthetic.spec import DpSyntheticSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from crowdgate.accounting.renyi import Divergences
    from crowdgate.accounting.renyi_filter import Filter
    from crowdgate.contracts.contract import Contract
    from crowdgate.formats.byte_compare import Writer
    from crowdgate.kind.explanation import Explanation
    from crowdgate.kind.forecast import Axes, Forecast
    from crowdgate.kind.mechanism_output import MechanismOutput
    from crowdgate.kind.picture import Picture
    from crowdgate.kind.prior import Prior, ReportedCounts
    from crowdgate.kind.randomness import Randomness
    from crowdgate.kind.stated_laws import RecordedRandomness, StatedDraw
    from crowdgate.kinds.synthetic.manifest_fields import SyntheticManifest
    from crowdgate.kinds.synthetic.plan import SyntheticPlan
    from crowdgate.kinds.synthetic.release import SyntheticCandidate
    from crowdgate.kinds.synthetic.released_files import PublishedSynthetic
    from crowdgate.manifest import MechanismFields
    from crowdgate.manifest.values import ManifestFields
    from crowdgate.policy.policy import GateRule


class SyntheticKind(
    Kind[DpSyntheticSpec, "SyntheticPlan", "SyntheticCandidate", "PublishedSynthetic", "SyntheticManifest"]
):
    """Synthetic rows drawn from a model of noisy tables, with a certificate of each pair of columns."""

    name = "dp_synthetic"
    serves = "synthetic rows of many columns to explore and to train on, which contain invented combinations"
    product = "synthetic file"
    fit = "exploring many columns and training models, before findings are checked against tables"
    unfit = "finding rare combinations of values (rows are invented), or learning about one person"
    spec = DpSyntheticSpec
    shapes = frozenset((OutputType.STATIC, OutputType.INPUT, OutputType.PAIRS))
    spends = frozenset(("mechanism",))

    def plan(self, spec: DpSyntheticSpec, contract: Contract, allowance: Allowance) -> Planning:
        from crowdgate.kinds.synthetic.plan import plan

        return plan(self, spec, contract, allowance)

    def divergences(self, mechanism: SyntheticPlan, budget: Filter) -> Divergences:
        from crowdgate.kinds.synthetic.divergences import divergences

        return divergences(mechanism, budget)

    def protect(
        self, mechanism: SyntheticPlan, static: Static, counted: Histograms, randomness: Randomness
    ) -> SyntheticCandidate:
        from crowdgate.kinds.synthetic.release import protect

        return protect(mechanism, static, counted, randomness)

    def mechanism_output(
        self, mechanism: SyntheticPlan, counted: Histograms, randomness: Randomness
    ) -> MechanismOutput:
        from crowdgate.kinds.synthetic.mechanism_output import mechanism_output

        return mechanism_output(mechanism, counted, randomness)

    def stated_laws(
        self,
        mechanism: SyntheticPlan,
        counted: Histograms,
        candidate: SyntheticCandidate,
        published: PublishedSynthetic | None,
        recorded: RecordedRandomness,
    ) -> Iterator[StatedDraw]:
        from crowdgate.kinds.synthetic.stated_laws import stated_laws

        return stated_laws(mechanism, counted, candidate, published, recorded)

    @property
    def audited_draws(self) -> int:
        """Four: a release takes seconds, and measures thousands of cells."""
        return 4

    @property
    def attacked_tables(self) -> int:
        """Twenty-five: a release takes seconds, and a harmless mechanism needs 23 at most (1,000 people or more)."""
        return 25

    @property
    def attacked_releases(self) -> int:
        """Forty: a release takes seconds, and a harmless mechanism needs so many in the first attempt at the default
        limit, if a baseline is wrong for 1,000 people or more."""
        return 40

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

    def most_lines(self, mechanism: SyntheticPlan, rows: int) -> tuple[int, int]:
        from crowdgate.kinds.synthetic.files import most_lines

        return most_lines(mechanism, rows)

    def unproved(self, manifest: SyntheticManifest) -> str:
        del manifest
        return "Noisy tables and rows may have been replaced together by others that fit each other."

    def parameters(self, mechanism: SyntheticPlan) -> Json:
        from crowdgate.kinds.synthetic.release import parameters

        return parameters(mechanism)

    def mechanism_fields(self, mechanism: SyntheticPlan, candidate: SyntheticCandidate) -> MechanismFields:
        from crowdgate.kinds.synthetic.release import mechanism_fields

        return mechanism_fields(mechanism, candidate)

    def data_fields(self, published: PublishedSynthetic) -> ManifestFields:
        from crowdgate.kinds.synthetic.release import data_fields

        return data_fields(published)

    def page(self, manifest: SyntheticManifest, published: PublishedSynthetic) -> KindPage:
        from crowdgate.kinds.synthetic.page import page

        return page(manifest, published)

    def output_candidate(self, manifest: SyntheticManifest, published: PublishedSynthetic) -> Candidate:
        from crowdgate.kinds.synthetic.verify import output_candidate

        return output_candidate(manifest, published)

    def pictures(self, manifest: SyntheticManifest, published: PublishedSynthetic) -> Sequence[Picture]:
        from crowdgate.kinds.synthetic.pictures import pictures

        return pictures(manifest, published)

    def private(self, mechanism: SyntheticPlan, candidate: SyntheticCandidate, counted: Histograms) -> Sections:
        from crowdgate.kinds.synthetic.release import private

        return private(mechanism, candidate, counted)

    def notes(self, mechanism: SyntheticPlan) -> list[str]:
        from crowdgate.kinds.synthetic.plan import notes

        return notes(mechanism)

    def explanation(self, mechanism: SyntheticPlan) -> Explanation:
        from crowdgate.kinds.synthetic.explanation import explanation

        return explanation(mechanism)

    def outlook(self, mechanism: SyntheticPlan, prior: Prior, gates: Sequence[GateRule] = ()) -> Forecast:
        del gates
        from crowdgate.kinds.synthetic.outlook import outlook

        return outlook(mechanism, prior)

    def propose(self, levels: Axes, needed: Sequence[Axes] = ()) -> Sequence[DpSyntheticSpec]:
        from crowdgate.kinds.synthetic.outlook import propose

        del needed
        return propose(levels)

    def manifest_class(self) -> type[SyntheticManifest]:
        from crowdgate.kinds.synthetic.manifest_fields import SyntheticManifest

        return SyntheticManifest

    def manifest_problems(self, manifest: SyntheticManifest) -> Iterator[str]:
        from crowdgate.kinds.synthetic.verify import manifest_problems

        return manifest_problems(manifest)

    def read(self, folder: Path, manifest: SyntheticManifest, formats: Formats) -> PublishedSynthetic:
        from crowdgate.kinds.synthetic.verify import read

        return read(folder, manifest, formats)

    def counts_for_planning(
        self, manifest: SyntheticManifest, published: PublishedSynthetic
    ) -> Iterable[ReportedCounts]:
        from crowdgate.kinds.synthetic.counts_for_planning import counts_for_planning

        return counts_for_planning(manifest, published)

    def refit(self, manifest: SyntheticManifest, published: PublishedSynthetic) -> Iterator[str]:
        from crowdgate.kinds.synthetic.refit import refit

        return refit(manifest, published)


SYNTHETIC = SyntheticKind()
