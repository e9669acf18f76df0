"""Fresh releases of a policy's own mechanism, on the whole table of the population, compared with what is stated.

Each release is drawn by the release's own functions, with a key of its own from the operating system. Nothing that was
published is read. The audit's own random numbers only make scores exactly uniform (see `scores`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.common.game import Game
from crowdgate.audit.common.population import Population, Rng
from crowdgate.audit.common.trials import ScheduledGame
from crowdgate.audit.law.gates import gate_draws
from crowdgate.audit.law.record import LawResults, RareClasses
from crowdgate.audit.law.scores import (
    certain,
    choice_interval,
    class_intervals,
    impossible,
    improbable,
    noise_intervals,
    scores,
    with_shape,
)
from crowdgate.audit.law.setting import releases_of
from crowdgate.audit.law.sums import ScoreSums, added
from crowdgate.candidate import Input, Static
from crowdgate.contracts.contract import Contract
from crowdgate.histogram import split
from crowdgate.kind.kind import Protection
from crowdgate.kind.plan import Plan
from crowdgate.kind.stated_laws import ChoiceDraw, ClassDraws, Contradiction, NoiseDraws, RecordedRandomness, StatedDraw
from crowdgate.ledger import key as keys
from crowdgate.policy.policy import AuditSpec, GateRule

TOO_SMALL = "A class is released that is smaller than k, or larger than in the table."


@dataclass(frozen=True, eq=False)
class LawTally:
    """Sums of scores by family, rare classes and contradictions of some fresh releases."""

    sums: tuple[ScoreSums, ...]
    rare: RareClasses
    contradictions: tuple[str, ...]

    @classmethod
    def of_json(cls, said: Mapping[str, Any]) -> LawTally:
        """Return a tally from its stored JSON object."""
        sums = tuple(map(ScoreSums.model_validate, said["sums"]))
        return cls(sums, RareClasses.model_validate(said["rare"]), tuple(map(str, said["contradictions"])))

    def to_json(self) -> dict[str, Any]:
        """Return the tally as a JSON object, as it is stored."""
        sums = [each.model_dump(mode="json") for each in self.sums]
        return {"sums": sums, "rare": self.rare.model_dump(), "contradictions": list(self.contradictions)}


@dataclass(frozen=True, eq=False)
class ScoredRelease:
    """One fresh release: the scores of its numbers by family, their sums, rare classes and contradictions."""

    scores: Mapping[str, Floats]
    tally: LawTally


@dataclass(frozen=True, eq=False)
class FreshReleases(Game[LawTally, LawResults]):
    """Fresh releases of a planned mechanism, on the whole population: with the public facts `static`, the contract, and
    the policy's charged gates."""

    protection: Protection
    static: Static
    contract: Contract
    gates: tuple[GateRule, ...]
    population: Population
    releases: int
    seed: int
    number: int = 0
    batch_size = 2

    def batch(self, at: int, trials: int) -> LawTally:
        rng = self.stream(at)
        return paired([self.release(rng, written=trial == 0) for trial in range(trials)])

    def read(self, said: dict[str, Any], trials: int) -> LawTally:
        del trials
        return LawTally.of_json(said)

    def played(
        self, tallies: Mapping[int, LawTally], must: Literal["judged"], note: str, rate: float | None
    ) -> LawResults:
        every = joined(tallies.values())
        return LawResults(
            mechanism="the policy's mechanism", must=must, note=note, rate=rate,
            releases=self.releases, sums=every.sums, rare=every.rare,
            contradictions=every.contradictions,
        )  # fmt: skip

    def release(self, rng: Rng, *, written: bool) -> ScoredRelease:
        """Draw one release, and return the scores of all its numbers. The contents of its files are compared with them
        if it is `written`, which every second release is."""
        return scored(self._drawn(written=written), rng)

    def _drawn(self, *, written: bool) -> Iterator[StatedDraw]:
        kind, mechanism = self.protection.kind, self.protection.mechanism
        counted = split(self.population.cells, self.population.view, self.protection.views)
        recorded = RecordedRandomness.of(keys.draw_key())
        candidate = kind.protect(mechanism, self.static, counted, recorded)
        published = kind.publish(mechanism, candidate, self.contract) if written else None
        yield from kind.stated_laws(mechanism, counted, candidate, published, recorded)
        clean = Input(self.population.cells.rows, 0, dict.fromkeys(self.contract.by_name, 0), 0)
        yield from gate_draws(self.gates, replace(candidate, input=clean), recorded.noise)


