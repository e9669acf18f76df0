"""Facts in programs of SAS: formats with values and ranges, labels, lengths, and codes that are set to missing."""

import re
from collections.abc import Iterator, Sequence

from crowdgate.review.syntax.conditions import comparison, condition
from crowdgate.review.syntax.facts import Subject, SyntaxFact, code_text, is_code, unread_condition, words_of
from crowdgate.review.syntax.sas_input import DAYS, sas_input
from crowdgate.review.syntax.tokens import NUMBER, TEXT, WORD, Language, Statement, Token, statements

_LANGUAGE = Language(
    re.compile(
        r"(?P<skip>/\*[\s\S]*?\*/)|(?P<end>;)|(?P<text>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")"
        r"|(?P<number>(?:(?<![\w.)\-])[-+])?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w]))"
        r"|(?P<word>[$%&]?[^\W\d][\w&]*(?:\.\w*)?|\$?\d+\.?\d*|\.[A-Za-z_]?)|(?P<mark>[<>^~]=|[^\s'\"])"
    ),
    re.compile(r"\s*%?\*[^;]*(?:;|\Z)|\s+|(?i:(?:data)?lines4?|cards4?)\s*;(?:(?!\n[ \t]*;)[\s\S])*(?:\n[^\n]*|\Z)"),
)
_STANDARD = re.compile(
    r"(?:BEST|COMMAX?|DOLLARX?|EUROX?|PERCENTN?|NUMX|F|Z|D|E|\$CHAR|\$|\$F)?(\d*)\.(\d*)", re.IGNORECASE
)
"""The formats of SAS itself that list no values."""
_TIMES = re.compile(r"(?:(?:DATE)?TIME|HHMM|TOD|DTDATE|MONYY|YEAR|MONTH|DAY|QTR|WEEKDAY)\w?\d*\.\d*", re.IGNORECASE)
"""Formats of times and of parts of days."""


def sas_facts(text: str) -> Iterator[SyntaxFact]:
    """Yield the facts in a program. Raises UnclosedText."""
    is_formats = False
    for each in statements(text, _LANGUAGE):
        first = each.tokens[0]
        if first.is_("proc", "data"):
            is_formats = len(each.tokens) > 1 and each.tokens[1].is_("format")
        elif first.is_("value") and is_formats:
            yield _format(each, each.tokens[1:])
        elif first.is_("label"):
            yield from _labels(each, each.tokens[1:])
        elif first.is_("format"):
            yield from _used_formats(each, each.tokens[1:])
        elif first.is_("input"):
            yield from sas_input(each)
        elif first.is_("attrib"):
            yield from _attributes(each, each.tokens[1:])
        elif first.is_("if"):
            yield from _set_missing(each, each.tokens[1:])


def format_name(text: str) -> str:
    """Return the name of a format without its point and width, in lower case: `$sex` of `$SEX8.`."""
    return re.sub(r"\d*\.\d*$", "", text).casefold() if "." in text else text.casefold()


def _format(statement: Statement, tokens: Sequence[Token]) -> SyntaxFact:
    """Return the codes and ranges of `VALUE sex 1='Male' 2='Female' 3-9='Other'`; ranges are written `3 - 9`."""
    words = f"line {statement.line}: {statement.text}"
    if not tokens:
        return SyntaxFact(Subject.UNREAD_LIST, ("",), statement.line, text=words)
    start = 1 + (tokens[0].is_("$") and len(tokens) > 1)
    name, entries = format_name("".join(each.text for each in tokens[:start])), list[tuple[str, str]]()
    for codes, label in _entries(_without_settings(tokens[start:])):
        shown = [_code(each) for each in codes]
        if label is None or None in shown or not codes:
            return SyntaxFact(Subject.UNREAD_LIST, (name,), statement.line, text=words)
        entries += [(each, " ".join(label.split())) for each in shown if each]
    return SyntaxFact(Subject.CODES, (name,), statement.line, tuple(entries), "replace")


