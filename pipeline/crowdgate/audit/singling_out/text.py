"""Findings of an audit of singling out in words and tables for people, and as JSON for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.planted_faults import unseen_faults
from crowdgate.audit.common.text import attempt_text, measurement_cells, measurement_json
from crowdgate.audit.singling_out.control_results import SinglingOutControlResult
from crowdgate.audit.singling_out.findings import AttackerRates, RateAtWeight, SinglingOutFindings
from crowdgate.audit.singling_out.record import SinglingOutRecord, SinglingOutResults, SinglingOutSetting
from crowdgate.candidate import AuditQuestion
from crowdgate.gate import Outcome
from crowdgate.kind.listing import Listing, text_listing
from crowdgate.number_text import BOUND, LEAST, Rounding, Value, decimal, exact_text, rounded, whole

SingledOut = FinishedAudit[SinglingOutRecord, SinglingOutFindings]
NOT_REFUTED = "Not refuted on this population, by these attackers, at this n."
NEVER = (
    "An audit of predicate singling out disqualifies, it never certifies (Cohen, Nissim 2020, section 5). Rows are"
    " assumed to be independent of each other. A k that is one too"
    " small, or a sample of another rate, is not expected to be seen."
)
UNSEEN = unseen_faults(AuditQuestion.SINGLING_OUT)
RELIABLE = 0.9
"""Least probability that a mechanism passes, for a limit to be reliable."""
COLUMNS = ("attacker", "rate", ("lower limit", LEAST), ("upper limit", BOUND), ("baseline", BOUND), "excess", "")
CONTROL_COLUMNS = ("control", "found", "attacker", ("weight", ".4g", "any"), "rate", "baseline", "power", "tables")


def verdict(audited: SingledOut) -> str:
    """Return one sentence that says whether a singling-out audit passed or failed."""
    found, setting = audited.findings, audited.record.setting
    above = "; ".join(_above_baseline_text(name, point) for name, point in found.above)
    if found.outcome is Outcome.PASS:
        return f"No excess beyond the limit is proven; above the baseline: {above}." if above else NOT_REFUTED
    excess, limit = decimal(found.excess.upper, 4), decimal(setting.limit, 4)
    beyond = f"excess up to {excess}, limit {limit}"
    return f"Refuted: {above}; {beyond}." if above else f"Not refuted, and not within the limit: {beyond}."


def _above_baseline_text(name: str, point: RateAtWeight) -> str:
    weight, rate, baseline = float(point.weight), float(point.rate.value), point.baseline
    return f"{name} at weight {rounded(weight, 3)} ({rounded(rate, 3)}, baseline {rounded(baseline, 3)})"


def lines(audited: SingledOut) -> list[str]:
    """Return sentences with all that a reader must know to understand a singling-out audit's figures."""
    found, record = audited.findings, audited.record
    setting = record.setting
    drawn = "with replacement" if setting.replacement else "without replacement"
    seen = (
        "It could have detected no excess with probability .9."
        if found.seen is None
        else (
            f"At that weight it would have detected an excess of {decimal(found.seen, 3)} with probability .9, with"
            " all tests together."
        )
    )
    return [
        f"Played on {setting.population}: {whole(setting.trials)} tables of n = {whole(setting.n)} units,"
        f" drawn {drawn} from"
        f" {whole(setting.population_size)}; predicates of weight {decimal(setting.weight, 4)} at most. An excess"
        f" of {decimal(setting.limit, 4)} over the baseline passes.",
        NEVER,
        seen,
        *_ceiling_text(record.policy_results),
        *_assumptions_text(audited),
        attempt_text(record),
        *_left_out_text(setting, idle_attackers(audited)),
    ]


def _ceiling_text(own: SinglingOutResults) -> Iterator[str]:
    if own.ceiling is not None:
        yield (
            "Attackers who see the policy's attributes of every row, unchanged, exceed the baseline by"
            f" {decimal(own.ceiling, 3)}, at the weight that suits them."
        )


def _left_out_text(setting: SinglingOutSetting, idle: Sequence[str]) -> Iterator[str]:
    if idle:
        yield f"These attackers do not apply: {', '.join(idle)}."
    if setting.unread:
        yield f"No attacker reads what else is released: {', '.join(setting.unread)}."
    if setting.not_played:
        yield (
            "Controls that were not played, since nothing could be seen of them on this population:"
            f" {', '.join(setting.not_played)}."
        )


def _assumptions_text(audited: SingledOut) -> Iterator[str]:
    found = audited.findings
    at_baseline, at_bound = (decimal(each, 3, Rounding.DOWN) for each in (found.at_baseline, found.at_bound))
    yield (
        f"There it passes with probability {at_baseline} if no attacker is better than the baseline, and {at_bound} if"
        f" one is as good as the mechanism's own bound allows, n (e^epsilon w + delta) = {decimal(found.bound, 4)}."
    )
    if found.at_baseline < RELIABLE:
        yield "This limit is unreliable: a mechanism that reveals nothing fails too often. Use more trials."
    elif found.at_bound < RELIABLE:
        yield "Passing is not assured by the guarantee: a mechanism that leaks all that it allows can fail."


def listings(audited: SingledOut) -> list[Listing]:
    """Return a table of the attackers that had something to read, at the judged weight, and a table of the controls if
    some were played."""
    found = audited.findings
    rows = [_row(line, line.attacker in found.refuted) for line in found.lines if not line.idle]
    attackers = text_listing("Attackers, at the weight that is judged", COLUMNS, rows)
    played = {each.mechanism: each for each in audited.record.controls}
    judged = [_control(each, played[each.control]) for each in found.controls]
    return [attackers, text_listing("Controls", CONTROL_COLUMNS, judged)] if judged else [attackers]


def _row(line: AttackerRates, refuted: bool) -> list[Value]:
    point = line.points[0]
    return [
        line.attacker,
        *measurement_cells(point.rate),
        point.baseline,
        point.excess.value,
        "refutes" if refuted else "",
    ]


def idle_attackers(audited: SingledOut) -> list[str]:
    """Return the names of the attackers that had nothing to read."""
    return [line.attacker for line in audited.findings.lines if line.idle]


def _control(judged: SinglingOutControlResult, played: SinglingOutResults) -> list[Value]:
    attack = judged.attack
    found = ("caught" if judged.works else "not caught") if judged.must == "be caught" else (
        "held" if judged.works else "refuted"
    )  # fmt: skip
    figures = (attack.weight, judged.rate.value, attack.baseline, judged.power)
    return [judged.control, found, attack.attacker, *figures, f"{played.trials} of {whole(played.n)}"]


def json_fields(audited: SingledOut) -> dict[str, Any]:
    """Return the fields that `--json` prints for a singling-out audit, by name."""
    found = audited.findings
    return {
        "refuted": list(found.refuted),
        "success": measurement_json(found.success),
        "excess": measurement_json(found.excess),
        "isolation": measurement_json(found.isolation),
        "kept": found.kept,
        "baseline": found.baseline,
        "bound": found.bound,
        "excess_seen": found.seen,
        "passes_at_baseline": found.at_baseline,
        "passes_at_bound": found.at_bound,
        "controls": {each.control: _control_json(each) for each in found.controls},
    }


def _control_json(judged: SinglingOutControlResult) -> dict[str, Any]:
    attack = judged.attack
    return {
        "must": judged.must, "works": judged.works, "power": judged.power, "rate": measurement_json(judged.rate),
        "attacker": attack.attacker, "weight": None if attack.weight is None else exact_text(attack.weight),
        "baseline": attack.baseline,
    }  # fmt: skip
