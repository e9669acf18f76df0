"""Past releases, and the verdicts of a policy's gates on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crowdgate.gate import gate_text
from crowdgate.policy.policy import GateRule
from crowdgate.review.replay.gate_on_recorded_verdicts import ReplayedGate

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan


CRASHED = "crashed"
"""The public state of a run that read data and has not ended; it may still be running."""


@dataclass(frozen=True)
class PastRelease:
    """A past release: its id, its outcome then (`ended`), and the verdicts of the current gates on it, or why it was
    refused.

    `opened`: its private record was opened, which the ledger records.
    """

    release_id: str
    ended: str
    gates: tuple[ReplayedGate, ...] = ()
    refused: tuple[str, ...] = ()
    opened: bool = False

    @property
    def now(self) -> str:
        """The outcome of the release under the current policy: withheld, published, or not known."""
        blocking = [each.withholds for each in self.gates if each.rule.severity == "block"]
        if True in blocking:
            return "withheld"
        return "published" if blocking and None not in blocking else "not known"

    def to_json(self) -> dict[str, Any]:
        """Return the past release with its outcome then and now as an object of JSON."""
        stated = {"release_id": self.release_id, "ended": self.ended, "now": self.now, "opened": self.opened}
        return {**stated, "gates": [each.to_json() for each in self.gates], "refused": list(self.refused)}


@dataclass(frozen=True)
class GateTally:
    """How many past releases a gate would have withheld or advised against (`against`), of the number `judged`, while
    its verdict is unknown for `unknown` others."""

    rule: GateRule
    against: int
    judged: int
    unknown: int

    @property
    def words(self) -> str:
        """The gate and its tally in a sentence."""
        return f"{gate_text(self.rule)}: {self.short_text}"

    @property
    def short_text(self) -> str:
        """The tally in words, without the gate's name."""
        verb = "withheld" if self.rule.severity == "block" else "advised against"
        rest = f"; unknown for {self.unknown}" if self.unknown else ""
        if not self.judged:
            return "it is unknown what this gate would have done: no past release can be judged"
        return f"this gate would have {verb} {self.against} of the last {self.judged}{rest}"

    def to_json(self) -> dict[str, Any]:
        """Return the gate with its tally as an object of JSON."""
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
        """True if no past release was refused, i.e. all published releases could be read."""
        return not any(each.refused for each in self.past)

    def to_json(self) -> dict[str, Any]:
        """Return the past releases and the tallies as an object of JSON."""
        stated = {"outcome": "replayed", "policy": self.policy, "ledger": self.ledger}
        gates = [each.to_json() for each in self.tallies]
        return {**stated, "releases": [each.to_json() for each in self.past], "gates": gates}


def tallies(plan: Plan, past: Sequence[PastRelease]) -> list[GateTally]:
    """Return, for each gate of the policy in order, how many past releases it would have withheld or advised
    against."""
    made = []
    for at, (rule, _) in enumerate(plan.gates):
        said = [each.gates[at].withholds for each in past if each.gates]
        known = [each for each in said if each is not None]
        made.append(GateTally(rule, sum(known), len(known), len(past) - len(known)))
    return made
