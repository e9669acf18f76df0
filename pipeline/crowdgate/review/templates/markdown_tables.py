"""The tables of a text in Markdown: lines of cells between vertical bars, with the nearest heading above; and sections
that each describe one variable, with a table or a list of its codes.
"""

import re
from collections.abc import Iterator, Sequence

from crowdgate.review.templates.code_rows import cells_of
from crowdgate.review.templates.dictionary_headings import places_of_codes
from crowdgate.review.templates.section_points import (
    Attributes,
    attribute,
    attributes_each,
    has_codes,
    recurring,
    split_off,
    table_attributes,
)

_HEADING = re.compile(r"#{1,6}\s.*|\*\*[^*]+\*\*:?")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?")
"""The line below the headings of a table."""
_POINT = re.compile(r"(?:[-*+]\s+)?(?P<entry>(?<=\s)\S.*|\d{1,4}[.)]\s.*)")
"""A line of a list, whose number is a code: `- 1: Yes`, `1. Yes`."""
_LABEL = re.compile(
    r"\**(?:label|concept|question|description|bezeichnung|libellé|etiqueta)\**\s*:\**\s*(?P<words>[^*|]+)",
    re.I,
)
_FIRST = re.compile(r"^\W*(?:(?:variable|column|field|sas|name)\W+){0,3}", re.IGNORECASE)
"""The words before a name at the start of a line: `**Variable name:** SEX`."""
_ATTRIBUTE = re.compile(r"[^\W\d][^:.;=]{1,30}:")
"""The start of a line of words on a variable in a plain text."""
_WORDS = re.compile(r"\s+(?![A-Z]{1,3}\d{0,4}\s)[^\W\d][^\s=]*(?:\s+[^\s=]+){2,}")
"""An indented line of several words without a code."""
_PLACE = re.compile(r"-?\d{1,5}(?:[-–.]\d{1,5})?|[AaNn]{1,2}|[Yy]es|[Nn]o|[A-Z]\d{0,2}")
"""A cell on the place of a variable in its line, on its length or its type."""
LEAST_LAYOUT = 4
"""The least number of cells of a line with such cells behind the label."""
_LIST_BEHIND = re.compile(r"(?P<label>[^:=]+):\s*(?P<codes>[^:=]{1,20}=[^:]*?)\.?")
"""A label with codes and their labels behind it: `Ethnic group: W = White, B = Black`."""
SECTIONS = ["variable", "label", "values", "value label"]
"""The headings of the rows that sections become."""
_BAR = re.compile(r"(?<!\\)\|")


