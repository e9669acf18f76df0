"""Synthetic rows of public tables beside what they must show, and beside MST and AIM: error, CPU seconds, memory.

Run it with `python -m tests.benchmarks.synthetic [--data FOLDER] [--page FILE] [--runs N] [--only TABLE ...]
[--dpmm PYTHON]`. FOLDER holds Adult and NIST's excerpt; what is not there is left out. PYTHON is that of an environment
with dpmm 0.1.9, whose MST is run once on Adult (200 CPU s); without it, it is left out.

Each measurement is a process of its own, from the plan to the certificate, with OpenDP's noise, which can't be seeded;
a median stands with the least and the greatest. Errors are mean total variation distances between the rows and the
table that they are made of, over all tables of one, two and three attributes. In round brackets: what they must be at
most, where that is stated.

- CPU seconds are user and system, without imports; memory is the process's peak, and what that was before, when
  everything was imported and the table had been counted once, in MB.
- `sd` is that of a pair's certified distance, `held` the share of all pairs whose 95 % limits have the true distance.
- `AUC` is that of gradient boosted trees (scikit-learn's, by histograms) that learn income from the rows and guess it
  in Adult's test table, at the released levels.
- `mst` and `aim` choose tables as those do, with this engine's model and rows, and pay for no certificate.

What is released, and at which levels, stands in `synthetic_policies`.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from crowdgate.releases.working_copy import init
from tests.benchmarks.inference import _say
from tests.benchmarks.options import DATA, parse
from tests.benchmarks.synthetic_dpmm import DPMM, dpmm
from tests.benchmarks.synthetic_errors import Table, learned
from tests.benchmarks.synthetic_policies import DELTA, EPSILONS, LEARNED, TABLES, TEST, Wanted, write_policies
from tests.benchmarks.synthetic_rivals import RIVALS
from tests.benchmarks.synthetic_run import OWN, Measured, counts_of, load, measured

RUNS = 5
COMPARED = (("adult", "1"), ("nist", "1"))
"""Policies on which other selections run as well."""
GOALS = {DPMM: (0.65, 1 / 15), "mst": (0.63, None), "aim": (0.89, None)}
"""Greatest ratios to the errors and CPU seconds of other methods on Adult."""
AUC = 0.895
TITLES = (
    "table", "epsilon", "method", "1-way", "2-way", "3-way", "CPU s", "MB", "sd", "held", "AUC", "rounds",
    "tables",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """All measurements of one method on one policy; areas under the curve where they are asked for."""

    wanted: Wanted
    method: str
    made: Sequence[Measured]
    areas: Sequence[float]

    def cells(self) -> list[str]:
        """As they are printed."""
        own, of = self.method == OWN, self.wanted
        one, two, three = ([each.errors[ways] for each in self.made] for ways in range(3))
        pairs = sum(each.pairs for each in self.made)
        return [
            of.table, of.epsilon, self.method, spread(one), spread(two, of.two if own else None),
            spread(three, of.three if own else None),
            spread([each.cpu for each in self.made], of.cpu if own else None, "{:.3g}"),
            spread([each.memory for each in self.made], of.memory if own else None, "{:.0f}")
            + f", before {self.made[0].before:.0f}",
            "" if self.made[0].sd is None else f"{self.made[0].sd:.4f}",
            f"{sum(each.held for each in self.made) / pairs:.3f} of {pairs}" if pairs else "",
            spread(self.areas, AUC if own else None, "{:.3f}") if self.areas else "",
            spread([each.rounds for each in self.made], None, "{:g}"),
            spread([each.tables for each in self.made], None, "{:g}"),
        ]  # fmt: skip

    def median(self, of: Callable[[Measured], float]) -> float:
        """Over all runs."""
        return float(np.median([of(each) for each in self.made]))


def spread(values: Sequence[float], must: float | None = None, form: str = "{:.4f}") -> str:
    """Median, least and greatest, and what must be."""
    middle, least, greatest = (form.format(of(values)) for of in (np.median, np.min, np.max))
    said = middle if least == greatest else f"{middle} [{least}, {greatest}]"
    return said if must is None else f"{said} ({must:g})"


@dataclass(frozen=True)
class Setting:
    """The policies, where files may be left, how often each is drawn, and an environment with dpmm."""

    policies: Mapping[Wanted, Path]
    scratch: Path
    runs: int
    python: Path | None

    def lines(self) -> Iterator[Line]:
        """Results of all policies and methods."""
        for wanted, policy in self.policies.items():
            rivals = list(RIVALS) if (wanted.table, wanted.epsilon) in COMPARED else []
            for method in (OWN, *rivals):
                into = [self.scratch / f"{wanted.name}-{method}-{at}.npz" for at in range(self.runs)]
                made = [measured(policy, each, method) for each in into]
                yield Line(wanted, method, made, self.areas(wanted, into))
            if self.python is not None and wanted == LEARNED:
                into = [self.scratch / f"{wanted.name}-{DPMM}.npz"]
                made = [dpmm(self.python, counts_of(policy), into[0], wanted.epsilon, DELTA)]
                yield Line(wanted, DPMM, made, self.areas(wanted, into))

    def areas(self, wanted: Wanted, made: Sequence[Path]) -> list[float]:
        """Scores of models learned from rows, where they are asked for."""
        return [self.area(load(each)) for each in made] if wanted == LEARNED else []

    def area(self, rows: Table) -> float:
        """Scores of models learned from rows of Adult."""
        test = counts_of(self.policies[LEARNED].with_name(f"{TEST}.yaml"))
        return learned(rows, test, len(test.sizes) - 1)

    def real(self) -> str:
        """Scores of models learned from the real rows."""
        if LEARNED not in self.policies:
            return ""
        return f"\nAUC of Adult's real rows: {self.area(counts_of(self.policies[LEARNED])):.3f}\n"


def ratios(found: Sequence[Line]) -> Iterator[str]:
    """Ours beside each of the others."""
    for line in found:
        if line.method == OWN:
            continue
        (own,) = [each for each in found if each.wanted == line.wanted and each.method == OWN]
        two, three, cpu = (
            own.median(of) / line.median(of)
            for of in (lambda each: each.errors[1], lambda each: each.errors[2], lambda each: each.cpu)
        )
        error, seconds = GOALS[line.method]
        goals = f"goal on Adult: {error}" + ("" if seconds is None else f", CPU {seconds:.3f}")
        yield (
            f"{line.wanted.table}, {OWN} / {line.method}: 2-way {two:.3f}, 3-way {three:.3f}, CPU {cpu:.3f} ({goals})\n"
        )


def row(cells: Sequence[str]) -> str:
    """One line of the table."""
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=DATA, help="where Adult and NIST's excerpt are")
    options.add_argument("--page", type=Path, help="a file to write the same to")
    options.add_argument("--runs", type=int, default=RUNS)
    options.add_argument("--only", nargs="*", choices=TABLES, default=TABLES)
    options.add_argument("--dpmm", type=Path, help="the Python of an environment with dpmm")
    options.add_argument("--epsilons", nargs="*", choices=EPSILONS, default=EPSILONS)
    asked = parse(options, runs=1, only=["adult"], epsilons=["0.3"])
    say = partial(_say, asked.page)
    start = sum(os.times()[:4])
    with tempfile.TemporaryDirectory() as folder:
        copy = init(Path(folder) / "copy", "benchmark")
        written = dict(write_policies(copy, asked.data, asked.only))
        policies = {wanted: path for wanted, path in written.items() if wanted.epsilon in asked.epsilons}
        found = Setting(policies, Path(folder), asked.runs, asked.dpmm)
        say(row(TITLES) + row(["---"] * len(TITLES)), "w")
        every = []
        for line in found.lines():
            every.append(line)
            say(row(line.cells()), "a")
        say(found.real(), "a")
    say("".join(ratios(every)), "a")
    if asked.dpmm is None:
        say("dpmm is left out: --dpmm names no environment with it.\n", "a")
    say(f"\n{sum(os.times()[:4]) - start:.0f} CPU s.\n", "a")


if __name__ == "__main__":
    main()
