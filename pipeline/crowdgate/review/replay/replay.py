"""Judge the gates of a policy again on the records of its past releases.

A published release is read after verification; that is free, as postprocessing is. The public verdicts of a withheld
release were published when it ended; nothing else of its record is read. Private records are accessed only on request,
and each access is recorded first: a policy that is decided after it is informed by confidential data.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdgate.attachments import ATTACHMENTS
from crowdgate.errors import VerificationFailed
from crowdgate.history.recorded_verdicts import parse_verdicts, public_part_of_record
from crowdgate.kind.plan import Plan
from crowdgate.kinds import KINDS
from crowdgate.ledger.ledger import Entry, Ledger, State
from crowdgate.ledger.private import has_private_record
from crowdgate.manifest import GateFields
from crowdgate.measures import Measure, MeasureClass
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.planning.plan import bundle_of, plan_release
from crowdgate.policy.policy import GateRule
from crowdgate.releases.private_record import open_record
from crowdgate.releases.slot_day import waiver_day
from crowdgate.review.replay.gate_on_recorded_verdicts import ReplayedGate, confidential_gate, gate_on_recorded
from crowdgate.review.replay.gate_on_release import ReleaseEvidence, gate_on_published
from crowdgate.review.replay.past_releases import CRASHED, PastRelease, PolicyReplay, tallies
from crowdgate.verification.steps import Verification


def replay(policy: Path, ledger_url: str | None = None, private: bool = False) -> PolicyReplay:
    """Judge the gates of the current policy on all releases of its name that the ledger knows.

    Raises ConfigurationError for faulty files, and what the ledger raises. A release that does not verify is refused.
    """
    plan = plan_release(bundle_of(policy))
    ledger = ledger_at(plan.bundle.root, ledger_url, plan.bundle.budget.spec.ledger)
    ledger.attest()
    name = plan.bundle.policy.metadata.name
    own = [each for each in ledger.entries() if each.release_id.partition("/")[0] == name]
    past = tuple(_replay_release(plan, ledger, each, private) for each in own if each.state is not State.VOID)
    return PolicyReplay(name, ledger.id, past, tuple(tallies(plan, past)))


def _replay_release(plan: Plan, ledger: Ledger, entry: Entry, private: bool) -> PastRelease:
    if entry.state is State.RESERVED:
        return PastRelease(entry.release_id, "not begun" if entry.lease else CRASHED)
    ended, opened = str(entry.state), False
    try:
        shown = None if entry.state is State.WITHHELD else _published_evidence(plan, ledger, entry)
        opened = private and has_private_record(ledger.path, ledger.id, entry.release_id)
        record = _private_verdicts(ledger, entry, opened) if private else _withheld_verdicts(ledger, entry)
    except VerificationFailed as refused:
        return PastRelease(entry.release_id, ended, refused=tuple(str(refused).splitlines()), opened=opened)
    day = waiver_day(entry.release_id.rpartition("/")[2], ledger.place(entry.release_id))
    gates = (_replay_gate(gate, shown, record, private, day) for gate in plan.gates)
    return PastRelease(entry.release_id, ended, tuple(gates), opened=opened)


def _replay_gate(
    gate: tuple[GateRule, Measure],
    shown: ReleaseEvidence | None,
    record: Sequence[GateFields] | None,
    private: bool,
    day: str,
) -> ReplayedGate:
    confidential = gate[1].reads is MeasureClass.CONFIDENTIAL
    if confidential and not private:
        return confidential_gate(*gate)
    return (
        gate_on_recorded(*gate, record, day) if confidential or shown is None else gate_on_published(*gate, shown, day)
    )


def _withheld_verdicts(ledger: Ledger, entry: Entry) -> tuple[GateFields, ...] | None:
    """Return the public verdicts of a withheld release; None if its record is unavailable.

    Raises VerificationFailed for a record that is not the committed one.
    """
    if entry.state is not State.WITHHELD or not has_private_record(ledger.path, ledger.id, entry.release_id):
        return None
    return parse_verdicts(public_part_of_record(ledger, entry)["verdicts"])


def _published_evidence(plan: Plan, ledger: Ledger, entry: Entry) -> ReleaseEvidence:
    """Return the evidence of a published release that verifies and is the one that the ledger committed to."""
    if entry.state is State.WITHDRAWN:
        raise VerificationFailed("it was withdrawn, and its files were removed")
    if entry.destination is None or entry.state is not State.PUBLISHED:
        raise VerificationFailed("it was committed and not moved to its destination; run `crowdgate release` again")
    found = Verification(plan.bundle.root / entry.destination, KINDS, ATTACHMENTS, ledger=ledger)
    if found.run().release.id != entry.release_id:
        raise VerificationFailed("another release lies at its destination")
    return ReleaseEvidence.of(found)


def _private_verdicts(ledger: Ledger, entry: Entry, there: bool) -> tuple[GateFields, ...]:
    """Return the verdicts in the private record of a run, after the ledger has recorded the access. Raises
    VerificationFailed for a record that is not the committed one."""
    if not there:
        raise VerificationFailed("its private record is missing")
    found = open_record(entry.release_id, ledger)
    if not found.committed:
        raise VerificationFailed("its private record is not one that the ledger committed to")
    return parse_verdicts(found.sections.get("verdicts", ()))
