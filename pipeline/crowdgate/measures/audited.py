"""What a recorded audit of this very policy found: how often attackers who see what is released single somebody out.

An audit refutes or does not refute; it never certifies (Cohen, Nissim 2020, "Policy implications"). So these gates are
judged at the unfavourable ends of exact intervals, and without an audit that can be relied on they are inconclusive.
"""

from collections.abc import Callable
from fractions import Fraction
from math import inf

from crowdgate.candidate import AuditFigures, Candidate, Measurement, Shape, Static
from crowdgate.measures.base import Measure, MeasureClass, OfCandidate, OfStatic
from crowdgate.policy.policy import GateRule

FARTHEST = Fraction(1, 10)
"""How far the share of rows that a release kept may be from that of the audit's tables."""
MAX_AGE = "max_age"


def _figures(static: Static, rule: GateRule) -> AuditFigures | None:
    """The audit's figures, unless it is older than the rule allows."""
    oldest, found = rule.options.get(MAX_AGE), static.audit
    return found if isinstance(found, AuditFigures) and oldest is not None and found.age <= oldest else None


def _why(static: Static, rule: GateRule) -> str | None:
    found = static.audit
    if not isinstance(found, AuditFigures):
        return found.why
    if _figures(static, rule) is None:
        return f"the recorded audit is older than {MAX_AGE} allows: {found.age} days; run `crowdgate audit` anew"
    return None


def _of_static(read: Callable[[AuditFigures], Measurement]) -> OfStatic:
    def measured(static: Static, rule: GateRule) -> Measurement | None:
        figures = _figures(static, rule)
        return None if figures is None else read(figures)

    return measured


def _kept(candidate: Candidate, rule: GateRule) -> Measurement | None:
    static = candidate.static
    figures = None if candidate.rows is None else _figures(static, rule)
    if candidate.rows is None or figures is None or figures.kept is None:
        return None
    here = Fraction(candidate.rows.rows) / (static.beta * static.people)
    return figures.kept if abs(here - Fraction(figures.kept.value)) <= FARTHEST else None


def _why_kept(static: Static, rule: GateRule) -> str | None:
    why = _why(static, rule)
    return why or "this release keeps another share of its sampled rows than the audit's tables did"


def _measure(
    name: str,
    summary: str,
    of_static: OfStatic | None = None,
    of_candidate: OfCandidate | None = None,
) -> Measure:
    reads, shape = (MeasureClass.STATIC, Shape.STATIC) if of_static else (MeasureClass.OUTPUT, Shape.ROWS)
    return Measure(
        name,
        reads,
        shape,
        summary,
        reach=lambda *_: (-inf, inf),
        of_static=of_static,
        of_candidate=of_candidate,
        options=(MAX_AGE,),
        needs=(MAX_AGE,),
        why=_why if of_static else _why_kept,
    )


PSO_SUCCESS = _measure(
    "pso_success",
    "how often, at most, an attacker of the recorded audit pointed at exactly one person with a predicate as light as"
    " the policy's `audit` says (predicate singling out; Cohen, Nissim 2020, Definition 3.1 of the arXiv version)",
    _of_static(lambda figures: figures.success),
)
PSO_EXCESS = _measure(
    "pso_excess",
    "how much more often, at most, than one who does not look at the release",
    _of_static(lambda figures: figures.excess),
)
ISOLATION_RATE = _measure(
    "isolation_rate",
    "how often, at most, an attacker of the recorded audit pointed at exactly one person with a predicate of whatever"
    " weight; without any release .368 is reached",
    _of_static(lambda figures: figures.isolation),
)
KEPT_SHARE = _measure(
    "kept_share_in_audit",
    "share of the sampled rows that the audit's tables kept, beside rows / (beta x people) of this release: an audit in"
    " which more is suppressed, or less, is one of another mechanism",
    of_candidate=_kept,
)
