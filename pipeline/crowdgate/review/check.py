"""Check a policy: its outcome before data are read, and what its gates can decide."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate import manifest
from crowdgate.errors import ConfigurationError, CrowdgateError
from crowdgate.forecast.chances.gate_chances import Chances, GateChance, NextRelease, chances, next_release
from crowdgate.gate import GateReach, Outcome, Verdict, gate_notes, gate_text, is_waived
from crowdgate.measures import Measure, MeasureClass
from crowdgate.planning.budget_left import BudgetLeft, LedgerStatus, ledger_status, today
from crowdgate.planning.charges import charge_text, hardly_fails_warning, hardly_passes_warning
from crowdgate.planning.decisions import check_decisions
from crowdgate.planning.destinations import destination_problems
from crowdgate.planning.gate_verdicts import any_withholds, decision_time, judge_static
from crowdgate.planning.open_ledger import OpenedLedger
from crowdgate.planning.plan import bundle_of, plan_release
from crowdgate.planning.public_classes import stored_classes
from crowdgate.review.header_problems import with_header_problems
from crowdgate.review.lint.warnings import PolicyWarning, ReviewedPolicy, policy_warnings
from crowdgate.review.table_check import TableCheck, check_table
from crowdgate.system.notebook_page import ShownInNotebooks
from crowdgate.system.short_repr import short_repr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.ledger import Entry
    from crowdgate.policy.policy import GateRule
    from crowdgate.publish.register import Register


@dataclass(frozen=True)
class GateNote:
    """One gate: when it is decided, whether it blocks and whether it can decide anything.

    `warning`: it can't fail, can't pass or hardly passes, or its waiver has expired. `cost` is the privacy cost of a
    charged gate, `waived` whether a failure is waived. `history` tells how many of the last releases it would have
    withheld, if any. `remarks` are warnings that do not affect its verdict, `register` how much of the public register
    is comparable.
    """

    gate: str
    reads: str
    decided: str
    blocks: bool
    reach: GateReach
    warning: str | None
    cost: str | None
    notes: tuple[str, ...]
    waived: bool
    history: str | None = None
    remarks: tuple[str, ...] = ()
    register: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints for the gate; its `kind` is the class of the gate's measure."""
        rest = {"decided": self.decided, "blocks": self.blocks, "warning": self.warning, "cost": self.cost}
        rest |= {"notes": list(self.notes), "waived": self.waived, "history": self.history}
        return {"gate": self.gate, "kind": self.reads, **rest}


class GateState(StrEnum):
    """State of a gate before data are read: decided (passes, fails, ...), open (could fail), or private."""

    PASSES = "passes"
    FAILS = "fails"
    INCONCLUSIVE = "inconclusive"
    CANNOT_FAIL = "cannot fail"
    CANNOT_PASS = "cannot pass"
    COULD_FAIL = "could fail"
    PRIVATE = "decided in the private record only"


@dataclass(frozen=True)
class DecidedGate:
    """A gate with its state; `reason` is the figure beside its limit, or a forecast."""

    note: GateNote
    state: GateState
    reason: str


_NOT_READ = TableCheck(None)


