"""Causes of broken YAML that people write often: where they are, and the line with quotes that mends them.

libyaml stops at the first fault, often far from its cause. A cause is mended provisionally so that the faults after it
are found in the same round.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import yaml

from crowdgate.documents.word_correction import LONGEST_LINE
from crowdgate.documents.yaml_fault import YamlFault, open_brackets
from crowdgate.documents.yaml_structure import structure_fault
from crowdgate.domain import parse_number
from crowdgate.limits import MOST_NODES

MOST_MENDED = 20
"""The greatest number of faults of a file that are looked for in one round."""
MOST_ALIKE = 2
"""The greatest number of faults of one line with the same words."""
_INTERVAL = re.compile(r"[\[(]\s*-?[0-9.]+\s*[-,;:]\s*-?[0-9.]*\s*[\])]")
_LONE = re.compile(r"(?<=[\[,{:\s])\?(?=\s*[,\]}])")
_COMMENT = re.compile(r"\s#")
_HASH = re.compile(r"\s#[^\s,\]]+(?=[,\]])")
_LIMIT = re.compile(r"(>=|<=)\s*(?=[0-9.])")
_TOKEN = re.compile(r"[^,\[\]{}#]*[^,\[\]{}#\s]")
_APOSTROPHE = re.compile(r"(?<=[\[,{:\s])'([^'\",]+'[A-Za-z][^'\",]*)'(?=\s*(?:[,\]}]|$))")
_HYPHEN = re.compile(r"(?<=[\[,{\s])-[ \t]+(?=[^\s,\]}])")
_SEMICOLON = re.compile(r"\s*;(?=\s+[A-Za-z_]+:(?:\s|$))")
_LONE_KEY = re.compile(r"[{,]\s*([A-Za-z_]+)\s+(?=[\[{])")
"""A key, with a bracket or a brace after it in place of a colon."""
_GAP = re.compile(r"(?<=[\"'}])(?:\s*;\s*|\s+)(?=[\"'{])")
"""Blanks or a semicolon between two items in quotes or braces."""
_MISSING_COMMA = re.compile(r"(?<=[^\s,{\[:])\s+(?=([A-Za-z_]+):(?:\s|$))")
_FIXED = ("apiVersion:", "kind:", "version:", "status:")
"""Keys whose values are never a text with a colon."""
_OFTEN_KEYS = frozenset(
    {
        "name", "version", "owner", "value", "property", "from", "to", "step", "top", "bottom", "source", "values",
        "labels", "missing", "width", "cuts", "tree", "prefix", "part", "measure", "at_most", "at_least", "over", "of",
        "with", "charge", "share", "severity", "epsilon", "delta", "people", "unit", "relation", "formats", "by", "at",
    }
)  # fmt: skip
"""Keys that stand in braces often, before which a comma is forgotten."""
_PREPOSITIONS = frozenset({"from", "to", "by", "at", "of", "over", "with"})
"""Keys that are words of English, so that a text before them may go on with them."""


def yaml_faults(text: str) -> tuple[list[YamlFault], Any]:
    """Return the faults of a text whose cause is known, and the error of the first one whose cause is unknown. It is
    None if all are known, or if it may follow from a fault that was mended by guess.
    """
    lines, found = text.splitlines(keepends=True), list[YamlFault]()
    originals = tuple(lines)
    while len(found) < MOST_MENDED:
        error = _first_error("".join(lines))
        if error is None:
            return sorted(found, key=_place), None
        fault = _cause(lines, error) or structure_fault(lines, error)
        if fault is None:
            left = _without_proposals(found, _lines_of(error))
            return sorted(left, key=_place), error if all(each.certain for each in found) else None
        if sum((each.line, each.found) == (fault.line, fault.found) for each in found) == MOST_ALIKE:
            left = _without_proposals(found, {fault.line})
            return sorted(left, key=_place), None  # what was mended by guess only moves the fault
        original = originals[fault.line]
        column = _original_column(original, lines[fault.line], fault.column)
        guessed = any(each.line == fault.line and not each.certain for each in found)
        if guessed and not lines[fault.line][: fault.column].strip():
            return sorted(found, key=_place), None  # the guessed blanks before the line may be others
        certain = fault.certain and not guessed and not _in_servers(originals, fault.line)
        found.append(replace(fault, column=column, certain=certain))
        end = lines[fault.line][len(lines[fault.line].rstrip("\r\n")) :]
        lines[fault.line] = fault.mended + end
    return sorted(found, key=_place), None


def _without_proposals(faults: Sequence[YamlFault], lines: Collection[int]) -> list[YamlFault]:
    """Return the faults, none of these lines proposed: they are no YAML even as mended."""
    return [replace(each, certain=each.certain and each.line not in lines) for each in faults]


def _lines_of(error: Any) -> set[int]:
    """Return the numbers of the lines where an error was noticed, and where what it is about begins."""
    marks = [mark for mark in (error.problem_mark, error.context_mark) if mark is not None]
    return {mark.line for mark in marks} | {mark.line - 1 for mark in marks if mark is error.problem_mark}


def _in_servers(lines: Sequence[str], at: int) -> bool:
    """Return whether a line belongs to the servers of a contract, whose lines may hold a password and are not shown."""
    section = next((line for line in reversed(lines[: at + 1]) if line[:1].isalpha()), "")
    return section.startswith("servers")


def _place(fault: YamlFault) -> tuple[int, int]:
    return fault.line, fault.column


def _original_column(original: str, mended: str, column: int) -> int:
    """Return the column in a line before quotes were put into it."""
    at = 0
    for each in mended[:column]:
        at += original[at : at + 1] == each
    return at


def _first_error(text: str) -> Any:
    try:
        for _ in islice(yaml.parse(text, Loader=yaml.CSafeLoader), 2 * MOST_NODES):
            pass
    except yaml.MarkedYAMLError as error:
        return error
    except (yaml.YAMLError, ValueError, OverflowError):
        return None
    return None


def _cause(lines: list[str], error: Any) -> YamlFault | None:
    """Return the cause of an error, in the line where it was noticed or where the list or mapping around it begins."""
    marks = [mark for mark in (error.problem_mark, error.context_mark) if mark is not None]
    before = error.problem_mark.line - 1 if error.problem_mark is not None else -1
    joined = _joined(before, lines[before].rstrip("\r\n")) if 0 <= before < len(lines) else None
    if joined is not None and "mapping values" in str(error.problem):
        return joined
    hidden = _comment(before, lines[before].rstrip("\r\n"), 0, str(error.problem)) if before >= 0 else None
    if hidden is not None and "".join(lines[before + 1 : before + 2]).lstrip().startswith("- "):
        return hidden
    for mark in marks:
        if mark.line < len(lines) and len(lines[mark.line]) <= LONGEST_LINE:
            line = lines[mark.line].rstrip("\r\n")
            for cause in _CAUSES:
                fault = cause(mark.line, line, mark.column, str(error.problem))
                if fault is not None and fault.mended != line:
                    return fault
    return None


def _joined(at: int, line: str) -> YamlFault | None:
    """Return a key without a blank after its colon: the line and the next one are one text."""
    found = re.match(r"\s*(?:- )?[A-Za-z_]+:(?=[A-Za-z0-9])", line) if len(line) <= LONGEST_LINE else None
    if found is None:
        return None
    mended = f"{line[: found.end()]} {line[found.end() :]}"
    return YamlFault(at, found.end() - 1, "a colon without a blank after it", "a blank between key and value", mended)


def _dash(at: int, line: str, _column: int, _words: str) -> YamlFault | None:
    """Return a dash of a list without a blank after it."""
    found = re.match(r"\s*-(?=[\[{]|[A-Za-z_]+:\s)", line)
    if found is None:
        return None
    mended = f"{line[: found.end()]} {line[found.end() :]}"
    certain = line[found.end() + 1 : found.end() + 2] not in (" ", "{", "[")
    what, expected = "a dash without a blank after it", "a blank between dash and item"
    return YamlFault(at, found.end() - 1, what, expected, mended, certain)


def _limit(at: int, line: str, column: int, _words: str) -> YamlFault | None:
    """Return a sign in place of a key in braces."""
    found = next((each for each in _LIMIT.finditer(line) if each.start() == column), None)
    if found is None or not re.search(r"[{,]\s*$", line[:column]) or _innermost(line, column) != "{":
        return None
    key = "at_least" if found[1] == ">=" else "at_most"
    return YamlFault(
        at, column, f"the sign {found[1]}", f"{key}: and the limit", f"{line[:column]}{key}: {line[found.end() :]}"
    )


def _special(at: int, line: str, column: int, words: str) -> YamlFault | None:
    """Return a value that begins with a character of YAML's own: in quotes it is text."""
    if "alphabetic or numeric character" in words:  # the column is that after * or &
        column = max(line.rfind(each, 0, column + 1) for each in "*&")
    elif "start any token" not in words and not line.startswith((">=", "<="), column):
        return None
    token = _TOKEN.match(line, column) if column >= 0 and line[column : column + 1] in "@`%>|&*!" else None
    if token is None:
        return None
    fault = _quoted(at, line, column, token.end(), f"a value that begins with {token[0][0]}")
    fault = replace(fault, certain=fault.certain and _is_text(line, token[0], column))
    if _innermost(line, column) == "[" or not token[0].startswith(">="):
        return fault
    return replace(fault, expected="a number without a sign, or a text in quotes", certain=False)


