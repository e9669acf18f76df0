"""MST of dpmm 0.1.9 in an environment of its own: it wants another NumPy than this project."""

import json
import subprocess
from pathlib import Path

import numpy as np

from tests.benchmarks.synthetic_errors import Table, distances
from tests.benchmarks.synthetic_run import Measured, load, save

DPMM = "dpmm's mst"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

SCRIPT = """
import json, sys, time
import numpy as np, pandas as pd
from dpmm.models.mst import MSTGM
source, target, epsilon, delta = sys.argv[1:]
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
before = peak()
held = np.load(source)
start = time.process_time()
frame = pd.DataFrame({f"a{at}": column for at, column in enumerate(held["codes"])})
model = MSTGM(epsilon=float(epsilon), delta=float(delta), n_jobs=1)
model.set_random_state(np.random.RandomState(0))
model.set_domain({f"a{at}": int(size) for at, size in enumerate(held["sizes"])})
model.fit(frame)
made = model.generate(n_records=len(frame))
cpu = time.process_time() - start
np.savez_compressed(target, codes=np.stack([made[name].to_numpy() for name in frame]), sizes=held["sizes"])
print(json.dumps({"cpu": cpu, "memory": peak(), "before": before}))
"""


def dpmm(python: Path, table: Table, into: Path, epsilon: str, delta: str) -> Measured:
    """One run by that environment's Python, whose rows are saved."""
    command = command_of(python, table, into, epsilon, delta)
    ended = subprocess.run(command, check=True, capture_output=True, text=True, env=ONE_THREAD)
    found = json.loads(ended.stdout.splitlines()[-1])
    return Measured(distances(load(into), table), found["cpu"], found["memory"], found["before"])


def command_of(python: Path, table: Table, into: Path, epsilon: str, delta: str) -> list[str]:
    """Save the table's rows beside `into` and return the command that learns them and saves its own rows there."""
    rows = Table.of_rows([np.repeat(codes, table.counts) for codes in table.codes], table.sizes)
    save(into.with_suffix(".table.npz"), rows)
    return [str(python), "-c", SCRIPT, str(into.with_suffix(".table.npz")), str(into), epsilon, delta]
