"""Facts in do-files and dictionaries of Stata: labels, `mvdecode`, `recode`, `replace`, `assert`, `isid`, types."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from crowdgate.review.syntax.conditions import Condition, comparison, condition, range_or_codes
from crowdgate.review.syntax.facts import (
    OF_CONDITIONS,
    Subject,
    SyntaxFact,
    labelled_codes,
    unread,
    unread_condition,
    whole_codes,
    words_of,
)
from crowdgate.review.syntax.stata_days import day_ranges
from crowdgate.review.syntax.stata_loops import expanded
from crowdgate.review.syntax.tokens import NUMBER, TEXT, WORD, Language, Statement, Token, statements

_BLANKS = r"[ \t\r\f\ufeff]+|///[^\n]*(?:\n|\Z)|(?<!\S)//[^\n]*"
_SIGNS = (
    r"(?P<text>\"[^\"\n]*\")|(?P<number>(?:(?<![\w.)'])[-+])?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w`]))"
    r"|(?P<word>[^\W\d](?:[\w`'*?~#.]|-(?=[^\W\d]))*|[%`.][\w`'*?~#.]+|\.)|(?P<mark>[=!<>~]=|[^\s\"])"
)
_CELLS = r"[ \t]*inp(?:ut)?\b(?:(?!\n[ \t]*end[ \t]*\r?(?:\n|\Z))[\s\S])*(?:\n[^\n]*|\Z)"
"""Lines of cells within a do-file, down to `end`."""
_LINES = Language(
    re.compile(rf"(?P<skip>{_BLANKS})|(?P<end>\n)|{_SIGNS}"),
    re.compile(rf"[ \t\r]*\*(?:///[^\n]*\n|[^\n])*(?:\n|\Z)|\n|{_CELLS}"), ("/*", "*/"), ('`"', "\"'"),
)  # fmt: skip
_SEMICOLONS = Language(
    re.compile(rf"(?P<skip>\n|{_BLANKS})|(?P<end>;)|{_SIGNS}"),
    re.compile(rf"\s*\*[^;]*(?:;|\Z)|{_CELLS}"), ("/*", "*/"), ('`"', "\"'"),
)  # fmt: skip
_SWITCHES = (
    (re.compile(r"[ \t]*#d\w*[ \t]*;[^\n]*(?:\n|\Z)"), _SEMICOLONS),
    (re.compile(r"\s*#d\w*[ \t]*cr[^\n]*(?:\n|\Z)"), _LINES),
)
_PREFIXES = ("quietly", "qui", "capture", "cap", "noisily", "noi", ":")
_TYPES = {
    "byte": Subject.WHOLE, "int": Subject.WHOLE, "long": Subject.WHOLE, "float": Subject.NUMBER,
    "double": Subject.NUMBER,
}  # fmt: skip
_DAYS = {"DMY", "MDY", "YMD"}
"""The orders of day, month and year in texts."""


def stata_facts(text: str) -> Iterator[SyntaxFact]:
    """Yield the facts in a do-file, or a dictionary. Raises UnclosedText."""
    dictionary = False
    found = list(expanded(list(statements(text, _LINES, _SWITCHES))))
    yield from day_ranges(found)
    for each in found:
        dictionary = (dictionary or _opens_dictionary(each)) and not each.tokens[0].is_("}")
        yield from _fields(each, is_dictionary=True) if dictionary else _facts(each, _without_prefixes(each.tokens))


def _opens_dictionary(statement: Statement) -> bool:
    """Return whether the fields of a dictionary stand in brackets behind a statement."""
    first, *rest = statement.tokens
    is_named = any(each.is_("dictionary") for each in statement.tokens)
    return first.is_("infile", "infix", "dictionary") and is_named and any(each.is_("{") for each in rest)


def _without_prefixes(tokens: Sequence[Token]) -> list[Token]:
    kept = list(tokens)
    while len(kept) > 1 and kept[0].is_(*_PREFIXES):
        kept = kept[1:]
    return kept


def _facts(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    yield from _days(statement)
    command, rest = tokens[0], tokens[1:]
    if re.fullmatch("la(b|be|bel)?", command.text) and rest:
        yield from _label(statement, rest[0].text, rest[1:])
    elif command.is_("note", "notes"):
        yield from _note(statement)
    elif command.is_("mvdecode"):
        yield from _decoded(statement, rest)
    elif re.fullmatch("replace|recode|assert", command.text):
        yield from {"replace": _replaced, "recode": _recoded, "assert": _asserted}[command.text](statement, rest)
    elif command.is_("isid"):
        yield SyntaxFact(Subject.KEY, words_of(_before_options(rest)), statement.line)
    elif command.is_("infix", "infile"):
        yield from _fields(statement, is_dictionary=False)


def _before_options(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens before the comma of options."""
    at = next((at for at, each in enumerate(tokens) if each.is_(",")), len(tokens))
    return list(tokens[:at])


