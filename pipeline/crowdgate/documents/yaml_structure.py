"""Faults in the structure of a YAML text: brackets and quotes that stay open, colons and dashes that are missing, lines
that are indented in another way than their neighbours. libyaml notices most of them a line too late.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from crowdgate.documents.yaml_fault import YamlFault, closing, open_brackets, open_quote

_NAMES = {"[": "bracket [", "{": "brace {", "]": "bracket ]", "}": "brace }"}
"""The names of brackets in messages."""
_EQUALS = re.compile(r"(\s*(?:- )?[A-Za-z_]+)\s*=\s*(\S.*)")
_HARD_BLANK = re.compile(r"(\s*(?:- )?[A-Za-z_]+):\u00a0+(\S.*)")
_NO_BLANK = re.compile(r"(\s*(?:- )?[A-Za-z_]+):([^\s:].*)")
_NEXT_KEY = re.compile(r",\s*[A-Za-z_]+:\s")
"""The start of a next key of the mapping around a list."""
_WORD = re.compile(r"(\s*(?:- )?[A-Za-z_]+)\s*")
_WORDS = re.compile(r"(\s*(?:- )?[A-Za-z_]+) +([^\s:].*)")
_VALUE = re.compile(r"(?!\w )[A-Za-z0-9_\"'.-]+(?: [A-Za-z0-9_\"'.-]+)?(?:\s+#.*)?")
"""A value of a word or two, perhaps with a comment after it."""
_KEY = re.compile(r"[A-Za-z_-]+:(?:\s|$)|- ")


def structure_fault(lines: Sequence[str], error: Any) -> YamlFault | None:
    """Return the cause of an error in the structure of these lines, by libyaml's own words; None if it is unknown."""
    plain = [*(line.rstrip("\r\n") for line in lines), ""]  # an error may be noticed after the last line
    found = (cause(plain, error) for cause in _CAUSES)
    return next((each for each in found if each is not None and each.mended != plain[each.line]), None)


def _open_quote(lines: Sequence[str], error: Any) -> YamlFault | None:
    """Return a quotation mark that nothing closes on its line; a later one may, so that brackets seem to stay open."""
    if error.context_mark is None or not re.search("quoted scalar|flow", str(error.context)):
        return None
    at = error.context_mark.line
    line = lines[at]
    column = open_quote(line)
    if column is None:
        return None
    end = re.compile(r"[\],}]*\s*$|[\],}]").search(line, column + 1)
    assert end is not None
    mended = line[: end.start()].rstrip() + line[column] + line[end.start() :]
    return YamlFault(at, column, "a quotation mark without its end", "one more at the end of the text", mended, False)


def _open_bracket(lines: Sequence[str], error: Any) -> YamlFault | None:
    """Return a bracket or brace that nothing closes: its line ends, or another closing one follows."""
    if "flow" not in str(error.context) or error.context_mark is None or error.problem_mark is None:
        return None
    at, column = error.context_mark.line, error.context_mark.column
    line, mark = lines[at], error.problem_mark
    opened = line[column : column + 1]
    if opened not in _NAMES:
        return None
    expected = f"{closing(opened)} where it ends"
    found = f"a {_NAMES[opened]} that is not closed"
    if mark.line == at and line[mark.column : mark.column + 1] in ("]", "}"):
        key = _NEXT_KEY.search(line, column, mark.column) if opened == "[" else None
        end = mark.column if key is None else key.start()
        mended = line[:end] + closing(opened) + line[end:]
        inner = line[column + 1 : mark.column]
        is_list = opened == "{" or "{" in inner or ": " not in inner
        is_certain = key is None and is_list and _begin_values(line) and opened not in inner
        return YamlFault(at, column, found, expected, mended, is_certain)
    if mark.line == at or not open_brackets(line) or line.rstrip().endswith((",", "[", "{")):
        return None
    after = "".join(lines[at + 1 : at + 2])
    goes_on = sum(map(after.count, "]}")) > sum(map(after.count, "[{"))  # the next line closes it
    mended = line.rstrip() + closing(open_brackets(line))
    return YamlFault(at, column, found, expected, mended, _begin_values(line) and not goes_on and "#" not in line)


