"""Labels in programs of Stata (`.do`), SAS (`.sas`) and SPSS (`.sps`): of variables, of their values, missing values.

Only the statements that give labels are read, and nothing is run. A statement that is not understood is quoted.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from crowdgate.review.templates.draft_column import cannot_draft
from crowdgate.review.templates.draft_dictionary import Dictionary, read_dictionary

Tokens = list[tuple[str, str]]
"""The kinds and texts of the parts of a statement: `text` in quotation marks, `word` and `mark`."""
_TOKEN = re.compile(
    r"`\"(?P<compound>.*?)\"'|\"(?P<double>(?:[^\"]|\"\")*)\"|'(?P<single>(?:[^']|'')*)'|(?P<mark>[/=(),;])"
    r"|(?P<word>[^\s\"'/=(),;]+)",
    re.DOTALL,
)
_COMMENT = re.compile(r"(?P<kept>`\".*?\"'|\"[^\"\n]*\"|'[^'\n]*')|/\*.*?\*/", re.DOTALL)
_CODE = re.compile(r"-?\d+(?:\.\d+)?")
_NO_VALUE = re.compile(r"\.[A-Za-z_]?")
"""A missing value of Stata and SAS."""
_DELIMIT = re.compile(r"(?m)^[ \t]*#d(?:elimit)?[ \t]*(;|cr)[ \t]*;?[ \t]*$")
"""The line of a do-file that says what ends a statement."""
_HEADINGS = ["variable", "label", "values", "value label", "missing"]


@dataclass
class Labels:
    """Labels by variable, lists of codes by name, the list of each variable, and its missing codes; what is not
    understood of a list, and of missing codes.
    """

    variables: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)


def read_statements(path: Path, text: str, names: Sequence[str]) -> Dictionary:
    """Return what the labels of a program say of the columns `names`. Raises ConfigurationError without any."""
    found = Labels()
    plain = _COMMENT.sub(lambda each: each["kept"] or " ", text)
    for statement in _STATEMENTS[path.suffix.lower()](plain):
        _READERS[path.suffix.lower()](found, _tokens(statement), " ".join(statement.split()))
    found.used = {name: _list_of(found, word) for name, word in found.used.items()}
    rows = [row for name in {**found.variables, **found.used, **found.missing} for row in _rows(found, name)]
    if not rows:
        raise cannot_draft(path, "no labels", "statements that label variables and values, as in a program for a table")
    return _with_unread(found, read_dictionary(path, [_HEADINGS, *rows], names).without_rows())


def _list_of(found: Labels, word: str) -> str:
    """Return the name of the list that a variable names: in SAS, a format with its width, `sexf8.`"""
    bare = word.rstrip(".").removeprefix("$")
    names = (bare, re.sub(r"\d*\.?\d*$", "", bare))
    return next((each for each in names if each in found.lists or each in found.unread), bare)


def _rows(found: Labels, name: str) -> Iterator[list[str]]:
    """Yield the rows of a data dictionary for a variable: one for each value, or one."""
    listed = found.used.get(name, "")
    codes = [] if listed in found.unread else found.lists.get(listed, [])
    none = [code for code, _ in codes if _NO_VALUE.fullmatch(code)]
    missing = "; ".join(dict.fromkeys([*found.missing.get(name, []), *none]))
    values = [pair for pair in codes if pair[0] not in none] or [("", "")]
    yield from ([name, found.variables.get(name, ""), *pair, missing] for pair in values)


def _with_unread(found: Labels, dictionary: Dictionary) -> Dictionary:
    """Return a dictionary with what is not understood of lists and of missing codes."""
    said = {name.casefold(): found.unread[listed] for name, listed in found.used.items() if listed in found.unread}
    missing = {name.casefold(): text for name, text in found.remarks.items()}
    columns = (
        replace(each, unread=said.get(name, each.unread), remark=missing.get(name, each.remark))
        for each in dictionary.columns
        for name in [each.name.casefold()]
    )
    return replace(dictionary, columns=tuple(columns), used=(), ignored=())


def _tokens(statement: str) -> Tokens:
    return [(each.lastgroup or "", each[each.lastgroup or 0]) for each in _TOKEN.finditer(statement)]


def _is_text(token: tuple[str, str]) -> bool:
    return token[0] in ("compound", "double", "single")


def _unquoted(token: tuple[str, str]) -> str:
    mark = {"double": '"', "single": "'"}.get(token[0], "")
    return " ".join((token[1].replace(mark * 2, mark) if mark else token[1]).split())


def _pairs(tokens: Sequence[tuple[str, str]]) -> list[tuple[str, str]] | None:
    """Return the codes of a list with their labels, `1 "Male" 2 "Female"`; None if other parts stand there."""
    codes, labels = tokens[::2], tokens[1::2]
    are_pairs = len(codes) == len(labels) > 0 and all(map(_is_text, labels))
    are_codes = all(_is_text(each) or _CODE.fullmatch(each[1]) or _NO_VALUE.fullmatch(each[1]) for each in codes)
    if not are_pairs or not are_codes:
        return None
    return [(_unquoted(code), _unquoted(label)) for code, label in zip(codes, labels, strict=True)]


def _add(found: Labels, name: str, pairs: list[tuple[str, str]] | None, statement: str) -> None:
    """Add the codes of a list; those that are stated again get the new label."""
    if pairs is None:
        found.unread[name] = statement
    else:
        found.lists[name] = [*{**dict(found.lists.get(name, [])), **dict(pairs)}.items()]


def _stata_statements(text: str) -> Iterator[str]:
    """Yield the statements of a do-file: lines, which `///` continues; behind `#delimit ;` parts that end with `;`."""
    parts = _DELIMIT.split(text)
    for part, mark in zip(parts[::2], ["cr", *parts[1::2]], strict=True):
        yield from _split(part, ";") if mark == ";" else re.sub(r"///[^\n]*\n", " ", part).splitlines()


def _split(text: str, mark: str) -> Iterator[str]:
    """Yield the parts of a text between marks that stand in no quotation marks."""
    start = 0
    for each in _TOKEN.finditer(text):
        if each["mark"] == mark:
            yield text[start : each.start()]
            start = each.end()
    yield text[start:]


def _stata(found: Labels, tokens: Tokens, statement: str) -> None:
    while tokens and tokens[0][1] in ("qui", "quietly", "cap", "capture", "noisily", ":"):
        tokens = tokens[1:]
    if len(tokens) < 3 or tokens[0][1] not in ("label", "lab", "la"):
        return
    kind, name = tokens[1][1], tokens[2][1]
    ends = [at for at, each in enumerate(tokens) if each == ("mark", ",")]
    rest = tokens[3 : ends[0] if ends else None]
    if re.fullmatch("var(i(a(b(l(e)?)?)?)?)?", kind) and len(rest) == 1 and _is_text(rest[0]):
        found.variables[name] = _unquoted(rest[0])
    elif re.fullmatch("de(f(i(n(e)?)?)?)?", kind):
        _add(found, name, _pairs(rest), statement)
    elif re.fullmatch("val(u(e(s)?)?)?", kind) and rest and rest[-1][1] != ".":
        found.used |= dict.fromkeys((each[1] for each in tokens[2 : 2 + len(rest)]), rest[-1][1])


def _sas_statements(text: str) -> Iterator[str]:
    return (each for each in _split(text, ";") if not each.strip().startswith("*"))


def _sas(found: Labels, tokens: Tokens, statement: str) -> None:
    words = [each[1].casefold() for each in tokens]
    if len(tokens) < 3 or words[0] not in ("value", "label", "format"):
        return
    if words[0] == "value":
        _add(found, words[1].lstrip("$"), _sas_pairs(tokens[2:]), statement)
    elif words[0] == "label":
        parts = [tokens[at : at + 3] for at in range(1, len(tokens), 3)]
        fit = all(len(each) == 3 and each[1][1] == "=" and _is_text(each[2]) for each in parts)
        found.variables |= {name[1]: _unquoted(label) for name, _, label in parts} if fit else {}
    else:
        waiting = list[str]()
        for _, word in tokens[1:]:
            if re.fullmatch(r"\$?\w*\.\d*", word):
                found.used |= dict.fromkeys(waiting, word.casefold())
                waiting = []
            else:
                waiting.append(word)


def _sas_pairs(tokens: Tokens) -> list[tuple[str, str]] | None:
    """Return the codes of a format, `1 = 'Male' 2, 3 = 'Other'`; None if it has ranges, `low` or `other`."""
    found, codes = list[tuple[str, str]](), Tokens()
    behind = False
    for token in tokens:
        if token == ("mark", "="):
            behind = True
        elif behind:
            pairs = [pair for code in codes for pair in _pairs([code, token]) or [("", "")]]
            if not codes or ("", "") in pairs:
                return None
            found, codes, behind = [*found, *pairs], Tokens(), False
        elif token != ("mark", ","):
            codes.append(token)
    return None if codes else found


def _spss_statements(text: str) -> Iterator[str]:
    return (each for each in re.split(r"(?m)\.[ \t]*$", text) if not each.strip().startswith("*"))


def _spss(found: Labels, tokens: Tokens, statement: str) -> None:
    words = [each[1].casefold() for each in tokens[:3]]
    words = words[1:] if words[:1] == ["add"] else words
    start = len(tokens[:3]) - len(words) + 2
    kind = " ".join(words[:2])
    for part in _parts(tokens[start:]) if kind in ("variable labels", "value labels", "missing values") else ():
        at = next((at for at, each in enumerate(part) if each[0] != "word" or _CODE.fullmatch(each[1])), len(part))
        names, rest = [each[1] for each in part[:at]], part[at:]
        if kind == "value labels":
            for name in names:
                _add(found, f"of {name}", _pairs(rest), statement)
                found.used[name] = f"of {name}"
        elif kind == "missing values":
            _spss_missing(found, part, statement)
        else:
            pairs = list(zip(part[::2], part[1::2], strict=False))
            found.variables |= {name[1]: _unquoted(label) for name, label in pairs if _is_text(label)}


def _spss_missing(found: Labels, part: Tokens, statement: str) -> None:
    """Add the missing codes in brackets behind names: `a b (8, 9) c (-9 THRU -1)`; those with LOWEST or HIGHEST are
    not understood.
    """
    names, codes, is_inside = list[str](), list[str](), False
    for token in part:
        if token[1] == "(" or (is_inside and token[1] != ")"):
            codes += [_unquoted(token)] if token[0] != "mark" else []
            is_inside = True
        elif token[1] == ")":
            stated = " ".join(codes).casefold()
            is_list = all(map(_CODE.fullmatch, codes)) or re.fullmatch(r"-?\d+ thru -?\d+", stated)
            known = [stated] if "thru" in stated else codes
            found.missing |= dict.fromkeys(names, known) if is_list else {}
            found.remarks |= {} if is_list else dict.fromkeys(names, statement)
            names, codes, is_inside = [], [], False
        else:
            names.append(token[1])


def _parts(tokens: Tokens) -> list[Tokens]:
    """Return the parts of a command between strokes."""
    parts: list[Tokens] = [[]]
    for each in tokens:
        if each == ("mark", "/"):
            parts.append([])
        else:
            parts[-1].append(each)
    return [each for each in parts if each]


_READERS: Mapping[str, Callable[[Labels, Tokens, str], None]] = {".do": _stata, ".sas": _sas, ".sps": _spss}
_STATEMENTS: Mapping[str, Callable[[str], Iterator[str]]] = {
    ".do": _stata_statements, ".sas": _sas_statements, ".sps": _spss_statements,
}  # fmt: skip
PROGRAMS = tuple(_READERS)
"""The ends of names of programs whose labels are read."""
