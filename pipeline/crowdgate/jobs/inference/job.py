"""How attribute inference is asked of a policy: what is fitted without a release, and the games that are played."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdgate.audit.inference.case import Case, case_of
from crowdgate.audit.inference.controls import (
    GROUP,
    MONDRIAN,
    MOST_UNITS,
    TAG,
    Control,
    with_added,
    with_coin,
)
from crowdgate.audit.inference.findings import Findings
from crowdgate.audit.inference.original import PARTS, Original, blocks_of, original
from crowdgate.audit.inference.play import Game
from crowdgate.audit.inference.record import InferenceRecord
from crowdgate.audit.inference.secret import Floats, Secret
from crowdgate.audit.population import Population
from crowdgate.audit.readings import READINGS
from crowdgate.audit.released import Released
from crowdgate.audit.run import Scheduled
from crowdgate.candidate import Question
from crowdgate.hierarchy import EXACT
from crowdgate.jobs.audit import Asking, Audited
from crowdgate.jobs.inference.setting import (
    beside,
    controls_of,
    known_of,
    libraries_of_models,
    numbers_of,
    refuse,
    said_of,
    secrets_of,
    setting_of,
    units_of,
)
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

Inferred = Audited[InferenceRecord, Findings]


def _schedule(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> list[Scheduled]:
    """The policy's own mechanism, the same question asked of its columns as they are, and the controls."""
    table = Tables(plan, spec, population, tuple(secrets_of(plan)), seed)
    own = Game(Released(plan.protection), table.cases, seed, 0)
    games = [Scheduled(own, spec.inference.releases, "judged", "publishes what the policy says")]
    for number, control in enumerate(controls_of(plan), start=1):
        cases = table.of(control)
        also = tuple(name for name in (TAG, GROUP) if name in control.added)
        game = Game(control, cases, seed, number, also, control.attacks)
        games.append(Scheduled(game, control.releases, control.must, control.note, control.least))
    return games


@dataclass(frozen=True, eq=False)
class Tables:
    """The table that is attacked and the smaller one of the controls, with what is fitted without its people: drawn and
    fitted from the seed."""

    plan: Plan
    spec: AuditSpec
    population: Population
    secrets: tuple[Secret, ...]
    seed: int

    def of(self, control: Control) -> tuple[Case, ...]:
        """The cases that a control is played on."""
        if control.must == "show":
            return self.cases
        return self.coined if control.name == MONDRIAN else self.controlled

    @property
    def n(self) -> int:
        """Units of the table that is released."""
        return units_of(self.spec, self.population.size)

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Of the table that is released."""
        return self._cases(self._original(self.n, 0, blocks_of(self.n)), 1)

    @cached_property
    def controlled(self) -> tuple[Case, ...]:
        """Of the controls' table."""
        return self._cases(self._added(self._small), 3)

    @cached_property
    def coined(self) -> tuple[Case, ...]:
        """Of the control whose secret nothing predicts."""
        return self._cases(self._added(with_coin(self._small, self._rng(4))), 5)

    @cached_property
    def _small(self) -> Original:
        return self._original(min(MOST_UNITS, self.n), 2, PARTS)

    def _added(self, table: Original) -> Original:
        return Original(with_added(table), table.public, table.units, table.known, table.secrets)

    def _original(self, n: int, stream: int, blocks: int) -> Original:
        known = known_of(self.plan.bundle.contract)
        return original(self.population, n, known, self.secrets, self._rng(stream), blocks)

    def _cases(self, table: Original, stream: int) -> tuple[Case, ...]:
        contract = self.plan.bundle.population  # its values may be others than those of the policy's contract
        numbers: dict[str, Floats | None] = {
            name: numbers_of(contract.by_name[name], EXACT) for name in self.population.levels
        }
        return tuple(case_of(table, secret, numbers, self._rng(stream)) for secret in table.secrets)

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(1 << 20, stream)))


INFERENCE: Asking[InferenceRecord, Findings] = Asking(
    READINGS[Question.INFERENCE], libraries_of_models, beside, said_of, setting_of, refuse, _schedule
)
