"""Warnings about an allowed policy, which change no outcome.

Each rule is a line of RULES under its code; policies/CODES.md explains them. All numbers are computed exactly and
rounded to the conservative side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from crowdgate.accounting import pso
from crowdgate.accounting.numbers import exp_up, up
from crowdgate.candidate import OutputType
from crowdgate.documents.yaml_text import Document, Location
from crowdgate.gate import GateReach, Outcome, gate_text, is_waived
from crowdgate.kind.kind import Allowance
from crowdgate.measures import BetterSide, MeasureClass
from crowdgate.measures.guarantees import DEFAULT_WEIGHT, stated_weight
from crowdgate.measures.tables import SMALLEST_TRUSTED_CELL
from crowdgate.number_text import bound_number, stated_number
from crowdgate.planning.budget_left import releases_in_budget
from crowdgate.planning.budget_values import charged_epsilon
from crowdgate.planning.bundle import kind_of
from crowdgate.planning.charges import hardly_fails_warning, hardly_passes_warning
from crowdgate.planning.truncation_gate import recommended_gate
from crowdgate.policy.policy import CONTEXT
from crowdgate.releases.enforcement import WORDS, is_dry_run
from crowdgate.review.lint.contract_doubts import DOUBTS, ContractText, Doubt

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.domain import Grid
    from crowdgate.kind.plan import Plan
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

MOST_EXPECTED = Fraction(1, 100)
"""The greatest product of people and delta without a warning: the expected number of people whom the mechanism may
fail.
"""
MOST_EPSILON = 3
HALF = Fraction(1, 2)
OTHER_POLICY, ALL_PLACES = {"policy", "working_copy"}, {"to", "input", "ledger"}
"""Settings of a deployment's run that lead to another policy, and those that lead to other data and other places."""
LONG = 366
"""The longest waiver, in days, without a warning: a waiver postpones a decision and does not make one."""


