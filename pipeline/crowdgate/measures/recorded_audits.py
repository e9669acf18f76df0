"""Measures of a recorded audit of exactly this policy: the success of attackers on the release in singling out,
inference of secrets, and membership claims.

An audit refutes or does not refute; it never certifies (Cohen, Nissim 2020, "Policy implications"). So these gates use
the unfavourable limits of exact intervals, and without a reliable audit they are inconclusive.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

from crowdgate.candidate import AuditFigures, AuditQuestion, Candidate, Measurement, NoAudit, OutputType, Range, Static
from crowdgate.measures.base import DIFFERENCE, SHARE, Aspect, BetterSide, Measure, MeasureClass, unbounded

if TYPE_CHECKING:
    from crowdgate.policy.policy import GateRule, ReleaseSpec

FARTHEST = Fraction(1, 10)
"""Largest difference between the retained shares of a release and of the audit's tables."""
MAX_AGE = "max_age"
COVERAGE = "coverage"
_KEPT = "kept_share_in_audit"


def command(question: AuditQuestion) -> str:
    """Return the command that makes an audit of a question."""
    return "crowdgate audit" if question is AuditQuestion.SINGLING_OUT else f"crowdgate audit --of {question}"


def membership_recall(spec: ReleaseSpec) -> Fraction | None:
    """Return the recall at which a policy's membership audit is judged: as stated for the audit, or else by the first
    gate on it; None if neither states one."""
    stated = None if spec.audit is None else spec.audit.membership.recall
    gates = (rule.options.get("recall") for rule in spec.gates if rule.measure == MEMBERSHIP_PRECISION.name)
    return next(gates, None) if stated is None else stated


def _figures(static: Static, rule: GateRule, question: AuditQuestion) -> AuditFigures | None:
    """Return the audit's figures, unless it is older than the rule allows."""
    oldest, found = rule.options.get(MAX_AGE), static.audits.get(question)
    return found if isinstance(found, AuditFigures) and oldest is not None and found.age <= oldest else None


def _audit_measurement(static: Static, rule: GateRule, question: AuditQuestion) -> Measurement | None:
    figures = _figures(static, rule, question)
    return None if figures is None else figures.measured(rule.measure, rule.options)


def _missing_audit_reason(static: Static, rule: GateRule, question: AuditQuestion) -> str:
    found = static.audits.get(question, NoAudit())
    if not isinstance(found, AuditFigures):
        return found.why
    if _figures(static, rule, question) is None:
        again = f"run `{command(question)}` anew"
        return f"the recorded audit is older than {MAX_AGE} allows: {found.age} days; {again}"
    if rule.measure == _KEPT:
        return "this release keeps another share of its sampled rows than the audit's tables did"
    return "the recorded audit tells nothing there: too few targets or claims, or a baseline that is always right"


def _retained_share(candidate: Candidate, rule: GateRule) -> Measurement | None:
    static = candidate.static
    kept = None if candidate.rows is None else _audit_measurement(static, rule, AuditQuestion.SINGLING_OUT)
    if candidate.rows is None or kept is None:
        return None
    here = Fraction(candidate.rows.rows) / (static.beta * static.people)
    return kept if abs(here - Fraction(kept.value)) <= FARTHEST else None


_ASPECTS = {
    AuditQuestion.SINGLING_OUT: Aspect.SINGLING_OUT,
    AuditQuestion.INFERENCE: Aspect.INFERENCE,
    AuditQuestion.MEMBERSHIP: Aspect.INFERENCE,
    AuditQuestion.LAW: Aspect.PROMISE,
    AuditQuestion.FILES: Aspect.PROMISE,
}


ATTACKERS = (
    "It is taken from the recorded audit, in which attackers play against this very mechanism on a public table. An"
    " audit only\ndisqualifies: attackers that nobody thought of may do better."
)


def _measure(
    question: AuditQuestion,
    name: str,
    summary: str,
    sentence: str,
    *options: str,
    values: Range = SHARE,
    source: str = ATTACKERS,
) -> Measure:
    return Measure(
        name=name,
        summary=summary,
        sentence=f"{sentence}{source}",
        reads=MeasureClass.STATIC,
        shape=OutputType.STATIC,
        aspect=_ASPECTS[question],
        better=BetterSide.SMALLER,
        accumulates=False,
        range=values,
        reach=unbounded,
        of_static=lambda static, rule: _audit_measurement(static, rule, question),
        options=(*options, MAX_AGE),
        needs=(*options, MAX_AGE),
        why=lambda static, rule: _missing_audit_reason(static, rule, question),
        asks=question,
    )


