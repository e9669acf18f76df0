"""Simulated run of a policy: the whole release on simulated rows with a temporary ledger, and the resources it uses."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from crowdgate.errors import ConfigurationError, Crashed, EnvironmentFault, Problem
from crowdgate.gate import GateReach, gate_text
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.private import FOLDER as PRIVATE
from crowdgate.measures.base import MeasureClass
from crowdgate.planning.budget_left import today
from crowdgate.planning.gate_verdicts import gate_reach
from crowdgate.planning.plan import plan_policy
from crowdgate.public_counts.figures import PriorSubject, read_prior
from crowdgate.public_counts.pilot import counts_source
from crowdgate.releases.rehearsal.private_copy import copy_policy, isolated_environment
from crowdgate.system.extras import RELEASE, need

if TYPE_CHECKING:
    from crowdgate.gate import Verdict
    from crowdgate.kind.plan import Plan
    from crowdgate.kind.prior import Prior
    from crowdgate.releases.rehearsal.simulated_rows import SimulatedTable

MOST_PEOPLE = 1_000_000
"""The greatest number of simulated people, unless more are requested."""
FOLDER = "rehearsals"


@dataclass(frozen=True)
class RehearsalRequest:
    """The request for a simulated run.

    A policy is run on rows of `people` (None: as many as its budget allows, at most a million), from a seed and
    optionally from the counts of a release or public table. Files are written to a new folder.
    """

    policy: Path
    people: int | None = None
    source: Path | None = None
    seed: int = 0
    to: Path | None = None


@dataclass(frozen=True)
class RehearsalResult:
    """The result of a simulated run.

    `drawn_from` names the source of each column's values; `unknown` are released columns without any public counts;
    `apart` are pairs of released columns that no public counts relate, so that simulated rows have other
    combinations of values than the people; `pilot` is True if a pilot release was the source. `seconds` and
    `cpu_seconds` are those of the run alone, `mebibytes` the peak memory of the process.
    """

    result: Result
    folder: Path
    people: int
    drawn_from: Mapping[str, str]
    unknown: tuple[str, ...]
    apart: tuple[tuple[str, str], ...]
    pilot: bool
    seconds: float
    cpu_seconds: float
    mebibytes: float
    settled: frozenset[str] = frozenset()
    """The gates that can't fail, or can't pass, whatever the rows are."""

    @property
    def unrelated(self) -> bool:
        """True if no public counts relate all released columns."""
        return bool(self.apart)

    @property
    def representative(self) -> bool:
        """True if public counts decide the simulated rows, so that verdicts on them say something about a release."""
        return not self.unknown and not self.unrelated

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts that say something about a release: those of gates that read no rows, or are settled without
        them, and on representative rows all others."""
        return tuple(each for each in self.result.verdicts if self._is_known(each))

    @property
    def unknown_gates(self) -> tuple[str, ...]:
        """The gates whose verdicts are unknown for the real table."""
        return tuple(each.gate for each in self._unknown_verdicts)

    @property
    def outcome(self) -> str:
        """The outcome of such a release; `unknown` if a gate with an unknown verdict may decide it."""
        if any(each.withholds for each in self.verdicts):
            return "withheld"
        return "unknown" if any(each.blocks for each in self._unknown_verdicts) else self.result.outcome

    @property
    def _unknown_verdicts(self) -> list[Verdict]:
        return [each for each in self.result.verdicts if not self._is_known(each)]

    def _is_known(self, verdict: Verdict) -> bool:
        return self.representative or verdict.reads is MeasureClass.STATIC or verdict.gate in self.settled

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        from crowdgate import manifest

        return {
            **self.result.to_json(),
            "outcome": f"rehearsed: {self.outcome}",
            "without_counts": list(self.unknown),
            "unknown_gates": list(self.unknown_gates),
            "verdicts": [manifest.verdict_json(found) for found in self.verdicts],
            "people": self.people,
            "drawn_from": dict(self.drawn_from),
            "unrelated": self.unrelated,
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "mebibytes": round(self.mebibytes, 1),
        }