@dataclass(frozen=True)
class PolicyWarning:
    """One warning: its code, the place of the rule that it is about (from 1), and a sentence."""

    code: str
    file: str
    line: int | None
    column: int | None
    words: str

    def __str__(self) -> str:
        return f"{self.code} {self.file}:{self.line}:{self.column}: {self.words}"

    def to_json(self) -> dict[str, Any]:
        """Return the warning as an object of JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class ReviewedPolicy:
    """A policy that can run, with the reach of each of its gates.

    `otherwise` is a release of its version that was made of other files (None: there is none, or that is unknown),
    `day` the day (YYYY-MM-DD) on which waivers must hold, `absent` the reason why the table can't be seen from here.
    """

    plan: Plan
    reaches: Sequence[GateReach]
    otherwise: str | None
    day: str
    absent: str | None = None


Objection = tuple[Document, Location, str]
"""The file, the place in it, and the sentence of a warning."""
Rule = Callable[[ReviewedPolicy], Iterator[Objection]]


def policy_warnings(judged: ReviewedPolicy) -> Iterator[PolicyWarning]:
    """Yield each warning about a reviewed policy, rule by rule of RULES."""
    for code, rule in RULES.items():
        for document, at, words in rule(judged):
            yield _placed(code, document, at, words)


def _placed(code: str, document: Document, at: Location, words: str) -> PolicyWarning:
    return PolicyWarning(code, str(document.path), document.line(at), document.column(at), words)


def _policy(judged: ReviewedPolicy, *at: str | int) -> tuple[Document, Location]:
    return judged.plan.bundle.document, ("spec", *at)


def _expected_disclosures(judged: ReviewedPolicy) -> tuple[Fraction, Fraction, int]:
    """Return delta, people times delta, and people: the delta of one release, and the bound on people of its
    population."""
    delta, people = judged.plan.guarantee.delta, judged.plan.bundle.budget.spec.people
    return delta, people * delta, people


def _delta_adds_up(judged: ReviewedPolicy) -> Iterator[Objection]:
    delta, expected, people = _expected_disclosures(judged)
    if MOST_EXPECTED < expected <= 1:
        words = f"delta {stated_number(delta)} times {people} people is {bound_number(expected)}: a mechanism that"
        words += (
            " publishes a record unchanged with probability delta would satisfy the guarantee. Usual is a "
            "product of at most 0.01"
        )
        yield *_policy(judged, "privacy", "delta"), words


def _delta_above_one_person(judged: ReviewedPolicy) -> Iterator[Objection]:
    delta, expected, people = _expected_disclosures(judged)
    if expected > 1:
        words = f"delta {stated_number(delta)} is above 1/{people}, one person's share: a mechanism that publishes"
        words += (
            f" the records of {bound_number(expected)} of {people} people unchanged, on average, would "
            "satisfy the guarantee"
        )
        yield *_policy(judged, "privacy", "delta"), words


def _large_epsilon(judged: ReviewedPolicy) -> Iterator[Objection]:
    epsilon = judged.plan.guarantee.epsilon
    if epsilon > MOST_EPSILON:
        factor = exp_up(up(epsilon))
        times = bound_number(Fraction(factor)) if factor < float("inf") else "more than 10^300"
        words = f"epsilon {stated_number(epsilon)} is above {MOST_EPSILON}: with one person's data a release may be"
        yield *_policy(judged, "privacy", "epsilon"), f"{words} {times} times as probable as without, or the reverse"


def _weak_limit(judged: ReviewedPolicy) -> Iterator[Objection]:
    for i, (rule, measure) in enumerate(judged.plan.gates):
        if measure.bounds_singling_out and rule.at_most is not None and not _bounds(judged.plan, rule):
            words = f"{gate_text(rule)} hardly protects: its limit allows an attacker to describe exactly one person in"
            rest = (
                "" if rule.at_most >= HALF else f", by predicates that fit one in {int(1 / _usual_weight(judged.plan))}"
            )
            yield *_policy(judged, "gates", i, "at_most"), f"{words} half of all attempts{rest}"


def _usual_weight(plan: Plan) -> Fraction:
    """Return the usual predicate weight: at most 1 in 1000 rows, so that the predicate hardly fits anyone by chance."""
    return min(DEFAULT_WEIGHT, Fraction(1, 1000 * plan.first_release_facts().most_rows))


def _bounds(plan: Plan, rule: GateRule) -> bool:
    """Return True if a gate's limit on the singling-out bound keeps this bound below one half at the usual predicate
    weight.

    The bound grows at most in proportion to the weight.
    """
    usual = _usual_weight(plan)
    stated = stated_weight(rule)
    return rule.at_most is not None and stated > 0 and rule.at_most * max(Fraction(1), usual / stated) < HALF


def _no_gate_on_singling_out(judged: ReviewedPolicy) -> Iterator[Objection]:
    plan = judged.plan
    gates = [gate for gate in plan.gates if gate[0].severity == "block" and not gate[0].waiver]
    if not any(measure.counts_as_singling_out and _checks(plan, rule, measure) for rule, measure in gates):
        words = "no gate that blocks limits singling out: add a gate on pso_bound, which every kind of release can have"
        yield *_policy(judged, "gates"), words


def _no_gate_on_use(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield a warning if weighted rows are published and no blocking gate compares them with their margins."""
    plan = judged.plan
    blocking = [measure for rule, measure in plan.gates if rule.severity == "block"]
    weighted = OutputType.MARGINS in kind_of(plan.bundle).shapes_of(plan.bundle.policy.spec.mechanism)
    if weighted and not any(measure.shape is OutputType.MARGINS for measure in blocking):
        words = "no gate that blocks compares the weighted rows with their margins, so rows that mislead are published:"
        yield *_policy(judged, "gates"), f"{words} add gates on represented_share and worst_share_error"


def _checks(plan: Plan, rule: GateRule, measure: Measure) -> bool:
    """Return True if a gate can reject a worse release: its limit is on the right side, and it is not almost always
    met."""
    empty = hardly_fails_warning(plan, rule, measure) is not None or (
        measure.bounds_singling_out and not _bounds(plan, rule)
    )
    return not _wrong_side(rule, measure) and not empty


def _wrong_side(rule: GateRule, measure: Measure) -> bool:
    """Return True if a gate's limit rejects better values: `at_most` of a measure for which larger is better, or the
    reverse."""
    return measure.better is (BetterSide.SMALLER if rule.at_most is None else BetterSide.LARGER)


def _wrong_way_round(judged: ReviewedPolicy) -> Iterator[Objection]:
    for i, (rule, measure) in enumerate(judged.plan.gates):
        if _wrong_side(rule, measure):
            stated, meant = ("at_most", "at_least") if rule.at_least is None else ("at_least", "at_most")
            words = (
                f"this limit of {gate_text(rule)} is on the wrong side, so it withholds the better "
                f"releases. Use `{meant}`"
            )
            yield *_policy(judged, "gates", i, stated), words


