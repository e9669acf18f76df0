"""Judge the gates of a policy again on what its past releases recorded.

What is published is read after it verifies; it is free, as anything is that is computed of a release. Of a withheld
release everybody was told its public verdicts when it ended, and they are all that is taken of its record. What only a
private record tells is looked at if that is asked for, and each look is recorded first: what is decided after it is
informed by confidential data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdgate.attachments import ATTACHMENTS
from crowdgate.errors import VerificationFailed
from crowdgate.gate import gate_text
from crowdgate.history.past_runs import public_record
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
from crowdgate.review.replay.gate_on_past_release import (
    ReleaseEvidence,
    ReplayedGate,
    confidential_gate,
    gate_on_published,
    gate_on_recorded,
)
from crowdgate.verification.steps import Verification

CRASHED = "crashed"
"""Of a run that read data and has not ended, all that is told: it may run still."""


@dataclass(frozen=True)
class PastRelease:
    """A past release: its id, how it ended, and what each gate of today says of it; or why it was refused. `opened`:
    its private record was opened, which the ledger holds."""

    release_id: str
    ended: str
    gates: tuple[ReplayedGate, ...] = ()
    refused: tuple[str, ...] = ()
    opened: bool = False

    @property
    def now(self) -> str:
        """What would become of it under the policy as it stands."""
        blocking = [each.withholds for each in self.gates if each.rule.severity == "block"]
        if True in blocking:
            return "withheld"
        return "published" if blocking and None not in blocking else "not known"

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        stated = {"release_id": self.release_id, "ended": self.ended, "now": self.now, "opened": self.opened}
        return {**stated, "gates": [each.to_json() for each in self.gates], "refused": list(self.refused)}


@dataclass(frozen=True)
class GateTally:
    """How many of the past releases, of which that can be told, a gate would have withheld or advised against."""

    rule: GateRule
    against: int
    judged: int
    unknown: int

    @property
    def words(self) -> str:
        """The tally in a sentence."""
        return f"{gate_text(self.rule)}: {self.short_text}"

    @property
    def short_text(self) -> str:
        """The same without the gate's words."""
        verb = "withheld" if self.rule.severity == "block" else "advised against"
        rest = f"; of {self.unknown} it can't be told" if self.unknown else ""
        if not self.judged:
            return "of no past release it can be told what this gate would have done"
        return f"this gate would have {verb} {self.against} of the last {self.judged}{rest}"

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        stated = {"gate": gate_text(self.rule), "severity": self.rule.severity}
        return {**stated, "against": self.against, "of_the_last": self.judged, "not_known": self.unknown}


@dataclass(frozen=True)
class PolicyReplay:
    """All past releases of a policy's name, oldest first, and the tally of each gate."""

    policy: str
    ledger: str
    past: tuple[PastRelease, ...]
    tallies: tuple[GateTally, ...]

    @property
    def all_readable(self) -> bool:
        """Whether all that was published could be read."""
        return not any(each.refused for each in self.past)

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        stated = {"outcome": "replayed", "policy": self.policy, "ledger": self.ledger}
        gates = [each.to_json() for each in self.tallies]
        return {**stated, "releases": [each.to_json() for each in self.past], "gates": gates}


def replay(policy: Path, ledger_url: str | None = None, private: bool = False) -> PolicyReplay:
    """The gates of the policy as it stands on all releases of its name that the ledger knows.

    Raises ConfigurationError for wrong files, and what the ledger raises. A release that does not verify is refused.
    """
    plan = plan_release(bundle_of(policy))
    ledger = ledger_at(plan.bundle.root, ledger_url, plan.bundle.budget.spec.ledger)
    ledger.attest()
    name = plan.bundle.policy.metadata.name
    own = [each for each in ledger.entries() if each.release_id.partition("/")[0] == name]
    past = tuple(_replay_release(plan, ledger, each, private) for each in own if each.state is not State.VOID)
    return PolicyReplay(name, ledger.id, past, tuple(_tallies(plan, past)))


def recent(plan: Plan, ledger: Ledger, ids: Sequence[str]) -> PolicyReplay:
    """The gates of the policy on what some releases recorded of the same measures when they ended: no file of a
    release but its manifest is read, whose digest the ledger committed to.

    Raises what the ledger raises. A release whose record can't be read is refused.
    """
    found = (ledger.entry(each) for each in ids)
    past = tuple(_judge_recorded(plan, ledger, each) for each in found if each is not None)
    return PolicyReplay(plan.bundle.policy.metadata.name, ledger.id, past, tuple(_tallies(plan, past)))


def _judge_recorded(plan: Plan, ledger: Ledger, entry: Entry) -> PastRelease:
    try:
        record = parse_verdicts(public_record(plan.bundle.root, ledger, entry)["verdicts"])
    except VerificationFailed as refused:
        return PastRelease(entry.release_id, str(entry.state), refused=tuple(str(refused).splitlines()))
    day = waiver_day(entry.release_id.rpartition("/")[2], ledger.place(entry.release_id))
    gates = (_replay_gate(gate, None, record, False, day) for gate in plan.gates)
    return PastRelease(entry.release_id, str(entry.state), tuple(gates))


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
    """Of a withheld release what everybody was told when it ended; None where its record is not at hand. Raises
    VerificationFailed for a record that is not the committed one."""
    if entry.state is not State.WITHHELD or not has_private_record(ledger.path, ledger.id, entry.release_id):
        return None
    return parse_verdicts(public_part_of_record(ledger, entry)["verdicts"])


def _published_evidence(plan: Plan, ledger: Ledger, entry: Entry) -> ReleaseEvidence:
    """What a published release shows, if it is the one that the ledger committed to, and verifies."""
    if entry.destination is None or entry.state is not State.PUBLISHED:
        raise VerificationFailed("it was committed and not moved to its destination; run `crowdgate release` again")
    found = Verification(plan.bundle.root / entry.destination, KINDS, ATTACHMENTS, ledger=ledger)
    if found.run().release.id != entry.release_id:
        raise VerificationFailed("another release lies at its destination")
    return ReleaseEvidence.of(found)


def _private_verdicts(ledger: Ledger, entry: Entry, there: bool) -> tuple[GateFields, ...]:
    """The verdicts of its private record; the look is recorded before. Raises VerificationFailed."""
    if not there:
        raise VerificationFailed("its private record is not there")
    found = open_record(entry.release_id, ledger)
    if not found.committed:
        raise VerificationFailed("its private record is not one that the ledger committed to")
    return parse_verdicts(found.sections.get("verdicts", ()))


def _tallies(plan: Plan, past: Sequence[PastRelease]) -> list[GateTally]:
    made = []
    for at, (rule, _) in enumerate(plan.gates):
        said = [each.gates[at].withholds for each in past if each.gates]
        known = [each for each in said if each is not None]
        made.append(GateTally(rule, sum(known), len(known), len(past) - len(known)))
    return made
