"""Loops of Stata as the statements that they repeat: `foreach x of varlist a b { ... }`, `forvalues i = 0/9 { .. }`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from crowdgate.review.syntax.facts import whole_codes
from crowdgate.review.syntax.tokens import NUMBER, TEXT, WORD, Statement, Token

MOST_REPEATED = 20_000
"""The most statements that loops of a file become; of a longer one, the statements stay as they are written."""


def expanded(found: Sequence[Statement]) -> list[Statement]:
    """Return statements with those in loops repeated for each value. Loops over macros stay as they are written."""
    repeated = list(_expanded(found))
    return repeated if len(repeated) <= MOST_REPEATED else list(found)


def _expanded(found: Sequence[Statement]) -> Iterator[Statement]:
    at, count = 0, 0
    while at < len(found):
        end = _loop_end(found, at)
        values = _loop_values(found[at].tokens) if end > at else None
        if values is None:
            yield found[at]
            at += 1
            continue
        for each in values:
            body = [_replaced(one, found[at].tokens[1].text, each) for one in found[at + 1 : end]]
            for one in _expanded(body):
                count += 1
                if count > MOST_REPEATED:
                    return
                yield one
        at = end + 1


def _loop_end(found: Sequence[Statement], start: int) -> int:
    """Return the place of the statement that closes a loop; `start` if none begins there."""
    tokens = found[start].tokens
    if not tokens[0].is_("foreach", "forvalues", "forv", "forval") or len(tokens) < 5 or not tokens[-1].is_("{"):
        return start
    depth = 0
    for at in range(start, len(found)):
        depth += sum(each.is_("{") - each.is_("}") for each in found[at].tokens)
        if depth <= 0:
            return at
    return start


def _loop_values(tokens: Sequence[Token]) -> Sequence[str] | None:
    """Return the values of a loop; None if macros or other lists state them."""
    inside = tokens[2:-1]
    if tokens[0].is_("foreach"):
        skipped = 1 if inside[0].is_("in") else 2 if inside[0].is_("of") and inside[1].is_("varlist", "newlist") else 0
        listed = [each.text for each in inside[skipped:]]
        is_plain = skipped and all(each.kind in (WORD, NUMBER, TEXT) and "`" not in each.text for each in inside)
        return listed if is_plain else None
    if len(inside) == 4 and inside[0].is_("=") and inside[2].is_("/"):
        return whole_codes(inside[1].text, inside[3].text)
    return None


def _replaced(statement: Statement, macro: str, value: str) -> Statement:
    """Return a statement with a macro replaced by its value."""
    name = f"`{macro}'"
    tokens = tuple(_with_value(each, name, value) for each in statement.tokens)
    return replace(statement, tokens=tokens, text=statement.text.replace(name, value))


def _with_value(token: Token, name: str, value: str) -> Token:
    if name not in token.text:
        return token
    text = token.text.replace(name, value)
    is_number = token.kind == WORD and re.fullmatch(r"-?\d+(?:\.\d+)?", text)
    return replace(token, text=text, kind=NUMBER if is_number else token.kind)
