"""Conditions of programs that name the missing codes, the range or the values of a variable: `x == -9 | x == -8`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from crowdgate.domain import parse_number
from crowdgate.review.syntax.facts import groups, without_brackets
from crowdgate.review.syntax.tokens import NUMBER, TEXT, WORD, Token

_EQUAL, _OR, _AND = ("=", "==", "eq"), ("|", "or"), ("&", "and")
_AT_LEAST, _AT_MOST = (">=", "ge"), ("<=", "le")
_COMPARISONS = {"<": ("<", "lt"), "<=": _AT_MOST, ">": (">", "gt"), ">=": _AT_LEAST}
_KEPT = re.compile(r"-\d+(?:\.0*)?")
"""The codes below a range that stand for no value: negative ones."""


@dataclass(frozen=True)
class Condition:
    """The codes that a condition lists for one variable, or the limits between which it lies."""

    name: str
    codes: tuple[str, ...] = ()
    limits: tuple[str | None, str | None] = (None, None)


def condition(tokens: Sequence[Token]) -> Condition | None:
    """Return what a condition says of the one variable in it; None for any other condition."""
    plain = without_brackets(tokens)
    for sign, join in ((_OR, _either), (_AND, _both)):
        parts = _split(plain, sign)
        if len(parts) > 1:
            found = [condition(each) for each in parts]
            known = [each for each in found if each is not None]
            is_one = len(known) == len(found) and len({each.name.casefold() for each in known}) == 1
            return join(known) if is_one else None
    return _comparison(plain) or _call(plain) or _membership(plain)


def range_or_codes(tokens: Sequence[Token]) -> Condition | None:
    """Return the limits of the one variable in a condition with the codes beside them that stand for no value:
    `inrange(x, 0, 9) | x == -8`. None for any other condition, and if a code can be a value.
    """
    found = [condition(each) for each in _split(without_brackets(tokens), _OR)]
    known = [each for each in found if each is not None]
    ranges = [each for each in known if each.limits != (None, None)]
    codes = tuple(code for each in known for code in each.codes)
    is_one = len(known) == len(found) and len({each.name.casefold() for each in known}) == 1
    if not is_one or len(ranges) != 1 or None in ranges[0].limits or not codes:
        return None
    low = parse_number(ranges[0].limits[0] or "")
    are_kept = low is not None and all(_KEPT.fullmatch(each) and float(each) < low for each in codes)
    return replace(ranges[0], codes=codes) if are_kept else None


def comparison(tokens: Sequence[Token]) -> tuple[str, str, str] | None:
    """Return the name, the sign and the number of a condition that is one comparison: `x >= 98`; None for others."""
    plain = without_brackets(tokens)
    if len(plain) != 3 or plain[0].kind != WORD or plain[2].kind != NUMBER:
        return None
    sign = next((each for each, words in _COMPARISONS.items() if plain[1].is_(*words)), None)
    return None if sign is None else (plain[0].text, sign, plain[2].text)


def _split(tokens: Sequence[Token], signs: Sequence[str]) -> list[list[Token]]:
    """Return the tokens between signs outside of brackets."""
    held: list[list[Token]] = [[]]
    depth = 0
    for each in tokens:
        depth += each.is_("(") - each.is_(")")
        if depth == 0 and each.is_(*signs):
            held.append([])
        else:
            held[-1].append(each)
    return held


def _either(found: Sequence[Condition]) -> Condition | None:
    """Return the codes of several conditions of which one must hold."""
    if any(each.limits != (None, None) for each in found):
        return None
    return Condition(found[0].name, tuple(code for each in found for code in each.codes))


def _both(found: Sequence[Condition]) -> Condition | None:
    """Return the limits of two conditions that must both hold."""
    lows = [each.limits[0] for each in found if each.limits[0] is not None]
    highs = [each.limits[1] for each in found if each.limits[1] is not None]
    if any(each.codes for each in found) or len(lows) > 1 or len(highs) > 1:
        return None
    return Condition(found[0].name, limits=(next(iter(lows), None), next(iter(highs), None)))


def _comparison(tokens: Sequence[Token]) -> Condition | None:
    if len(tokens) != 3 or tokens[0].kind != WORD or tokens[2].kind not in (NUMBER, TEXT):
        return None
    name, sign, code = tokens[0].text, tokens[1], tokens[2].text
    if sign.is_(*_EQUAL):
        return Condition(name, (code,))
    if tokens[2].kind == TEXT or not sign.is_(*_AT_LEAST, *_AT_MOST):
        return None
    return Condition(name, limits=(code, None) if sign.is_(*_AT_LEAST) else (None, code))


def _call(tokens: Sequence[Token]) -> Condition | None:
    """Return what `inlist(x, 1, 2)` and `inrange(x, 1, 9)` say."""
    if len(tokens) < 5 or not tokens[0].is_("inlist", "inrange") or not (tokens[1].is_("(") and tokens[-1].is_(")")):
        return None
    parts = list(groups(tokens[2:-1], ","))
    is_plain = all(len(each) == 1 and each[0].kind in (NUMBER, TEXT) for each in parts[1:])
    if not is_plain or len(parts[0]) != 1 or parts[0][0].kind != WORD:
        return None
    name, codes = parts[0][0].text, tuple(each[0].text for each in parts[1:])
    if tokens[0].is_("inlist"):
        return Condition(name, codes)
    return Condition(name, limits=(codes[0], codes[1])) if len(codes) == 2 else None


def _membership(tokens: Sequence[Token]) -> Condition | None:
    """Return what `x in (1, 2)` says."""
    if (
        len(tokens) < 5
        or tokens[0].kind != WORD
        or not (tokens[1].is_("in") and tokens[2].is_("(") and tokens[-1].is_(")"))
    ):
        return None
    codes = [each for each in tokens[3:-1] if not each.is_(",")]
    is_plain = all(each.kind in (NUMBER, TEXT) for each in codes)
    return Condition(tokens[0].text, tuple(each.text for each in codes)) if is_plain else None
