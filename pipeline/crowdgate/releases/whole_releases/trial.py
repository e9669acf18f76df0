"""One whole release of the public table of an audit, in a private copy of the working copy, and all that it shows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import Crashed, VerificationFailed
from crowdgate.kind.run import CommittedRelease, Request, Result, Run
from crowdgate.kind.stated_laws import Contradiction, RecordedRandomness, StatedDraw
from crowdgate.ledger import key as keys
from crowdgate.planning.budget_left import today
from crowdgate.planning.plan import plan_policy
from crowdgate.releases import release
from crowdgate.releases.rehearsal.private_copy import copy_policy, isolated_environment
from crowdgate.releases.whole_releases.decision import NoisyCount, charged, decided, judged_again, recording
from crowdgate.releases.whole_releases.marked_table import Mark, marked_table
from crowdgate.releases.whole_releases.traces import traces
from crowdgate.sampling import seed
from crowdgate.sources.counting import serial
from crowdgate.verification.release import verified_contents

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan

CRASHED = Contradiction("A release of the public table crashed.")
UNVERIFIED = Contradiction("The published files fail verification.")
NOT_RUN = Contradiction("A release was neither published nor withheld.")
_FINGERPRINT = 0xFFFFFFFF
"""Number of the public draw by which two keys are compared: no release uses it."""


@dataclass(frozen=True, eq=False)
class SeenRelease:
    """Findings in one whole release: its drawn numbers and contradictions, whether it was `published` and its table
    `marked`, and bytes that only releases with the same key share (None: no key was drawn)."""

    draws: Sequence[StatedDraw]
    published: bool
    marked: bool
    key: bytes | None


def whole_release(policy: Path) -> SeenRelease:
    """Make one whole release of a policy's public population, with its own key and ledger, and return what it shows.
    Raises CrowdgateError where no release can be made of it."""
    import pyarrow.parquet

    plan = plan_policy(policy)
    with tempfile.TemporaryDirectory(prefix="crowdgate-audit-") as scratch, isolated_environment():
        root = Path(scratch).resolve()
        copied, table = copy_policy(plan.bundle, root), root / "rows.parquet"
        rows, mark = marked_table(plan)
        pyarrow.parquet.write_table(rows, table, row_group_size=1 << 17)
        request = Request(
            copied, today(), table, root / "published", classes=plan.classes, at=datetime.now(UTC), anyway="audit"
        )
        try:
            return _released(request, mark)
        except Crashed:
            return SeenRelease([CRASHED], published=False, marked=bool(mark.cells), key=None)


def _released(request: Request, mark: Mark) -> SeenRelease:
    run = release.prepare(request)
    if not isinstance(run, Run):
        return _seen([NOT_RUN], run, mark, None)
    run = replace(run, plan=_without_audits(run.plan))
    reserved = release.reserve(run)
    if isinstance(reserved, Result):
        checks = (*decided(reserved.verdicts, reserved), *charged(run, void=True, withheld=True))
        return _seen(checks, reserved, mark, None)
    key, counts = keys.draw_key(), list[NoisyCount]()
    recorded = RecordedRandomness.of(key)
    randomness = replace(recorded, noise=recording(recorded.noise, counts))
    found = release.read(reserved, key, serial())
    judged = release.protected(reserved, found, randomness)
    ended = release.decide(reserved, found, judged)
    result = release.publish(reserved, ended) if isinstance(ended, CommittedRelease) else ended
    contents, problems = _contents(result)
    kind, mechanism = run.plan.protection.kind, run.plan.protection.mechanism
    draws = (
        *problems,
        *kind.stated_laws(mechanism, found.views, judged.candidate, contents, randomness),
        *judged_again(reserved, found, judged, counts),
        *decided(judged.verdicts, result),
        *charged(run, void=False, withheld=result.outcome == "withheld"),
        *(() if result.path is None else traces(result.path, run.slot, mark)),
    )
    return _seen(draws, result, mark, seed(key, _FINGERPRINT))


def _contents(result: Result) -> tuple[object | None, Iterator[Contradiction]]:
    """Return the contents of the published files, read from their bytes, and a contradiction if they fail
    verification."""
    if result.path is None:
        return None, iter(())
    try:
        return verified_contents(result.path)[1], iter(())
    except VerificationFailed:
        return None, iter((UNVERIFIED,))


def _seen(draws: Sequence[StatedDraw], result: Result, mark: Mark, key: bytes | None) -> SeenRelease:
    return SeenRelease(draws, result.outcome == "published", bool(mark.cells), key)


def _without_audits(plan: Plan) -> Plan:
    """Return the plan without the gates that read recorded audits, as there are none here."""
    return replace(plan, gates=tuple((rule, measure) for rule, measure in plan.gates if measure.asks is None))