def _is_text(line: str, token: str, column: int) -> bool:
    """Return whether a token with a character of YAML's own is surely a text as it is written: it stands where a value
    does, holds no key and no dash of an item, and is no number with one character too many, but for a >."""
    in_list = _innermost(line, column) == "["
    starts = re.search(r"(?::|-|[\[,])\s*$" if in_list else r"(?::|-) +$", line[:column]) is not None
    holds_structure = re.search(r":(?:\s|$)|^\S\s", token) is not None
    return starts and not holds_structure and (in_list or token[0] == ">" or parse_number(token[1:]) is None)


def _innermost(line: str, column: int) -> str:
    """Return the bracket or brace that holds a column of a line; "" if none does."""
    return open_brackets(line[:column])[-1:]


def _hyphen(at: int, line: str, column: int, words: str) -> YamlFault | None:
    """Return a value in brackets that begins with a hyphen and a blank, as an item of a list on several lines does.

    The blank may be part of the text in the table (`- 50000.`) or not (`- 9`), so no line is proposed.
    """
    found = next((each for each in _HYPHEN.finditer(line) if each.end() >= column), None)
    token = None if found is None else _TOKEN.match(line, found.start())
    if token is None or "node content" not in words or not _innermost(line, token.start()):
        return None
    fault = _quoted(at, line, token.start(), token.end(), "a value that begins with a hyphen and a blank")
    return replace(fault, expected="it in quotes, or without the blank", certain=False)