PSO_SUCCESS = _measure(
    AuditQuestion.SINGLING_OUT,
    "pso_success",
    "upper confidence limit of how often an attacker of the recorded audit described exactly one person, with a"
    " predicate as light as the policy's `audit` states (predicate singling out; Cohen, Nissim 2020, Definition 3.1"
    " of the arXiv version)",
    "It limits how often, at most, the best attacker described exactly one person, with a description as narrow as"
    " the\npolicy's audit states. An audit counts for {max_age} days. ",
)
PSO_EXCESS = _measure(
    AuditQuestion.SINGLING_OUT,
    "pso_excess",
    "how much more often, at most, than an attacker without access to the release",
    "It limits how much more often, at most, the best attacker described exactly one person than an attacker who"
    " never sees\nthe release. An audit counts for {max_age} days. ",
    values=DIFFERENCE,
)
ISOLATION_RATE = _measure(
    AuditQuestion.SINGLING_OUT,
    "isolation_rate",
    "upper confidence limit of how often an attacker of the recorded audit described exactly one person, with a"
    " predicate of any weight; without any release .368 is reached",
    "It limits how often, at most, the best attacker described exactly one person with any description. An attacker"
    " who\nnever sees the release reaches 37 % with descriptions that fit one person in as many as there are, so"
    " only much more\nthan that is informative. An audit counts for {max_age} days. ",
)
KEPT_SHARE = Measure(
    name=_KEPT,
    summary=(
        "share of the sampled rows that the audit's tables retained. Inconclusive where rows / (beta x people) of"
        " this release differs from it by more than a tenth: an audit in which more is suppressed, or less, is one"
        " of another mechanism"
    ),
    sentence=(
        "It checks that the recorded audit is of the same mechanism at work: the share of the sampled rows that its"
        " tables\nretained, compared with this release. An audit in which nearly everything is left out passes"
        " because nothing is\npublished. An audit counts for {max_age} days."
    ),
    reads=MeasureClass.OUTPUT,
    shape=OutputType.ROWS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.EITHER,
    accumulates=False,
    range=SHARE,
    reach=unbounded,
    of_candidate=_retained_share,
    steady=True,
    options=(MAX_AGE,),
    needs=(MAX_AGE,),
    why=lambda static, rule: _missing_audit_reason(static, rule, AuditQuestion.SINGLING_OUT),
    asks=AuditQuestion.SINGLING_OUT,
)
INFERENCE_GAIN = _measure(
    AuditQuestion.INFERENCE,
    "inference_gain",
    "how much of what a baseline leaves open the best attack of the recorded audit adds, at most, of all secrets at a"
    " coverage: (attack - baseline)/(1 - baseline), the precision improvement over what the table would tell without"
    " the person (Francis, Wagner, equation 6)",
    "It limits how much better secrets of people could be guessed from the release than by a model of the table"
    " without\nthem. The gain is in parts of what that model leaves open, at guesses for a share of {coverage} of"
    " the people. An\naudit counts for {max_age} days. ",
    COVERAGE,
    values=(-inf, 1),
)
INFERENCE_ABOVE = _measure(
    AuditQuestion.INFERENCE,
    "inference_precision_above_baseline",
    "by how much, at most, the best attack of the recorded audit is right more often than the baseline, of all secrets"
    " at a coverage",
    "It limits by how much more often guesses of secrets were right than those of a model that saw the table without"
    " the person,\nat guesses for a share of {coverage} of the people. An audit counts for {max_age} days. ",
    COVERAGE,
    values=DIFFERENCE,
)
MEMBERSHIP_PRECISION = _measure(
    AuditQuestion.MEMBERSHIP,
    "membership_precision",
    "upper confidence limit of the precision of the recorded audit's membership attacks, at `skew` non-members for"
    " each member, of all attacks with at least `recall`",
    "It limits how often, at most, claims that somebody is in the table were right, with {skew} people outside for"
    " each one\ninside. It counts attacks that find at least a share of {recall} of those inside. An audit counts"
    " for {max_age} days. ",
    "skew",
    "recall",
)
NOISE_SHORTFALL = _measure(
    AuditQuestion.LAW,
    "noise_shortfall",
    "by how much, at most, noise is smaller than stated, as a share of its standard deviation: in the fresh releases of"
    " the recorded audit of the stated distributions, whose tests found no contradiction",
    "It limits by how much the noise of released numbers can be smaller than stated. An audit counts for {max_age}"
    " days. ",
    values=(-inf, 1),
    source=(
        "It is taken from the recorded audit, in which fresh releases of a public table are compared\nwith what this"
        " policy states."
    ),
)
