"""How many rows of a release match few records of a public register, which the policy names.

Of released rows and public records only, so whoever has the release and the register counts the same. The register may
be wrong or out of date: that is counted as it stands.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Measurement, OutputType
from crowdgate.histogram import project
from crowdgate.measures.base import Aspect, Measure, MeasureClass, OfCandidate

if TYPE_CHECKING:
    from crowdgate.policy.policy import GateRule

SIZE = "size"


def _matched(candidate: Candidate, rule: GateRule) -> int | None:
    rows, register = candidate.rows, candidate.register
    if rows is None or register is None:
        return None
    from crowdgate.risk.linkage import matches, usable

    if not usable(register, candidate.static.levels):
        return None  # nothing matches where nothing can be compared: that is no pass
    return matches(project(rows, register.names), register, int(rule.options.get(SIZE, 1))).rows


def _rows(candidate: Candidate, rule: GateRule) -> Measurement | None:
    found = _matched(candidate, rule)
    return None if found is None else Measurement.exact(found)


def _share(candidate: Candidate, rule: GateRule) -> Measurement | None:
    """Of an empty release none match."""
    found = _matched(candidate, rule)
    if found is None or candidate.rows is None:
        return None
    return Measurement.exact(Fraction(found, max(1, candidate.rows.rows)))


def _measure(name: str, summary: str, of_candidate: OfCandidate, *, share: bool) -> Measure:
    return Measure(
        name,
        MeasureClass.OUTPUT,
        OutputType.ROWS,
        f"{summary} that match at least one and at most `size` (by default 1) records of the public register that the"
        " policy names, on the attributes that both have, at the released levels",
        reach=lambda static, _: (0, 1 if share else static.most_rows),
        aspect=Aspect.LINKABILITY,
        of_candidate=of_candidate,
        options=(SIZE,),
        why=lambda *_: "no register is at hand, or it has no record with a value of every attribute that is compared",
        register=True,
    )


REGISTER_MATCHES = _measure("register_matches", "number of released rows", _rows, share=False)
REGISTER_MATCH_SHARE = _measure("register_match_share", "share of the released rows", _share, share=True)
