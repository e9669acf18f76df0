"""Measures of the rows of a release that match few records of a public register, which the policy names.

They read released rows and public records only, so anyone with the release and the register gets equal counts. Errors
and outdated records of the register are not corrected.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Measurement, OutputType
from crowdgate.histogram import project
from crowdgate.measures.base import NOT_NEGATIVE, SHARE, Aspect, BetterSide, Measure, MeasureClass, OfCandidate

if TYPE_CHECKING:
    from crowdgate.policy.policy import GateRule

SIZE = "size"


def _matched(candidate: Candidate, rule: GateRule) -> int | None:
    rows, register = candidate.rows, candidate.register
    if rows is None or register is None:
        return None
    from crowdgate.risk.linkage import matches, usable

    if not usable(register, candidate.static.levels):
        return None  # without comparable records nothing matches, which must not pass
    return matches(project(rows, register.names), register, int(rule.options.get(SIZE, 1))).rows


def _rows(candidate: Candidate, rule: GateRule) -> Measurement | None:
    found = _matched(candidate, rule)
    return None if found is None else Measurement.exact(found)


def _share(candidate: Candidate, rule: GateRule) -> Measurement | None:
    """Return the share of the released rows that match at least one and at most `size` records of the register; 0 for
    an empty release."""
    found = _matched(candidate, rule)
    if found is None or candidate.rows is None:
        return None
    return Measurement.exact(Fraction(found, max(1, candidate.rows.rows)))


def _measure(name: str, summary: str, sentence: str, of_candidate: OfCandidate, *, share: bool) -> Measure:
    return Measure(
        name=name,
        summary=f"{summary} that match at least one and at most `size` (by default 1) records of the public register"
        " that the policy names, on the attributes that both have, at the released levels",
        sentence=sentence,
        reads=MeasureClass.OUTPUT,
        shape=OutputType.ROWS,
        aspect=Aspect.LINKABILITY,
        better=BetterSide.SMALLER,
        accumulates=False,
        range=SHARE if share else NOT_NEGATIVE,
        reach=lambda static, _: (0, 1 if share else static.most_rows),
        of_candidate=of_candidate,
        steady=True,
        options=(SIZE,),
        register=True,
        why=lambda *_: "no register is at hand, or it has no record with a value of every attribute that is compared",
    )


REGISTER_MATCHES = _measure(
    "register_matches",
    "number of released rows",
    "It counts released rows that match at least one and at most {size} records of the public register that the"
    " policy\nnames, in the columns that both have. A match is no proof, since registers are incomplete and wrong, and"
    " none is no proof\nof safety: an attacker may have a better register.",
    _rows,
    share=False,
)
REGISTER_MATCH_SHARE = _measure(
    "register_match_share",
    "share of the released rows",
    "It takes the share of the released rows that match at least one and at most {size} records of the public"
    " register\nthat the policy names, in the columns that both have. A match is no proof, since registers are"
    " incomplete and wrong, and\nnone is no proof of safety: an attacker may have a better register.",
    _share,
    share=True,
)
