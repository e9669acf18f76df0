"""Whole releases as the games of an audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from crowdgate.audit.audits import AUDITS
from crowdgate.audit.common.game import Game
from crowdgate.audit.common.trials import ScheduledGame
from crowdgate.audit.files.record import FilesResults
from crowdgate.audit.files.setting import releases_of
from crowdgate.audit.law.play import LawTally, joined, paired, scored
from crowdgate.candidate import AuditQuestion
from crowdgate.kind.stated_laws import Contradiction
from crowdgate.releases.whole_releases.trial import SeenRelease, whole_release

if TYPE_CHECKING:
    from crowdgate.audit.common.audit import Audit
    from crowdgate.audit.common.population import Population
    from crowdgate.kind.plan import Plan
    from crowdgate.policy.policy import AuditSpec

SHARED_KEY = Contradiction("Two releases share a key.")


@dataclass(frozen=True, eq=False)
class FilesTally:
    """Drawn numbers and contradictions of some whole releases, and how many were published and marked."""

    law: LawTally
    published: int
    marked: int

    def to_json(self) -> dict[str, Any]:
        """Return the tally as a JSON object, as it is stored."""
        return {**self.law.to_json(), "published": self.published, "marked": self.marked}


@dataclass(frozen=True, eq=False)
class WholeReleases(Game[FilesTally, FilesResults]):
    """Whole releases of the policy in a file, on its public population."""

    policy: Path
    releases: int
    seed: int
    number: int = 0
    batch_size = 2

    def batch(self, at: int, trials: int) -> FilesTally:
        rng = self.stream(at)
        every = [whole_release(self.policy) for _ in range(trials)]
        law = paired([scored(each.draws, rng) for each in every])
        shared = joined([law, *(scored([each], rng).tally for each in _shared_keys(every))])
        return FilesTally(shared, sum(each.published for each in every), sum(each.marked for each in every))

    def read(self, said: dict[str, Any], trials: int) -> FilesTally:
        published, marked = int(said["published"]), int(said["marked"])
        if not 0 <= min(published, marked) <= max(published, marked) <= trials:
            raise ValueError("more releases than trials")
        return FilesTally(LawTally.of_json(said), published, marked)

    def played(
        self, tallies: Mapping[int, FilesTally], must: Literal["judged"], note: str, rate: float | None
    ) -> FilesResults:
        every = joined(each.law for each in tallies.values())
        return FilesResults(
            mechanism="whole releases", must=must, note=note, rate=rate, releases=self.releases, sums=every.sums,
            rare=every.rare, contradictions=every.contradictions,
            published=sum(each.published for each in tallies.values()),
            marked=sum(each.marked for each in tallies.values()),
        )  # fmt: skip


def _shared_keys(every: Sequence[SeenRelease]) -> Iterable[Contradiction]:
    drawn = [each.key for each in every if each.key is not None]
    return [SHARED_KEY] if len({*drawn}) < len(drawn) else []


def schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[ScheduledGame]:
    """Return the one game: whole releases of the policy."""
    del spec
    releases = releases_of(population.size)
    game = WholeReleases(plan.bundle.document.path.resolve(), releases, seed)
    return [ScheduledGame(game, releases, "judged", "publishes what the policy says")]


def playable(question: AuditQuestion) -> Audit[Any, Any]:
    """Return the audit of a question, with its games."""
    audit = AUDITS[question]
    return replace(audit, schedule=schedule) if question is AuditQuestion.FILES else audit