@dataclass(frozen=True)
class PolicyCheck(ShownInNotebooks):
    """A policy whose files are valid.

    `allowed` is False when a static gate fails, a blocking gate can't pass, the policy's public register can't be read
    (`unread_register` gives the reason), or the ledger, if readable, would refuse the next release or lead to a gate
    that withholds it (`refused` gives the reason). `left` is the budget left and the
    number of releases it allows. `unreplayed` is the reason why gates were not judged on all of the last releases
    (None: they were, or there are none). `table` says what was read of the table. `unheld` is the reason why the
    decisions on collection were not compared with the ledger (None: they were). `warnings` change no outcome. `chances`
    are those of the next release.
    """

    __repr__ = short_repr

    policy: Path
    plan: Plan
    verdicts: tuple[Verdict, ...]
    gates: tuple[GateNote, ...]
    allowed: bool
    informed: bool | None
    unheld: str | None
    refused: str | None
    left: BudgetLeft
    unreplayed: str | None = None
    table: TableCheck = _NOT_READ
    warnings: tuple[PolicyWarning, ...] = ()
    chances: Chances = field(kw_only=True)
    unread_register: str | None = None

    @property
    def decided(self) -> list[DecidedGate]:
        """Every gate of the policy with its state (passes, fails, can't fail, could fail ...) before data are read."""
        verdicts = {id(each.rule): each for each in self.verdicts}
        forecasts = {id(each.rule): each for each in self.chances.gates}
        rules = [id(rule) for rule, _ in self.plan.gates]
        return [
            DecidedGate(note, *_decided(note, verdicts.get(at), forecasts.get(at)))
            for note, at in zip(self.gates, rules, strict=True)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the check of a policy as an object of JSON."""
        return {
            "policy": str(self.policy),
            "allowed": self.allowed,
            "digest": self.plan.bundle.digest,
            "guarantee": manifest.guarantee_json(self.plan.guarantee),
            "mechanism": self.plan.protection.kind.parameters(self.plan.protection.mechanism),
            "verdicts": [manifest.verdict_json(verdict) for verdict in self.verdicts],
            "gates": [gate.to_json() for gate in self.gates],
            "informed": self.informed,
            "decisions_not_held": self.unheld,
            "ledger_refuses": self.refused,
            "register_unread": self.unread_register,
            "left": self.left.to_json(),
            "releases_not_replayed": self.unreplayed,
            "table": {"read": self.table.read, "not_read_because": self.table.absent},
            "forecast": self.chances.to_json(),
            "warnings": [warning.to_json() for warning in self.warnings],
        }


_STATIC = {
    Outcome.PASS: GateState.PASSES, Outcome.FAIL: GateState.FAILS, Outcome.INCONCLUSIVE: GateState.INCONCLUSIVE,
}  # fmt: skip
_ALWAYS = {GateReach.CANNOT_FAIL: GateState.CANNOT_FAIL, GateReach.CANNOT_PASS: GateState.CANNOT_PASS}


def _decided(note: GateNote, verdict: Verdict | None, forecast: GateChance | None) -> tuple[GateState, str]:
    """Return the state of a gate before data are read, and the reason: its figure beside its limit, or a forecast."""
    if verdict is not None:
        state = GateState.CANNOT_FAIL if note.reach is GateReach.CANNOT_FAIL else _STATIC[verdict.outcome]
        return state, f"{verdict.reason}, {verdict.ended.partition(', ')[2]}" if verdict.waived else verdict.reason
    if note.reach is not GateReach.OPEN:
        return _ALWAYS[note.reach], "under this mechanism"
    if forecast is None:
        return GateState.PRIVATE, ""
    return GateState.COULD_FAIL, f"probability of passing {forecast.probability()}"


def check(policy: Path, day: str | None = None, *, header: bool = True) -> PolicyCheck:
    """Check the next release of a policy, with the charges in its ledger; if that is unreadable, as the first of its
    population.

    Waivers must hold up to `day` (YYYY-MM-DD, by default today). With `header` the contract is compared with the header
    of its table. Raises ConfigurationError for faulty files.
    """
    day = today() if day is None else day
    try:
        bundle = bundle_of(policy)
        opened = OpenedLedger(bundle.root, bundle.budget.spec.ledger)
        held = check_decisions(bundle.root, bundle.contract, opened)
        plan = plan_release(bundle, [*held.problems, *destination_problems(bundle)])
    except ConfigurationError as error:
        raise (with_header_problems(policy, error) if header else error) from None
    plan = replace(plan, count_classes=lambda made: stored_classes(made, opened))
    table = check_table(bundle.contract) if header else _NOT_READ
    stands = ledger_status(plan, opened, day)
    beforehand = next_release(plan, opened, stands)
    verdicts = judge_static(plan, beforehand.static, day)
    reaches = [beforehand.reach(rule, measure) for rule, measure in plan.gates]
    notes = [
        GateNote(
            gate_text(rule),
            measure.reads,
            decision_time(measure) + (f". {_register_text(beforehand.register)}" if measure.register else ""),
            rule.severity == "block",
            found,
            _warnings(_warning(beforehand, rule, measure, found, day), *_remarks(plan, rule, measure, found, day)),
            charge_text(plan, rule, measure),
            tuple(_notes(rule, day)),
            is_waived(rule, measure, Outcome.FAIL, day),
            remarks=_remarks(plan, rule, measure, found, day),
            register=_register_text(beforehand.register) if measure.register else None,
        )
        for (rule, measure), found in zip(plan.gates, reaches, strict=True)
    ]
    hopeless = any(
        rule.severity == "block" and found is GateReach.CANNOT_PASS and not beforehand.waived(rule, measure, day)
        for (rule, measure), found in zip(plan.gates, reaches, strict=True)
    )
    told, unreplayed = _history(plan, opened, stands.ended)
    notes = [replace(note, history=told.get(note.gate)) for note in notes]
    unread = beforehand.register_fault
    allowed = not any_withholds(verdicts) and not hopeless and stands.refused is None and unread is None
    said = (allowed, stands.informed, held.why_not, stands.refused, stands.left, unreplayed)
    judged = tuple(
        policy_warnings(
            ReviewedPolicy(plan, reaches, _release_with_other_files(plan, opened, stands), day, table.absent)
        )
    )
    return PolicyCheck(
        policy, plan, tuple(verdicts), tuple(notes), *said, table, judged, chances=chances(beforehand, stands, day),
        unread_register=unread,
    )  # fmt: skip


def _release_with_other_files(plan: Plan, opened: OpenedLedger, found: LedgerStatus) -> str | None:
    """Return a release of the policy's version that was made of other files. There is none if the ledger refuses
    nothing.
    """
    if found.refused is None and found.left.read:
        return None
    from crowdgate.planning.versions import release_with_other_files

    return release_with_other_files(plan, opened)


def _expired(rule: GateRule, day: str) -> str | None:
    if rule.waiver is None or day <= rule.waiver.expires:
        return None
    return f"its waiver expired on {rule.waiver.expires}, so a failure withholds the release again"


def _remarks(plan: Plan, rule: GateRule, measure: Measure, found: GateReach, day: str) -> tuple[str, ...]:
    """Return warnings about a gate: noise that makes an open gate (one that can pass and fail) hardly pass or hardly
    fail, and an expired waiver."""
    noise = (
        hardly_passes_warning(plan, rule, measure) or hardly_fails_warning(plan, rule, measure)
        if found is GateReach.OPEN
        else None
    )
    return tuple(each for each in (noise, _expired(rule, day)) if each is not None)


def _notes(rule: GateRule, day: str) -> list[str]:
    """Return the notes on a gate: its reason, reference and waiver. An expired waiver is left out, as a warning names
    it."""
    held = rule if _expired(rule, day) is None else rule.model_copy(update={"waiver": None})
    return gate_notes(held)


def _warnings(*found: str | None) -> str | None:
    return "; ".join(each for each in found if each is not None) or None


def _history(plan: Plan, opened: OpenedLedger, ended: Sequence[Entry]) -> tuple[dict[str, str], str | None]:
    """Return, by gate, a text on how many of the last releases the gate would have withheld, if any; and the reason why
    some of these releases could not be read (None: all could)."""
    if not ended:
        return {}, None
    from crowdgate.review.replay.recorded import recent

    try:
        found = recent(plan, opened.ledger(), ended)
    except CrowdgateError as error:
        return {}, str(error)
    refused = [f"{each.release_id}: {each.refused[0]}" for each in found.past if each.refused]
    told = {gate_text(each.rule): each.short_text for each in found.tallies if each.against}
    return told, "; ".join(refused) or None


def _register_text(register: Register | None) -> str:
    return "Its table can't be read here." if register is None else register.words


def _warning(beforehand: NextRelease, rule: GateRule, measure: Measure, found: GateReach, day: str) -> str | None:
    if found is GateReach.OPEN:
        return None
    why = "with the policy and budget as they are" if measure.reads is MeasureClass.STATIC else "under this mechanism"
    if found is GateReach.CANNOT_FAIL:
        return f"can't fail {why}"
    if rule.severity == "advise":
        return f"can't pass {why}: its advice is always the same"
    ends = "its failure is waived" if beforehand.waived(rule, measure, day) else "every release would be withheld"
    return f"can't pass {why}: {ends}"