def _begin_values(line: str) -> bool:
    """Return whether each bracket and brace of a line begins a value, so that none was typed by accident."""
    return not re.search(r"(?<![:,-] )(?<!\[)[\[{]|[\[{](?:\s|$)", line)


def _closed_twice(lines: Sequence[str], error: Any) -> YamlFault | None:
    """Return a closing bracket or brace that closes nothing, at the end of its line."""
    mark = error.problem_mark
    line = lines[mark.line] if mark is not None and mark.line < len(lines) else ""
    extra = line[mark.column : mark.column + 1] if line else ""
    is_open = any(closing(each) == extra for each in open_brackets(line[: mark.column]))
    if extra not in ("]", "}") or not extra or is_open:
        return None
    mended = line[: mark.column] + line[mark.column + 1 :]
    what, before, after = f"a {_NAMES[extra]} that closes nothing", line[: mark.column], line[mark.column + 1 :]
    within = after[:1].isalnum() or (not before.strip() and bool(after.strip()))
    certain = within or before.endswith(extra)  # else its start may be missing
    return YamlFault(mark.line, mark.column, what, f"no {extra} here", mended, certain)


def _inner_colon(lines: Sequence[str], error: Any) -> YamlFault | None:
    """Return a colon and a blank within a value in braces."""
    mark = error.problem_mark
    line = lines[mark.line] if mark is not None and mark.line < len(lines) else ""
    if "expected ',' or '}'" not in str(error.problem) or line[mark.column : mark.column + 1] != ":":
        return None
    start = line.rfind(": ", 0, mark.column) + 2
    end = re.compile(r"[^,\]}]*").match(line, start)
    if start < 2 or end is None or '"' in end[0] or "'" in end[0]:
        return None
    mended = f'{line[:start]}"{end[0].rstrip()}"{line[start + len(end[0].rstrip()) :]}'
    return YamlFault(mark.line, start, "a colon within a value", "it in quotes, or a comma before a key", mended, False)


def _no_key(lines: Sequence[str], error: Any) -> YamlFault | None:
    """Return a line that is no key, although a key is due: without its colon, or an item without its dash."""
    if "could not find expected ':'" not in str(error.problem) or error.context_mark is None:
        return None
    at = error.context_mark.line
    line = lines[at]
    indent = line[: len(line) - len(line.lstrip(" "))]
    if line.startswith("{", len(indent)):
        before = _before(lines, at)
        beside_item = before is not None and lines[before].startswith(f"{indent}- ")
        mended = f"{indent}- {line.lstrip()}"
        what = "a mapping in braces without a key and without a dash"
        is_item = beside_item and re.match(r"\{ ?[A-Za-z_]+:", line.lstrip()) is not None
        return YamlFault(at, len(indent), what, "a dash and a blank before an item", mended, is_item)
    for form, what, expected in _FORMS:
        found = form.fullmatch(line)
        if found is not None:
            value = found[2] if form.groups > 1 else ""
            certain = _is_value(value) if value else _opens_lines(lines, at)
            return YamlFault(at, found.end(1), what, expected, f"{found[1]}: {value}".rstrip(), certain)
    return None


def _is_value(text: str) -> bool:
    """Return whether a text after a key without its colon is surely its value: a word or two, or a list or mapping."""
    is_quoted = text.count('"') % 2 == 0 and text.count("'") % 2 == 0
    return is_quoted and (_VALUE.fullmatch(text) is not None or (text[0] in "[{" and not open_brackets(text)))


def _opens_lines(lines: Sequence[str], at: int) -> bool:
    """Return whether the next line belongs to a key: it is an item, or deeper than the key."""
    after = _after(lines, at)
    own, other = _indentation(lines[at]), _indentation(after)
    return _KEY.match(after, other) is not None and (other > own or (other == own and after[other] == "-"))


_FORMS = (
    (_NO_BLANK, "a colon without a blank after it", "a blank between key and value"),
    (_EQUALS, "an equals sign after a key", "a colon and a blank"),
    (_HARD_BLANK, "a blank that YAML does not know, after a colon", "a plain blank"),
    (_WORD, "a key without a colon", "a colon after it"),
    (_WORDS, "a key without a colon", "a colon after it"),
)


