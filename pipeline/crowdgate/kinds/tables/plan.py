"""Plan of a policy of tables: its mechanism with numbers, counted views, and descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.candidate import MechanismFigures
from crowdgate.guarantee import Part
from crowdgate.kind.kind import Allowance, AnyKind, Planning, Protection
from crowdgate.kinds.tables.joint_cost import planned_jointly
from crowdgate.mechanisms.tables.columns import RESERVED
from crowdgate.mechanisms.tables.spec import DpTablesSpec, column_names
from crowdgate.mechanisms.tables.workload_lines import plan_tables
from crowdgate.number_text import decimal

if TYPE_CHECKING:
    from crowdgate.accounting.tables_plan import NoiseKind
    from crowdgate.contracts.contract import Contract
    from crowdgate.errors import Finding
    from crowdgate.mechanisms.tables.dp_tables import DpTables


@dataclass(frozen=True, eq=False)
class TablesPlan:
    """The mechanism, and the policy's rules for its numbers: which are trustworthy, and what is published of them."""

    mechanism: DpTables
    spec: DpTablesSpec


def plan(kind: AnyKind, spec: DpTablesSpec, contract: Contract, allowance: Allowance) -> Planning:
    """Plan the mechanism, whose one part of the guarantee is the whole allowance. Few views serve all tables; no rows
    are published."""
    part = Part("mechanism", allowance.epsilon, allowance.delta)
    mechanism, findings = plan_tables(spec, contract, part)
    found = [*_name_findings(spec), *findings]
    if mechanism is None or found:
        return None, found
    joint = None
    if allowance.gates is not None:
        mechanism, joint, against = planned_jointly(mechanism, allowance)
        if mechanism is None:
            return None, against
    figures, planned = MechanismFigures(1, {}, mechanism.beta), TablesPlan(mechanism, spec)
    return Protection(kind, planned, (mechanism.part,), figures, mechanism.views, joint), ()


def _name_findings(spec: DpTablesSpec) -> Iterator[Finding]:
    """Yield a finding for each attribute with the name of a column of numbers that tables have."""
    for name in column_names(spec):
        if name in RESERVED:
            yield (), f"{name!r} is the name of a column that every table has", "attributes of other names", None


def notes(planned: TablesPlan) -> list[str]:
    """Return a sentence on the number of tables and noisy numbers, and on their noise."""
    found, budget = planned.mechanism, planned.mechanism.budget
    tables, numbers = len(found.workload.items), found.noisy_numbers
    return [workload_sentence(tables, numbers, budget.noise, decimal(budget.spend), found.beta)]


def workload_sentence(tables: int, cells: int, noise: NoiseKind, spend: str, beta: Fraction) -> str:
    """Return a sentence on the number of tables and noisy numbers, and on their noise with its budget `spend`."""
    unit = "epsilon" if noise == "laplace" else "rho"
    rate = "" if beta == 1 else f" on a sample of rate {float(beta):g}"
    return f"{tables} tables from {cells} noisy numbers: discrete {noise} noise of {unit} {spend}{rate}."