def _apostrophe(at: int, line: str, _column: int, words: str) -> YamlFault | None:
    """Return a text in single quotes that holds an apostrophe."""
    found = _APOSTROPHE.search(line) if "did not find expected" in words else None
    if found is None:
        return None
    mended = f'{line[: found.start()]}"{found[1]}"{line[found.end() :]}'
    expected = "double quotes around it"
    return YamlFault(at, found.start(), "an apostrophe in single quotes", expected, mended, "\\" not in found[1])


def _separator(at: int, line: str, column: int, words: str) -> YamlFault | None:
    """Return a semicolon, or nothing, between two items in braces where a comma is due."""
    if "expected ',' or '}'" not in words:
        return None
    found = next((each for each in _SEMICOLON.finditer(line) if each.start() <= column), None)
    what = "a semicolon between two items"
    if found is None:
        what = "no comma between two items"
        near = [each for each in _MISSING_COMMA.finditer(line) if each.end() <= column and each[1] in _OFTEN_KEYS]
        found = near[-1] if near and near[-1].end(1) == column else None
    if found is None or _innermost(line, found.start()) != "{" or _in_quotes(line, found.start()):
        return None
    mended = f"{line[: found.start()]}, {line[found.end() :].lstrip()}"
    is_value = parse_number(re.split(r"[,:{]", line[: found.start()])[-1]) is not None
    in_words = re.match(r"[A-Za-z_]+", line[found.end() :].lstrip())
    certain = is_value or in_words is None or in_words[0] not in _PREPOSITIONS
    return YamlFault(at, found.start(), what, "a comma", mended, certain)


