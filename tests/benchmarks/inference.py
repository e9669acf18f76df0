"""Attribute inference on Adult and Census-Income, one table: rows and tables at epsilon .5, 1 and 3, beside controls.

Run it with `python -m tests.benchmarks.inference [--data FOLDER] [--page FILE] [--releases R] [--units N]`;
`--only`, `--epsilons` and `--mechanisms` choose parts of it. Adult is left out where it is not there.

Every policy is audited as `crowdgate audit POLICY --of inference` does it, in a new working copy. Of one line:

- `guessed` is the coverage that was reached; everybody of four fifths of the table is a target.
- `these` is the precision of the baseline that is best for everybody, of exactly the people whom the attack guesses
  (the paper's estimand), and `PI` the improvement over it; `as many` is that of the baseline of this coverage, of as
  many of its own surest (equal coverage). In brackets a one-sided 97.5 % lower end and a one-sided 95 % upper end (of
  precision 95 % both), of the mean over releases of this one table; there is none where a baseline was always right.
- `outside` is the precision of the same attack on people who were left out of the release (the prior framework): what
  is not above it is not learned from their being in it.
- `found` is the outcome of the audit, at the limit of .1 for everybody. `refuted`: above both baselines, claimed at
  level .05 over all lines of an audit together, those that are not shown as well. `stricter`: the upper ends of all
  secrets are more than a tenth below the baselines.

Mechanisms of which it is known what they do draw nothing: their figures are exact for their table, of at most 20,000
rows (the policy's own columns as they are: of the whole table).
`identity` is also known by a tag. Mondrian's groups of five or more rows are made of all that is known, and published
with the coin of every row, or with the secret; the attacker knows in which group somebody is.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from crowdgate.audit.common.levels import ALPHA
from crowdgate.audit.common.population_table import population as population_of
from crowdgate.audit.common.run import AuditRequest, audit
from crowdgate.audit.common.stored_records import AuditRuntime
from crowdgate.audit.inference.controls import (
    GROUP,
    MONDRIAN,
    MOST_UNITS,
    InferenceControl,
    controls,
    with_control_columns,
)
from crowdgate.audit.inference.findings import InferenceEstimate, InferenceFindings, estimates
from crowdgate.audit.inference.play import InferenceGame
from crowdgate.audit.inference.record import InferenceResults
from crowdgate.audit.inference.secret_case import GROUPS, secret_case
from crowdgate.audit.inference.setting import known_attributes, numbers_of, secrets_of
from crowdgate.audit.inference.source_table import PARTS, SourceTable, source_table
from crowdgate.audit.inference.text import Inferred
from crowdgate.audit.inference_audit import INFERENCE
from crowdgate.candidate import Measurement
from crowdgate.hierarchy import EXACT
from crowdgate.planning.plan import plan_policy
from crowdgate.releases.working_copy import init
from tests.benchmarks.inference_policies import (
    BETA,
    DELTA,
    EPSILONS,
    KNOWN,
    MECHANISMS,
    RELEASED,
    TABLES,
    Audited,
    write_policies,
)
from tests.benchmarks.options import DATA, parse

SEED = 20_260_101
UNITS, RELEASES = 50_000, 100
SHOWN = (1.0, 0.1)
"""Coverages of which there are lines."""
TITLES = (
    "table", "mechanism", "secret", "coverage", "attack", "guessed", "precision", "these", "PI", "as many", "PI",
    "outside", "found", "CPU s",
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One secret and coverage of one mechanism; `found` is None where nothing is drawn."""

    table: str
    mechanism: str
    estimate: InferenceEstimate
    found: str | None
    seconds: float

    def cells(self) -> list[str]:
        """As they are printed."""
        each, ends = self.estimate, self.found is not None
        return [
            self.table, self.mechanism, each.secret, f"{each.coverage:g}", each.attack, f"{each.predicted:.3g}",
            _measured(each.precision, ends=ends), f"{float(each.base_of_these.value):.3f}",
            _measured(each.improvement_of_these, ends=ends), f"{float(each.base.value):.3f}",
            _measured(each.improvement, ends=ends), "" if each.outside is None else f"{each.outside:.3f}",
            self.found or "exact", f"{self.seconds:.0f}",
        ]  # fmt: skip


def _measured(found: Measurement | None, *, ends: bool) -> str:
    if found is None:
        return "base 1"
    own = f"{float(found.value):.3f}"
    return f"{own} [{float(found.lower):.3g}, {float(found.upper):.3g}]" if ends else own