def markdown_tables(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the title and the rows of each table of a text."""
    title, rows = "", list[list[str]]()
    for line in [*_lines(text), ""]:
        if line.startswith("|"):
            rows += [] if _RULE.fullmatch(line) else [_cells(line)]
            continue
        if rows:
            yield title, rows
            title, rows = "", []
        if _HEADING.fullmatch(line):
            title = _plain(line.strip("#: "))


def _lines(text: str) -> list[str]:
    """Return the lines of a text; those of tables begin with a bar, which some writers leave out."""
    lines = [each.strip() for each in text.splitlines()]
    for at, line in enumerate(lines):
        if "|" in line and not line.startswith("|") and _RULE.fullmatch(line):
            end = next((i for i in range(at, len(lines)) if "|" not in lines[i]), len(lines))
            lines[max(at - 1, 0) : end] = [f"|{each}" for each in lines[max(at - 1, 0) : end]]
    return lines


def _cells(line: str) -> list[str]:
    """Return the cells of a line without their marks."""
    return [_plain(each) for each in _BAR.split(line.removeprefix("|").removesuffix("|"))]


def _plain(text: str) -> str:
    """Return a text without the marks of code and of bold letters, where lines end at `<br>`."""
    lines = (each.strip() for each in re.split(r"<br ?/?>", text))
    text = "\n".join(lines).replace("\\|", "|").replace("\\_", "_")
    return re.sub(r"`([^`]*)`|\*\*([^*]*)\*\*", lambda found: found[1] or found[2] or "", text).strip()


def with_points(text: str, names: Sequence[str]) -> str:
    """Return a plain text, in which the names of variables begin lines and their codes stand on indented lines below,
    as one whose codes are points of a list.
    """
    folded, found, is_begun = {each.casefold() for each in names}, list[str](), False
    for line in text.splitlines():
        marked = _marked(line, folded)
        is_words = is_begun and _WORDS.fullmatch(line) and not attribute(line.strip())
        found += [line.strip()] if is_words else marked
        is_begun = marked[0].startswith("## ") or (is_begun and not is_words and all(map(_is_attribute, marked)))
    return "\n".join(found)


def _is_attribute(point: str) -> bool:
    """Return whether a point of a list is an attribute, or nothing at all."""
    return not point.strip("#- ") or attribute(point) is not None


def _marked(line: str, names: set[str]) -> list[str]:
    """Return a line of a plain text as a point, as the heading of a variable, with its attributes as points, or of
    others, or as words on a variable: `Concept: Sex`.
    """
    if re.match(r"\s+\S|\d", line):
        return [f"- {line.strip()}"]
    if _begins_with(_FIRST.sub("", line), names):
        cells = cells_of(line)
        own = [each for each in cells[1:] if attribute(each)]
        layout = cells[2:] if len(cells) >= LEAST_LAYOUT and all(map(_PLACE.fullmatch, cells[2:])) else []
        cells = cells[:2] if layout else cells
        head = "  ".join(each for each in cells if each not in own) if own or layout else line
        return [f"## {head}", *(f"- {each}" for each in own)]
    return [line if _ATTRIBUTE.match(line) else f"# {line}"]


def _begins_with(line: str, names: set[str]) -> bool:
    """Return whether a line begins with one of `names`."""
    return line.strip().partition(" ")[0].partition("\t")[0].strip(".,:;").casefold() in names


def section_rows(text: str, names: Sequence[str]) -> list[list[str]]:
    """Return the rows of a data dictionary as sections of a text state them, of which each has the name of a column in
    its heading, or in a line of its own; none without such sections.
    """
    folded = {each.casefold() for each in names}
    sections = _without_mentions([*_sections(text, folded)], folded)
    common = recurring([[*words, *block] for words, block in sections])
    found = [row for words, block in sections for row in _section(words, block, folded, common)]
    further = [*dict.fromkeys(key for _, stated in found for key in stated)]
    rows = [[*row, *(stated.get(key, "") for key in further)] for row, stated in found]
    return [[*SECTIONS, *further], *rows] if rows else []


def _sections(text: str, names: set[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words and the lines of codes of each section: a heading, or a line that begins with the name of another
    column, begins one.
    """
    words, block, name = list[str](), list[str](), ""
    for line in (part for each in _lines(text) for part in attributes_each(each)):
        is_plain = name and not _LABEL.match(line) and not _HEADING.fullmatch(line)
        is_code = line.startswith("|") or bool(_POINT.match(line)) or bool(is_plain and attribute(line))
        own = (
            "" if is_code else _name_in(line if _HEADING.fullmatch(line) else _FIRST.sub("", line).split(" ")[0], names)
        )
        if (name and own.casefold() not in ("", name.casefold())) or (_HEADING.fullmatch(line) and (block or name)):
            yield words, block
            words, block, name = [], [], ""
        if own and not name:
            words = [] if line.startswith("#") else _below_heading(words)
        name = name or own
        (block if is_code else words).extend([line] if line else [])
    yield words, block


def _without_mentions(
    sections: Sequence[tuple[list[str], list[str]]], names: set[str]
) -> list[tuple[list[str], list[str]]]:
    """Return the sections without those whose words only mention a column that begins a line of another one."""
    begun = {_FIRST.sub("", line).split(" ")[0].casefold() for words, _ in sections for line in words} & names
    return [
        (words, block)
        for words, block in sections
        if (name := _first_name(words, names).casefold()) not in begun or any(_is_of(line, name) for line in words)
    ]


def _is_of(line: str, name: str) -> bool:
    """Return whether a line is a heading with this name, or begins with it."""
    return bool(_HEADING.fullmatch(line) and _name_in(line, {name})) or _FIRST.sub("", line).casefold().startswith(name)


def _first_name(words: Sequence[str], names: set[str]) -> str:
    return next(filter(None, (_name_in(each, names) for each in words)), "")


def _below_heading(words: Sequence[str]) -> list[str]:
    """Return the last heading and the words below it; none without one, and none of the introduction of a text."""
    last = max((at for at, each in enumerate(words) if _HEADING.fullmatch(each)), default=len(words))
    kept = list(words[last:])
    return [] if len(kept) > 1 and kept[0].startswith("# ") else kept


def _name_in(text: str, names: set[str]) -> str:
    """Return the first word of a text that is the name of a column; empty if there is none."""
    tokens = (each.strip(".,:;()[]`*#\"'") for each in text.split())
    return next((each for each in tokens if each.casefold() in names), "")


def _section(
    words: Sequence[str], block: Sequence[str], names: set[str], common: frozenset[str]
) -> Iterator[tuple[list[str], Attributes]]:
    """Yield the rows of a variable: one with its label, and one for each code; with its attributes, which stand in the
    first row. Left sides that are `common` to most sections are attributes.
    """
    name = _first_name(words, names)
    if not name:
        return
    table = [_cells(each) for each in block if each.startswith("|") and not _RULE.fullmatch(each)]
    beside = [each for each in words if common and attribute(each, common) and not _LABEL.search(each)]
    words = [each for each in words if each not in beside]
    lines = table_attributes(table)
    table = [] if lines else table
    stated, points = _attributes([*beside, *lines, *(each for each in block if not each.startswith("|"))], common)
    label = _section_label(words, name) or stated.pop("label", "")
    is_listed, listed = has_codes(stated), stated.pop("values", "")
    if not is_listed:
        stated |= _with_points(stated, points)
        points = []
    if not table:
        codes = _plain("\n".join(points))
        told = None if codes or listed else _LIST_BEHIND.fullmatch(label)
        others = "" if is_listed is False or table else _with_digits(words, name, label)
        row = [told["label"], told["codes"]] if told else [label, codes or listed or others]
        yield [name, *row, ""], stated
        return
    at = places_of_codes(table[0]) or (0, 1)
    pairs = [[row[each] for each in at] for row in table[1:] if len(row) > max(at)]
    yield from (([name, label, *each], {} if number else stated) for number, each in enumerate(pairs))


def _with_points(stated: Attributes, points: Sequence[str]) -> Attributes:
    """Return what points say that are no codes of a list: all of those on nothing in particular are notes."""
    found = list(map(split_off, points))
    notes = [words for key, words in found if key == "notes"]
    others = {key: words for key, words in found if key not in (*stated, "notes")}
    return others | ({"notes": "; ".join(filter(None, (stated.get("notes", ""), *notes)))} if notes else {})


def _with_digits(words: Sequence[str], name: str, label: str) -> str:
    """Return the lines of a section with numbers that are neither its heading nor its label, and may be codes."""
    others = (each for each in words if not _HEADING.fullmatch(each) and label not in each and not _LABEL.search(each))
    return "\n".join(each for each in others if re.search(r"\d", each) and not _FIRST.sub("", each).startswith(name))


def _attributes(lines: Sequence[str], common: frozenset[str]) -> tuple[Attributes, list[str]]:
    """Return the attributes of a variable, by heading, and the other points of its section. A heading without words
    stands above the points below it.
    """
    stated, points = Attributes(), list[str]()
    for line in lines:
        if (found := attribute(line, common)) is None:
            points += [each["entry"]] if (each := _POINT.match(line)) else []
        elif found[1]:
            stated[found[0]] = " ".join(filter(None, (stated.get(found[0]), found[1])))
    return stated, points


def _section_label(words: Sequence[str], name: str) -> str:
    """Return the label of a variable in its section: as it is marked, or beside its name, or else the next line."""
    marked = next((found["words"] for each in words if (found := _LABEL.search(each))), "")
    named = (each for each in words if _HEADING.fullmatch(each) or _FIRST.sub("", each).startswith(name))
    own = next(named, "")  # the name can be a word of the label, too: `Do you smoke?`
    pattern = rf"[`*#]*(?<!\w){re.escape(name)}(?!\w)[`*]*"
    others = (re.sub(pattern, "", each, count=1, flags=re.I) if each == own else each for each in words)
    bare = (_plain(each).strip("#*:–—- ") for each in others)
    return _plain(marked or next((each for each in bare if each), ""))
