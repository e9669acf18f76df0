"""A policy in plain words for its owner, with the numbers of `check` and `plan`. No data is read."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.forecast.outlook import paid_as_one, pso_bounds
from crowdgate.gate import GateReach, gate_text, limit_text
from crowdgate.kind.band import Band
from crowdgate.kind.listing import text_listing
from crowdgate.kind.section import ANNEX, Lead, Paragraph, Section, paragraph
from crowdgate.manifest import bounds_text, weights_text
from crowdgate.measures import MeasureClass
from crowdgate.measures.options import DEFAULTS
from crowdgate.number_text import decimal, stated_number, whole
from crowdgate.planning.budget_left import informed_text, next_release_sentences, releases_in_budget
from crowdgate.planning.paid_series import series_text
from crowdgate.planning.policy_band import PolicyOutcome, policy_band
from crowdgate.releases.enforcement import WORDS, is_dry_run
from crowdgate.report.report import Report
from crowdgate.review.check import check
from crowdgate.review.series_guarantee import ONE, groups_of, guarantees, replaced_guarantees, stated_guarantees

if TYPE_CHECKING:
    from crowdgate.guarantee import Guarantee
    from crowdgate.kind.plan import Plan
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule
    from crowdgate.review.check import GateNote, PolicyCheck

HOUSEHOLD = 4
"""The number of privacy units in the example of a dependent group of people."""
SMALL, EMPTY = Fraction(1, 100), Fraction(1)
"""The products of people and delta up to which the risk is small, and from which the guarantee is empty."""
UNHELD = "Decisions on what is collected are not held to the ledger, which can't be read here."
RUNS_NEXT = (
    "The policy may run: no rule that is decided before data are read withholds the next release of these people. All"
    " their earlier releases count, as recorded in their ledger."
)
RUNS_FIRST = (
    "The policy may run: no rule that is decided before data are read withholds a first release of these people."
    " Earlier releases are recorded in their ledger, which was not read."
)
EPSILON = "It says how much it can matter to anybody whether a person is in the table or not."
SMALLER = "The smaller epsilon is, the better people are protected."
TIMES = (
    "Whatever comes out comes out at most {} times as often with a person's data as without, and the other way round"
)
HUNDRED = "what would be seen in 1 of 100 such {} without that person is seen in at most {} of 100 with that person."
BEYOND = (
    "That is more than 100 times: what hardly ever comes out without a person may always come out with that person."
)
LIMITLESS = "At this size it limits nothing that can be put into numbers."
BLOCKS = "If it fails, or can't be measured, nothing is published."
ADVISES = "It only advises: it never keeps a release from being published."
WAIVED = (
    "As it is waived, a failure does not keep a release from being published up to that day; if it can't be measured,"
    " nothing is published."
)
READS = {
    MeasureClass.STATIC: (
        "It reads public figures only{more}, and is decided before any data about people are read: a failure costs"
        " nothing."
    ),
    MeasureClass.OUTPUT: (
        "It reads only what would be published{more}, and is decided when the release is made and not yet published."
    ),
    MeasureClass.CHARGED: (
        "It reads the table itself, through noise. That is paid for: it {cost} The outcome is public, and the cost"
        " stays charged whatever it is."
    ),
    MeasureClass.CONFIDENTIAL: (
        "It reads confidential data, so it only advises, and its outcome stays in the private record: withholding by"
        " it would reveal something about the data."
    ),
}
TOTALS = "These are totals, paid for in parts:"
JOINTLY = "All parts together keep these totals. Each part is a share of them, and does not keep it by itself:"
PAYS_FOR_SERIES = "This pays for all {} releases of the series, those to come included."
OF_ONE = "The figures below are of one release of the series."
LAW = (
    "No rule here certifies that a release is anonymous in law. That nobody can be singled out is necessary for that"
    " and not sufficient (Cohen and Nissim 2020); linking records and inferring what is secret are questions of their"
    " own."
)


def explain_policy(policy: Path) -> Report:
    """Return an explanation of a policy in plain words. Raises ConfigurationError for faulty files."""
    found = check(policy, header=False)
    about = found.plan.bundle.policy.metadata
    title = f"What {about.name}, version {about.version}, guarantees"
    return Report(title, lambda: list(_sections(found)), band=lambda: _band(found))


def _band(found: PolicyCheck) -> Band:
    """Return the band of an explanation: whether the next release may run."""
    outcome = PolicyOutcome("ALLOWED", "good", "approve it, or change it; crowdgate check says where.")
    if not found.allowed:
        step = "change what stands against it; crowdgate check says where."
        outcome = PolicyOutcome("WOULD BE WITHHELD", "bad", step, charged=False)
    elif found.chances.holds:
        outcome = PolicyOutcome("WOULD BE HELD", "open", found.chances.step_if_held, charged=False)
    return policy_band(found.plan, found.left, "what it guarantees", outcome)


def _sections(found: PolicyCheck) -> Iterator[Section]:
    plan = found.plan
    own = plan.protection.kind.explanation(plan.protection.mechanism)
    yield from _head(found)
    yield Section("What is released, and of whom", [_released(plan)])
    yield from _guarantee(found)
    yield ANNEX
    yield Section("How the data are protected", _of_one(plan))
    yield from own.protection
    yield Section("The rules", [*_of_one(plan), *_rules(found)])
    yield from _approval(plan)
    held = "The guarantee holds if all of this is true. Nothing here can check it."
    yield Section("What is assumed", [held], list(_assumed(plan, *own.assumed)))
    yield Section("What is not protected", points=list(_not_protected(plan, *own.not_protected)))
    yield Section("In numbers", stated_guarantees(plan))


def _of_one(plan: Plan) -> list[str]:
    """Return the sentence that figures are of one release; none without a series."""
    return [] if plan.series is None else [OF_ONE]


def _head(found: PolicyCheck) -> Iterator[Section]:
    about = found.plan.bundle.policy.metadata
    version = f"This is version {about.version} of the policy in plain words."
    read = "It is computed from the policy, its contract and its budget; only public data were read."
    said: list[Paragraph] = [about.description] if about.description else []
    said.append(f"{version} {read} {about.owner} answers for it.")
    if is_dry_run(found.plan.bundle):
        said.append(Lead(WORDS, "What follows is what it would do."))
    said += [_outcome(found), *informed_text(found.informed), *([] if found.unheld is None else [UNHELD])]
    context = found.plan.bundle.policy.metadata.context
    yield Section("", said, [f"{name.replace('_', ' ').capitalize()}: {text}" for name, text in context.items()])
    if found.warnings:
        yield Section("", ["Warnings (crowdgate check says where):"], [each.words for each in found.warnings])


def _approval(plan: Plan) -> Iterator[Section]:
    """Yield who must approve releases, if the policy asks for approvals."""
    rule = plan.bundle.policy.spec.approval
    if rule is None:
        return
    which = {"each": "Each release", "first": "The first release of these policy files"}[rule.of]
    above = "" if rule.over is None else f" whose epsilon is above {decimal(rule.over)}"
    step = "is charged" if rule.before == "charge" else "is published"
    said = [f"{which}{above} must be approved before it {step}, by {rule.signers_text()}: crowdgate approve."]
    said.append(f"An approval is a signature. It lasts {rule.expires} days, for this release alone.")
    if rule.not_requester:
        said.append("The key that charges the release can't approve it.")
    said.append("Nor can a person who has seen confidential figures of this population.")
    yield Section("Who must approve", [paragraph(*said)])


def _outcome(found: PolicyCheck) -> Paragraph:
    if found.allowed:
        return RUNS_NEXT if found.left.read else RUNS_FIRST
    why = "A rule below says why." if not found.refused else f"Its ledger refuses it: {_closed(found.refused)}"
    return Lead("Nothing would be published.", why)


def _released(plan: Plan) -> str:
    contract, unit, publish = plan.bundle.contract, plan.bundle.contract.unit, plan.bundle.policy.spec.publish
    calendar = plan.bundle.policy.spec.calendar
    rows = f"{unit.rows} rows of each are" if unit.rows != 1 else "1 row of each is"
    bound = f"At most {rows} used, chosen by secret random bits."
    if contract.is_of_persons:
        bound = "All rows of a person make the one row with which that person counts."
    person = f"The column {unit.person} identifies a person. {bound}"
    return paragraph(
        f"It releases {plan.protection.kind.serves}.",
        f"The table is that of contract {contract.id}: at most {_people(plan)} people of the population"
        f" {contract.population}, of all times.",
        "Each row is taken for one person." if unit.person is None else person,
        "" if calendar is None else f"There is one release a {calendar.every}, by the clock of {calendar.timezone}.",
        f"Releases go to the folder {publish.to}, as {' and '.join(publish.formats)}.",
    )


def _people(plan: Plan) -> str:
    return whole(plan.bundle.budget.spec.people)


def _guarantee(found: PolicyCheck) -> Iterator[Section]:
    plan, once = found.plan, found.plan.guarantee
    paid = () if plan.series is None else (PAYS_FOR_SERIES.format(plan.series.releases),)
    yield Section("The privacy guarantee", points=[*next_release_sentences(plan, found.left), *paid])
    for about, own in guarantees(plan):
        yield Section("", [_epsilon(own, about), *_delta(plan, own, about)])
    if len(once.parts) > 1:
        rows = ((part.name, decimal(part.epsilon), decimal(part.delta)) for part in once.parts)
        parts = text_listing("", ("for", "epsilon", "delta"), rows)
        totals = TOTALS if once.joint is None else JOINTLY
        yield Section("", [paragraph(*_of_one(plan), totals)], listings=[parts])
    yield Section("", [_lifetime_budget(found)])


def _epsilon(own: Guarantee, about: str) -> Lead:
    lead, released = (
        f"Epsilon is {decimal(own.epsilon)} {about}".rstrip(),
        "releases" if about in ("", ONE) else "series",
    )
    return Lead(f"{lead}.", paragraph(EPSILON, _factor(own, released), SMALLER))


def _factor(own: Guarantee, released: str) -> str:
    if own.factor is None:
        return LIMITLESS
    factor = decimal(own.factor, 3)
    more = f": {HUNDRED.format(released, factor)}" if own.factor < 100 else f". {BEYOND}"
    return TIMES.format(factor) + more


def _delta(plan: Plan, own: Guarantee, about: str) -> Iterator[Lead]:
    delta, people = own.delta, _people(plan)
    expected, lead = plan.bundle.budget.spec.people * delta, f"{f'Delta is {decimal(delta)} {about}'.rstrip()}."
    if not delta:
        yield Lead(lead, "So the limit by epsilon holds without any exception.")
        return
    says = "It is the probability that the limit by epsilon leaves out, for each person."
    product = f"Over all {people} people that comes to {decimal(expected, 4)} (people times delta)."
    small = "That is small beside 1, as it should be." if expected <= SMALL else None
    yield Lead(lead, paragraph(says, product, small))
    if SMALL < expected < EMPTY:
        advice = "Think of it as how many people may be exposed in full: choose a smaller delta."
        yield Lead("That is not small beside 1.", advice)
    elif expected >= EMPTY:
        empty = "That is 1 or more: a mechanism that publishes somebody's data in full would satisfy such a guarantee."
        yield Lead(empty, f"Choose a delta far below one in {people}.")


def _lifetime_budget(found: PolicyCheck) -> Lead:
    plan, releases = found.plan, releases_in_budget(found.plan)
    budget = plan.bundle.budget.spec
    stated = f"epsilon {decimal(budget.epsilon)} and delta {decimal(budget.delta)}"
    many = f"{releases} such release{'' if releases == 1 else 's'} if nothing else is released of them."
    composed = (
        "The privacy costs of these people add up over all releases, as Renyi divergences.",
        f"The caps of their budget keep {stated} for all releases together, whatever is released next. They are enough"
        f" for {many}",
    )
    added = (
        "The privacy costs of these people add up over all releases.",
        f"Their budget is {stated}, which is enough for {many}",
    )
    left = (_closed(line) for line in (found.left.words() if found.left.read else ()))
    said, series = added if budget.lifetime is None else composed, series_text(plan, found.left.series)
    declared = None if series is None else f"Series: {series}."
    return Lead("Lifetime budget.", paragraph(*said, declared, _bounds(plan, releases), *left))


def _bounds(plan: Plan, releases: int) -> str | None:
    """Return the bounds on singling out after the first of so many releases, and after the last; None without one."""
    bounds = pso_bounds(plan, releases)
    if not bounds:
        return None
    when = "By all of them together" if paid_as_one(plan) else "After the first"
    last = f" After {len(bounds)} of them: {bounds_text(bounds[-1])}." if len(bounds) > 1 else ""
    says = f"{when}, an attacker describes exactly one person with {bounds_text(bounds[0])}.{last}"
    return f"{says} (Predicates that fit at most 1 in {weights_text(bounds[0])}.)"


def _rules(found: PolicyCheck) -> Iterator[Paragraph]:
    verdicts = {id(verdict.rule): verdict for verdict in found.verdicts}
    release = "the next" if found.left.read else "a first"
    judged = zip(found.plan.gates, found.gates, strict=True)
    for number, ((rule, measure), note) in enumerate(judged, start=1):
        now = verdicts.get(id(rule))
        yield Lead(
            f"Rule {number}: {gate_text(rule)}.",
            paragraph(
                measure.sentence.format(**_stated(found.plan, rule)),
                _limit(rule, measure),
                READS[measure.reads].format(more=_more(measure), cost=note.cost),
                _effect(measure, note),
                *(_closed(each[0].upper() + each[1:]) for each in note.notes),
                now if now is None else f"As {release} release of these people: {now.ended} ({now.reason}).",
                None if now or note.warning or note.reach is not GateReach.OPEN else "It can pass and it can fail.",
            ),
        )
        if note.warning:
            yield Lead(f"Note: {'' if note.reach is GateReach.OPEN else 'it '}{_closed(note.warning)}")


def _limit(rule: GateRule, measure: Measure) -> str:
    if measure.excess:
        return f"The limit is a share of at most {stated_number(rule.at_most or Fraction(0))}."
    return f"The figure must be {limit_text(rule)}."


def _more(measure: Measure) -> str:
    """Return, in words, what the measure reads other than data, the release and public figures."""
    return (", and the public register" if measure.register else "") + (
        ", and the recorded audit" if measure.asks is not None else ""
    )


def _effect(measure: Measure, note: GateNote) -> str | None:
    if note.waived or note.blocks:
        return WAIVED if note.waived else BLOCKS
    return None if measure.reads is MeasureClass.CONFIDENTIAL else ADVISES


def _stated(plan: Plan, rule: GateRule) -> dict[str, str]:
    """Return the values that the sentence on a gate's measure may use, by name: the measure's options in words, `of`
    and `over`."""
    options = {"people": Fraction(plan.bundle.budget.spec.people), **DEFAULTS, **rule.options}
    over = rule.over or tuple(plan.protection.figures.levels)
    return {
        **{name: whole(int(value)) if name == "people" else stated_number(value) for name, value in options.items()},
        "of": rule.of or "",
        "over": ", ".join(over),
    }


def _assumed(plan: Plan, *own: str) -> Iterator[str]:
    by_row, unit = plan.bundle.contract.unit.person is None, plan.guarantee.unit
    persons = (
        "Each row is one person, and no person has two." if by_row else "The person column names every person rightly."
    )
    yield f"At most {_people(plan)} people ever are in the tables of this population. {persons}"
    yield "The contract is right about the table, and its levels and domains were not made by looking at it."
    yield "The random draws are secret, and stay so. They come from a key that is made anew for each release."
    yield from own
    yield (
        f"The guarantee compares a table with the same table plus or minus one {unit}: the number of {unit}s is not"
        f" published. For anybody who knows that number it is weaker. {replaced_guarantees(plan)}"
    )
    yield "The bound on singling out holds if people are independent of each other."
    yield (
        "All releases of these people are paid for in this ledger. Releases that are made elsewhere add to their"
        " privacy costs."
    )


def _not_protected(plan: Plan, *own: str) -> Iterator[str]:
    figures = (
        f"epsilon {decimal(epsilon)} and delta {decimal(delta)} {about}".rstrip()
        for about, epsilon, delta in groups_of(plan, HOUSEHOLD)
    )
    yield (
        "Facts about groups. If most people of some kind have something in common, the release may say so, also about"
        " somebody who is not in it."
    )
    yield (
        f"Families and other groups that stand or fall together: {HOUSEHOLD} {plan.guarantee.unit}s together have only"
        f" {', and '.join(figures)}."
    )
    yield from own
    yield "The time that a run takes, and what a scheduler's server logs."
    yield LAW


def _closed(sentence: str) -> str:
    """Return a sentence that ends in a full stop."""
    return f"{sentence.rstrip('.')}."
