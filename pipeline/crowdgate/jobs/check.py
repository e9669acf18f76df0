"""What a policy would do and what its gates can decide, before anything runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate import manifest
from crowdgate.errors import CrowdgateError
from crowdgate.gate import Outcome, Reach, Verdict, gate_notes, gate_words, waived
from crowdgate.jobs.chances.job import Chances, chances
from crowdgate.jobs.charges import charge_words, needless, unlikely
from crowdgate.jobs.destinations import destination_problems
from crowdgate.jobs.judging import Caution, Judged, cautions
from crowdgate.jobs.kl.held import held_here
from crowdgate.jobs.plan import asked_of, bundle_of, decided, failed, gate_reach, judge_static, plan_release
from crowdgate.jobs.standing import Left, Standing, at_next, standing, today
from crowdgate.measures import Measure, MeasureClass
from crowdgate.short_repr import short_repr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crowdgate.candidate import Audits
    from crowdgate.kind.plan import Plan
    from crowdgate.policy.policy import GateRule
    from crowdgate.publish.register import Register


@dataclass(frozen=True)
class GateNote:
    """One gate: when it is decided, whether it blocks, whether it can decide anything, a warning when it can't fail,
    can't pass or hardly passes, or its waiver has expired, what it costs if it is charged, why there is it, whether a
    failure of it is waived, and, where it would have withheld any of the last releases, how many."""

    gate: str
    reads: str
    decided: str
    blocks: bool
    reach: Reach
    warning: str | None
    cost: str | None
    notes: tuple[str, ...]
    waived: bool
    history: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints; `kind` is the class of the gate's measure."""
        rest = {"decided": self.decided, "blocks": self.blocks, "warning": self.warning, "cost": self.cost}
        rest |= {"notes": list(self.notes), "waived": self.waived, "history": self.history}
        return {"gate": self.gate, "kind": self.reads, **rest}


@dataclass(frozen=True)
class Checked:
    """A policy whose files are right. `allowed` is False when a static gate fails, a blocking gate can't pass, or its
    ledger, where that is at hand, would refuse the next release, or leads to a gate that withholds it (`refused` says
    why). `left` is what is left, and for how many releases. `unreplayed` is why gates were not judged on
    all of the last releases (None: they were, or there are none). `unheld` is why the
    decisions on what is collected could not be held to the ledger (None: they were). `warnings` judge what is allowed:
    they change no outcome. `chances` are those
    of the next release.
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
    left: Left
    unreplayed: str | None = None
    warnings: tuple[Caution, ...] = ()
    chances: Chances = field(kw_only=True)

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "policy": str(self.policy),
            "allowed": self.allowed,
            "digest": self.plan.bundle.digest,
            "guarantee": manifest.guarantee_json(self.plan.guarantee),
            "mechanism": self.plan.protection.parameters(),
            "verdicts": [manifest.verdict_json(verdict) for verdict in self.verdicts],
            "gates": [gate.to_json() for gate in self.gates],
            "informed": self.informed,
            "decisions_not_held": self.unheld,
            "ledger_refuses": self.refused,
            "left": self.left.to_json(),
            "releases_not_replayed": self.unreplayed,
            "forecast": self.chances.to_json(),
            "warnings": [warning.to_json() for warning in self.warnings],
        }


def check(policy: Path, day: str | None = None) -> Checked:
    """Check the next release of a policy: by what its ledger says was spent, or, where that can't be read, as if it
    were the first of its population. Waivers must hold up to `day` (YYYY-MM-DD, by default today). Raises
    ConfigurationError for wrong files."""
    day = today() if day is None else day
    bundle = bundle_of(policy)
    held = held_here(bundle.root, bundle.contract, bundle.budget)
    plan = plan_release(bundle, [*held.problems, *destination_problems(bundle)])
    stands = standing(plan, day)
    verdicts = judge_static(plan, replace(at_next(plan, stands.left), audits=_audits(plan)), day)
    register = None if bundle.register is None else _register(plan)
    reaches = [
        Reach.CANNOT_PASS if measure.register and register and not register.usable else gate_reach(plan, rule, measure)
        for rule, measure in plan.gates
    ]
    notes = [
        GateNote(
            gate_words(rule),
            measure.reads,
            decided(measure) + (f". {_of_register(register)}" if measure.register else ""),
            rule.severity == "block",
            found,
            _warnings(_warning(measure.reads, found) or _noise_decides(plan, rule, measure), _expired(rule, day)),
            charge_words(plan, rule, measure),
            tuple(_notes(rule, day)),
            waived(rule, measure, Outcome.FAIL, day),
        )
        for (rule, measure), found in zip(plan.gates, reaches, strict=True)
    ]
    hopeless = any(
        rule.severity == "block" and found is Reach.CANNOT_PASS and not _put_up_with(rule, measure, day)
        for (rule, measure), found in zip(plan.gates, reaches, strict=True)
    )
    told, unreplayed = _history(plan, stands.ended)
    notes = [replace(note, history=told.get(note.gate)) for note in notes]
    allowed = not failed(verdicts) and not hopeless and stands.refused is None
    said = (allowed, stands.informed, held.why_not, stands.refused, stands.left, unreplayed)
    judged = tuple(cautions(Judged(plan, reaches, _made_otherwise(plan, stands), day)))
    return Checked(
        policy, plan, tuple(verdicts), tuple(notes), *said, warnings=judged, chances=chances(plan, stands, day)
    )


def _register(plan: Plan) -> Register | None:
    """The public register of a policy, counted at its levels; None where its table can't be read here."""
    from crowdgate.jobs.register_counted import register_here

    return register_here(plan)


