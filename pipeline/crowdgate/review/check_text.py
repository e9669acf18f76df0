"""A checked policy in a few lines: whether it is allowed, what it costs, and which gates the data decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdgate.candidate import OutputType
from crowdgate.number_text import decimal
from crowdgate.planning.budget_left import UNREAD
from crowdgate.planning.bundle import kind_of
from crowdgate.planning.cost_text import Row, cost_rows
from crowdgate.planning.decisions import unchecked_decisions_text
from crowdgate.policy.approval import STEPS
from crowdgate.review.check import GateState

if TYPE_CHECKING:
    from crowdgate.review.check import GateNote, PolicyCheck

LABEL = 15
"""Width of a line's label, in characters."""
INFORMED = (
    "this policy was first used after a private record of these people was opened, which the guarantee does not cover"
)
UNTRIED = "the probability of publication is unknown, and the first release pays"
UNUSED = 0.95
"""Part of the total below which the joint cost of a policy's parts is printed."""
FAILING = (GateState.FAILS, GateState.INCONCLUSIVE, GateState.CANNOT_PASS)
SETTLED = {GateState.PASSES: "Passes", GateState.CANNOT_FAIL: "Cannot fail", GateState.PRIVATE: "Private"}


def check_lines(found: PolicyCheck) -> Iterator[str]:
    """Yield the lines that `check` prints of one policy, the outcome first."""
    count = len(found.warnings)
    warned = "" if not count else f", {count} warning{'s' if count > 1 else ''}"
    yield f"{found.policy}: {'allowed' if found.allowed else 'would be withheld'}{warned}"
    before = None
    for label, text in check_rows(found):
        yield f"  {label if label != before else '':<{LABEL}} {text}"
        before = label


def check_rows(found: PolicyCheck) -> Iterator[Row]:
    """Yield labelled lines on a checked policy: why it would be withheld, cost, gates, notes and warnings."""
    if found.refused is not None:
        yield "Refused", found.refused
    if found.unread_register is not None:
        yield "Refused", f"its public register can't be read, so no release is made: {found.unread_register}"
    yield from _gates_that_fail(found)
    (label, cost), *others = cost_rows(found.plan, found.left)
    yield label, f"{cost}{_unused_text(found)}"
    yield from others
    yield from _approval(found)
    yield from _open_gates(found)
    yield from _settled_gates(found)
    yield from _left_out(found)
    yield from _remarks(found)
    if found.table.read is not None:
        yield "Read", found.table.read
    yield "More", "crowdgate explain FILE, crowdgate plan FILE"


def _unused_text(found: PolicyCheck) -> str:
    """Return the epsilon that parts with an epsilon each spend together, if they leave a part of the total unused."""
    plan = found.plan
    joint = plan.protection.kind.joint_epsilon(plan.protection.mechanism, plan.guarantee)
    if joint is None or joint >= UNUSED * plan.guarantee.epsilon:
        return ""
    advice = "state shares" if len(plan.guarantee.parts) > 1 else "accounting: joint"
    return f" (only {decimal(joint, 3)} jointly: {advice})"


def _approval(found: PolicyCheck) -> Iterator[Row]:
    """Yield a row with who must approve a release, if the policy asks for approvals."""
    rule = found.plan.bundle.policy.spec.approval
    if rule is not None:
        which = "the first release of these files" if rule.of == "first" else "each release"
        above = "" if rule.over is None else f" above epsilon {decimal(rule.over)}"
        yield "Approval", f"{which}{above}, before it is {STEPS[rule.before]}: by {rule.signers_text()}"


def _gates_that_fail(found: PolicyCheck) -> Iterator[Row]:
    for each in found.decided:
        if each.state in FAILING:
            advice = "" if each.note.blocks else " (advice)"
            yield str(each.state).capitalize(), f"{each.note.gate}{advice}: {each.reason}"