def _without_settings(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens behind settings in brackets: `(default=20)`."""
    if tokens and tokens[0].is_("("):
        at = next((at for at, each in enumerate(tokens) if each.is_(")")), len(tokens))
        return tokens[at + 1 :]
    return tokens


def _entries(tokens: Sequence[Token]) -> Iterator[tuple[list[list[Token]], str | None]]:
    """Yield the codes before each label, as tokens between commas, and the label; None for what ends otherwise."""
    codes: list[list[Token]] = [[]]
    at = 0
    while at < len(tokens):
        each = tokens[at]
        if each.is_("="):
            behind = tokens[at + 1] if at + 1 < len(tokens) else None
            yield codes, behind.text if behind is not None and behind.kind == TEXT else None
            codes, at = [[]], at + 2
            continue
        codes = [*codes, []] if each.is_(",") else [*codes[:-1], [*codes[-1], each]]
        at += 1
    if codes != [[]]:
        yield codes, None


def _code(tokens: Sequence[Token]) -> str | None:
    """Return a code, or a range as `1 - 9`, of texts as `'G' - 'I'`; an empty text for a missing value or an empty
    cell, None for anything else.
    """
    if len(tokens) == 1 and tokens[0].kind == TEXT and not tokens[0].text.strip():
        return ""  # an empty cell
    if len(tokens) == 1:
        return code_text(tokens[0]) if tokens[0].kind in (NUMBER, TEXT) else "" if is_code(tokens[0]) else None
    is_range = len(tokens) == 3 and tokens[1].is_("-")
    if is_range and tokens[0].kind == tokens[2].kind == TEXT:
        return f"'{tokens[0].text}' - '{tokens[2].text}'"
    if is_range and tokens[0].kind == tokens[2].kind == NUMBER:
        return f"{tokens[0].text} - {tokens[2].text}"
    return None


def _labels(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    for at, each in enumerate(tokens[:-2]):
        if each.kind == WORD and tokens[at + 1].is_("=") and tokens[at + 2].kind == TEXT:
            yield SyntaxFact(Subject.LABEL, (each.text,), statement.line, text=tokens[at + 2].text)


def _used_formats(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    names = list[str]()
    for each in tokens:
        if "." in each.text and each.kind in (WORD, NUMBER):
            yield from _used(statement, tuple(names), each.text)
            names = []
        elif each.kind in (WORD, NUMBER) or each.is_("-"):
            names.append(each.text)


def _used(statement: Statement, names: tuple[str, ...], form: str) -> Iterator[SyntaxFact]:
    """Yield what a format says of variables: days, decimals, or its own values."""
    standard = _STANDARD.fullmatch(form)
    if _TIMES.fullmatch(form):
        return
    if DAYS.fullmatch(form):
        yield SyntaxFact(Subject.DAY, names, statement.line)
    elif standard and form.startswith("$"):
        yield SyntaxFact(Subject.TEXT, names, statement.line)
    elif standard and standard[2]:
        decimals = standard[2] if int(standard[2]) else ""
        yield SyntaxFact(Subject.NUMBER if decimals else Subject.WHOLE, names, statement.line, text=decimals)
    elif not standard:
        yield SyntaxFact(Subject.USED_LIST, names, statement.line, text=format_name(form))


def _attributes(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    """Yield the label and the format of `ATTRIB x LABEL='...' FORMAT=sex.`."""
    name = ""
    for at, each in enumerate(tokens):
        behind = tokens[at + 2] if at + 2 < len(tokens) and tokens[at + 1].is_("=") else None
        if behind is None:
            follows = at > 0 and tokens[at - 1].is_("=")
            name = each.text if each.kind == WORD and not follows else name
        elif each.is_("label") and behind.kind == TEXT:
            yield SyntaxFact(Subject.LABEL, (name,), statement.line, text=behind.text)
        elif each.is_("format") and behind.kind == WORD:
            yield from _used(statement, (name,), behind.text)


def _set_missing(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    """Yield the missing codes of `IF x IN (8, 9) THEN x = .`, or that another value which is set is not understood."""
    at = next((at for at, each in enumerate(tokens) if each.is_("then")), 0)
    target = tokens[at + 1 :]
    if at and len(target) == 1 and target[0].is_("do"):
        words = f"line {statement.line}: statements under a condition"
        yield SyntaxFact(Subject.UNREAD, words_of(tokens[:at]), statement.line, text=words)
    if not at or len(target) != 3 or target[0].kind != WORD or not target[1].is_("="):
        return
    found, name = condition(tokens[:at]), target[0].text
    is_missing = target[2].text in (".", "", " ") or (target[2].kind == WORD and is_code(target[2]))
    if is_missing and found is not None and found.codes and found.name.casefold() == name.casefold():
        yield SyntaxFact(Subject.MISSING, (name,), statement.line, tuple((each, "") for each in found.codes))
    elif name.casefold() in (each.casefold() for each in words_of(tokens[:at])):
        yield unread_condition(statement, [name], tokens[:at])
        if is_missing and (beyond := comparison(tokens[:at])):
            yield SyntaxFact(Subject.MISSING_BEYOND, (name,), statement.line, (beyond[1:],))
