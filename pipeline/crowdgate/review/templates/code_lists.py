"""Lists of codes on sheets of their own, which the variables of a data dictionary name.

A list is a block of rows below its title, or rows with its name beside each code. Its title is the name of a variable,
or a text that the row of a variable has in a cell without a known heading.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from crowdgate.domain import parse_number
from crowdgate.review.templates.codebook_values import (
    bare_label,
    special_codes,
    values_of_pairs,
    without_scale,
    without_unknown,
)
from crowdgate.review.templates.dictionary_headings import places_of_codes
from crowdgate.review.templates.draft_column import DraftColumn, Values
from crowdgate.review.templates.draft_dictionary import (
    Dictionary,
    end_of_variables,
    is_dictionary,
    merged,
    read_dictionary,
)
from crowdgate.review.templates.list_names import list_name, named_title, titles_by_name
from crowdgate.review.templates.stated_ranges import ListedValues
from crowdgate.sources.table_header import CellType

LEAST_CELLS = 2
"""The least number of filled cells of a row that is no title."""
LEAST_LISTS = 2
"""The least number of lists that variables name in a sheet whose headings are not known."""
_COUNT = re.compile(r"[\d\s.,%()]+")
"""A text that may be a count or a share."""
Row = tuple[str, ...]
"""The cells of a row of headings."""
Sheet = tuple[str, Sequence[Sequence[str]]]
"""The title of a sheet, or of a table in a text, and its rows."""


def read_sheets(path: Path, sheets: Sequence[Sheet], names: Sequence[str]) -> Dictionary:
    """Return what sheets of variables and of their codes say of the columns `names` of a table. Lists can stand below
    the variables of a sheet. Raises ConfigurationError if none is a data dictionary.
    """
    parts = [(title, part) for title, rows in sheets for part in _parts(rows, names)]
    heads = _headings([[title], *rows] for title, rows in parts)
    blocks = [code_lists([[title], *rows], heads) for title, rows in parts]
    own = _sheets_of_variables(path, parts, blocks, names)
    found = merged([read_dictionary(path, parts[at][1], names) for at in own or [0]])
    others = [at for at in range(len(parts)) if at not in own]
    lists = [_named_lists(parts[at][1], _referenced(found)) or blocks[at] for at in others]
    titles = tuple(dict.fromkeys(parts[at][0] for at in own)) if len(sheets) > 1 else ()
    coded = [parts[at][0] if any(map(places_of_codes, parts[at][1])) else "" for at in others]
    return replace(_with_lists(found, lists, coded), sheets=titles)


def _parts(rows: Sequence[Sequence[str]], names: Sequence[str]) -> list[Sequence[Sequence[str]]]:
    """Return the rows of variables, and those below them, which begin with a title or an empty row, if these have lists
    that variables name; or else all rows together.
    """
    at = end_of_variables(rows, names)
    end = next((i for i, row in enumerate(rows[at:], at) if sum(bool(each.strip()) for each in row) < LEAST_CELLS), 0)
    below = rows[end:] if at and end else []
    titles = titles_by_name([*code_lists(below)])
    folded = {each.casefold() for each in names}
    cells = {list_name(cell) for row in rows[:end] for cell in row if cell.strip()} | folded
    is_named = titles.keys() & cells or any(places_of_codes(row) for row in below)
    return [rows[:end], below] if below and is_named else [rows]


def _sheets_of_variables(
    path: Path, parts: Sequence[Sheet], blocks: Sequence[Mapping[str, Values]], names: Sequence[str]
) -> list[int]:
    """Return the numbers of the sheets that describe columns: no lists with the names of variables as titles, or with
    names that other sheets use for more lists than they describe columns.
    """
    folded = frozenset(each.casefold() for each in names)
    own = [
        at
        for at, (_, rows) in enumerate(parts)
        if is_dictionary(rows, names) and not _are_of_variables(blocks[at], folded)
    ]
    read = {at: read_dictionary(path, parts[at][1], names) for at in own} if len(own) > 1 else {}
    own = [at for at in own if not read or read[at].columns] or own
    lists = set[int]()
    for at, described in read.items():
        texts = {name for other, each in read.items() if other != at for name in _referenced(each)}
        named = _named_lists(parts[at][1], texts).keys() & texts
        lists |= {at} if len(named) > len(described.columns) else set()
    return [at for at in own if at not in lists or lists == {*own}]


def _referenced(found: Dictionary) -> set[str]:
    """Return the names that lists can have by the rows of variables."""
    return {list_name(text) for name, texts in found.references.items() for text in (name, *texts)}


def code_lists(rows: Sequence[Sequence[str]], heads: frozenset[Row] = frozenset()) -> dict[str, Values]:
    """Return the lists of codes in blocks of rows, by title in lower case. A title is alone in its row; `heads` are
    rows that are headings in others.
    """
    return {title: values for title, block in _blocks(rows) if len(values := _block_values(block, heads)) > 1}


def _headings(sheets: Iterable[Sequence[Sequence[str]]]) -> frozenset[Row]:
    """Return the rows that are headings of lists whose other codes are numbers: these head lists of letters, too."""
    blocks = (block for rows in sheets for _, block in _blocks(rows))
    return frozenset(tuple(each[0]) for each in blocks if _is_heading([row[0] for row in each]))


def _blocks(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each title with the rows below it, down to the next one or to an empty row."""
    title, block = "", list[list[str]]()
    for row in [*rows, []]:
        cells = [each.strip() for each in row]
        filled = [each for each in cells if each]
        if len(filled) > 1:
            block.append(cells)
            continue
        if block and title:
            yield title, block
        title, block = filled[0].casefold() if filled else "" if block else title, []