def _label(statement: Statement, kind: str, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    if re.fullmatch("var(i|ia|iab|iabl|iable)?", kind):
        if len(tokens) == 2 and tokens[1].kind == TEXT:
            yield SyntaxFact(Subject.LABEL, (tokens[0].text,), statement.line, text=tokens[1].text)
    elif re.fullmatch("de(f|fi|fin|fine)?", kind) and tokens:
        codes = labelled_codes(_before_options(tokens[1:]))
        options = [each.text for each in tokens if each.is_("replace")]
        if codes is None:
            words = f"line {statement.line}: {statement.text}"
            yield SyntaxFact(Subject.UNREAD_LIST, (tokens[0].text,), statement.line, text=words)
        else:
            yield SyntaxFact(Subject.CODES, (tokens[0].text,), statement.line, codes, "".join(options))
    elif kind == "copy" and len(tokens) > 1:
        words = f"line {statement.line}: {statement.text}"
        yield SyntaxFact(Subject.UNREAD_LIST, (tokens[1].text,), statement.line, text=words)
    elif re.fullmatch("val(u|ue|ues)?", kind):
        names = words_of(_before_options(tokens))
        if len(names) > 1 and names[-1] != ".":
            yield SyntaxFact(Subject.USED_LIST, names[:-1], statement.line, text=names[-1])


def _note(statement: Statement) -> Iterator[SyntaxFact]:
    found = re.match(r"\S+\s+(\w+)\s*:\s*(.+)", statement.text)
    if found:
        yield SyntaxFact(Subject.NOTE, (found[1],), statement.line, text=found[2].rstrip(";").strip())


def _decoded(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    """Yield the missing codes of `mvdecode x y, mv(-9=.a \\ -8=.b)`."""
    names = words_of(_before_options(tokens))
    inside = list(tokens[len(_before_options(tokens)) :])
    codes = _codes(inside[3:-1]) if len(inside) > 4 and inside[1].is_("mv") else None
    fact = SyntaxFact(Subject.MISSING, names, statement.line, tuple((each, "") for each in codes or ()))
    yield fact if codes else unread(statement, names)


def _codes(tokens: Sequence[Token]) -> tuple[str, ...] | None:
    """Return the codes of a list such as `-9 -8`, `-9/-7` or `-9=.a \\ -8=.b`; None for another list."""
    found, at = list[str](), 0
    while at < len(tokens):
        one, behind = tokens[at], tokens[at + 1 : at + 3]
        if one.kind != NUMBER:
            return None
        if len(behind) == 2 and behind[0].is_("/") and behind[1].kind == NUMBER:
            listed = whole_codes(one.text, behind[1].text)
            if listed is None:
                return None
            found, at = [*found, *listed], at + 3
        else:
            found, at = [*found, one.text], at + 1
        at += 2 if at + 1 < len(tokens) and tokens[at].is_("=") and _is_missing(tokens[at + 1]) else 0
        at += at < len(tokens) and tokens[at].is_("\\")
    return tuple(found) or None


def _is_missing(token: Token) -> bool:
    """Return whether a token is a missing value of Stata: `.` to `.z`, or an empty text."""
    return bool(re.fullmatch(r"\.[a-z]?", token.text)) or (token.kind == TEXT and not token.text)


def _replaced(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    """Yield the missing codes of `replace x = . if x == -9`."""
    at = next((at for at, each in enumerate(tokens) if each.is_("if")), 0)
    if len(tokens) < 3 or not tokens[1].is_("="):
        return
    name = tokens[0].text
    if not at:
        yield SyntaxFact(Subject.NOTE, (name,), statement.line, text=f"line {statement.line}: {statement.text}")
        return
    found = condition(tokens[at + 1 :]) if at == 3 and _is_missing(tokens[2]) else None
    if found is not None and found.codes and found.name == name:
        yield SyntaxFact(Subject.MISSING, (name,), statement.line, tuple((each, "") for each in found.codes))
        return
    yield unread_condition(statement, [name], tokens[at + 1 :])
    if at == 3 and _is_missing(tokens[2]) and (beyond := comparison(tokens[4:])) and beyond[0] == name:
        yield SyntaxFact(Subject.MISSING_BEYOND, (name,), statement.line, (beyond[1:],))


def _recoded(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    """Yield the missing codes of `recode x y (-9 -8 = .)` and `recode x -9=.`; nothing of a new variable."""
    before = _before_options(tokens)
    if any(re.match("gen|pre", each.text) for each in tokens[len(before) :]):
        return
    at = next((at for at, each in enumerate(before) if each.kind != WORD), len(before))
    names = words_of(before[:at])
    plain = [each for each in before[at:] if not each.is_("(", ")")]
    has_targets = all(_is_missing(plain[i + 1]) for i, each in enumerate(plain[:-1]) if each.is_("="))
    codes = _codes(plain) if plain and has_targets and _is_missing(plain[-1]) else None
    fact = SyntaxFact(Subject.MISSING, names, statement.line, tuple((each, "") for each in codes or ()))
    yield fact if codes else unread(statement, names)


def _asserted(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    """Yield the range or the values of `assert inrange(x, 0, 9) | missing(x)`, and of similar conditions."""
    plain = _without_empty(tokens)
    found = condition(plain) or range_or_codes(plain)
    if found is None or (None in found.limits and not found.codes):
        names = [each for each in words_of(tokens) if each.casefold() not in OF_CONDITIONS]
        yield unread_condition(statement, names or ("",), tokens)
        return
    if found.codes and None not in found.limits:
        yield _stated(statement, replace(found, codes=()))
        yield SyntaxFact(Subject.MISSING, (found.name,), statement.line, tuple((each, "") for each in found.codes))
        return
    yield _stated(statement, found)


def _stated(statement: Statement, found: Condition) -> SyntaxFact:
    if found.codes:
        return SyntaxFact(Subject.VALUES, (found.name,), statement.line, tuple((each, "") for each in found.codes))
    low, high = found.limits
    return SyntaxFact(Subject.RANGE, (found.name,), statement.line, ((low or "", high or ""),))


def _without_empty(tokens: Sequence[Token]) -> list[Token]:
    """Return a condition without `| missing(x)` or `| mi(x)` at its end: an empty cell is no value."""
    kept = list(tokens)
    is_empty = len(kept) > 5 and kept[-5].is_("|") and kept[-4].is_("missing", "mi") and kept[-3].is_("(")
    return kept[:-5] if is_empty else kept


def _days(statement: Statement) -> Iterator[SyntaxFact]:
    """Yield the order of day, month and year of `date(x, "DMY")`, and variables with a format of days: `%td`."""
    tokens = statement.tokens
    for at, each in enumerate(tokens[:-5]):
        name, order = tokens[at + 2], tokens[at + 4]
        is_call = each.is_("date", "daily") and tokens[at + 1].is_("(") and tokens[at + 3].is_(",")
        if is_call and name.kind == WORD and order.kind == TEXT and order.text in _DAYS:
            yield SyntaxFact(Subject.DAY, (name.text,), statement.line, text=order.text)
    if tokens[0].is_("format") and any(each.text.startswith("%td") for each in tokens):
        names = tuple(each for each in words_of(tokens[1:]) if not each.startswith("%"))
        yield SyntaxFact(Subject.DAY, names, statement.line)


def _fields(statement: Statement, *, is_dictionary: bool) -> Iterator[SyntaxFact]:
    """Yield the types, the lists and the labels of a dictionary's fields: `byte sex:sexlbl %1f "Sex"`."""
    tokens = statement.tokens
    for at, each in enumerate(tokens[:-1]):
        kind = _TYPES.get(each.text) or (Subject.TEXT if re.fullmatch(r"str\d*L?", each.text) else None)
        if kind is None or each.kind != WORD or tokens[at + 1].kind != WORD:
            continue
        name, behind = tokens[at + 1].text, tokens[at + 2 :]
        yield SyntaxFact(kind, (name,), statement.line)
        if len(behind) > 1 and behind[0].is_(":") and behind[1].kind == WORD:
            yield SyntaxFact(Subject.USED_LIST, (name,), statement.line, text=behind[1].text)
        if is_dictionary and behind and behind[-1].kind == TEXT:
            yield SyntaxFact(Subject.LABEL, (name,), statement.line, text=behind[-1].text)
