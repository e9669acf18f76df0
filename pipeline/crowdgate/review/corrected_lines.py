"""One corrected line for all problems of a line that have one: what is written in the first round mends them all."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from pathlib import Path

from crowdgate.errors import Problem
from crowdgate.limits import LARGEST_DOCUMENT
from crowdgate.system.regular_files import read_plain

Span = tuple[int, int, str]
"""The first and the last place of a line that a correction replaces, and the text in their place."""


def with_merged_corrections(problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems, of which those on one line have one corrected line. Corrections that overlap stay apart."""
    by_line: dict[tuple[str, int], list[str]] = defaultdict(list)
    for each in problems:
        if each.line is not None and each.corrected is not None:
            by_line[each.file, each.line].append(each.corrected)
    merged = {at: _merged(*at, lines) for at, lines in by_line.items() if len(set(lines)) > 1}
    return [
        replace(each, corrected=merged.get((each.file, each.line or 0)) or each.corrected) if each.corrected else each
        for each in problems
    ]


def _merged(file: str, number: int, corrected: Iterable[str]) -> str | None:
    """Return line `number` (from 1) of a file with all its corrections; None if two of them overlap."""
    text = read_plain(Path(file), LARGEST_DOCUMENT).decode("utf-8-sig")
    line = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", text)[number - 1].rstrip()
    spans = sorted({_span(line, each) for each in corrected}, reverse=True)
    if any(later[0] <= earlier[1] for later, earlier in pairwise(spans)):
        return None
    for start, end, text in spans:
        line = line[:start] + text + line[end:]
    return line


def _span(line: str, corrected: str) -> Span:
    """Return the part of a line that a corrected line replaces, and its text there."""
    start = _common(line, corrected)
    rest, other = line[start:], corrected[start:]
    same = _common(rest[::-1], other[::-1])
    return start, len(line) - same, other[: len(other) - same]


def _common(one: str, other: str) -> int:
    """Return the number of characters with which both texts begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