def _made_otherwise(plan: Plan, found: Standing) -> str | None:
    """A release of the policy's version that was made of other files. A ledger that refuses nothing has none."""
    if found.refused is None and found.left.read:
        return None
    from crowdgate.jobs.versions import used_otherwise

    return used_otherwise(plan)


def _audits(plan: Plan) -> Audits:
    if not asked_of(plan):
        return {}
    from crowdgate.jobs.audit_keeping import now
    from crowdgate.jobs.audited import evidence_here

    return evidence_here(plan, now().isoformat()).audits


def _put_up_with(rule: GateRule, measure: Measure, day: str) -> bool:
    """Whether a failure is waived. What reads a register that is not usable is not measured, and that never is."""
    return not measure.register and waived(rule, measure, Outcome.FAIL, day)


def _expired(rule: GateRule, day: str) -> str | None:
    if rule.waiver is None or day <= rule.waiver.expires:
        return None
    return f"its waiver expired on {rule.waiver.expires}: a failure withholds again"


def _noise_decides(plan: Plan, rule: GateRule, measure: Measure) -> str | None:
    return unlikely(plan, rule, measure) or needless(plan, rule, measure)


def _notes(rule: GateRule, day: str) -> list[str]:
    """A gate's remarks; of a waiver that has expired a warning tells."""
    held = rule if _expired(rule, day) is None else rule.model_copy(update={"waiver": None})
    return gate_notes(held)


def _warnings(*found: str | None) -> str | None:
    return "; ".join(each for each in found if each is not None) or None


def _history(plan: Plan, ended: Sequence[str]) -> tuple[dict[str, str], str | None]:
    """By gate what it would have done to the last releases, where it would not have let all of them through;
    and why not all of them could be read."""
    if not ended:
        return {}, None
    from crowdgate.jobs.replay.job import recent

    try:
        found = recent(plan, ended)
    except CrowdgateError as error:
        return {}, str(error)
    refused = [f"{each.release_id}: {each.refused[0]}" for each in found.past if each.refused]
    told = {gate_words(each.rule): each.words_alone for each in found.tallies if each.against}
    return told, "; ".join(refused) or None


def _of_register(register: Register | None) -> str:
    return "Its table can't be read here." if register is None else register.words


def _warning(kind: MeasureClass, found: Reach) -> str | None:
    if found is Reach.CANNOT_PASS:
        return "can't pass under this mechanism: every release would be withheld"
    if found is Reach.CANNOT_FAIL:
        why = "with the policy and budget as they are" if kind is MeasureClass.STATIC else "under this mechanism"
        return f"can't fail {why}"
    return None
