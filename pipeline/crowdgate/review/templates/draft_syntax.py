"""Variables of syntax files of Stata, SPSS and SAS, as columns of a draft."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from crowdgate.domain import parse_number
from crowdgate.review.syntax.facts import Subject, SyntaxFact, whole_codes
from crowdgate.review.syntax.sas import sas_facts
from crowdgate.review.syntax.spss import spss_facts
from crowdgate.review.syntax.stata import stata_facts
from crowdgate.review.syntax.tokens import UnclosedText
from crowdgate.review.templates.codebook_values import bare_label, has_open_end, values_of_pairs, without_unknown
from crowdgate.review.templates.dictionary_types import day_form
from crowdgate.review.templates.draft_column import DraftColumn, Values, cannot_draft
from crowdgate.review.templates.draft_dictionary import dictionary_text
from crowdgate.review.templates.draft_statistics import labelled_column
from crowdgate.review.templates.label_ranges import label_range, top_code
from crowdgate.review.templates.open_ends import is_open_end
from crowdgate.review.templates.special_labels import is_special
from crowdgate.review.templates.stated_ranges import ListedValues, stated_range
from crowdgate.review.templates.syntax_names import columns_of
from crowdgate.sources.statistics_formats import LabelledVariable
from crowdgate.sources.table_header import CellType

SYNTAX: Mapping[str, Callable[[str], Iterator[SyntaxFact]]] = {
    ".do": stata_facts, ".dct": stata_facts, ".sps": spss_facts, ".sas": sas_facts,
}  # fmt: skip
"""The readers of syntax files, by the end of their name."""
MOST_LINES = 20
"""The most lines that a note names."""
_TYPES = {Subject.WHOLE: CellType.WHOLE, Subject.NUMBER: CellType.NUMBER, Subject.TEXT: CellType.TEXT}
_COUNTED = {
    Subject.LABEL: "labels", Subject.USED_LIST: "values", Subject.VALUES: "values", Subject.MISSING: "missing codes",
    Subject.RANGE: "ranges",
}  # fmt: skip
"""The subjects of facts that a note counts, column by column."""
_OF_LISTS = (Subject.CODES, Subject.UNREAD_LIST)
_READ = {
    r"values?\b|labels?\b|formats?\b": "a list is read if it has codes or ranges of numbers, each with a label",
    r"\bif\b|a condition|replace|recode": "a condition is read if it lists values or sets codes to missing",
}
"""The statements that are read, in words, by the words that begin those which were not understood."""
_NO_CELL = re.compile(r"\.[A-Z]?")
"""An empty cell in Stata and SAS. Stata writes its other missing values, `.a` to `.z`, into files of text."""
_EXTENDED = re.compile(r"\.[a-z]")


@dataclass(frozen=True)
class SyntaxCodebook:
    """The columns that a syntax file describes, words on what was used, and the order of days that it states."""

    columns: tuple[DraftColumn, ...]
    note: str
    order: str = ""


@dataclass(frozen=True)
class _Lists:
    """The codes of each list by its name, and the statements on lists that are not understood."""

    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


def syntax_codebook(path: Path, table: Sequence[str]) -> SyntaxCodebook:
    """Return what a syntax file says of the columns of `table`. Raises ConfigurationError if it says nothing of them,
    or if a quotation mark is not closed.
    """
    text, _ = dictionary_text(path)
    try:
        facts = list(SYNTAX[path.suffix.lower()](text))
    except UnclosedText as error:
        raise cannot_draft(path, str(error), "texts in quotation marks, and comments, that are closed") from None
    lists = _lists(facts)
    by_name: dict[str, list[SyntaxFact]] = {}
    for each in facts:
        for name in () if each.subject in _OF_LISTS else columns_of(each.names, table):
            by_name.setdefault(name, []).append(each)
    if not by_name:
        expected = "statements on columns of the table, such as labels, value labels, missing values and formats"
        raise cannot_draft(path, "no statement on a column of the table", expected)
    columns = tuple(_column(name, by_name[name], lists) for name in table if name in by_name)
    orders = {
        each.text for each in facts if each.subject is Subject.DAY and each.text and columns_of(each.names, table)
    }
    used = [each for found in by_name.values() for each in found]
    return SyntaxCodebook(columns, _note(facts, used, table), orders.pop() if len(orders) == 1 else "")


def _lists(facts: Sequence[SyntaxFact]) -> _Lists:
    found = _Lists()
    for each in facts:
        name = each.names[0].casefold() if each.names else ""
        if each.subject is Subject.CODES:
            codes = {} if each.text == "replace" else found.codes.get(name, {})
            found.codes[name] = {**codes, **dict(each.pairs)}
        elif each.subject is Subject.UNREAD_LIST:
            found.unread[name] = each.text
    return found


def _note(facts: Sequence[SyntaxFact], used: Sequence[SyntaxFact], table: Sequence[str]) -> str:
    """Return words on the facts that were used, the lines that were not understood, and keys of several columns."""
    counts = Counter(_COUNTED[each.subject] for each in used if each.subject in _COUNTED)
    words = [f"its statements on {each}: {count}" for each, count in counts.items()]
    missed = {each.line: _command(each) for each in used if each.subject is Subject.UNREAD}
    others = (each for each in facts if each.subject is Subject.UNREAD_LIST or "`" in "".join(each.names))
    missed |= {each.line: _command(each) for each in others}
    lines = [f"{line}{command}" for line, command in sorted(missed.items())]
    listed = ", ".join(lines[:MOST_LINES]) + (", ..." if len(lines) > MOST_LINES else "")
    commands = " ".join(missed.values())
    why = ", ".join(text for words, text in _READ.items() if re.search(words, commands, re.IGNORECASE))
    words += [": ".join(filter(None, ["lines not understood, by number", listed, why]))] if lines else []
    keys = [columns_of(each.names, table) for each in facts if each.subject is Subject.KEY]
    words += [several_rows(each) for each in keys if len(each) > 1]
    return "; ".join(words)


def _command(fact: SyntaxFact) -> str:
    """Return the first words of a statement that is not understood, in brackets; nothing where they are not known."""
    known = r"a condition|(?!a |statements )[^\W\d]+(?: (?i:values|labels?|level|list|formats?)\b)?"
    found = re.match(rf"line \d+: (?P<words>{known})", fact.text)
    return f" ({found['words']})" if found else ""


def several_rows(key: Sequence[str]) -> str:
    """Return the hint that a key of several columns gives on the rows of a person."""
    return f"the key of a row is {' with '.join(key)}, so that a person can have several rows: state how many at most"


def _column(name: str, facts: Sequence[SyntaxFact], lists: _Lists) -> DraftColumn:
    """Return a column by the facts on it."""
    label = _text(facts, Subject.LABEL)
    listed, broken = _listed(facts, lists)
    missing = [code for each in facts if each.subject is Subject.MISSING for code, _ in each.pairs]
    beyond = [each.pairs[0] for each in facts if each.subject is Subject.MISSING_BEYOND]
    missing += [
        code for code, _ in listed if _EXTENDED.fullmatch(code) or any(_is_beyond(code, *each) for each in beyond)
    ]
    if beyond and not listed:
        signs = ", ".join(" ".join(each) for each in beyond)
        facts = [*facts, SyntaxFact(Subject.UNREAD, (name,), 0, text=f"missing codes {signs}, of which none is named")]
    column = _labelled(name, label, listed, _plain_missing([*missing, *_missing_of(listed)]), facts)
    column = _of_days(column)
    column = _with_range(column, facts, broken, listed)
    column = _with_asserted_values(column, facts)
    column = replace(column, direct=any(each.subject is Subject.KEY and len(each.names) == 1 for each in facts))
    return _with_unread(column, facts, broken)


def _of_days(column: DraftColumn) -> DraftColumn:
    """Return a column whose label states a form of days as one of days, unless its codes are listed."""
    form = day_form(column.description)
    return replace(column, type=CellType.DAY, day_form=form) if form and not column.values else column


def _text(facts: Sequence[SyntaxFact], subject: Subject) -> str:
    return next((each.text for each in reversed(facts) if each.subject is subject), "")


def _listed(facts: Sequence[SyntaxFact], lists: _Lists) -> tuple[Values, str]:
    """Return the codes of a column with their labels, and the statement on its list that is not understood."""
    codes: dict[str, str] = {}
    for each in facts:
        if each.subject is Subject.VALUES and any(label for _, label in each.pairs):
            codes = {**({} if each.text == "replace" else codes), **dict(each.pairs)}
    used = _text(facts, Subject.USED_LIST).casefold()
    codes |= lists.codes.get(used, {})
    pairs = tuple(
        (code, "" if "`" in label else bare_label(code, label))
        for code, label in codes.items()
        if not _NO_CELL.fullmatch(code)
    )
    unknown = f"the list {used}, which is not in this file" if used and used not in lists.codes else ""
    return pairs, lists.unread.get(used, unknown)


def _is_beyond(code: str, sign: str, limit: str) -> bool:
    """Return whether a code is a number beyond a limit."""
    number, least = parse_number(code), parse_number(limit)
    if number is None or least is None:
        return False
    return {"<": number < least, "<=": number <= least, ">": number > least, ">=": number >= least}[sign]


def _missing_of(values: Values) -> Iterator[str]:
    """Yield the negative codes whose labels say that there is no value."""
    for code, label in values:
        number = parse_number(code)
        if number is not None and number < 0 and is_special(label):
            yield code


def _plain_missing(codes: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in codes if each and not _NO_CELL.fullmatch(each)))


def _labelled(
    name: str, label: str, listed: Values, missing: Sequence[str], facts: Sequence[SyntaxFact]
) -> DraftColumn:
    """Return a column with its type and its list, which can hold ranges."""
    subjects = {each.subject for each in facts}
    kind = next((_TYPES[each.subject] for each in facts if each.subject in _TYPES), CellType.UNKNOWN)
    kind = CellType.DAY if Subject.DAY in subjects else kind
    values = tuple(pair for pair in listed if pair[0] not in missing)
    if any(" - " in code for code, _ in values):
        words = "; ".join(f"{code} = {text}" if text else code for code, text in values)
        unread = ListedValues(unread=words)
        found = unread if any(map(_is_range_of_texts, values)) else values_of_pairs(values, unread)
        column = DraftColumn(
            name, kind, label, found.values, found.bounds, unread=found.unread, decimals=found.decimals
        )
        return replace(column, missing=tuple(dict.fromkeys([*missing, *found.missing])))
    kept = values if Subject.SCALE in subjects else without_unknown(ListedValues(values)).values
    gone = tuple(code for code, _ in values if code not in dict(kept))
    stated = LabelledVariable(name, label, kind, kept, (*missing, *gone), Subject.SCALE in subjects)
    column = _numbers(labelled_column(stated))
    return replace(column, type=CellType.TEXT) if column.values and kind is not CellType.DAY else column


def _is_range_of_texts(pair: tuple[str, str]) -> bool:
    """Return whether a code is a range whose ends are no numbers: `'G' - 'I'`, which can be three values or more."""
    low, mark, high = pair[0].partition(" - ")
    return bool(mark) and None in (parse_number(low), parse_number(high))


def _numbers(column: DraftColumn) -> DraftColumn:
    """Return a column whose list has every number of a range, most of them with themselves as labels, as that range."""
    codes = [code for code, _ in column.values]
    low, high = (codes[0], codes[-1]) if codes else ("", "")
    same = sum(code == label for code, label in column.values)
    if 2 * same <= len(codes) or whole_codes(low, high) != tuple(codes):
        return column
    return replace(column, values=(), bounds=(low, high), decimals=0, top=is_open_end(*column.values[-1]))


def _with_range(column: DraftColumn, facts: Sequence[SyntaxFact], broken: str, listed: Values) -> DraftColumn:
    """Return a column with the range that a statement states, or else its label, unless its codes are listed. With
    codes outside that range, which have labels of values, these are left to decide.
    """
    limits = next((each.pairs[0] for each in reversed(facts) if each.subject is Subject.RANGE), None)
    found = stated_range(*limits) if limits else label_range(column.description)
    top = top_code(column.description)
    if found.bounds is None and column.is_age and top and not column.bounds:
        found = stated_range("0", top)
    decimals = next((int(each.text) for each in facts if each.subject is Subject.NUMBER and each.text), None)
    if found.bounds is None or column.values or column.bounds or broken:
        return replace(column, decimals=decimals if decimals is not None else column.decimals)
    if others := [f"{code} = {text}" for code, text in listed if _is_outside(code, found.bounds, column.missing)]:
        said = "; ".join([f"{' to '.join(found.bounds)}, and {'; '.join(others)}", column.description])
        return replace(column, decimals=decimals, unread=said)
    exact = max((each for each in (found.decimals, decimals) if each is not None), default=None)
    words = [column.description, *(each.text for each in facts if each.subject is Subject.NOTE)]
    is_top = top == found.bounds[1] or has_open_end(found.bounds[1], words)
    return replace(column, bounds=found.bounds, decimals=exact, unread="", top=is_top)


def _is_outside(code: str, bounds: tuple[str, str], missing: Sequence[str]) -> bool:
    """Return whether a code is a number outside a range, and none for no value."""
    number, low, high = map(parse_number, (code, *bounds))
    if number is None or low is None or high is None or code in missing:
        return False
    return not low <= number <= high


def _with_asserted_values(column: DraftColumn, facts: Sequence[SyntaxFact]) -> DraftColumn:
    """Return a column with the values that a condition lists, where no labels do."""
    stated = [each for each in facts if each.subject is Subject.VALUES and not any(label for _, label in each.pairs)]
    if not stated or column.values or column.bounds:
        return column
    values = tuple(pair for pair in stated[-1].pairs if pair[0] not in column.missing)
    return replace(column, values=values, unread="", type=CellType.TEXT)


def _with_unread(column: DraftColumn, facts: Sequence[SyntaxFact], broken: str) -> DraftColumn:
    """Return a column with what is not understood: to decide where nothing else states its values, or where its list is
    incomplete. Ages of which words state numbers are never drafted by a stock range.
    """
    notes = [each.text for each in facts if each.subject is Subject.NOTE]
    stated = list(dict.fromkeys(each.text for each in facts if each.subject is Subject.UNREAD))
    if broken:
        return replace(column, values=(), bounds=None, unread="; ".join([broken, *stated]), remark="; ".join(notes))
    words = [column.description, *notes] if is_numbered_age(column, [column.description, *notes]) else []
    if not (column.values or column.bounds) and (stated or words):
        return replace(column, unread="; ".join(filter(None, [column.unread, *stated, *words])))
    return replace(column, remark="; ".join([*stated, *notes]))


def is_numbered_age(column: DraftColumn, words: Sequence[str]) -> bool:
    """Return whether a column has ages without a range, and words that have numbers: they can state another range than
    the stock one.
    """
    return column.is_age and column.bounds is None and any(re.search(r"\d", each) for each in words)
