"""XLSForms of ODK, KoboToolbox and SurveyCTO: a sheet of questions, and one of the choices that they name."""

import re
from collections.abc import Iterator, Mapping, Sequence

from crowdgate.review.templates.code_rows import CONSTRAINT

Rows = Sequence[Sequence[str]]
"""The cells of a sheet."""
_SELECT = re.compile(r"select[_ ](?P<kind>one|multiple)\s+(?P<list>\S+)(?P<other>\s+or_other)?", re.IGNORECASE)
_BEGIN, _END = re.compile(r"begin[_ ](?:group|repeat)"), re.compile(r"end[_ ](?:group|repeat)")
_VALUE = r"(?:date\(\s*'(?P<{0}_day>[\d-]+)'\s*\)|(?P<{0}>-?\d+(?:\.\d+)?))"
_LIMITS = re.compile(
    rf"\(?\s*\.\s*>=\s*{_VALUE.format('low')}\s*\)?\s+and\s+\(?\s*\.\s*<=\s*{_VALUE.format('high')}\s*\)?"
)
"""A constraint that is a range with both ends: `. >= 0 and . <= 110`."""
_TYPES = {"integer": "integer", "decimal": "decimal", "range": "decimal", "date": "date", "today": "date"}
_ROLES = {"text": "free text"} | dict.fromkeys(
    (
        "geopoint",
        "geotrace",
        "geoshape",
        "image",
        "audio",
        "video",
        "file",
        "barcode",
        "deviceid",
        "phonenumber",
        "email",
    ),
    "direct identifier",
)
"""The notes on questions whose answers can name somebody."""
_MOMENTS = ("datetime", "start", "end")
_ENDS = ("label", "hint", "constraint")
HEADINGS = ("variable", "label", "type", "values", "value label", "minimum", "maximum", "notes")
"""The headings of the rows that questions become."""


def form_rows(sheets: Sequence[Rows], names: Sequence[str]) -> list[list[str]]:
    """Return the questions of an XLSForm as rows of a data dictionary of the columns `names`, one for each choice of
    those that have some; none if the sheets are no form. A question of several choices has a column for each.
    """
    parts = [(_places(rows), rows) for rows in sheets if rows]
    survey = next(((at, rows) for at, rows in parts if _is_survey(at, rows)), None)
    if survey is None:
        return []
    lists: dict[str, list[tuple[str, str]]] = {}
    for at, rows in parts:
        title = "list_name" if "list_name" in at else "list name"
        for row in rows[1:] if {title, "name"} <= at.keys() else ():
            lists.setdefault(_cell(row, at, title), []).append((_cell(row, at, "name"), _cell(row, at, "label")))
    return [[*HEADINGS], *_questions(*survey, lists, {each.casefold(): each for each in names})]


def _places(rows: Rows) -> dict[str, int]:
    """Return the place of each heading; of labels and hints in several languages the first one."""
    heads = [each.strip().casefold() for each in rows[0]]
    found = {each: at for at, each in reversed([*enumerate(heads)]) if each}
    for key in _ENDS:
        at = next((at for at, each in enumerate(heads) if each == key or each.startswith(f"{key}:")), None)
        found |= {} if at is None else {key: at}
    return found


def _is_survey(at: Mapping[str, int], rows: Rows) -> bool:
    return {"type", "name", "label"} <= at.keys() and any(_SELECT.match(row[at["type"]].strip()) for row in rows[1:])


def _cell(row: Sequence[str], at: Mapping[str, int], key: str) -> str:
    return row[at[key]].strip() if key in at and at[key] < len(row) else ""


def _questions(
    at: Mapping[str, int], rows: Rows, lists: Mapping[str, Sequence[tuple[str, str]]], names: Mapping[str, str]
) -> Iterator[list[str]]:
    groups = list[str]()
    for row in rows[1:]:
        kind, name = _cell(row, at, "type"), _cell(row, at, "name")
        if _BEGIN.match(kind.lower()):
            groups.append(name)
        elif _END.match(kind.lower()):
            del groups[-1:]
        elif name:
            whole = [*groups, name]
            paths = [mark.join(whole[start:]) for start in range(len(whole)) for mark in "/-._"]
            own = next((names[each.casefold()] for each in paths if each.casefold() in names), name)
            yield from _question(own, kind, row, at, lists, names)


def _question(
    name: str,
    kind: str,
    row: Sequence[str],
    at: Mapping[str, int],
    lists: Mapping[str, Sequence[tuple[str, str]]],
    names: Mapping[str, str],
) -> Iterator[list[str]]:
    label, hint = (_cell(row, at, key) for key in ("label", "hint"))
    select = _SELECT.fullmatch(kind)
    choices = lists.get(select["list"], ()) if select else ()
    if select and select["kind"].lower() == "multiple":
        for code, words in choices:
            ticked = next((each for mark in "/._" if (each := f"{name}{mark}{code}").casefold() in names), "")
            yield [ticked or f"{name}/{code}", f"{words} ({label})", "", "0 = not ticked; 1 = ticked", "", "", "", ""]
    elif choices:
        other = [("other", "Other")] if select and select["other"] else []
        yield from ([name, label, "", code, words, "", "", hint] for code, words in (*choices, *other))
    else:
        constraint = _cell(row, at, "constraint")
        found = _LIMITS.fullmatch(constraint)
        ends = [found[end] or found[f"{end}_day"] for end in ("low", "high")] if found else ["", ""]
        first = kind.split()[0].lower() if kind else ""
        plain = "datetime" if first in _MOMENTS else _TYPES.get(first, "")
        said = "" if found or not constraint else f"{CONSTRAINT}{constraint} {hint}".strip()
        yield [name, label, plain, said, "", *ends, _ROLES.get(first, hint)]