def _open_gates(found: PolicyCheck) -> Iterator[Row]:
    """Yield a row with the probability of publication, then rows for the gates that can pass and fail: one with the
    names of all gates of the same probability and reason, if there are several."""
    yield "Publication", found.chances.publication()
    yield from _unread_simulations(found)
    yield from _unknown_series(found)
    told = dict[str, list[str]]()
    for each in found.decided:
        if each.state is GateState.COULD_FAIL:
            told.setdefault(each.reason.removesuffix(f" ({UNREAD})"), []).append(each.note.gate)
    for reason, gates in told.items():
        names = gates if len(gates) == 1 else [_name(gate, found) for gate in gates]
        yield "Data decide", f"{', '.join(names)}: {reason}"


def _unread_simulations(found: PolicyCheck) -> Iterator[Row]:
    """Yield a row that names the command whose simulated releases judge gates on weighted rows by a pilot."""
    bundle = found.plan.bundle
    spec = bundle.policy.spec
    weighted = OutputType.MARGINS in kind_of(bundle).shapes_of(spec.mechanism)
    if found.allowed and found.chances.all is None and spec.pilot is not None and weighted:
        yield (
            "Publication",
            "read crowdgate plan before you release: it tries these gates on releases simulated from the pilot",
        )


def _unknown_series(found: PolicyCheck) -> Iterator[Row]:
    """Yield a row before a series is paid for whose publication has an unknown probability."""
    planned, series = found.plan.series, found.left.series
    if not found.allowed or planned is None or series is None or series.payer is not None:
        return
    if found.chances.all is None:
        cost = f"epsilon {decimal(planned.epsilon)} for all {planned.releases} releases"
        yield "Series", f"{UNTRIED} {cost}, published or not: rehearse first (crowdgate rehearse)"


def _settled_gates(found: PolicyCheck) -> Iterator[Row]:
    """Yield a row for each outcome that is known beforehand (passes, can't fail, decided in the private record only),
    with the measures of these gates."""
    for state, label in SETTLED.items():
        names = dict.fromkeys(_name(each.note.gate, found) for each in found.decided if each.state is state)
        where = " (advice, in the private record only)" if state is GateState.PRIVATE else ""
        if names:
            yield label, f"{', '.join(names)}{where}"


def _left_out(found: PolicyCheck) -> Iterator[Row]:
    """Yield a row with the columns whose empty cells take a row out of all that is released, unless a charged gate
    counts the invalid cells of each."""
    plan = found.plan
    read = (plan.bundle.contract.columns[name] for name in plan.columns)
    names = [each.name for each in read if each.invalid == "drop" and each.name not in plan.watched]
    if names:
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
        yield "Leaves out", f"rows whose {listed} is empty or not in its domain"


def _name(gate: str, found: PolicyCheck) -> str:
    """Return the name of a gate's measure; if other gates of the policy have the same measure, the whole gate as
    text."""
    measure = gate.partition(" ")[0]
    others = [each for each in found.decided if each.note.gate.partition(" ")[0] == measure]
    return measure if len(others) == 1 else gate


def _remarks(found: PolicyCheck) -> Iterator[Row]:
    for gate in found.gates:
        yield from (("Note", f"{gate.gate}: {text}") for text in _gate_remarks(gate, found))
    yield from _ledger_remarks(found)
    if found.unreplayed:
        yield "Note", f"some of the last releases can't be read: {found.unreplayed}"
    yield from (("Warning", str(each)) for each in found.warnings)


def _ledger_remarks(found: PolicyCheck) -> Iterator[Row]:
    """Yield rows on what the ledger states about the policy besides its budget, or on what is unknown without a
    ledger."""
    if found.informed is None:
        unknown = "the ledger can't be read here, so it is unknown whether confidential results were viewed before"
        decisions = f", and decisions on columns are not compared: {found.unheld}"
        yield "Note", f"{unknown}{'' if found.unheld is None else decisions}"
        return
    if found.informed:
        yield "Note", INFORMED
    yield from (("Note", text) for text in unchecked_decisions_text(found.unheld))


def _gate_remarks(gate: GateNote, found: PolicyCheck) -> Iterator[str]:
    """Yield texts on a gate: effects of noise and waivers, the comparable records of a public register, and its
    verdicts on past releases."""
    if gate.register:
        yield gate.register
    yield from gate.remarks
    yield from (note for note in gate.notes if gate.waived)
    if gate.history:
        yield f"{gate.history} (`crowdgate replay {found.policy}`)"
