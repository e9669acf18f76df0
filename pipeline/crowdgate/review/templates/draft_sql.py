"""Columns of a table in a script of SQL, with what its constraints and comments say, as columns of a draft."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crowdgate.domain import parse_number
from crowdgate.review.syntax.check_constraints import Check, checks
from crowdgate.review.syntax.sql import SqlColumn, SqlScript, SqlTable, SqlType, lookup_rows, sql_script
from crowdgate.review.syntax.tokens import UnclosedText
from crowdgate.review.templates.codebook_values import MOST_CODES, codes_in_words, listed_values, without_unknown
from crowdgate.review.templates.column_words import PERSONS, column_words
from crowdgate.review.templates.draft_column import DraftColumn, Values, cannot_draft
from crowdgate.review.templates.draft_dictionary import dictionary_text
from crowdgate.review.templates.draft_syntax import SyntaxCodebook, is_numbered_age, several_rows
from crowdgate.review.templates.labels_in_words import with_labels
from crowdgate.review.templates.stated_ranges import ListedValues, stated_range
from crowdgate.sources.table_header import CellType

_TYPES = (
    (CellType.WHOLE, r"(?:tiny|small|medium|big)?int(?:eger|[248])?|(?:small|big)?serial[248]?|year"),
    (CellType.NUMBER, r"numeric|decimal|number|dec|real|double(?: precision)?|float[48]?|money|smallmoney"),
    (CellType.DAY, "date"),
    (CellType.MOMENT, r"timestamp.*|datetime2?|smalldatetime|timestamptz"),
    (CellType.TIME, r"time.*"),
    (CellType.FLAG, r"bool(?:ean)?|bit"),
)
_SIZED = re.compile(r"(?P<word>[a-z][a-z0-9 ]*?)\s*(?:\(\s*(?P<digits>\d+)\s*(?:,\s*(?P<decimals>\d+)\s*)?\).*)?")
SQL = ".sql"
"""The end of the name of a script of SQL."""
_FLAGS = "t and f, true and false, or 1 and 0, as the table writes them"


def sql_codebook(path: Path, names: Sequence[str]) -> SyntaxCodebook:
    """Return what a script of SQL says of the columns `names`: by the table that has most of them. Raises
    ConfigurationError if none has any, or if a quotation mark is not closed.
    """
    text, _ = dictionary_text(path)
    try:
        script = sql_script(text)
    except UnclosedText as error:
        raise cannot_draft(path, str(error), "texts in quotation marks, and comments, that are closed") from None
    folded = {each.casefold() for each in names}
    best = max(script.tables.values(), key=lambda each: len(folded & each.columns.keys()), default=None)
    if best is None or not folded & best.columns.keys():
        expected = (
            "CREATE TABLE with these columns; or a table of variables (.csv) with name, type, values, description"
        )
        raise cannot_draft(path, "no CREATE TABLE with a column of the table", expected)
    if best.name in script.repeated:
        raise cannot_draft(path, f"several tables with the name {best.name}", "a script with the one that is meant")
    columns = tuple(_column(each, best, script, text) for each in best.columns.values())
    return SyntaxCodebook(columns, _note(best, columns))


def _note(table: SqlTable, columns: Sequence[DraftColumn]) -> str:
    """Return words on the table that was used, and on a key of several columns."""
    counts = {
        "comments": sum(bool(each.description) for each in columns),
        "values": sum(bool(each.values) for each in columns), "ranges": sum(bool(each.bounds) for each in columns),
    }  # fmt: skip
    words = [f"table {table.name}", *(f"columns with {name}: {count}" for name, count in counts.items())]
    return "; ".join([*words, several_rows(table.key)] if len(table.key) > 1 else words)


def _column(stated: SqlColumn, table: SqlTable, script: SqlScript, text: str) -> DraftColumn:
    """Return a column by its type, its constraints, its comment and the table of codes that it refers to."""
    made = script.types.get(stated.type.split(" . ")[-1].casefold(), SqlType(stated.type))
    kind, decimals = _type(stated.type if made.values or stated.values else made.words)
    found, unread = _conditions(stated, made, table)
    own = _values(found, made.values or stated.values)
    looked_up = () if own else _code_list(script, text, stated.reference)
    key = table.key == (stated.name.casefold(),)
    words = " ".join((stated.comment or stated.line_comment).split())
    column = DraftColumn(
        stated.name, kind, words, own or looked_up, _limits(found, kind), decimals=decimals,
        direct=stated.is_unique or key, is_key=key,
    )  # fmt: skip
    limits = [f"{each.sign} {each.values[0]}" for each in found if each.sign != "in"]
    unread += [f"{stated.name} {each}" for each in limits] if not column.bounds else []
    if stated.reference and not column.values:
        unread += [f"the codes of table {stated.reference}"]
    said = [words, *([stated.line_comment] if stated.comment else [])]
    return _with_unread(_with_comments(column, said), unread)


def _code_list(script: SqlScript, text: str, table: str) -> Values:
    """Return the codes of a table that a foreign key names; none of long tables, and of tables of persons."""
    if not table or {each.removesuffix("s") for each in column_words(table)} & PERSONS:
        return ()
    found = lookup_rows(script, text, table)
    return found if len(found) <= MOST_CODES else ()


def _type(words: str) -> tuple[CellType, int | None]:
    """Return the type of cells, and the number of decimals, by a type of SQL."""
    sized = _SIZED.fullmatch(" ".join(words.casefold().split()))
    word = sized["word"].strip() if sized else ""
    kind = next((kind for kind, form in _TYPES if re.fullmatch(form, word)), CellType.TEXT)
    if sized is None or kind is not CellType.NUMBER or not sized["digits"] or word.startswith(("float", "double")):
        return kind, None
    decimals = int(sized["decimals"] or 0)
    return (CellType.NUMBER, decimals) if decimals else (CellType.WHOLE, None)


def _conditions(stated: SqlColumn, made: SqlType, table: SqlTable) -> tuple[list[Check], list[str]]:
    """Return the conditions on a column, and those that name it and are not understood."""
    found, unread = list[Check](), list[str]()
    own = [(stated.line, re.sub(r"(?i)\bvalue\b", f'"{stated.name}"', each)) for each in made.checks]
    for line, expression in [*table.checks, *own]:
        if not _names(expression, stated.name):
            continue
        known, is_whole = checks(expression)
        found += [each for each in known if each.column.casefold() == stated.name.casefold()]
        unread += [] if is_whole else [f"line {line}: CHECK ({expression})"]
    unread += [f"line {line}: {text}" for line, text, names in table.unread if stated.name.casefold() in names]
    return found, unread


def _names(expression: str, name: str) -> bool:
    """Return whether an expression has the name of a column among its words."""
    return bool(re.search(rf"(?<![\w']){re.escape(name)}(?![\w'])", expression, re.IGNORECASE))


def _values(found: Sequence[Check], enumerated: Sequence[str]) -> Values:
    """Return the values that an ENUM, or all lists of conditions, have."""
    lists = [*([enumerated] if enumerated else []), *(each.values for each in found if each.sign == "in")]
    return tuple((each, "") for each in lists[0] if all(each in other for other in lists)) if lists else ()


def _limits(found: Sequence[Check], kind: CellType) -> tuple[str, str] | None:
    """Return the range of the numbers or days that conditions state; None unless both of its limits are stated. Whole
    numbers above 0 begin with 1.
    """
    lows = [_nearest(each, kind, 1) for each in found if each.sign in (">", ">=")]
    highs = [_nearest(each, kind, -1) for each in found if each.sign in ("<", "<=")]
    numbers = {each: parse_number(each) for each in (*lows, *highs)}
    if len(lows) == len(highs) == 1:
        return stated_range(lows[0], highs[0]).bounds
    known = {each: number for each, number in numbers.items() if number is not None}
    if not lows or not highs or len(known) < len(numbers):
        return None
    return stated_range(max(lows, key=known.__getitem__), min(highs, key=known.__getitem__)).bounds


def _nearest(check: Check, kind: CellType, step: int) -> str:
    """Return a limit, or the whole number next to one that is not a value itself."""
    value = check.values[0]
    is_next = check.sign in "<>" and kind is CellType.WHOLE and re.fullmatch(r"-?\d+", value)
    return str(int(value) + step) if is_next else value


def _with_comments(column: DraftColumn, comments: Sequence[str]) -> DraftColumn:
    """Return a column with the labels, values and missing codes in its comments."""
    found = [listed_values(each) for each in comments]
    named = [code for each in comments for code in codes_in_words(each)]
    missing = tuple(dict.fromkeys([*(code for each in found for code in each.missing), *named]))
    if column.values:
        labels = {code: label for each in found for code, label in each.values}
        stated = next((each for words in comments if (each := with_labels(column.values, words)) != column.values), ())
        labelled = stated or tuple((code, label or labels.get(code, "")) for code, label in column.values)
        kept = without_unknown(ListedValues(labelled))
        values = tuple(pair for pair in kept.values if pair[0] not in missing)
        missing = tuple(dict.fromkeys([*missing, *kept.missing]))
        return replace(column, values=values, missing=missing, type=CellType.TEXT, bounds=None)
    if column.type is CellType.FLAG:
        return replace(column, type=CellType.TEXT, unread=_FLAGS)
    listed = next((each.values for each in found if sum(bool(label) for _, label in each.values) > 1), ())
    if column.bounds is None and listed:
        return replace(column, values=listed, missing=missing, type=CellType.TEXT)
    return replace(column, missing=missing)


def _with_unread(column: DraftColumn, unread: Sequence[str]) -> DraftColumn:
    """Return a column with what is not understood, which a person decides if nothing else states its values."""
    is_listed = listed_values(column.description) != ListedValues() and not (column.values or column.bounds)
    words = [*unread, *([column.description] if is_listed or is_numbered_age(column, [column.description]) else [])]
    if column.values or column.bounds:
        return replace(column, remark="; ".join(unread))
    return replace(column, unread="; ".join(filter(None, [column.unread, *words])))
