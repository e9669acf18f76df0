"""The tables of an inference audit: the attacked one, and the smaller one of the controls."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.common.population import Population, Rng
from crowdgate.audit.inference.controls import (
    MONDRIAN,
    MOST_UNITS,
    InferenceControl,
    with_control_columns,
    with_random_secret,
)
from crowdgate.audit.inference.secret import Secret
from crowdgate.audit.inference.secret_case import SecretCase, secret_case
from crowdgate.audit.inference.setting import known_attributes, numbers_of, units_of
from crowdgate.audit.inference.source_table import PARTS, SourceTable, block_count, source_table
from crowdgate.hierarchy import EXACT
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec


@dataclass(frozen=True, eq=False)
class InferenceTables:
    """The tables that an inference audit attacks: the policy's, and a smaller one for the controls, with fitted
    baselines. The seed determines them all."""

    plan: Plan
    spec: AuditSpec
    population: Population
    secrets: tuple[Secret, ...]
    seed: int

    def of(self, control: InferenceControl) -> tuple[SecretCase, ...]:
        """Return the cases (secrets with targets and baselines) of the table that a control releases."""
        if control.must == "show":
            return self.cases
        return self.coined if control.name == MONDRIAN else self.controlled

    @property
    def n(self) -> int:
        """Number of units of the table that the policy's mechanism releases."""
        return units_of(self.spec, self.population.size)

    @cached_property
    def cases(self) -> tuple[SecretCase, ...]:
        """Secrets, each with its targets and baselines, of the table that the policy's mechanism releases."""
        return self._cases(self._original(self.n, 0, block_count(self.n)), 1)

    @cached_property
    def controlled(self) -> tuple[SecretCase, ...]:
        """Secrets, each with its targets and baselines, of the smaller table that the controls release."""
        return self._cases(self._added(self._small), 3)

    @cached_property
    def coined(self) -> tuple[SecretCase, ...]:
        """Secrets, each with its targets and baselines, of the controls' table in which the secret is a random bit per
        row, which no baseline predicts."""
        return self._cases(self._added(with_random_secret(self._small, self._rng(4))), 5)

    @cached_property
    def _small(self) -> SourceTable:
        return self._original(min(MOST_UNITS, self.n), 2, PARTS)

    def _added(self, table: SourceTable) -> SourceTable:
        return SourceTable(with_control_columns(table), table.public, table.units, table.known, table.secrets)

    def _original(self, n: int, stream: int, blocks: int) -> SourceTable:
        known = known_attributes(self.plan.bundle.contract)
        return source_table(self.population, n, known, self.secrets, self._rng(stream), blocks)

    def _cases(self, table: SourceTable, stream: int) -> tuple[SecretCase, ...]:
        contract = self.plan.bundle.population  # its values may differ from those of the policy's contract
        numbers: dict[str, Floats | None] = {
            name: numbers_of(contract.by_name[name], EXACT) for name in self.population.levels
        }
        return tuple(secret_case(table, secret, numbers, self._rng(stream)) for secret in table.secrets)

    def _rng(self, stream: int) -> Rng:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(1 << 20, stream)))