def _waivers(judged: ReviewedPolicy) -> Iterator[Objection]:
    for i, (rule, _) in enumerate(judged.plan.gates):
        if rule.waiver is None:
            continue
        expires, words = rule.waiver.expires, None
        if judged.day > expires:
            words = (
                f"the waiver of {gate_text(rule)} expired on {expires}, so a failure of this gate withholds "
                "the release again"
            )
        elif date.fromisoformat(expires) - date.fromisoformat(judged.day) > timedelta(days=LONG):
            words = (
                f"the waiver of {gate_text(rule)} holds for more than a year (until {expires}). State an earlier date"
            )
        if words is not None:
            yield *_policy(judged, "gates", i, "waiver", "expires"), words


def _cannot_pass(judged: ReviewedPolicy) -> Iterator[Objection]:
    for i, ((rule, measure), found) in enumerate(zip(judged.plan.gates, judged.reaches, strict=True)):
        if found is GateReach.CANNOT_PASS:
            ends = "every release would be withheld" if rule.severity == "block" else "its advice is always the same"
            if is_waived(rule, measure, Outcome.FAIL, judged.day):
                ends = "its failure is waived"
            yield *_policy(judged, "gates", i), f"{gate_text(rule)} can't pass: {ends}"


def _cannot_fail(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield a warning for each gate that can't fail, or pays for noise and hardly fails. Static gates guard against
    later changes of files, so they are exempt."""
    for i, ((rule, measure), found) in enumerate(zip(judged.plan.gates, judged.reaches, strict=True)):
        why = hardly_fails_warning(judged.plan, rule, measure)
        if found is GateReach.CANNOT_FAIL and measure.reads is not MeasureClass.STATIC:
            yield (
                *_policy(judged, "gates", i),
                f"{gate_text(rule)} can't fail under this mechanism, so it checks nothing",
            )
        elif why is not None:
            yield *_policy(judged, "gates", i), f"{gate_text(rule)} costs privacy budget and checks nothing: {why}"


def _hardly_passes(judged: ReviewedPolicy) -> Iterator[Objection]:
    for i, ((rule, measure), found) in enumerate(zip(judged.plan.gates, judged.reaches, strict=True)):
        why = hardly_passes_warning(judged.plan, rule, measure) if found is GateReach.OPEN else None
        if why is not None:
            yield *_policy(judged, "gates", i), f"{gate_text(rule)} passes too seldom: {why}"


def _large_k(judged: ReviewedPolicy) -> Iterator[Objection]:
    stated, least = judged.plan.protection.figures.least_class, _least_class(judged.plan)
    if least is not None and stated > 2 * least:
        words = f"k {stated} is more than twice {least}, the least that keeps the guarantee: classes of {least} to"
        yield *_policy(judged, "mechanism", "k"), f"{words} {stated - 1} rows are suppressed without need"


def _least_class(plan: Plan) -> int | None:
    """Return the least class size k that keeps the guarantee, if the policy states k as a number; None otherwise."""
    spec = plan.bundle.policy.spec
    if not isinstance(getattr(spec.mechanism, "k", None), int):
        return None
    freed = spec.mechanism.model_copy(update={"k": "least"})
    left = Allowance(spec.privacy.epsilon - charged_epsilon(spec), spec.privacy.delta)
    protection, _ = kind_of(plan.bundle).plan(freed, plan.bundle.contract, left)
    return None if protection is None else protection.figures.least_class


def _short_budget(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield a warning for a lifetime budget that does not pay two releases. A table that is a sample is exempt, as it
    serves one release anyway."""
    plan, releases = judged.plan, releases_in_budget(judged.plan)
    if releases >= 2 or plan.bundle.contract.sample is not None:
        return
    once, budget = plan.guarantee if plan.series is None else plan.series, plan.bundle.budget.spec
    name, pays = plan.bundle.policy.metadata.name, "pays for one such release and no second"
    if not releases:
        pays = "pays for no such release" if plan.series is None else "does not pay for the declared series"
    costs = f"{name} costs" if plan.series is None else f"its {plan.series.releases} releases cost"
    if budget.lifetime is not None:
        words = f"a lifetime budget in Renyi divergences {pays}: {costs} too much of it"
        yield plan.bundle.budget_document, ("spec", "epsilon"), words
        return
    by_delta = int(budget.delta / once.delta) if once.delta else releases + 1
    part = "delta" if by_delta < int(budget.epsilon / once.epsilon) else "epsilon"
    cost, whole = stated_number(getattr(once, part)), stated_number(getattr(budget, part))
    times = "each time" if plan.series is None else "together"
    words = f"a lifetime budget of {part} {whole} {pays}: {costs} {cost} {times}"
    yield plan.bundle.budget_document, ("spec", part), words


def _weak_whole_budget(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield a warning if an attacker may succeed in half of all attempts at singling out once the whole budget is
    spent, unless a blocking gate on the singling-out bound withholds earlier releases."""
    plan, budget = judged.plan, judged.plan.bundle.budget.spec
    rules = [rule for rule, measure in plan.gates if rule.severity == "block" and measure.bounds_singling_out]
    if any(_bounds(plan, rule) for rule in rules):
        return
    points = [(budget.epsilon, budget.delta)] if budget.lifetime is None else budget.lifetime.points(budget.epsilon)
    most, weight = plan.first_release_facts().most_rows, _usual_weight(plan)
    if min(pso.bound(most, weight, *point) for point in points) >= HALF:
        spent = f"a lifetime budget of epsilon {stated_number(budget.epsilon)} and delta {stated_number(budget.delta)}"
        words = (
            f"{spent}, once spent, guarantees nothing about singling out: an attacker may describe exactly one person"
            " in half"
        )
        words += " of all attempts. No blocking gate on pso_bound withholds a release before that"
        yield plan.bundle.budget_document, ("spec", "epsilon"), words


def _changed_version(judged: ReviewedPolicy) -> Iterator[Objection]:
    if judged.otherwise is not None:
        stated = judged.plan.bundle.policy.metadata
        words = (
            f"version {stated.version} of {stated.name} was already used for other files: "
            f"{judged.otherwise} was made from"
        )
        words += " them. A changed policy, contract, levels file, margins file or budget needs a new version"
        yield judged.plan.bundle.document, ("metadata", "version"), words


def _open_deployments(judged: ReviewedPolicy) -> Iterator[Objection]:
    opened = {*judged.plan.bundle.policy.spec.publish.deployments_may_set}
    at = ("publish", "deployments_may_set")
    if opened & OTHER_POLICY:
        words = "a person who may start a run of a deployment may release another policy, and spend the budget of"
        yield (
            *_policy(judged, *at),
            f"{words} its people. Make one deployment for each policy, with `crowdgate schedule`",
        )
    elif opened >= ALL_PLACES:
        words = "a person who may start a run of a deployment may set its input, its destination and its ledger"
        yield *_policy(judged, *at), f"{words}. List only the settings that your schedules change"


def _advisory_bound(judged: ReviewedPolicy) -> Iterator[Objection]:
    blocking = any(rule.severity == "block" and measure.bounds_singling_out for rule, measure in judged.plan.gates)
    for i, (rule, measure) in enumerate(judged.plan.gates):
        if measure.bounds_singling_out and rule.severity == "advise" and not blocking:
            words = (
                f"{gate_text(rule)} only advises: releases whose bound on singling out is above the limit are published"
            )
            yield *_policy(judged, "gates", i, "severity"), words


def _large_part_of_delta(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield a warning for a release that takes a third or more of the lifetime delta, so that releases end before
    epsilon is spent. A table that is a sample is exempt, as it serves one release anyway."""
    plan, budget = judged.plan, judged.plan.bundle.budget.spec
    if plan.series is not None:
        return
    once, releases = plan.guarantee, releases_in_budget(plan)
    ends = budget.epsilon >= (releases + 1) * once.epsilon
    if plan.bundle.contract.sample is None and releases >= 2 and ends and 3 * once.delta >= budget.delta:
        shown = f"delta {stated_number(once.delta)}, a third or more of the lifetime's {stated_number(budget.delta)}"
        words = f"one release takes {shown}: delta, not epsilon, would end the releases. State a smaller delta"
        yield *_policy(judged, "privacy", "delta"), words


def _fewer_columns(judged: ReviewedPolicy) -> Iterator[Objection]:
    released = {name for view in judged.plan.protection.views.values() for name in view.levels}
    for i, (rule, measure) in enumerate(judged.plan.gates):
        left_out = sorted(released - {*(rule.over or released)})
        if measure.counts_as_singling_out and rule.severity == "block" and left_out:
            words = f"{gate_text(rule)} reads fewer columns than the release has: an attacker who knows"
            rest = f"{', '.join(left_out)} as well knows more than this gate assumes"
            yield *_policy(judged, "gates", i, "over"), f"{words} {rest}"


def _missing_context(judged: ReviewedPolicy) -> Iterator[Objection]:
    stated = judged.plan.bundle.policy.metadata
    missing = [name for name in CONTEXT if name not in stated.context]
    if missing:
        words = f"metadata does not state {', '.join(missing)}: the people who answer for the release need it"
        yield judged.plan.bundle.document, ("metadata",), words


def _unsigned_waivers(judged: ReviewedPolicy) -> Iterator[Objection]:
    for i, (rule, _) in enumerate(judged.plan.gates):
        if rule.waiver is not None and judged.plan.bundle.policy.spec.approval is None:
            words = f"the waiver of {gate_text(rule)} names {rule.waiver.approved_by}, and nobody has to sign it"
            yield *_policy(judged, "gates", i, "waiver", "approved_by"), f"{words}: state `approval`"


def _dry_run(judged: ReviewedPolicy) -> Iterator[Objection]:
    if is_dry_run(judged.plan.bundle):
        yield judged.plan.bundle.document, ("spec", "enforcement"), f"{WORDS} A run of it is a rehearsal"


def _table_is_absent(judged: ReviewedPolicy) -> Iterator[Objection]:
    if judged.absent is not None:
        text = ContractText(judged.plan.bundle.contract)
        yield text.document, (*text.server, "path"), _absence_words(text.contract, judged.absent)


def _absence_words(contract: Contract, reason: str) -> str:
    path = contract.server.settings.get("path")
    named = contract.server.title if path is None else f"the table {path}"
    words = f"{named} is not here ({reason}), so its columns are not compared with the"
    return f"{words} contract. A release needs it, or another one by --input"


def absent_table_warning(contract: Contract, reason: str) -> PolicyWarning:
    """Return the warning about a contract whose table can't be seen from here, for this `reason`."""
    text = ContractText(contract)
    return _placed("CG217", text.document, (*text.server, "path"), _absence_words(contract, reason))


def doubt_warnings(contract: Contract) -> Iterator[PolicyWarning]:
    """Yield a warning for each part of a contract that is allowed and is often a mistake."""
    text = ContractText(contract)
    for code, rule in DOUBTS.items():
        for at, words in rule(text):
            yield _placed(code, text.document, at, words)


def _doubts(rule: Callable[[ContractText], Iterator[Doubt]]) -> Rule:
    """Return the rule of a policy that yields the doubts about its contract."""

    def objections(judged: ReviewedPolicy) -> Iterator[Objection]:
        text = ContractText(judged.plan.bundle.contract)
        yield from ((text.document, at, words) for at, words in rule(text))

    return objections


def coarse_step_warnings(contract: Contract, document: Document) -> Iterator[PolicyWarning]:
    """Yield a warning for each column of whole numbers that has only those at its steps: all other cells are outside
    its domain."""
    place = document.line(("schema",)), document.column(("schema",))
    for name, grid in _coarse_steps(contract):
        yield PolicyWarning("CG229", str(document.path), *place, _step_words(name, grid))


def _coarse_steps(contract: Contract) -> Iterator[tuple[str, Grid]]:
    for each in contract.attributes:
        grid = None if each.domain is None else each.domain.grid
        if grid is not None and grid.whole and grid.precision is None and grid.step > 1:
            yield each.name, grid


def _step_words(name: str, grid: Grid) -> str:
    first, second = (stated_number(grid.first + at * grid.step) for at in (0, 1))
    words = f"{name} has only {first}, {second} and so on: every other whole number is outside its domain"
    return f"{words}. State precision: 1 beside the step, or step: 1 and levels of this width"


def _few_numbers(judged: ReviewedPolicy) -> Iterator[Objection]:
    for name, grid in _coarse_steps(judged.plan.bundle.contract):
        yield *_policy(judged, "contract"), _step_words(name, grid)


def _floored_numbers(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield an objection to sums, means and quantiles of numbers that count as the least of their interval."""
    kind, contract = kind_of(judged.plan.bundle), judged.plan.bundle.contract
    for name in sorted(kind.numeric_columns(judged.plan.protection.mechanism)):
        domain = contract.by_name[name].domain
        grid = None if domain is None else domain.grid
        if grid is not None and not grid.whole and grid.precision is None:
            step = stated_number(grid.step)
            words = (
                f"sums, means and quantiles of {name} are too low: its domain has no precision, so each number counts"
            )
            words += f" as the least of its interval of width {step}. State precision beside the step, such as"
            yield (
                *_policy(judged, "mechanism"),
                f"{words} {{step: {step}, precision: {stated_number(grid.step / 100)}}}",
            )


def _sampled_tables(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield an objection to a sample before noise: it leaves the noise less than epsilon / beta, and numbers are
    divided by beta."""
    beta = judged.plan.protection.figures.beta
    if beta != 1 and OutputType.CELLS in kind_of(judged.plan.bundle).shapes:
        words = f"a sample of rate {stated_number(beta)} before the noise makes the errors of all tables larger"
        yield *_policy(judged, "mechanism", "sampling"), f"{words} at the same guarantee. Without it they are smaller"


def _larger_errors(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield an objection to settings that make errors larger than others at the same guarantee. Under Renyi divergences
    and in a series the noise also decides how many releases are paid, so there is none to the noise."""
    bundle = judged.plan.bundle
    composes = bundle.budget.spec.lifetime is not None or bundle.policy.spec.series is not None
    for key, words in kind_of(bundle).smaller_errors(judged.plan.protection.mechanism):
        if not (composes and key == "noise"):
            yield *_policy(judged, "mechanism", key), words


def _trusted_tables(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield an objection to views, and to joined tables of groups: the guarantee rests on what the contract attests."""
    table = judged.plan.bundle.contract.database
    if table is None:
        return
    views = [table.name] if table.is_view else []
    views += [each.name for each in table.joins if each.is_view]
    groups = [each.name for each in table.joins if not each.is_of_unit]
    if views:
        words = f"{', '.join(views)}: the query of a view decides what the rows of one person can do"
        yield *_policy(judged, "contract"), f"{words}. Read it, or name the table"
    if groups:
        words = f"{', '.join(groups)}: the contract attests that no row of this table depends on one person"
        yield *_policy(judged, "contract"), f"{words}. The guarantee does not cover what its rows say"


def _printed_small_numbers(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield an objection to a gate on the smallest trustworthy count where other counts are published as well."""
    if getattr(judged.plan.bundle.policy.spec.mechanism, "suppress", True):
        return
    for i, (rule, measure) in enumerate(judged.plan.gates):
        if measure.name == SMALLEST_TRUSTED_CELL.name and rule.at_least:
            words = f"{gate_text(rule)} reads trustworthy counts only: smaller counts that are not trustworthy are"
            yield *_policy(judged, "gates", i), f"{words} published as well. State suppress: true in mechanism"


def _uncounted_truncation(judged: ReviewedPolicy) -> Iterator[Objection]:
    """Yield an objection to rows that the bound on rows per person leaves out, if no gate counts the people who have
    more, and such a gate is recommended."""
    gate = recommended_gate(judged.plan.bundle)
    if gate is None:
        return
    words = f"rows of a person beyond {judged.plan.bundle.contract.unit.rows} are left out, and no gate counts these"
    yield *_policy(judged, "gates"), f"{words} people. Add {gate.line('N')}, with N the most people that you accept"


RULES: dict[str, Rule] = {
    "CG201": _delta_adds_up,
    "CG202": _delta_above_one_person,
    "CG203": _large_epsilon,
    "CG204": _weak_limit,
    "CG205": _no_gate_on_singling_out,
    "CG206": _cannot_pass,
    "CG207": _cannot_fail,
    "CG208": _hardly_passes,
    "CG209": _large_k,
    "CG210": _short_budget,
    "CG211": _changed_version,
    "CG212": _dry_run,
    "CG213": _weak_whole_budget,
    "CG214": _wrong_way_round,
    "CG215": _waivers,
    "CG216": _no_gate_on_use,
    "CG217": _table_is_absent,
    "CG220": _open_deployments,
    "CG221": _advisory_bound,
    "CG222": _large_part_of_delta,
    "CG223": _fewer_columns,
    "CG224": _missing_context,
    "CG225": _unsigned_waivers,
    "CG226": _sampled_tables,
    "CG227": _trusted_tables,
    "CG228": _larger_errors,
    "CG229": _few_numbers,
    "CG230": _floored_numbers,
    "CG231": _printed_small_numbers,
    **{code: _doubts(rule) for code, rule in DOUBTS.items()},
    "CG236": _uncounted_truncation,
}
