"""A small working copy whose policy is audited on a public table."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from crowdgate.audit.common.run import AuditRequest, audit
from crowdgate.audit.common.saved_progress import TrialBatch
from crowdgate.audit.common.stored_records import AuditRuntime, now
from crowdgate.audit.common.trials import Executor, Schedule, serial
from crowdgate.audit.inference import ceiling as inference_ceiling
from crowdgate.audit.inference import findings as inference
from crowdgate.audit.inference import models, source_table
from crowdgate.audit.membership import ceiling as membership_ceiling
from crowdgate.audit.membership import findings as membership
from crowdgate.audit.singling_out import play as singling_out
from crowdgate.audit.singling_out import setting
from crowdgate.audit.singling_out.text import SingledOut
from crowdgate.audit.singling_out_audit import SINGLING_OUT
from crowdgate.audit.singling_out_controls import CONTROLS
from tests.workshop import Workshop, good_rows, make_workshop, write_parquet

SEED = "0123456789abcdef0123456789abcdef"
SECTION = "  audit: {population: towns, units: 30, trials: 60, weight: 1e-3, limit: 0.3}\n"
GATES = """\
    - {measure: pso_excess, at_most: 0.3, with: {max_age: 30}}
    - {measure: pso_success, at_most: 0.4, with: {max_age: 30}}
"""


@contextmanager
def without_ceilings() -> Iterator[None]:
    """Let audits pass that could not have failed. Secrets of small tables are independent of all other columns, and
    their classes are large, so that even raw columns reveal little: every audit would rightly say that it could not
    have failed, and no gate could pass. So here they reveal everything. test_ceiling.py tests the ceilings."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(inference, "ceiling_of", lambda *_: None)
        for each in (membership, singling_out, setting):
            patched.setattr(each, "ceiling_of", lambda *_: 1.0)
        for each in (inference_ceiling, membership_ceiling):
            patched.setattr(each, "reached", lambda *_: 1.0)
        yield


@contextmanager
def only_few_controls() -> Iterator[None]:
    """Play two controls only, without ceilings: all of them take seconds, and other tests play them."""
    few = tuple(each for each in CONTROLS if each.name in ("constant", "identity"))
    with pytest.MonkeyPatch.context() as patched, without_ceilings():
        patched.setattr(setting, "CONTROLS", few)
        patched.setattr(setting, "faulty_policy_controls", lambda *_: ())
        yield


@contextmanager
def five_blocks() -> Iterator[None]:
    """Fit few models, without ceilings."""
    with few_fits(), without_ceilings():
        yield


@contextmanager
def few_fits() -> Iterator[None]:
    """Treat small tables as large ones, and fit few trees. Leaving out each person takes 20 s
    (tests/audit/test_non_members.py does it), and boosting takes two thirds of an audit."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(source_table, "MOST_FITTED", 1000)
        patched.setattr(models, "TREES", 4)
        yield


def unplayed(_: Schedule, missing: Sequence[TrialBatch]) -> Iterator[tuple[TrialBatch, Any]]:
    """Executor that fails if any batch is missing."""
    raise AssertionError(f"{len(missing)} batches are played")
    yield


@dataclass(frozen=True)
class Town(Workshop):
    """A working copy with a public population."""

    @property
    def population(self) -> Path:
        return self.root / "data_contracts" / "towns.yaml"

    @property
    def records(self) -> list[Path]:
        return sorted((self.root / "audits" / "clinic" / "1").glob("*.json"))

    def audit(
        self, day: str | None = None, seed: str = SEED, executor: Executor = serial, **overrides: str
    ) -> SingledOut:
        """Run an audit with a fixed seed, made on a given day."""
        today = now() if day is None else date.fromisoformat(day)
        return audit(
            SINGLING_OUT,
            AuditRequest(self.policy, **overrides),
            AuditRuntime(executor=executor, draw=lambda: seed, today=lambda: today),
        )


def make_town(root: Path, section: str = SECTION, gates: str = GATES) -> Town:
    """Return a working copy whose policy has gates on an audit; OpenDP draws only a charged gate."""
    make_workshop(root)
    town = Town(root)
    public = (
        town.contract.read_text(encoding="utf-8")
        .replace("id: clinic", "id: towns")
        .replace("patients.parquet", "towns.parquet")
    )
    town.population.write_text(
        public.replace("{property: rowsAtMost, value: 1000}", "{property: public, value: true}"), encoding="utf-8"
    )
    write_parquet(root / "data_contracts" / "towns.parquet", good_rows(200))
    town.edit(town.policy, "  gates:\n", f"{section}  gates:\n{gates}")
    return town
