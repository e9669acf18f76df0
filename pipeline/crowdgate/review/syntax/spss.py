"""Facts in syntax files of SPSS: labels, missing values, formats, levels of measurement, recodes to missing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from crowdgate.review.syntax.facts import Subject, SyntaxFact, groups, labelled_codes, unread, whole_codes, words_of
from crowdgate.review.syntax.tokens import NUMBER, TEXT, WORD, Language, Statement, Token, statements

_COMMAND_END = r"\.(?=[ \t\r]*(?:/\*[^\n]*)?(?:\n|\Z))|\n[ \t\r]*(?=\n|\Z)"
_LANGUAGE = Language(
    re.compile(
        rf"(?P<skip>/\*[^\n]*)|(?P<end>{_COMMAND_END})|(?P<text>'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\")"
        r"|(?P<number>(?:(?<![\w.)])[-+])?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w@#$]))"
        r"|(?P<word>[@#$]?[^\W][\w@#$]*(?:\.[\w@#$]+)*)|(?P<mark>[<>~]=|[^\s'\"])"
    ),
    re.compile(
        rf"\s*(?:\*|(?i:comment)\b)(?:(?!{_COMMAND_END})[\s\S])*(?:{_COMMAND_END}|\Z)|\s+"
        r"|(?i:beg(?:in)?\s+data)\b(?:(?!\n[ \t]*(?i:end)\s)[\s\S])*(?:\n[^\n]*|\Z)"
    ),
)
_DAYS = re.compile(r"[AEJS]?DATE\d*", re.IGNORECASE)
_LOWEST, _HIGHEST = ("lo", "low", "lowest"), ("hi", "high", "highest")


def spss_facts(text: str) -> Iterator[SyntaxFact]:
    """Yield the facts in a syntax file. Raises UnclosedText."""
    for each in statements(text, _LANGUAGE):
        tokens = _joined(each.tokens)
        yield from _facts(each, tokens, [one.text.casefold() for one in tokens[:3]])


def _joined(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens with texts that `+` joins as one."""
    kept = list[Token]()
    for each in tokens:
        if each.kind == TEXT and len(kept) > 1 and kept[-1].is_("+") and kept[-2].kind == TEXT:
            kept = [*kept[:-2], replace(each, text=kept[-2].text + each.text)]
        else:
            kept.append(each)
    return kept


def _facts(statement: Statement, tokens: Sequence[Token], words: Sequence[str]) -> Iterator[SyntaxFact]:
    """Yield the facts of a command, whose words can be cut to their first three letters."""
    if _begins(words, "variable", "labels"):
        yield from _labels(statement, tokens[2:])
    elif _begins(words, "value", "labels") or _begins(words, "add", "value", "labels"):
        yield from _value_labels(statement, tokens[3 if words[0].startswith("add") else 2 :], words)
    elif _begins(words, "missing", "values"):
        yield from _missing_values(statement, tokens[2:])
    elif _begins(words, "formats") or _begins(words, "numeric") or words[:2] == ["print", "formats"]:
        yield from _formats(statement, tokens[1:])
    elif _begins(words, "data", "list"):
        yield from _data_list(statement, tokens[2:])
    elif _begins(words, "string"):
        yield SyntaxFact(Subject.TEXT, words_of(_outside(tokens[1:])), statement.line)
    elif _begins(words, "variable", "level"):
        yield from _levels(statement, tokens[2:])
    elif _begins(words, "recode"):
        yield from _recodes(statement, tokens[1:])


def _begins(words: Sequence[str], *command: str) -> bool:
    """Return whether words begin with a command, each cut to three letters or more."""
    pairs = zip(words, command, strict=False)
    return len(words) >= len(command) and all(len(one) > 2 and whole.startswith(one) for one, whole in pairs)