def _no_colon(at: int, line: str, column: int, words: str) -> YamlFault | None:
    """Return a key in braces with no colon before its list or mapping."""
    found = next((each for each in _LONE_KEY.finditer(line) if each.end() == column), None)
    if found is None or "expected ',' or '}'" not in words or _innermost(line, found.start(1)) != "{":
        return None
    mended = f"{line[: found.end(1)]}: {line[column:]}"
    return YamlFault(at, found.start(1), "a key without a colon", f"{found[1]}: and its value", mended, certain=True)


def _list_separator(at: int, line: str, _column: int, words: str) -> YamlFault | None:
    """Return a semicolon, or nothing, between items of a list that are in quotes or braces."""
    if "expected ',' or ']'" not in words:
        return None
    gaps = [each for each in _GAP.finditer(line) if _innermost(line, each.start()) == "["]
    gaps = [each for each in gaps if not _in_quotes(line, each.start())]
    if not gaps:
        return None
    mended = line
    for each in reversed(gaps):
        mended = f"{mended[: each.start()]}, {mended[each.end() :]}"
    what = "a semicolon between two items" if ";" in gaps[0][0] else "no comma between two items"
    return YamlFault(at, gaps[0].start(), what, "a comma", mended, certain=True)


def _interval(at: int, line: str, _column: int, _words: str) -> YamlFault | None:
    found = next((each for each in _INTERVAL.finditer(line) if not _in_quotes(line, each.start())), None)
    if found is None or (found[0][0] == "[" and found[0][-1] == "]"):
        return None
    return _quoted(at, line, found.start(), found.end(), "an interval, which has brackets of YAML")


def _question(at: int, line: str, _column: int, _words: str) -> YamlFault | None:
    found = next((each for each in _LONE.finditer(line) if not _in_quotes(line, each.start())), None)
    return None if found is None else _quoted(at, line, found.start(), found.end(), "a question mark by itself")


def _colon(at: int, line: str, column: int, words: str) -> YamlFault | None:
    start = re.match(r"\s*(?:- )*[^:#'\"\[\]{}]+:\s+", line)
    if "mapping values" not in words or start is None or column < start.end() or _COMMENT.search(line, start.end()):
        return None
    fault = _quoted(at, line, start.end(), len(line.rstrip()), "a colon within a value")
    is_joined = start[0].endswith("  ") or re.search(r"[\[\]{}]|\s\s|:$", line[start.end() :].rstrip())
    is_text = not is_joined and start[0].strip() not in _FIXED
    return replace(fault, certain=fault.certain and is_text)  # else a line break or a brace is missing


def _comment(at: int, line: str, _column: int, words: str) -> YamlFault | None:
    """Return a comment that hides the end of a list or mapping."""
    found = next((each for each in _COMMENT.finditer(line) if not _in_quotes(line, each.start() + 1)), None)
    rest = "" if found is None else line[found.start() :]
    item = _HASH.match(rest) if found is not None and re.search(r"[\[,]$", line[: found.start()]) else None
    if found is not None and item is not None and _innermost(line, found.start()) == "[":
        return _quoted(at, line, found.start() + 1, found.start() + item.end(), "a value that begins with #")
    closing = re.search(r"[\]}]+\s*$", rest)
    if found is None or closing is None or "did not find expected" not in words:
        return None
    mended = line[: found.start()] + closing[0].strip()
    return YamlFault(
        at,
        found.start() + 1,
        f"a comment that hides {closing[0].strip()}",
        "the comment after it",
        mended,
        certain=False,
    )


def _quoted(at: int, line: str, start: int, end: int, found: str) -> YamlFault:
    mended = f'{line[:start]}"{line[start:end]}"{line[end:]}'
    whole = '"' not in line[start:end] and "\\" not in line[start:end]
    return YamlFault(at, start, found, "it in quotes", mended if whole else line, certain=whole)


def _in_quotes(line: str, at: int) -> bool:
    return line[:at].count('"') % 2 == 1 or line[:at].count("'") % 2 == 1


_CAUSES: tuple[Callable[[int, str, int, str], YamlFault | None], ...] = (
    _dash, _limit, _interval, _question, _comment, _apostrophe, _special, _hyphen, _separator, _no_colon,
    _list_separator, _colon,
)  # fmt: skip
"""The causes, the most specific ones first."""