def _block_values(block: Sequence[Sequence[str]], heads: frozenset[Row]) -> Values:
    """Return the codes of a block with their labels, without its headings; none if a code recurs, or if labels are
    numbers, which may be counts of rows.
    """
    at, label = places_of_codes(block[0]) or (0, 1)
    first = [row[at] for row in block if len(row) > at]
    is_headed = places_of_codes(block[0]) is not None or tuple(block[0]) in heads or _is_heading(first)
    pairs = [(row[at], row[label]) for row in block[is_headed:] if len(row) > max(at, label) and row[at]]
    if len(dict(pairs)) < len(pairs) or any(_COUNT.fullmatch(text) and text != code for code, text in pairs):
        return ()
    return tuple((code, bare_label(code, text)) for code, text in pairs)


def _is_heading(codes: Sequence[str]) -> bool:
    """Return whether the first of several codes is no number, but the others are."""
    numbers = [parse_number(each) is not None for each in codes]
    return len(numbers) > 1 and not numbers[0] and all(numbers[1:])


def _are_of_variables(lists: Mapping[str, Values], names: frozenset[str]) -> bool:
    """Return whether a list has the name of a column of the table, and none of its codes is one."""
    return any(
        title in names and not any(code.casefold() in names for code, _ in values) for title, values in lists.items()
    )


def _named_lists(rows: Sequence[Sequence[str]], names: set[str]) -> dict[str, Values]:
    """Return the lists of a sheet that has the name of a list beside each code."""
    width = max(map(len, rows), default=0)
    cells = [[*(each.strip() for each in row), *[""] * (width - len(row))] for row in rows]
    places = _headed_places(cells, names) or _places_by_content(cells, names)
    if places is None:
        return {}
    at, place, code, label = places
    title, found = "", dict[str, list[tuple[str, str]]]()
    for row in cells[at:]:
        title = row[place] or title
        if row[code]:
            found.setdefault(title.casefold(), []).append((row[code], bare_label(row[code], row[label])))
    return {name: tuple(pairs) for name, pairs in found.items() if len(dict(pairs)) == len(pairs)}


def _headed_places(rows: Sequence[Sequence[str]], names: set[str]) -> tuple[int, int, int, int] | None:
    """Return the number of the first row below known headings, and the places of the names of lists, of codes and of
    labels; None without them.
    """
    at = next((at for at, row in enumerate(rows) if places_of_codes(row)), None)
    places = None if at is None else places_of_codes(rows[at])
    if at is None or places is None:
        return None
    hits = {
        each: sum(list_name(row[each]) in names for row in rows[at + 1 :])
        for each in range(len(rows[at]))
        if each not in places
    }
    place = max(hits, key=lambda each: hits[each], default=0)
    return (at + 1, place, *places) if hits.get(place) else None


def _places_by_content(rows: Sequence[Sequence[str]], names: set[str]) -> tuple[int, int, int, int] | None:
    """Return the same for a sheet with headings that are not known, of which one column has the names of several lists
    and two others are filled.
    """
    columns = [*zip(*rows, strict=True)]
    named = [{list_name(cell) for cell in column if cell} & names for column in columns]
    place = max(range(len(columns)), key=lambda each: len(named[each]), default=0)
    filled = [at for at, each in enumerate(columns) if at != place and 2 * sum(map(bool, each)) > len(rows)]
    if not columns or len(named[place]) < LEAST_LISTS or len(filled) < LEAST_CELLS:
        return None
    at = next(number for number, row in enumerate(rows) if list_name(row[place]) in named[place])
    code, label = sorted(filled[:2], key=lambda each: not _has_numbers(columns[each][at:]))
    return at, place, code, label


def _has_numbers(cells: Sequence[str]) -> bool:
    """Return whether most cells are numbers."""
    return 2 * sum(parse_number(each) is not None for each in cells) > len(cells)


def _with_lists(found: Dictionary, sheets: Sequence[Mapping[str, Values]], coded: Sequence[str]) -> Dictionary:
    """Return a dictionary whose variables have the values of the lists that they name, with the lists that none has:
    those of sheets of which some has one, or which have headings of codes and a title of their own, `coded`.
    """
    lists = {title: values for each in sheets for title, values in each.items()}
    titles = titles_by_name(lists)
    named = {name: title for name, texts in found.references.items() if (title := named_title(name, texts, titles))}
    used = {*named.values()}
    unlinked = [
        title
        for each, own in zip(sheets, coded, strict=True)
        for title in (each if used & each.keys() or (own and each) else filter(None, [own]))
        if title not in used
    ]
    columns = tuple(_listed(each, lists[named[each.name]]) if each.name in named else each for each in found.columns)
    count = sum(each.name in named for each in columns)
    return replace(found, columns=columns, lists=count, unlinked=tuple(unlinked))


def _listed(column: DraftColumn, values: Values) -> DraftColumn:
    """Return a column with the values of a list, unless it states its own."""
    if column.values:
        return column
    if special_codes(values):
        missing = (*column.missing, *(code for code, _ in values))
        return replace(column, missing=tuple(dict.fromkeys(missing)), remark="")
    plain = tuple(pair for pair in values if pair[0] not in column.missing)
    listed = (
        without_unknown(without_scale(plain, column.bounds))
        if column.bounds
        else values_of_pairs(plain, ListedValues())
    )
    kind = CellType.TEXT if listed.values else column.type
    missing = tuple(dict.fromkeys([*column.missing, *listed.missing]))
    return replace(
        column, type=kind, values=listed.values, bounds=listed.bounds, missing=missing, unread=listed.unread, remark=""
    )
