"""One measurement of the benchmark of synthetic rows, in a process of its own: rows of a policy, and what they cost.

Method `crowdgate` does what a release does from its plan to its certificate; `mst` and `aim` choose tables as those do
(`synthetic_rivals`). The table is counted once before, so that everything is imported: CPU seconds are of what comes
after that, memory is the process's peak, and what it was until then. scikit-learn is kept out: OpenDP imports it where
it is there, which takes 3 CPU s and 150 MB, and a release has no use for it.
"""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from crowdgate.accounting.zcdp import squared_sigma
from crowdgate.histogram import Histogram
from crowdgate.kind.plan import Plan
from crowdgate.kind.randomness import KeyedRandomness
from crowdgate.kinds.synthetic.certificate import Certificate
from crowdgate.kinds.synthetic.plan import VIEW, SyntheticPlan
from crowdgate.kinds.synthetic.release import SyntheticCandidate
from crowdgate.ledger.key import draw_key
from crowdgate.mechanisms.synthetic.fitting import total_variance
from crowdgate.mechanisms.synthetic.rounds import SynthesisResult
from crowdgate.planning.plan import plan_policy
from crowdgate.sources import open_source
from crowdgate.sources.counting import CountingTask, count_table, serial
from tests.benchmarks.synthetic_errors import Table, distances
from tests.benchmarks.synthetic_rivals import RIVALS

OWN = "crowdgate"
ALONE = "import sys; sys.modules['sklearn'] = None; from tests.benchmarks import synthetic_run; synthetic_run.measure()"


@dataclass(frozen=True)
class Measured:
    """Mean total variation of tables of one, two and three attributes; CPU seconds; megabytes at most, and before
    they began. Of a certificate the standard deviation of a pair's distance, and how many pairs' limits hold."""

    errors: tuple[float, float, float]
    cpu: float
    memory: float
    before: float
    rounds: int = 0
    tables: int = 0
    sd: float | None = None
    pairs: int = 0
    held: int = 0


def measured(policy: Path, into: Path, method: str) -> Measured:
    """In a fresh process, which writes rows and table to `into`."""
    command = [sys.executable, "-c", ALONE, str(policy), str(into), method]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(ended.stdout)
    return Measured(**{**found, "errors": tuple(found["errors"])})


def measure() -> None:
    """Print one measurement."""
    import opendp.prelude  # noqa: F401

    policy, into, method = sys.argv[1:]
    counts(Path(policy))
    before, start = peak(), time.process_time()
    plan, found = counts(Path(policy))
    planned = plan.protection.mechanism
    drawn = _released(plan, found) if method == OWN else None
    codes = drawn.rows if drawn else RIVALS[method](planned.mechanism, found[VIEW], np.random.default_rng())
    cost = Measured((0, 0, 0), time.process_time() - start, peak(), before)
    table = Table(found[VIEW].codes, found[VIEW].counts, found[VIEW].sizes)
    rows = Table.of_rows(codes, table.sizes)
    cost = replace(cost, errors=distances(rows, table))
    save(Path(into), rows)
    print(json.dumps(asdict(_certified(planned, drawn, cost, rows, table) if drawn else cost)))


def counts(policy: Path) -> tuple[Plan, Mapping[str, Histogram]]:
    """A policy's plan, and what it counts."""
    plan = plan_policy(policy)
    contract, task = plan.bundle.contract, CountingTask(plan.bundle.contract, plan.columns, plan.protection.views)
    return plan, count_table(open_source(contract, plan.columns), task, serial()).histograms


def counts_of(policy: Path) -> Table:
    """The table at a policy's levels."""
    _, found = counts(policy)
    return Table(found[VIEW].codes, found[VIEW].counts, found[VIEW].sizes)


def _released(plan: Plan, found: Mapping[str, Histogram]) -> SynthesisResult:
    kind, facts, randomness = plan.protection.kind, plan.first_release_facts(), KeyedRandomness(draw_key())
    candidate = kind.protect(plan.protection.mechanism, facts, found, randomness)
    assert isinstance(candidate, SyntheticCandidate)
    return candidate.drawn


def _certified(planned: SyntheticPlan, drawn: SynthesisResult, cost: Measured, rows: Table, table: Table) -> Measured:
    """With what the certificate says, and whether that is so."""
    mechanism, drawing = planned.mechanism, planned.mechanism.drawing
    every = list(combinations(range(len(rows.sizes)), 2))
    sigma = squared_sigma(drawing.rows_per_unit, drawing.budget.certificate / len(every))
    cells = [rows.sizes[one] * rows.sizes[other] for one, other in every]
    found = Certificate(
        drawn.distances,
        sigma,
        cells,
        drawn.total,
        total_variance(drawn.measured),
        mechanism.beta,
        planned.spec.pair_error,
    )
    true = np.array([np.abs(rows.cells(pair) - table.cells(pair)).sum() for pair in every]) / (2 * drawn.total)
    held = int(((found.lower <= true) & (true <= found.upper)).sum())
    number, last = len(drawn.measured), max(each.round for each in drawn.measured)
    return replace(
        cost, tables=number, rounds=last, sd=float(sigma) ** 0.5 / (2 * drawn.total), pairs=len(every), held=held
    )


def save(into: Path, table: Table) -> None:
    """Codes of every column, and their numbers of values."""
    np.savez_compressed(into, codes=np.stack(table.codes), sizes=np.array(table.sizes))


def load(file: Path) -> Table:
    """Return the saved result."""
    with np.load(file) as held:
        return Table.of_rows(list(held["codes"]), held["sizes"].tolist())


def peak() -> float:
    """Megabytes that this program has held at most; of the process it may have been forked from nothing."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
