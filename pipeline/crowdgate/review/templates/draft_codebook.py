"""Variables of a DDI codebook as columns of a draft."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from crowdgate.contracts.undecided import change
from crowdgate.domain import parse_number
from crowdgate.review.templates.codebook_values import bare_label, has_open_end, special_codes, without_scale
from crowdgate.review.templates.dictionary_types import day_form
from crowdgate.review.templates.draft_column import NO_TABLE, DraftColumn, DraftSource, Values, cannot_draft
from crowdgate.review.templates.open_ends import is_open_end
from crowdgate.review.templates.special_labels import is_empty
from crowdgate.review.templates.stated_ranges import ListedValues, days_in_words, stated_range
from crowdgate.review.templates.stated_roles import role_in_brackets, stated_role
from crowdgate.sources.table_header import CellType
from crowdgate.system.regular_files import read_plain

LARGEST_CODEBOOK = 1 << 26
"""The greatest size of a codebook in bytes."""
_FORMAT_OF_DAYS = re.compile(r"[AEJS]?DATE|DDMMYY|MMDDYY|YYMMDD|%td", re.IGNORECASE)
"""The names of formats of days, of which some have a number behind them: DATE11."""
_DECIMALS = re.compile(r"[A-Z]*\d+\.([1-9])$")
"""The number of decimals in the name of a format: F8.2."""
_WHOLE_FORMAT = re.compile(r"[FN]?\d+(\.0)?", re.IGNORECASE)
"""The name of a format of numbers without decimals: F8, F8.0."""
_NO_CELL = re.compile(r"\.[a-z]?|sys(tem)?[ _-]?miss?(ing)?", re.IGNORECASE)
"""The values that codebooks write for an empty cell."""


def codebook(path: Path) -> tuple[DraftSource, str]:
    """Return the variables of a DDI codebook (version 2), with the values of their categories, and the name that it
    gives to the table's file (or an empty text). Frequencies are passed over. Raises ConfigurationError if it can't be
    read.
    """
    text = read_plain(path, LARGEST_CODEBOOK)
    if b"\0" in text or b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise cannot_draft(path, "XML with declarations of its own", "a codebook in UTF-8, without DOCTYPE and ENTITY")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise cannot_draft(
            path, f"no XML: line {error.position[0]}, column {error.position[1]}", "a DDI codebook"
        ) from None
    except (LookupError, ValueError):
        raise cannot_draft(path, "XML in an encoding that is not known", "a codebook in UTF-8") from None
    columns = tuple(_variable(each) for each in root.iter() if _tag(each) == "var" and each.get("name"))
    files = ["".join(each.itertext()).strip() for each in root.iter() if _tag(each) == "fileName"]
    named = files[0] if len(files) == 1 else ""
    where = f"{NO_TABLE}; the codebook names {named}" if named else NO_TABLE
    return DraftSource(f"the codebook {path.name}", change(where), "csv", columns), named


def _variable(stated: Any) -> DraftColumn:
    labels = {_tag(each): "".join(each.itertext()).strip() for each in stated}
    listed = tuple(_categories(stated))
    special = stated.get("intrvl") == "contin" or special_codes(listed)
    values = () if special else listed
    stated_formats = [each for each in stated if _tag(each) == "varFormat"]
    formats = {str(each.get("type")) for each in stated_formats}
    label, name = labels.get("labl", ""), str(stated.get("name"))
    words = [label, labels.get("notes", ""), labels.get("txt", "")]
    valid = _valid_range(stated)
    decimals = max(valid.decimals or 0, _decimals(stated, stated_formats)) or (0 if stated.get("dcml") else None)
    is_whole = not decimals and (decimals == 0 or _states_whole_numbers(stated, stated_formats))
    numeric = CellType.WHOLE if is_whole else CellType.NUMBER
    is_top = valid.bounds is not None and _is_top(valid.bounds[1], listed, words)
    is_text = "character" in formats or (values and not formats and valid.bounds is None)
    kept = ListedValues(values, valid.bounds) if is_text else without_scale(values, valid.bounds)
    form = day_form(label)
    found = CellType.DAY if form or any(map(_is_day, stated_formats)) else CellType.TEXT if is_text else numeric
    told = days_in_words(words) if found is CellType.DAY and not valid.bounds else ListedValues()
    valid = told if told.bounds else valid
    role = stated_role(labels.get("security", "")) or role_in_brackets(label)
    column = DraftColumn(
        name, found, label, kept.values, valid.bounds, is_designed=is_top or bool(told.bounds),
        unread=kept.unread, decimals=decimals, day_form=form, top=is_top, role=role,
    )  # fmt: skip
    bounds = column.bounds if column.is_age or not kept.values else None
    codes = (code for code, label in listed if special and special_codes([(code, label)]))
    outside = _outside(listed, bounds) if bounds else ()
    missing = [*_missing_codes(stated), *codes, *kept.missing, *outside]
    return replace(column, bounds=bounds, missing=tuple(dict.fromkeys(missing)))


def _is_top(greatest: str, listed: Values, words: Sequence[str]) -> bool:
    """Return whether a category, or words, say that a valid range has an open end: it is no extreme of cells then."""
    return any(code == greatest and is_open_end(code, label) for code, label in listed) or has_open_end(greatest, words)


def _decimals(variable: Any, formats: Sequence[Any]) -> int:
    """Return the number of decimals that a variable or its format states; 0 if neither does."""
    found = [_DECIMALS.match(each.get("formatname") or "") for each in formats]
    return max([_whole_attribute(variable, "dcml"), *(int(each[1]) for each in found if each)])


def _states_whole_numbers(variable: Any, formats: Sequence[Any]) -> bool:
    """Return whether numbers have no decimals: by their format, or since they are not measured (`contin`)."""
    named = (each.get("formatname") or "" for each in formats)
    return variable.get("intrvl") != "contin" or any(map(_WHOLE_FORMAT.fullmatch, named))


def _is_day(stated: Any) -> bool:
    """Return whether a format is one of days: by its category, or its name in SPSS, SAS or Stata."""
    return stated.get("category") == "date" or bool(_FORMAT_OF_DAYS.match(stated.get("formatname") or ""))


def _whole_attribute(variable: Any, key: str) -> int:
    """Return the whole number in an attribute; 0 without one."""
    text = str(variable.get(key) or "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 3 else 0


def _outside(listed: Values, bounds: tuple[str, str]) -> Iterator[str]:
    """Yield the codes of categories outside a valid range: such as 98 for an unknown age."""
    low, high = map(parse_number, bounds)
    for code, _ in listed:
        number = parse_number(code)
        if number is not None and low is not None and high is not None and not low <= number <= high:
            yield code


def _valid_range(variable: Any) -> ListedValues:
    """Return the range of the valid numbers of a variable (element valrng); empty if it has not exactly one range."""
    ranges = _ranges(variable, "valrng")
    limits = [ranges[0].get(key) for key in ("min", "max")] if len(ranges) == 1 else []
    return stated_range(*map(str, limits)) if limits else ListedValues()


def _ranges(variable: Any, kind: str) -> list[Any]:
    return [each for group in variable if _tag(group) == kind for each in group if _tag(each) in ("range", "item")]


def _categories(variable: Any) -> Iterator[tuple[str, str]]:
    """Yield the value and the label of each category of a variable that is no missing value: by its own mark, or by the
    variable's invalid range (element invalrng).
    """
    invalid = [_limits(each) for each in _ranges(variable, "invalrng")]
    single = {str(each.get("VALUE")).strip() for each in _ranges(variable, "invalrng")}
    for category in variable:
        if _tag(category) != "catgry" or category.get("missing") == "Y":
            continue
        parts = {_tag(each): "".join(each.itertext()).strip() for each in category}
        number = parse_number(parts.get("catValu", ""))
        code = parts.get("catValu", "")
        is_invalid = code in single or any(number is not None and low <= number <= high for low, high in invalid)
        if code and not is_invalid and not _NO_CELL.fullmatch(code):
            yield code, bare_label(code, parts.get("labl", ""))


def _missing_codes(variable: Any) -> Iterator[str]:
    """Yield the codes of categories that a codebook marks as missing, and the single values of its invalid range."""
    invalid = [each for group in variable if _tag(group) == "invalrng" for each in group if _tag(each) == "item"]
    marked = [each for each in variable if _tag(each) == "catgry" and each.get("missing") == "Y"]
    codes = [part.text for each in marked for part in each if _tag(part) == "catValu"]
    found = [*codes, *(each.get("VALUE") for each in invalid)]
    stripped = dict.fromkeys(code.strip() for code in found if code)
    yield from (code for code in stripped if code and not _NO_CELL.fullmatch(code) and not is_empty(code))


def _limits(stated: Any) -> tuple[Fraction | float, Fraction | float]:
    """Return the least and the greatest number of a range or an item; one limit that it lacks is infinite, of two it is
    empty.
    """
    low, high = (parse_number(stated.get(key) or stated.get("VALUE") or "") for key in ("min", "max"))
    if low is None and high is None:
        return math.inf, -math.inf
    return (-math.inf if low is None else low), (math.inf if high is None else high)


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]
