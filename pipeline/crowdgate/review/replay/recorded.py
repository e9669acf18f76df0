"""Judge the gates of a policy on the figures in the manifests of its last releases.

No other file of a release is read; the ledger committed to the digest of the manifest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crowdgate.errors import VerificationFailed
from crowdgate.history.past_runs import public_record
from crowdgate.history.recorded_verdicts import parse_verdicts
from crowdgate.measures import MeasureClass
from crowdgate.releases.slot_day import waiver_day
from crowdgate.review.replay.gate_on_recorded_verdicts import confidential_gate, gate_on_recorded
from crowdgate.review.replay.past_releases import PastRelease, PolicyReplay, tallies

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.ledger import Entry, Ledger


def recent(plan: Plan, ledger: Ledger, ended: Sequence[Entry]) -> PolicyReplay:
    """Judge the gates of the policy on these past releases. Raises what the ledger raises; an unreadable release is
    refused.
    """
    past = tuple(_judge_recorded(plan, ledger, each) for each in ended)
    return PolicyReplay(plan.bundle.policy.metadata.name, ledger.id, past, tuple(tallies(plan, past)))


def _judge_recorded(plan: Plan, ledger: Ledger, entry: Entry) -> PastRelease:
    try:
        record = parse_verdicts(public_record(plan.bundle.root, ledger, entry)["verdicts"])
    except VerificationFailed as refused:
        return PastRelease(entry.release_id, str(entry.state), refused=tuple(str(refused).splitlines()))
    slot = entry.release_id.rpartition("/")[2]
    waived = any(rule.waiver is not None for rule, _ in plan.gates)  # the day matters to waivers alone
    day = waiver_day(slot, ledger.place(entry.release_id)) if waived else slot[:10]
    gates = (
        confidential_gate(*gate) if gate[1].reads is MeasureClass.CONFIDENTIAL else gate_on_recorded(*gate, record, day)
        for gate in plan.gates
    )
    return PastRelease(entry.release_id, str(entry.state), tuple(gates))
