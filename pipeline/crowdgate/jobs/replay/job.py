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
from crowdgate.gate import gate_words
from crowdgate.jobs.days import judged_on
from crowdgate.jobs.ledgers import ledger_at
from crowdgate.jobs.plan import bundle_of, plan_release
from crowdgate.jobs.record import open_record
from crowdgate.jobs.replay.judging import Evidence, Replayed, on_published, on_recorded, unseen
from crowdgate.jobs.replay.numbers import recorded_gates, told_at_the_end
from crowdgate.kind.plan import Plan
from crowdgate.kinds import KINDS
from crowdgate.ledger.ledger import Entry, Ledger, State
from crowdgate.ledger.private import private_file
from crowdgate.manifest import GateSaid
from crowdgate.measures import Measure, MeasureClass
from crowdgate.policy.policy import GateRule
from crowdgate.verification.verify import Verification

CRASHED = "crashed"
"""Of a run that read data and has not ended, all that is told: it may run still."""


@dataclass(frozen=True)
class Past:
    """A past release: its id, how it ended, and what each gate of today says of it; or why it was refused. `opened`:
    its private record was opened, which the ledger holds."""

    release_id: str
    ended: str
    gates: tuple[Replayed, ...] = ()
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
class Tally:
    """How many of the past releases, of which that can be told, a gate would have withheld or advised against."""

    rule: GateRule
    against: int
    judged: int
    unknown: int

    @property
    def words(self) -> str:
        """The tally in a sentence."""
        return f"{gate_words(self.rule)}: {self.words_alone}"

    @property
    def words_alone(self) -> str:
        """The same without the gate's words."""
        verb = "withheld" if self.rule.severity == "block" else "advised against"
        rest = f"; of {self.unknown} it can't be told" if self.unknown else ""
        if not self.judged:
            return "of no past release it can be told what this gate would have done"
        return f"this gate would have {verb} {self.against} of the last {self.judged}{rest}"

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        stated = {"gate": gate_words(self.rule), "severity": self.rule.severity}
        return {**stated, "against": self.against, "of_the_last": self.judged, "not_known": self.unknown}


@dataclass(frozen=True)
class History:
    """All past releases of a policy's name, oldest first, and the tally of each gate."""

    policy: str
    ledger: str
    past: tuple[Past, ...]
    tallies: tuple[Tally, ...]

    @property
    def sound(self) -> bool:
        """Whether all that was published could be read."""
        return not any(each.refused for each in self.past)

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        stated = {"outcome": "replayed", "policy": self.policy, "ledger": self.ledger}
        gates = [each.to_json() for each in self.tallies]
        return {**stated, "releases": [each.to_json() for each in self.past], "gates": gates}


def replay(policy: Path, ledger_url: str | None = None, private: bool = False) -> History:
    """The gates of the policy as it stands on all releases of its name that the ledger knows.

    Raises ConfigurationError for wrong files, and what the ledger raises. A release that does not verify is refused.
    """
    plan = plan_release(bundle_of(policy))
    ledger = ledger_at(plan.bundle.root, ledger_url, plan.bundle.budget.spec.ledger)
    ledger.attest()
    name = plan.bundle.policy.metadata.name
    own = [each for each in ledger.entries() if each.release_id.partition("/")[0] == name]
    past = tuple(_replayed(plan, ledger, each, private) for each in own if each.state is not State.VOID)
    return History(name, ledger.id, past, tuple(_tallies(plan, past)))


def recent(plan: Plan, ids: Sequence[str]) -> History:
    """The same of some releases, of which nothing private is looked at.

    Raises what the ledger raises. A release that does not verify is refused.
    """
    ledger = ledger_at(plan.bundle.root, None, plan.bundle.budget.spec.ledger)
    found = (ledger.entry(each) for each in ids)
    past = tuple(_replayed(plan, ledger, each, private=False) for each in found if each is not None)
    return History(plan.bundle.policy.metadata.name, ledger.id, past, tuple(_tallies(plan, past)))


def _replayed(plan: Plan, ledger: Ledger, entry: Entry, private: bool) -> Past:
    if entry.state is State.RESERVED:
        return Past(entry.release_id, "not begun" if entry.lease else CRASHED)
    ended, opened = str(entry.state), False
    try:
        shown = None if entry.state is State.WITHHELD else _shown(plan, ledger, entry)
        opened = private and private_file(ledger.path, ledger.id, entry.release_id).is_file()
        record = _opened(ledger, entry, opened) if private else _told(ledger, entry)
    except VerificationFailed as refused:
        return Past(entry.release_id, ended, refused=tuple(str(refused).splitlines()), opened=opened)
    day = judged_on(entry.release_id.rpartition("/")[2], ledger.place(entry.release_id))
    gates = (_judged(gate, shown, record, private, day) for gate in plan.gates)
    return Past(entry.release_id, ended, tuple(gates), opened=opened)


def _judged(
    gate: tuple[GateRule, Measure], shown: Evidence | None, record: Sequence[GateSaid] | None, private: bool, day: str
) -> Replayed:
    confidential = gate[1].reads is MeasureClass.CONFIDENTIAL
    if confidential and not private:
        return unseen(*gate)
    return on_recorded(*gate, record, day) if confidential or shown is None else on_published(*gate, shown, day)


def _told(ledger: Ledger, entry: Entry) -> tuple[GateSaid, ...] | None:
    """Of a withheld release what everybody was told when it ended; None where its record is not at hand. Raises
    VerificationFailed for a record that is not the committed one."""
    if entry.state is not State.WITHHELD or not private_file(ledger.path, ledger.id, entry.release_id).is_file():
        return None
    return recorded_gates(told_at_the_end(ledger, entry)["verdicts"])


def _shown(plan: Plan, ledger: Ledger, entry: Entry) -> Evidence:
    """What a published release shows, if it is the one that the ledger committed to, and verifies."""
    if entry.destination is None or entry.state is not State.PUBLISHED:
        raise VerificationFailed("it was committed and not moved to its destination; run `crowdgate release` again")
    found = Verification(plan.bundle.root / entry.destination, KINDS, ATTACHMENTS, ledger=ledger)
    if found.run().release.id != entry.release_id:
        raise VerificationFailed("another release lies at its destination")
    return Evidence.of(found)


def _opened(ledger: Ledger, entry: Entry, there: bool) -> tuple[GateSaid, ...]:
    """The verdicts of its private record; the look is recorded before. Raises VerificationFailed."""
    if not there:
        raise VerificationFailed("its private record is not there")
    found = open_record(entry.release_id, ledger)
    if not found.committed:
        raise VerificationFailed("its private record is not one that the ledger committed to")
    return recorded_gates(found.sections.get("verdicts", ()))


def _tallies(plan: Plan, past: Sequence[Past]) -> list[Tally]:
    made = []
    for at, (rule, _) in enumerate(plan.gates):
        said = [each.gates[at].withholds for each in past if each.gates]
        known = [each for each in said if each is not None]
        made.append(Tally(rule, sum(known), len(known), len(past) - len(known)))
    return made
