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
    ListedValues,
    bare_label,
    special_codes,
    values_of_pairs,
    without_scale,
    without_unknown,
)
from crowdgate.review.templates.dictionary_headings import places_of_codes
from crowdgate.review.templates.draft_column import DraftColumn, Values
from crowdgate.review.templates.draft_dictionary import Dictionary, is_dictionary, merged, read_dictionary
from crowdgate.sources.table_header import CellType

_LIST_WORDS = re.compile(
    r"(?<![^\W_])(?:code ?(?:s|list|lists|book)?|list|lists?|lookup|values?|tbl|table|labels?|kod\w*|tabelle"
    r"|schlüssel\w*|liste|c[oó]digos?|valores|tabla|tabela|modalit\w+|waarden|codelijst|for|of|für|de|von|zu)(?![^\W_])[\s_:.-]*"
)
"""The words in titles of lists that are not the name of a variable."""
_COUNT = re.compile(r"[\d\s.,%()]+")
"""A text that may be a count or a share."""
Row = tuple[str, ...]
"""The cells of a row of headings."""
Sheet = tuple[str, Sequence[Sequence[str]]]
"""The title of a sheet, or of a table in a text, and its rows."""


def read_sheets(path: Path, sheets: Sequence[Sheet], names: Sequence[str]) -> Dictionary:
    """Return what sheets of variables and of their codes say of the columns `names` of a table. Raises
    ConfigurationError if none is a data dictionary.
    """
    folded = frozenset(each.casefold() for each in names)
    heads = _headings([[title], *rows] for title, rows in sheets)
    blocks = {at: code_lists([[title], *rows], heads) for at, (title, rows) in enumerate(sheets)}
    variables = [
        rows
        for at, (_, rows) in enumerate(sheets)
        if is_dictionary(rows, names) and not _are_of_variables(blocks[at], folded)
    ]
    found = merged([read_dictionary(path, rows, names) for rows in variables or [sheets[0][1]]])
    lists: dict[str, Values] = {}
    for at, (_, rows) in enumerate(sheets):
        if not any(rows is each for each in variables):
            lists |= {**_named_lists(path, rows, found), **blocks[at]}
    titles = tuple(title for title, rows in sheets if len(sheets) > 1 and any(rows is each for each in variables))
    return replace(_with_lists(found, lists), sheets=titles)


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


def _named_lists(path: Path, rows: Sequence[Sequence[str]], found: Dictionary) -> dict[str, Values]:
    """Return the lists of a sheet that has the name of a list beside each code."""
    references = sorted({each for texts in found.references.values() for each in texts})
    if not is_dictionary(rows, references):
        return {}
    columns = read_dictionary(path, rows, references).columns
    return {each.name.casefold(): each.values for each in columns if each.values}


def _with_lists(found: Dictionary, lists: Mapping[str, Values]) -> Dictionary:
    """Return a dictionary whose variables have the values of the lists that they name."""
    named = {bare_title(each): values for each, values in lists.items()} | dict(lists)
    used = {
        name: named[known[0]]
        for name, texts in found.references.items()
        if (known := [each for each in (name.casefold(), *texts) if each in named])
    }
    columns = tuple(_listed(each, used[each.name]) if each.name in used else each for each in found.columns)
    return replace(found, columns=columns, lists=sum(each.name in used for each in columns))


def bare_title(title: str) -> str:
    """Return the title of a list without words for lists: `sex` of `codes sex`."""
    return _LIST_WORDS.sub("", title).strip(" _-:.()") or title


def _listed(column: DraftColumn, values: Values) -> DraftColumn:
    """Return a column with the values of a list, unless it states its own."""
    if column.values:
        return column
    if special_codes(values):
        missing = (*column.missing, *(code for code, _ in values))
        return replace(column, missing=tuple(dict.fromkeys(missing)))
    plain = tuple(pair for pair in values if pair[0] not in column.missing)
    listed = (
        without_unknown(without_scale(plain, column.bounds))
        if column.bounds
        else values_of_pairs(plain, ListedValues())
    )
    kind = CellType.TEXT if listed.values else column.type
    missing = tuple(dict.fromkeys([*column.missing, *listed.missing]))
    return replace(column, type=kind, values=listed.values, bounds=listed.bounds, missing=missing, unread=listed.unread)
