"""Codebooks of offices in plain text: a block of lines for each variable, with its attributes and a table of its codes.

`Variable Name: SEX   Length: 1   Position: 7`, then `Concept`, `Question`, `Universe`, and `Label  Code  Frequency`.
Counts are passed over.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from crowdgate.review.templates.code_rows import DOUBTFUL, cells_of, headed_table, is_range, plain_table
from crowdgate.review.templates.dictionary_headings import HEADINGS, heading_key, is_count_heading, places_of_codes
from crowdgate.review.templates.dictionary_types import StatedType, stated_type
from crowdgate.review.templates.figure_columns import FIGURE
from crowdgate.review.templates.special_labels import is_special
from crowdgate.review.templates.value_rows import is_observed
from crowdgate.sources.table_header import CellType

_NAMES = "|".join(sorted(map(re.escape, HEADINGS["name"]), key=len, reverse=True))
_START = re.compile(
    rf"\W{{0,4}}(?:(?:sas|spss|stata|r|short|file) )?(?:{_NAMES})\s*[:.=#]?\s+(?P<name>[^\s:]+)[:.]?(?P<rest>.*)",
    re.IGNORECASE,
)
_BARE = re.compile(r"(?P<name>[^\s:]+?)(?P<rest>(?:[:.]?\s|[:.]?$).*)")
_ATTRIBUTE = re.compile(r"(?P<left>[^\W\d][^:=\t]{1,38}?)(?:\s*:\s*|\s{2,}|\t|\s*$)(?P<words>.*)")
_FIRST, _LABELS, _QUESTIONS = "concept", ("label", "description"), ("question",)
OWN_HEADINGS = {
    "concept": _FIRST, "konzept": _FIRST, "concepto": _FIRST, "conceito": _FIRST, "question text": "question",
    "question": "question", "literal question": "question", "fragetext": "question", "pregunta": "question",
    "texte de la question": "question", "question name": "", "universe": "universe", "population": "universe",
    "universo": "universe", "univers": "universe", "filter": "universe", "position": "", "columns": "", "source": "",
    "sas label": "label", "spss label": "label", "stata label": "label", "short label": "label",
    "english text": "question", "target": "universe", "target population": "universe", "english instructions": "",
    "flags": "", "status flags": "", "flag": "", "hard edit": "", "soft edit": "",
    "columna": "", "start": "", "end": "",
}  # fmt: skip
"""The attributes of blocks that are no headings of data dictionaries; those without a key are passed over."""
_WORDED = (*_LABELS, *_QUESTIONS, "notes")
"""The attributes whose words go on in the next line."""
_BARE_HEADS = ["code", "label"]
_FLAGS = re.compile(r"(?:status )?flags?|source|notes?|remarks?|mode of collection", re.IGNORECASE)
"""The lines that end a list of codes without headings."""
_FIGURE_LINE = re.compile(r"[^\W\d][^:=]{1,38}:\s*-?[\d.,\s%]+")
"""A fact that is nothing but a number, such as a count of cases."""
_COUNTED = re.compile(r"(?:in)?valid(?: cases)?|cases|mean|std.*|observations|n", re.IGNORECASE)
_RULE = re.compile(r"[-=_*~\s]{3,}")
OBSERVED = "range of values"
"""The label of a range that stands beside counts of cases, as statistics of the table do."""
ROWS = ("variable", "label", "notes", "type", "values", "value label")
"""The headings of the rows that blocks become."""


@dataclass
class _VariableBlock:
    name: str
    stated: dict[str, str] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    last: str = ""
    is_ended: bool = False
    is_counted: bool = False


def block_rows(text: str, names: Sequence[str]) -> list[list[str]]:
    """Return the rows of a data dictionary as the blocks of a text state them; none without blocks that begin with a
    heading for names and the name of a column, or whose codes stand below headings.
    """
    folded = {each.casefold(): each for each in names}
    blocks, is_marked = _blocks(text, folded)
    if not blocks or not (is_marked or any(each.heads for each in blocks)):
        return []
    return [[*ROWS], *(row for each in blocks for row in _rows(each))]


def _blocks(text: str, names: dict[str, str]) -> tuple[list[_VariableBlock], bool]:
    """Return the block of each column, and whether a heading for names begins it."""
    lines = [(line, _START.fullmatch(line)) for line in _names_first(text.splitlines(), names)]
    marks = {_mark(start) for _, start in lines if start is not None and start["name"].casefold() in names}
    is_marked = bool(marks)
    found, is_open = list[_VariableBlock](), False
    for line, start in lines:
        begun = start if is_marked else _bare_start(line, found[-1] if is_open else None)
        if begun is not None and begun["name"].casefold() in names:
            found.append(_VariableBlock(names[begun["name"].casefold()]))
            is_open = True
            _attributes(found[-1], begun["rest"])
        elif begun is not None and is_marked and _mark(begun) in marks:
            is_open = False  # a variable that is no column
        elif is_open:
            is_open = _add(found[-1], line)
    return found, is_marked


def _names_first(lines: Sequence[str], names: dict[str, str]) -> list[str]:
    """Return lines in which the line with the name of a column comes first of its paragraph, where another attribute
    began it.
    """
    found, start = list[str](), 0
    for line in lines:
        is_empty = not line.strip() or _RULE.fullmatch(line)
        named = _START.fullmatch(line)
        is_named = named is not None and named["name"].casefold() in names
        if is_named and start < len(found) and _is_attribute(found[start]):
            found.insert(start, line)
        else:
            found.append(line)
        start = len(found) if is_empty or is_named else start
    return found


def _is_attribute(line: str) -> bool:
    """Return whether a line states a known fact behind a colon."""
    head, colon, words = line.partition(":")
    return bool(colon and words.strip()) and _START.fullmatch(line) is None and _key(head) is not None


def _mark(start: re.Match[str]) -> str:
    """Return the words before a name, without the blanks around them."""
    return start.string[: start.start("name")].strip().casefold()


def _bare_start(line: str, block: _VariableBlock | None) -> re.Match[str] | None:
    """Return a name at the start of a line that is no row of the table of the block before it."""
    is_row = block is not None and block.heads and not block.is_ended and len(cells_of(line)) == len(block.heads)
    return None if is_row or line[:1].isspace() else _BARE.fullmatch(line)


def _attributes(block: _VariableBlock, rest: str) -> None:
    """Add the attributes that stand behind a name: `Length  1  Position  7`, or its label."""
    cells = [part for each in cells_of(rest.lstrip(" :.")) for part in re.split(r"\s*:\s*", each) if part]
    at = 0
    while at < len(cells):
        key = _key(cells[at])
        if key is not None and at + 1 < len(cells):
            block.stated.setdefault(key, cells[at + 1])
            at += 2
            continue
        if key is None:
            block.stated.setdefault("label", cells[at])
        at += 1


def _key(left: str) -> str | None:
    """Return what an attribute says; None if it is not known."""
    known = OWN_HEADINGS.get(" ".join(left.lower().split()))
    return known if known is not None else heading_key(left) or None


def _add(block: _VariableBlock, line: str) -> bool:
    """Add a line to a block; return whether it goes on. A rule below codes ends it."""
    cells = cells_of(line)
    if not cells or _RULE.fullmatch(line):
        block.last = ""
        block.is_ended = bool(block.heads and block.rows)
        return True
    if block.is_ended and not any(map(FIGURE.fullmatch, cells[1:])):
        return False  # such as the heading of a page
    if len(cells) == 1 and not (block.heads or block.rows) and not line[:1].isspace() and _key(cells[0]) == "values":
        block.heads = _BARE_HEADS
        return True
    if block.heads is _BARE_HEADS and block.rows and _FLAGS.fullmatch(cells[0]):
        block.is_ended = True
        return True
    if len(cells) > 1 and not block.rows and places_of_codes(cells) is not None:
        block.heads = cells
        return True
    if len(cells) > 2 and not block.heads and not block.rows and _are_counted(cells):
        block.heads = ["code", "label", *cells[2:]]
        return True
    if block.heads or (line[:1].isspace() and len(cells) > 1 and not block.last):
        if block.heads and len(cells) == 1 and not block.rows:
            return True
        block.rows.append(cells)
        return True
    found = _ATTRIBUTE.fullmatch(line.strip())
    key = _key(found["left"]) if found else None
    if found and key is not None:
        block.stated.setdefault(key, found["words"].strip())
        block.last = key
    elif _FIGURE_LINE.fullmatch(line.strip()):
        block.is_counted |= bool(_COUNTED.fullmatch(line.strip().partition(":")[0]))
    elif block.last and (line[:1].isspace() or (block.last in _WORDED and len(cells) == 1 and ": " not in line)):
        block.stated[block.last] = f"{block.stated[block.last]} {' '.join(cells)}".strip()
    return True


def _are_counted(cells: Sequence[str]) -> bool:
    """Return whether cells are headings, only those of counts known, behind codes and labels."""
    return not re.search(r"\d", "".join(cells)) and any(map(is_count_heading, cells[2:]))


def _rows(block: _VariableBlock) -> Iterator[list[str]]:
    """Yield the rows of a variable: one, or one for each code."""
    stated = block.stated
    label = next((stated[key] for key in (_FIRST, *_LABELS, *_QUESTIONS) if stated.get(key)), "")
    notes = stated.get("notes", "")
    table = headed_table(block.heads, _ended(block)) if block.heads else plain_table(block.rows)
    ranges = [code for code, _ in table.entries if is_range(code)]
    kind = stated.get("type", "")
    is_plain = not kind or (ranges and stated_type(kind) == StatedType(CellType.NUMBER))
    kind = _type(ranges, stated.get("length", "")) if is_plain else kind
    first = [block.name, label, notes, kind]
    if table.doubtful:
        yield [*first, f"{DOUBTFUL}{'; '.join(table.doubtful)}", ""]
        return
    entries = [
        (_plain_range(code, stated.get("length", "")) if code in ranges else code, text) for code, text in table.entries
    ]
    ranges = [_plain_range(each, stated.get("length", "")) for each in ranges]
    is_bare = {text for code, text in entries if code in ranges and not (re.search(r"\d", text) or is_observed(text))}
    entries = [(code, "" if code in ranges and text in is_bare else text) for code, text in entries]
    if len(entries) == 1 and not ranges and not is_special(entries[0][1]):
        yield [*first[:2], f"{notes} {entries[0][1]}".strip(), kind, entries[0][0], ""]
    elif not entries:
        listed = stated.get("values", "") or stated.get("range", "")
        yield [*first, listed, OBSERVED if block.is_counted and is_range(listed) else ""]
    else:
        yield from ([*first, code, text] for code, text in entries)


def _ended(block: _VariableBlock) -> list[list[str]]:
    """Return the rows of a table without those behind its end: page headings, and lines of words alone."""
    width = len(block.heads)
    return [row for row in block.rows if len(row) > 1 or (width > 1 and not FIGURE.fullmatch(row[0]))]


def _plain_range(code: str, length: str) -> str:
    """Return a range of numbers with three decimals, of which the length says so, without a zero at their end: 1.32 of
    1.320, as a mark before three digits can also stand between thousands.
    """
    if not re.search(r"^\d+[.,]3$", length):
        return code
    shorter = re.sub(r"(\.\d*?)0+(?!\d)", r"\1", code)
    return re.sub(r"\.(?!\d)", "", re.sub(r"(\.\d{3})(?!\d)", r"\g<1>0", shorter))


def _type(ranges: Sequence[str], length: str) -> str:
    """Return the type of a variable with a range: of whole numbers, unless the range or the length has decimals."""
    if not ranges:
        return ""
    decimals = max(
        [len(each) for each in re.findall(r"\.(\d+)", ranges[0])]
        + [int(each) for each in re.findall(r"^\d+[.,](\d)$", length)],
        default=0,
    )
    return f"numeric (20,{decimals})" if decimals else "integer"
