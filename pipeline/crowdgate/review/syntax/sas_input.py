"""The statement `input` of SAS: whether it reads variables as texts, numbers or days."""

import re
from collections.abc import Iterator

from crowdgate.review.syntax.facts import Subject, SyntaxFact
from crowdgate.review.syntax.tokens import MARK, NUMBER, TEXT, WORD, Statement, Token

DAYS = re.compile(r"(?:DATE|DDMMYY|MMDDYY|YYMMDD|E8601DA|B8601DA|JULIAN|WEEKDATE|WORDDATE)\w?\d*\.", re.IGNORECASE)
"""The formats of days."""
_ORDERS = {"DDMMYY": "DMY", "MMDDYY": "MDY", "YYMMDD": "YMD"}
"""The order of day, month and year by format."""
_NUMBERS = re.compile(r"(?:BEST|COMMAX?|DOLLARX?|EUROX?|NUMX|PERCENT|F|Z|D|E)?\d*\.\d*", re.IGNORECASE)
_KNOWN_MARKS = frozenset(":&?@/#$-")
"""The signs of statements that are read; others, such as brackets around several names, are not."""


def sas_input(statement: Statement) -> Iterator[SyntaxFact]:
    """Yield how `input age sex $ born date9.` reads each variable; nothing if the statement has other signs."""
    tokens = statement.tokens[1:]
    if any(each.kind == TEXT or (each.kind == MARK and each.text not in _KNOWN_MARKS) for each in tokens):
        return
    names, form, before = tuple[str, ...](), "", ""
    for each in tokens:
        if _is_form(each):
            form = each.text if not form else form + each.text
        elif each.kind == WORD and before == "-" and names:
            names = (*names, "-", each.text)
        elif each.kind == WORD:
            yield from _read(statement, names, form)
            names, form = (each.text,), ""
        before = each.text
    yield from _read(statement, names, form)


def _is_form(token: Token) -> bool:
    """Return whether a token is a format, or the sign of texts."""
    return token.text.startswith("$") or (token.kind in (WORD, NUMBER) and "." in token.text)


def _read(statement: Statement, names: tuple[str, ...], form: str) -> Iterator[SyntaxFact]:
    if not names:
        return
    if form.startswith("$"):
        yield SyntaxFact(Subject.TEXT, names, statement.line)
    elif DAYS.fullmatch(form):
        kind = re.sub(r"\d*\.$", "", form).upper()
        yield SyntaxFact(Subject.DAY, names, statement.line, text=_ORDERS.get(kind, form))
    elif not form or _NUMBERS.fullmatch(form):
        yield SyntaxFact(Subject.NUMBER, names, statement.line)