def lines(each: Audited, *, known: bool) -> Iterator[Line]:
    """Run the audit of one policy; mechanisms whose answer is `known` come first."""
    start = time.process_time()
    found = audit(INFERENCE, AuditRequest(each.policy), AuditRuntime(draw=lambda: f"{SEED:032x}"))
    seconds = time.process_time() - start
    if known:
        yield from _known(each, found)
    for estimate in _shown(found.findings.estimates):
        name = f"{each.mechanism}, {each.epsilon}"
        yield Line(each.table, name, estimate, words(estimate, found.findings), seconds)


def words(each: InferenceEstimate, found: InferenceFindings) -> str:
    """Return the result of an audit for one of its lines, and for all."""
    said = [str(found.outcome)]
    said += ["refuted"] if each in found.refuted else []
    said += ["stricter"] if found.stricter else []
    return ", ".join(said)


def _known(each: Audited, found: Inferred) -> Iterator[Line]:
    """The controls of an audit, and Mondrian with each secret as it is."""
    for played in found.record.played:
        if played.must != "judged":
            yield from _exact(each.table, played, 0.0)
    for mondrian, seconds in mondrians(each.policy):
        yield from _exact(each.table, mondrian, seconds)


def _exact(table: str, played: InferenceResults, seconds: float) -> Iterator[Line]:
    for estimate in _shown(estimates(played, ALPHA)):
        yield Line(table, played.mechanism, estimate, None, seconds)


def mondrians(policy: Path) -> Iterator[tuple[InferenceResults, float]]:
    """Mondrian's groups by all that is known but the secret, published with the secret of every row as it is."""
    plan = plan_policy(policy)
    contract, wanted = plan.bundle.contract, secrets_of(plan)
    known = known_attributes(contract)
    people = population_of(plan, contract, (*known, *(each.name for each in wanted)))
    numbers = {name: numbers_of(contract.by_name[name], EXACT) for name in people.levels}
    for secret in wanted:
        start, rng = time.process_time(), np.random.default_rng(SEED)
        others = [name for name in known if name != secret.name]
        small = source_table(people, min(MOST_UNITS, people.size), others, [secret], rng, PARTS)
        table = SourceTable(with_control_columns(small), small.public, small.units, small.known, small.secrets)
        control = replace(_mondrian(), columns=(secret.name,), must="show")
        game = InferenceGame(control, (secret_case(table, secret, numbers, rng),), SEED, 0, (GROUP,), control.attacks)
        played = game.played({0: game.batch(0, control.releases)}, control.must, control.note, None)
        yield played, time.process_time() - start


def _mondrian() -> InferenceControl:
    (found,) = [each for each in controls() if each.name == MONDRIAN]
    return found


def _shown(every: Sequence[InferenceEstimate]) -> Iterator[InferenceEstimate]:
    return (each for each in every if each.group == GROUPS[0] and each.coverage in SHOWN)


def markdown(found: Sequence[Line]) -> str:
    """One table."""
    rows = [list(TITLES), ["---"] * len(TITLES), *(line.cells() for line in found)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def heading(units: int, releases: int) -> str:
    """Record of the trials."""
    released = ", ".join(f"{name} ({level})" for name, level in RELEASED.items())
    return (
        f"Known of everybody: {', '.join(KNOWN)}, but for what is asked. Released: {released}. n = {units:,} at most,"
        f" R = {releases} releases (every tenth chooses the attack), seed {SEED}, delta = {DELTA}; rows: beta = {BETA},"
        " the least k; tables: every two attributes, and all five, Gaussian noise.\n\n"
    )


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=DATA, help="where Adult is")
    options.add_argument("--page", type=Path, help="a file to write the same to")
    options.add_argument("--releases", type=int, default=RELEASES)
    options.add_argument("--units", type=int, default=UNITS)
    options.add_argument("--only", nargs="*", choices=TABLES, default=TABLES)
    options.add_argument("--epsilons", nargs="*", choices=EPSILONS, default=EPSILONS)
    options.add_argument("--mechanisms", nargs="*", choices=MECHANISMS, default=[*MECHANISMS])
    asked = parse(options, releases=20, units=200, only=["adult"], epsilons=["1"], mechanisms=["safe_k_anonymity"])
    say = partial(_say, asked.page)
    say(heading(asked.units, asked.releases), "w")
    found, start = list[Line](), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        copy = init(Path(folder) / "copy", "benchmark")
        for each in write_policies(copy, asked.data, asked.units, asked.releases):
            if each.table in asked.only and each.epsilon in asked.epsilons and each.mechanism in asked.mechanisms:
                found += lines(each, known=each.table not in {line.table for line in found})
    say(markdown(found), "a")
    say(f"\n{time.process_time() - start:.0f} CPU s.\n", "a")


def _say(page: Path | None, text: str, mode: str) -> None:
    print(text, end="", flush=True)
    if page is not None:
        with page.open(mode, encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