def _tab(lines: Sequence[str], error: Any) -> YamlFault | None:
    """Return a tab in the blanks before a line."""
    at = error.problem_mark.line if error.problem_mark is not None else len(lines)
    blank = "" if at >= len(lines) else lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    if "\t" not in blank:
        return None
    before = _before(lines, at)
    level = 0 if before is None else _indentation(lines[before]) + 2 * _opens_block(lines[before])
    mended = " " * level + lines[at].lstrip()
    return YamlFault(at, blank.index("\t"), "a tab", "blanks before a key", mended, certain=False)


def _indented(lines: Sequence[str], error: Any) -> YamlFault | None:
    """Return a line whose indentation is none of those around it, with that of an earlier line."""
    mark = error.problem_mark
    due = ("mapping values", "expected key", "expected '-'", "block end")
    if mark is None or mark.line >= len(lines) or not any(each in str(error.problem) for each in due):
        return None
    at, before = mark.line, _before(lines, mark.line)
    own = _indentation(lines[at])
    if before is None or not _KEY.match(lines[at], own):
        return None
    items = [_indentation(line) for line in lines[:at] if line.lstrip(" ").startswith("- ")]
    is_item = lines[at].startswith("- ", own) and bool(items)  # an item stands beside items, a key beside keys
    level_of = _indentation if is_item else _keys_at
    other = level_of(lines[before])
    levels = items if is_item else [_keys_at(line) for line in lines[:at] if line.strip()]
    if own in (other, _indentation(lines[before])) or (own > other and _opens_block(lines[before])):
        return None
    if is_item and lines[before].lstrip(" ").startswith("- ") and _indentation(_after(lines, at)) == own:
        return _moved(lines, before, own, f"{own} in line {at + 1}")
    earlier = _before(lines, before)
    if own > other and earlier is not None and level_of(lines[earlier]) == own:  # the line before left its block
        return _moved(lines, before, own, f"{own} in line {at + 1}")
    level = other if own > other else min(reversed(levels), key=lambda each: abs(each - own))
    return _moved(lines, at, level, f"{other} in line {before + 1}")


def _beside_dash(lines: Sequence[str], error: Any) -> YamlFault | None:
    """Return a key that stands below the dash of an item, not below the item's keys."""
    mark = error.problem_mark
    before = None if mark is None else _before(lines, mark.line)
    if before is None or mark.line >= len(lines) or "expected '-'" not in str(error.problem):
        return None
    own, line = _indentation(lines[mark.line]), lines[mark.line]
    is_key = _KEY.match(line, own) and not line.startswith("- ", own)
    if not is_key or own != _indentation(lines[before]) or not lines[before].startswith("- ", own):
        return None
    expected = f"{own + 2} blanks before a key of that item, or a dash before a new one"
    return YamlFault(mark.line, own, "a key below the dash of an item", expected, f"  {line}", certain=False)


def _moved(lines: Sequence[str], at: int, level: int, beside: str) -> YamlFault:
    found = f"a line with {_indentation(lines[at])} blanks before it, beside {beside}"
    expected = f"{level} blanks, as other lines have"
    return YamlFault(at, 0, found, expected, " " * level + lines[at].lstrip(" "), certain=False)


def _before(lines: Sequence[str], at: int) -> int | None:
    """Return the number of the last line before a line that is neither empty nor a comment."""
    return next((number for number in range(at - 1, -1, -1) if lines[number].strip()[:1] not in ("", "#")), None)


def _after(lines: Sequence[str], at: int) -> str:
    """Return the next line that is neither empty nor a comment; an empty text if there is none."""
    return next((line for line in lines[at + 1 :] if line.strip()[:1] not in ("", "#")), "")


def _keys_at(line: str) -> int:
    """Return where the keys of a line begin: after the dash of an item."""
    return _indentation(line) + 2 * line.lstrip(" ").startswith("- ")


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _opens_block(line: str) -> bool:
    return re.search(r":\s*(?:#.*)?$", line) is not None


_CAUSES: tuple[Callable[[Sequence[str], Any], YamlFault | None], ...] = (
    _tab, _open_quote, _closed_twice, _open_bracket, _inner_colon, _no_key, _beside_dash, _indented,
)  # fmt: skip