def rehearse(asked: RehearsalRequest) -> RehearsalResult:
    """Run a policy from its file to its end on simulated rows. No table of people and no ledger is touched.

    All gates are measured and reported, including confidential ones, since the rows are public. Raises a CrowdgateError
    where a release would, except for what only the real ledger knows.
    """
    from crowdgate.releases.rehearsal.simulated_rows import simulate_rows

    need(RELEASE, "rehearse")
    plan = plan_policy(asked.policy)
    people = _people(plan, asked.people)
    folder, source = _folder(plan, asked.to), counts_source(plan, asked.source)
    subject = replace(PriorSubject.of_plan(plan), people=people)
    made: SimulatedTable = simulate_rows(subject, _prior(subject, source), asked.seed)
    with tempfile.TemporaryDirectory(prefix="crowdgate-rehearsal-") as scratch, isolated_environment():
        root = Path(scratch).resolve()
        policy, table = copy_policy(plan.bundle, root), root / "rows.parquet"
        _write(made, table)
        try:
            request = Request(policy, today(), table, folder, classes=plan.classes, at=datetime.now(UTC))
            return _run(plan, request, people, made, asked.source is None and source is not None)
        except Crashed:
            reason = _failure_reason(root)
        raise Crashed(f"the rehearsal crashed, and so would a release: {reason}; nothing was charged")


def _failure_reason(root: Path) -> str:
    """Return the reason in the simulated run's private record.

    It is about simulated rows, and its folder is deleted.
    """
    for path in root.rglob(f"{PRIVATE}/*.json"):
        with suppress(ValueError, KeyError):
            return str(json.loads(path.read_bytes())["reason"])
    return "its reason could not be written"


def _run(plan: Plan, request: Request, people: int, made: SimulatedTable, pilot: bool) -> RehearsalResult:
    from crowdgate.ledger.key import draw_key
    from crowdgate.releases.rehearsal.simulated_rows import EVENLY
    from crowdgate.releases.release import release

    before, cpu = perf_counter(), _cpu()
    result: Result = release(request, draw_key)
    spent = perf_counter() - before, _cpu() - cpu
    assert request.to is not None, "it is always given"
    columns = PriorSubject.of_plan(plan).levels
    released = {name for name, level in columns.items() if len(level) > 1}
    unknown = tuple(name for name in columns if name in released and made.drawn_from[name] == EVENLY)
    pairs = combinations((name for name in columns if name in released), 2)
    apart = tuple(pair for pair in pairs if not any(own.issuperset(pair) for own in made.related))
    return RehearsalResult(
        result, request.to, people, made.drawn_from, unknown, apart, pilot, *spent, _most_memory(), _settled(plan)
    )


def _settled(plan: Plan) -> frozenset[str]:
    """Return the gates that can't fail, or can't pass, by the public facts of a first release."""
    static = plan.first_release_facts()
    reaches = ((rule, gate_reach(static, rule, measure)) for rule, measure in plan.gates)
    return frozenset(gate_text(rule) for rule, found in reaches if found is not GateReach.OPEN)


def _write(made: SimulatedTable, path: Path) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(made.table, path, row_group_size=1 << 17)


def _prior(subject: PriorSubject, source: Path | None) -> Prior:
    """Return the prior distribution of every attribute that simulated rows need: those that the policy counts, and all
    others."""
    needed = (each.name for each in subject.contract.attributes if None not in (each.domain, each.hierarchy))
    return read_prior(subject, source, [name for name in needed if name not in subject.levels]).prior


def _people(plan: Plan, stated: int | None) -> int:
    bound = plan.bundle.budget.spec.people
    if stated is not None and not 1 <= stated <= bound:
        expected = f"from 1 to {bound}, the budget's bound on people"
        raise ConfigurationError(Problem("command line", None, "--people", str(stated), expected, str(bound)))
    return min(bound, MOST_PEOPLE) if stated is None else stated


def _folder(plan: Plan, to: Path | None) -> Path:
    if to is None:
        own = plan.bundle.root / FOLDER / plan.bundle.policy.metadata.name
        return next(folder for at in range(1, sys.maxsize) if not (folder := own / str(at)).exists())
    if to.exists():
        raise EnvironmentFault(f"{to} exists; a rehearsal is written to a new folder")
    return to.resolve()


def _cpu() -> float:
    """Return the CPU seconds of this process and its finished child processes."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _most_memory() -> float:
    """Return the peak memory in MiB; macOS reports bytes, Linux KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