def _labels(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    plain = [each for each in tokens if not each.is_("/", ",")]
    for at, each in enumerate(plain[:-1]):
        if each.kind == WORD and plain[at + 1].kind == TEXT:
            yield SyntaxFact(Subject.LABEL, (each.text,), statement.line, text=plain[at + 1].text)


def _value_labels(statement: Statement, tokens: Sequence[Token], words: Sequence[str]) -> Iterator[SyntaxFact]:
    """Yield the codes of variables; those of `VALUE LABELS` replace others."""
    for group in groups(tokens, "/"):
        at = next((at for at, each in enumerate(group) if each.kind in (NUMBER, TEXT)), len(group))
        names = words_of(group[:at])
        codes = labelled_codes([each for each in group[at:] if not each.is_(",")])
        if names and codes:
            text = "" if words[0].startswith("add") else "replace"
            yield SyntaxFact(Subject.VALUES, names, statement.line, codes, text)
        elif names:
            yield unread(statement, names)


def _outside(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens outside of brackets."""
    kept, depth = list[Token](), 0
    for each in tokens:
        depth += each.is_("(")
        kept += [each] if depth == 0 else []
        depth -= each.is_(")")
    return kept


def _bracketed(tokens: Sequence[Token]) -> Iterator[tuple[tuple[str, ...], list[Token]]]:
    """Yield names with the tokens in the brackets behind them."""
    names, inside, is_open = list[str](), list[Token](), False
    for each in tokens:
        if each.is_("("):
            is_open, inside = True, []
        elif each.is_(")") and is_open:
            yield tuple(names), inside
            is_open, names = False, []
        elif is_open:
            inside.append(each)
        elif each.kind == WORD:
            names.append(each.text)


def _missing_values(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    for names, inside in _bracketed(tokens):
        codes, is_whole = _codes(_without_open_ranges([each for each in inside if not each.is_(",")]))
        yield SyntaxFact(Subject.MISSING, names, statement.line, tuple((each, "") for each in codes))
        if not is_whole:
            yield unread(statement, names)
        for low, high in zip(inside, inside[2:], strict=False):
            if low.is_(*_LOWEST) and high.kind == NUMBER:
                yield SyntaxFact(Subject.MISSING_BEYOND, names, statement.line, (("<=", high.text),))
            if high.is_(*_HIGHEST) and low.kind == NUMBER:
                yield SyntaxFact(Subject.MISSING_BEYOND, names, statement.line, ((">=", low.text),))


def _without_open_ranges(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens of a list of codes without its open ranges `LO THRU -1` and `97 THRU HI`."""
    at = next((at for at, each in enumerate(tokens) if each.is_("thru") and 0 < at < len(tokens) - 1), None)
    if at is None:
        return list(tokens)
    ends = tokens[at - 1], tokens[at + 1]
    is_open = (ends[0].is_(*_LOWEST) and ends[1].kind == NUMBER) or (ends[0].kind == NUMBER and ends[1].is_(*_HIGHEST))
    kept = [] if is_open else tokens[at - 1 : at + 2]
    return [*tokens[: at - 1], *kept, *_without_open_ranges(tokens[at + 2 :])]


def _data_list(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    """Yield the types of variables in columns of a line: `id 1-5 name 6-20 (A) sum 21-28 (2)`. Without brackets they
    are whole numbers.
    """
    start = next((at for at, each in enumerate(tokens) if each.is_("/")), len(tokens))
    names, at, rest = list[str](), 0, [each for each in tokens[start + 1 :] if not each.is_(",")]
    while at < len(rest):
        if rest[at].kind != NUMBER:
            names = [*names, rest[at].text] if rest[at].kind == WORD else []
            at += 1
            continue
        end = at + 3 if at + 2 < len(rest) and rest[at + 1].is_("-") else at + 1
        inside, following = _format_behind(rest, end)
        yield from _typed(statement, tuple(names), inside) if names else ()
        names, at = [], following


def _format_behind(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """Return the format in brackets at a place, and the place behind it."""
    if at >= len(tokens) or not tokens[at].is_("("):
        return "", at
    end = next((place for place in range(at, len(tokens)) if tokens[place].is_(")")), len(tokens))
    return "".join(each.text for each in tokens[at + 1 : end]), end + 1


def _typed(statement: Statement, names: tuple[str, ...], form: str) -> Iterator[SyntaxFact]:
    """Yield the type that a format of columns states; a number there is one of decimals."""
    if not form or re.fullmatch(r"(?:[FN],?)?0?", form, re.IGNORECASE):
        yield SyntaxFact(Subject.WHOLE, names, statement.line)
    elif found := re.fullmatch(r"(?:[FN],?)?([1-9]\d?)", form, re.IGNORECASE):
        yield SyntaxFact(Subject.NUMBER, names, statement.line, text=found[1])
    else:
        yield from _of_format(names, statement, form)


def _codes(tokens: Sequence[Token]) -> tuple[list[str], bool]:
    """Return the codes of a list such as `7, 97 THRU 99`, and whether it has no others: an open range has."""
    found, at, is_whole = list[str](), 0, True
    while at < len(tokens):
        one = tokens[at]
        if at + 2 < len(tokens) and tokens[at + 1].is_("thru"):
            listed = whole_codes(one.text, tokens[at + 2].text)
            found, is_whole, at = [*found, *(listed or ())], is_whole and listed is not None, at + 3
        else:
            is_code = one.kind in (NUMBER, TEXT)
            found, is_whole, at = [*found, *([one.text] if is_code else [])], is_whole and is_code, at + 1
    return found, is_whole


def _formats(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    for names, inside in _bracketed(tokens):
        yield from _of_format(names, statement, "".join(each.text for each in inside))


def _of_format(names: tuple[str, ...], statement: Statement, text: str) -> Iterator[SyntaxFact]:
    """Yield the type that the name of a format states; nothing for other formats."""
    if _DAYS.fullmatch(text):
        yield SyntaxFact(Subject.DAY, names, statement.line)
    elif found := re.fullmatch(r"[FN](\d+)(?:\.(\d+))?", text, re.IGNORECASE):
        decimals = int(found[2] or 0)
        kind = Subject.NUMBER if decimals else Subject.WHOLE
        yield SyntaxFact(kind, names, statement.line, text=str(decimals) if decimals else "")
    elif re.fullmatch(r"A\d*", text, re.IGNORECASE):
        yield SyntaxFact(Subject.TEXT, names, statement.line)


def _levels(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    for names, inside in _bracketed(tokens):
        if inside and inside[0].is_("scale"):
            yield SyntaxFact(Subject.SCALE, names, statement.line)


def _recodes(statement: Statement, tokens: Sequence[Token]) -> Iterator[SyntaxFact]:
    """Yield the missing codes of `RECODE x y (-9 -8=SYSMIS)`; nothing of a recode into new variables."""
    if any(each.is_("into") for each in tokens):
        return
    names = tuple[str, ...]()
    for own, inside in _bracketed(tokens):
        names = own or names
        at = next((at for at, each in enumerate(inside) if each.is_("=")), len(inside))
        is_missing = len(inside) == at + 2 and inside[-1].is_("sysmis")
        codes, is_whole = _codes([each for each in inside[:at] if not each.is_(",")])
        if is_missing and is_whole:
            yield SyntaxFact(Subject.MISSING, names, statement.line, tuple((each, "") for each in codes))
        else:
            yield unread(statement, names)
