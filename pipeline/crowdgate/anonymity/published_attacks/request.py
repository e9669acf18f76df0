"""Request to convert a published curve: skews, required precisions, and the numbers of targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

from crowdgate.anonymity.predict.subject import option_problem, whole
from crowdgate.contracts.models import quoted_value
from crowdgate.domain import parse_number
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.limits import MOST_PEOPLE, MOST_SKEW
from crowdgate.risk.membership import SKEWS, Rates, pooled_limits
from crowdgate.risk.roc import RocPoint

PRECISIONS = (Fraction(1, 2), Fraction(4, 5), Fraction(19, 20))
EACH_LIMIT = Fraction(1, 40)
"""Error probability of each confidence limit: both together at most 5 %."""


@dataclass(frozen=True)
class AttackTargets:
    """Numbers of members and non-members that an attack was tried on."""

    members: int
    non_members: int

    def rates(self, point: RocPoint) -> Rates:
        """Return confidence limits of a point's recall and false positive rate, from the numbers of tried targets. A
        rate that is no whole number of targets stands for both neighbouring whole numbers."""
        hits, false = point.tpr * self.members, point.fpr * self.non_members
        fewest, most = (floor(hits), floor(false)), (ceil(hits), ceil(false))
        low = pooled_limits(fewest[0], self.members, fewest[1], self.non_members, EACH_LIMIT)
        high = low if most == fewest else pooled_limits(most[0], self.members, most[1], self.non_members, EACH_LIMIT)
        return Rates((low.tpr[0], high.tpr[1]), (low.fpr[0], high.fpr[1]))


@dataclass(frozen=True)
class CurveRequest:
    """Options of `crowdgate membership`: the curve's file, skews (non-members per member), required precisions, and the
    numbers of tried targets (None: unknown)."""

    file: Path
    skews: tuple[Fraction, ...]
    precisions: tuple[Fraction, ...]
    targets: AttackTargets | None


def curve_request(
    file: Path,
    skews: Sequence[str] | None,
    precisions: Sequence[str] | None,
    members: str | None,
    non_members: str | None,
) -> CurveRequest:
    """Return the options as a request. Raises ConfigurationError that lists every problem."""
    problems: list[Problem] = []
    ratios = [_skew(text, problems) for text in skews or ()] or list(map(Fraction, SKEWS))
    wanted = [_precision(text, problems) for text in precisions or ()] or list(PRECISIONS)
    targets = _targets(members, non_members, problems)
    if problems:
        raise ConfigurationError(problems)
    return CurveRequest(file, tuple(sorted(set(ratios))), tuple(sorted(set(wanted))), targets)


def _skew(text: str, problems: list[Problem]) -> Fraction:
    """Return the skew (non-members per member) in a text such as `1:30` or `30`."""
    first, colon, rest = text.partition(":")
    number = parse_number(rest if colon else first)
    if number is None or not 1 <= number <= MOST_SKEW or (colon and parse_number(first) != 1):
        expected = f"1:N, N non-members for each member, a number from 1 to {MOST_SKEW}"
        problems.append(option_problem("--skew", quoted_value(text), expected, "1:30"))
    return number or Fraction(1)


def _precision(text: str, problems: list[Problem]) -> Fraction:
    number = parse_number(text)
    if number is None or not 0 < number < 1:
        problems.append(option_problem("--at", quoted_value(text), "a precision above 0 and below 1", "0.8"))
    return number or Fraction(0)


def _targets(members: str | None, non_members: str | None, problems: list[Problem]) -> AttackTargets | None:
    stated = {"--members": members, "--non-members": non_members}
    absent = [option for option, text in stated.items() if text is None]
    if len(absent) == 1:
        problems.append(option_problem(absent[0], "nothing", "both numbers: an interval of precision rests on both"))
    numbers = [_number(option, text, problems) for option, text in stated.items() if text is not None]
    return None if absent else AttackTargets(*numbers)


def _number(option: str, text: str, problems: list[Problem]) -> int:
    try:
        return whole(option, text, MOST_PEOPLE)
    except ConfigurationError as error:
        problems += error.problems
        return 1