def scored(drawn: Iterable[StatedDraw], rng: Rng) -> ScoredRelease:
    """Return the scores of all numbers of one release."""
    score: dict[str, list[Floats]] = {}
    sums: list[ScoreSums] = []
    rare, contradictions = RareClasses(), dict[str, None]()
    for each in drawn:
        if isinstance(each, Contradiction):
            contradictions[each.sentence] = None
            continue
        if isinstance(each, NoiseDraws):
            each = with_shape(each)
        if isinstance(each, ClassDraws) and impossible(each):
            contradictions[TOO_SMALL] = None
            continue
        if isinstance(each, ClassDraws):
            rare = _with_rare(rare, each)
        found = _scored(each, rng)
        sums.append(found[0])
        score.setdefault(each.family, []).append(found[1])
    every = {family: np.concatenate(parts) for family, parts in score.items()}
    return ScoredRelease(every, LawTally(added(sums), rare, tuple(contradictions)))


def _scored(drawn: NoiseDraws | ClassDraws | ChoiceDraw, rng: Rng) -> tuple[ScoreSums, Floats]:
    if isinstance(drawn, ClassDraws):
        of = class_intervals(drawn)
        own = scores(of, rng)
        sure = certain(drawn)
        rated = {
            "rows": int(drawn.full[sure].sum()),
            "taken": int(drawn.released[sure].sum()),
            "rate": float(drawn.beta),
        }
        return ScoreSums.of(drawn.family, own, of.scale).model_copy(update=rated), own
    of = noise_intervals(drawn) if isinstance(drawn, NoiseDraws) else choice_interval(drawn)
    own = scores(of, rng)
    return ScoreSums.of(drawn.family, own, of.scale), own


def _with_rare(rare: RareClasses, drawn: ClassDraws) -> RareClasses:
    shown, chances = improbable(drawn)
    return RareClasses(expected=rare.expected + float(chances.sum()), released=rare.released + int(shown.sum()))


def paired(drawn: Sequence[ScoredRelease]) -> LawTally:
    """Return the tally of some releases together. Two releases are compared with each other."""
    one = joined(each.tally for each in drawn)
    if len(drawn) != FreshReleases.batch_size:
        return one
    first, second = (each.scores for each in drawn)
    pairs = [
        each.with_pair(first[each.family], second[each.family])
        if each.family in first and each.family in second
        else each
        for each in one.sums
    ]
    return LawTally(tuple(pairs), one.rare, one.contradictions)


def joined(tallies: Iterable[LawTally]) -> LawTally:
    """Return the tally of several sets of releases together."""
    every = list(tallies)
    rare = RareClasses(
        expected=sum(each.rare.expected for each in every), released=sum(each.rare.released for each in every)
    )
    sentences = dict.fromkeys(sentence for each in every for sentence in each.contradictions)
    return LawTally(added(sums for each in every for sums in each.sums), rare, tuple(sentences))


def schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[ScheduledGame]:
    """Return the one game: fresh releases of the policy's own mechanism."""
    releases = releases_of(plan, spec)
    contract, protection = plan.bundle.contract, plan.protection
    charged = tuple(rule for rule, _ in plan.gates if rule.charge is not None)
    game = FreshReleases(protection, plan.first_release_facts(), contract, charged, population, releases, seed)
    return [ScheduledGame(game, releases, "judged", "publishes what the policy says")]
