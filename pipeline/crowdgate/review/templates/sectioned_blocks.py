"""Codebooks of offices in plain text in which each variable has lines below headings that stand alone in their line.

`Age (@24 3.)`, its question, `Universe`, `Valid range` and `015 - 112`, or `Valid values` and a line for each code.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from crowdgate.review.templates.code_rows import cells_of, is_range
from crowdgate.review.templates.dictionary_headings import heading_key
from crowdgate.review.templates.entry_forms import RANGE_WORDS
from crowdgate.review.templates.text_blocks import OWN_HEADINGS, ROWS

_SIZE = re.compile(r"[(\[][^()\[\]]*?(?P<width>\d+)\.(?P<decimals>\d*)\s*[)\]]")
"""The place and the format of a variable behind its name: `(@24 3.)`."""
_NUMBERED = re.compile(
    r"(?:question|frage|pregunta|vraag|otázka|küsimus|spørgsmål|q)\s*[\d.]+\w?[:.)]?\s+", re.IGNORECASE
)
_HEADED = re.compile(r"(?P<head>[^\W\d][^:=]{2,38}?)\s*(?::\s*(?P<words>.*))?")
_CODE = re.compile(r"[\[(]?-?\w{1,10}[\])]?\s*[=:–-]\s*\S|-?\d{1,8}\s+\S")
_RANGE = re.compile("|".join(RANGE_WORDS), re.IGNORECASE)
_LIMITS = ("values", "range")
LEAST_BLOCKS = 2
"""The least number of variables with values below a heading that a text of this kind has."""


@dataclass
class _HeadedBlock:
    name: str
    rest: str
    lines: dict[str, list[str]] = field(default_factory=dict)

    def has_limits(self) -> bool:
        """Return whether values or a range stand below a heading, and are no table."""
        limits = [each for key in _LIMITS for each in self.lines.get(key, ())]
        return bool(limits) and all(len(cells_of(each)) == 1 for each in limits)


def sectioned_rows(text: str, names: Sequence[str]) -> list[list[str]]:
    """Return the rows of a data dictionary as such blocks state them; none of another text."""
    blocks = [*_blocks(text, {each.casefold(): each for each in names})]
    limited = {each.name: each for each in reversed(blocks) if each.has_limits()}
    if len(limited) < min(LEAST_BLOCKS, len(names)) or 2 * len(limited) < len({each.name for each in blocks}):
        return []
    return [[*ROWS], *(_row(limited.get(each.name, each)) for each in {each.name: each for each in blocks}.values())]


def _blocks(text: str, names: dict[str, str]) -> Iterator[_HeadedBlock]:
    """Yield the block of each line that begins with the name of a column."""
    block, key, is_parted = None, "", False
    for line in text.splitlines():
        first, _, rest = line.strip().partition(" ")
        name = names.get(first.rstrip(".:").casefold())
        if name and not line[:1].isspace() and not (key in _LIMITS and not is_parted and "=" in line):
            block and (yield block)
            block, key, is_parted = _HeadedBlock(name, rest), "label", False
        elif not line.strip():
            is_parted = True
        elif block:
            key = _add(block, line, key, is_parted=is_parted)
            is_parted = is_parted and not key
    if block:
        yield block


def _add(block: _HeadedBlock, line: str, key: str, *, is_parted: bool) -> str:
    """Add a line to a block, and return the heading above the next one. An empty line ends all but a list of codes."""
    found = _HEADED.fullmatch(line.strip())
    known = _key(found["head"]) if found else None
    if found and known is not None and (found["words"] is not None or len(cells_of(line)) == 1):
        block.lines.setdefault(known, [])
        block.lines[known] += [found["words"]] if found["words"] else []
        return known
    is_code = bool(_CODE.match(line.strip()))
    if is_parted and not (key in _LIMITS and is_code and "=" in line):
        return ""
    held = block.lines.setdefault(key, [])
    if key in _LIMITS and held and (line[:1].isspace() and not is_code):
        held[-1] = f"{held[-1]} {line.strip()}"
    else:
        held.append(line.strip())
    return key


def _key(head: str) -> str | None:
    """Return what stands below a heading; an empty text for one that is passed over, None for other lines."""
    own = OWN_HEADINGS.get(" ".join(head.lower().split()))
    known = own if own is not None else heading_key(head) or None
    return "range" if known is None and _RANGE.fullmatch(head) else known


def _row(block: _HeadedBlock) -> list[str]:
    """Return the row of a variable."""
    size = _SIZE.search(block.rest)
    behind = "" if size else re.sub(r"[.\s]*\d*$", "", block.rest)
    lines = block.lines.get("label", [])
    if lines and not _NUMBERED.match(lines[0]):  # the others are notes on it
        block.lines |= {"label": lines[:1], "notes": [*lines[1:], *block.lines.get("notes", ())]}
    words = [behind, *(" ".join(block.lines.get(key, ())) for key in ("label", "concept", "question", "description"))]
    label = _NUMBERED.sub("", next(filter(None, words), ""))
    entries = [each for key in _LIMITS for each in block.lines.get(key, ())]
    kind = " ".join(block.lines.get("type", ())) or (_type(size["decimals"]) if size and _is_number(entries) else "")
    missing = [*block.lines.get("missing", ())]
    return [block.name, label, " ".join(block.lines.get("notes", ())), kind, "\n".join([*entries, *missing]), ""]


def _is_number(entries: Sequence[str]) -> bool:
    """Return whether the first entry is a range of numbers."""
    return bool(entries) and is_range(entries[0])


def _type(decimals: str) -> str:
    """Return the type of a number with so many decimals."""
    return f"numeric (20,{decimals})" if int(decimals or 0) else "integer"
