"""Data dictionaries as tables: one row for each column of a table, or one for each of its values.

The names of their own columns are recognized, as REDCap, RADx and many offices write them. Only rows about columns of
the table are used, so that a table of persons which is given by mistake says nothing.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from crowdgate.contracts.cell_form import ISO
from crowdgate.contracts.contract import Role
from crowdgate.domain import parse_number
from crowdgate.review.templates.bilingual_cells import in_one_language
from crowdgate.review.templates.code_rows import CONSTRAINT, DOUBTFUL, SPLIT
from crowdgate.review.templates.codebook_values import (
    codes_between,
    codes_in_words,
    has_open_end,
    has_open_start,
    listed_values,
    missing_codes,
    range_beside,
    values_of_pairs,
    without_scale,
)
from crowdgate.review.templates.codes_outside import codes_in_notes, counted_as_missing, one_code
from crowdgate.review.templates.column_words import plain_text
from crowdgate.review.templates.decimal_marks import decimal_mark, without_commas
from crowdgate.review.templates.dictionary_headings import heading_key, known_headings, lost_facts, places
from crowdgate.review.templates.dictionary_types import StatedType, day_form, stated_type
from crowdgate.review.templates.draft_column import DraftColumn, Values, cannot_draft
from crowdgate.review.templates.label_domains import with_label_range
from crowdgate.review.templates.label_ranges import note_range, states_limits
from crowdgate.review.templates.labels_in_words import with_noted_labels
from crowdgate.review.templates.list_names import is_list_heading
from crowdgate.review.templates.open_ends import noted_end
from crowdgate.review.templates.role_words import is_free_text
from crowdgate.review.templates.special_labels import is_empty_entry, is_special
from crowdgate.review.templates.stated_decimals import state_decimals
from crowdgate.review.templates.stated_ranges import (
    ListedValues,
    compact_days,
    days_in_words,
    stated_range,
    whole_range,
    without_other_days,
)
from crowdgate.review.templates.stated_roles import (
    is_no_role,
    role_in_brackets,
    role_in_notes,
    stated_role,
    words_against_release,
)
from crowdgate.review.templates.value_brackets import are_brackets
from crowdgate.review.templates.value_rows import headed_records, is_observed, is_of_texts, with_values
from crowdgate.sources.table_header import CellType
from crowdgate.system.regular_files import read_plain

LARGEST_DICTIONARY = 1 << 26
"""The greatest size of a data dictionary in bytes."""
MOST_HEADINGS, LONGEST_HEADING = 20, 40
"""The number of headings that a message names, and the length of each."""
MOST_TITLE_ROWS = 30
"""The number of rows in which the headings are looked for."""
_CENTRAL = re.compile(r"[^\W\d_][¹³¿](?=[^\W\d_])")
"""Signs within words as Polish has them in Windows-1250, read as Windows-1252."""
_CLASSIFICATION = re.compile(r"\b(?:ICD|CID|CIE|CIM|MKN)[- ]?(?:9|10)\b|\b(?:ISO[- ]?3166|ISCED|ISCO|NACE)\b")
_YES_NO = {"yesno": (("0", "No"), ("1", "Yes")), "truefalse": (("0", "False"), ("1", "True"))}
_SLIDER = ("0", "100")
"""The ends of a slider of REDCap for which none are stated."""
_ONE_CODE = re.compile(r"(?P<code>-?\d{1,4})\s*[-–—=:]\s*(?P<label>[^\W\d][^=;|]*)")
_DATES = re.compile(r"date(time)?_(ymd|mdy|dmy)")
"""The checks of dates of REDCap, whose exports have them as YYYY-MM-DD."""
_TICKED = (("0", "not ticked"), ("1", "ticked"))
_WORDS = ("label", "description", "notes")
"""The headings of words on a variable, in order of preference."""
_LIMITS = ("values", "range", "least", "greatest")
"""The headings of what a variable can hold."""
_BELOW_ONE = re.compile(r"(?<![\d.,])0[.,]\d")
"""The start of a number below one, which has decimals."""
_CASES = re.compile(r"\bn\s*=|\b(?:cases|observations|records|rows|obs|respondents|participants)\b", re.IGNORECASE)
"""The words on counts of cases, which are never quoted."""
Row = Mapping[str, str]
"""A row of a data dictionary: the cells under the headings that are known."""


def dictionary_text(path: Path) -> tuple[str, str]:
    """Return the text of a data dictionary, and the name of its encoding, if it is not UTF-8. Raises
    ConfigurationError if it is no text.
    """
    content = read_plain(path, LARGEST_DICTIONARY)
    for encoding in _encodings(content):
        try:
            return content.decode(encoding), "" if encoding == "utf-8-sig" else encoding
        except UnicodeDecodeError:
            continue
    raise cannot_draft(path, "a text that is not in UTF-8", "the data dictionary saved in UTF-8")


def _encodings(content: bytes) -> Sequence[str]:
    """Return the encodings that a text can be in, the most probable one first: of those of Windows by letters that
    words of central Europe have.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ("utf-16",)
    if b"\0" in content:
        return ("utf-8-sig",)
    west = content.decode("cp1252", "replace")
    is_central = _CENTRAL.search(west) or all(each in west for each in "ìèø")
    return ("utf-8-sig", "cp1250", "cp1252") if is_central else ("utf-8-sig", "cp1252", "cp1250")


def dictionary_rows(text: str, path: Path) -> list[list[str]]:
    """Return the cells of a data dictionary in CSV, with the delimiter that gives the most known headings, or else the
    most rows of one length. Raises ConfigurationError if it can't be read.
    """
    tables = [rows for mark in (",", ";", "\t", "|") if (rows := _rows(text, mark)) is not None]
    if not tables:
        raise cannot_draft(path, "no table in CSV", "a data dictionary in CSV, in UTF-8")
    return max(tables, key=lambda rows: (max(map(known_headings, rows[:MOST_TITLE_ROWS]), default=0), _even_rows(rows)))


def _even_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows have the most frequent length, of those with several cells."""
    return max(Counter(len(row) for row in rows if len(row) > 1).values(), default=0)


def _rows(text: str, mark: str) -> list[list[str]] | None:
    """Return the cells of a text in CSV with a delimiter; None if it is none."""
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True))
    except csv.Error:
        return None


@dataclass(frozen=True)
class Dictionary:
    """The description of a table's columns by a data dictionary, and the headings that were used and not used."""

    columns: tuple[DraftColumn, ...]
    used: tuple[str, ...]
    ignored: tuple[str, ...]
    unmatched: int
    """The number of its variables that are no column of the table."""
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By column, the texts in lower case that can be the titles of lists of codes."""
    lists: int = 0
    """The number of columns whose values are those of a list elsewhere in the codebook."""
    encoding: str = ""
    """The encoding of its text, if that is not UTF-8."""
    sheets: tuple[str, ...] = ()
    """The names of the sheets of variables, if a workbook has several sheets."""
    lost: tuple[str, ...] = ()
    """The facts lost with each heading that is not used, but seems to state missing codes or roles."""
    unlinked: tuple[str, ...] = ()
    """The titles of its lists of codes that no column has."""

    def of_blocks(self) -> "Dictionary":
        """Return the same without headings, where the codebook has a block of lines for each variable."""
        return replace(self.without_rows(), used=(), ignored=())

    def without_rows(self) -> "Dictionary":
        """Return the same without the numbers of rows, where the codebook is no table."""
        return replace(self, columns=tuple(replace(each, row=0) for each in self.columns))

    def __str__(self) -> str:
        used, ignored = (", ".join(each[:MOST_HEADINGS]) or "none" for each in (self.used, self.ignored))
        lists = f"; columns with a code list elsewhere in it: {self.lists}" if self.lists else ""
        names = ", ".join(map(repr, self.unlinked[:MOST_HEADINGS]))
        lists += f"; these code lists belong to no column: {names}" if names else ""
        read = (
            f"read as {self.encoding}, as it is not in UTF-8: see whether its letters are right; "
            if self.encoding
            else ""
        )
        lost = f"; so lost: {', '.join(self.lost)}" if self.lost else ""
        headings = (
            f"headings used: {used}; ignored: {ignored}{lost}{lists}"
            if self.used
            else "read as a block of lines for each variable, not as a table"
        )
        sheets = f"variables in {' and '.join(map(repr, self.sheets[:MOST_HEADINGS]))}; " if self.sheets else ""
        return f"{read}{sheets}{headings}"


def read_dictionary(path: Path, rows: Sequence[Sequence[str]], table: Sequence[str]) -> Dictionary:
    """Return what a data dictionary says of the columns of `table`; their case may differ. Raises ConfigurationError
    without headings.
    """
    folded = frozenset(each.casefold() for each in table)
    if records := headed_records(rows):
        return read_dictionary(path, records, table).of_blocks()
    found = _headings(rows, folded)
    if found is None:
        expected = "a line of headings with one for names (`variable`) and one for labels or values (`label`, `values`)"
        raise cannot_draft(path, f"no headings of a data dictionary{_unknown_headings(rows)}", expected)
    at, known = found
    groups: dict[str, list[Row]] = {}
    references: dict[str, tuple[str, ...]] = {}
    name = ""
    first: dict[str, int] = {}
    numbered = [*_with_lengths(rows, at + 1, known)]
    mark = decimal_mark([row for _, _, row in numbered])
    if mark == ".":
        without_commas([row for _, _, row in numbered])
    plain = in_one_language([row for _, _, row in numbered], _WORDS, ("values", "value label"))
    for (number, cells, _), row in zip(numbered, plain, strict=True):
        name = row.get("name") or name  # further values of a variable often stand below its name
        groups.setdefault(name, []).append(row)
        references.setdefault(name, _references(cells, known, rows[at]))
        first.setdefault(name, number)
    described = {each.name: replace(each, row=first[own[0]]) for own in groups.items() for each in _columns(*own)}
    columns = tuple(column for column in described.values() if column.name.casefold() in folded)
    spelled = _spelled([each.name for each in columns], table)
    others = [each for each in described.values() if each.name.casefold() not in folded and _is_name(each.name)]
    shown = {place: name for place, each in enumerate(rows[at]) if (name := _shown(each))}
    used = tuple(name for place, name in shown.items() if place in known.values())
    ignored = tuple(name for place, name in shown.items() if place not in known.values())
    own = {spelled[each.name]: references.get(each.name, ()) for each in columns}
    columns = tuple(replace(each, name=spelled[each.name], has_comma=each.has_comma or mark == ",") for each in columns)
    lost = tuple(
        f"{what} of {name}"
        for place, name in shown.items()
        if place not in known.values()
        and (what := lost_facts(name, [row[place] for row in rows[at + 1 :] if place < len(row)]))
    )
    return Dictionary(columns, used, ignored, len(others), own, lost=lost)


def _spelled(names: Sequence[str], table: Sequence[str]) -> dict[str, str]:
    """Return the name that a variable has in a table, by the name in a dictionary: sheets can write it in other cases.
    A name stays if the table, or the dictionary, has several that differ in their case only.
    """
    counts = Counter(each.casefold() for each in (*table, *table, *names))
    known = {each.casefold(): each for each in table}
    return {each: known[each.casefold()] if counts[each.casefold()] == 1 + 2 else each for each in names}


def _is_name(text: str) -> bool:
    """Return whether a text can be the name of a variable, and is no footnote or heading of a section."""
    return bool(re.fullmatch(r"\S{1,64}", text)) and not text.endswith(":")


def _with_lengths(
    rows: Sequence[Sequence[str]], start: int, known: Mapping[str, int]
) -> Iterator[tuple[int, Sequence[str], dict[str, str]]]:
    """Yield the number, from 1, of each row from `start` on that is not empty, the row, and its cells under known
    headings. Their lengths become part of their types if some are written with decimals, `10.2`: only then is one
    without them of whole numbers.
    """
    numbered = enumerate(rows[start:], start + 1)
    filled = [(number, each) for number, each in numbered if any(cell.strip() for cell in each)]
    found = [_known_cells(cells, known, len(rows[start - 1])) for _, cells in filled]
    state_decimals(found)
    if any(re.fullmatch(r"\d+[.,]\d+", row.get("length", "")) for row in found):
        for row in found:
            is_plain = re.fullmatch(r"[^\W\d]+(?:\.? [^\W\d]+)?", row.get("type", "")) and re.fullmatch(
                r"[\d.,]+", row.get("length", "")
            )
            row |= {"type": f"{row['type']} ({row['length']})"} if is_plain else {}
    yield from ((number, cells, row) for (number, cells), row in zip(filled, found, strict=True))


def _known_cells(cells: Sequence[str], known: Mapping[str, int], width: int) -> dict[str, str]:
    """Return the cells of a row under known headings. Of one with more cells than its `width` all from the values on
    are left to decide.
    """
    at = known.get("values", known.get("value label"))
    is_split = at is not None and (any(each.strip() for each in cells[width:]) or _is_continued(cells[at : at + 2]))
    own = {key: cells[place].strip() for key, place in known.items() if place < len(cells)}
    if not is_split or at is None:
        return own
    said = "; ".join(each.strip() for each in cells[at:] if each.strip())
    return {key: each for key, each in own.items() if known[key] < at} | {"values": f"{SPLIT}{said}"}


def _is_continued(cells: Sequence[str]) -> bool:
    """Return whether the first of two cells is one code with its label, and the second one is the next of a list."""
    found = [_ONE_CODE.fullmatch(each.strip()) for each in cells]
    codes = [(int(each["code"]), each["label"]) for each in found if each]
    return len(codes) == len(cells) == 2 and codes[1][0] == codes[0][0] + 1 and not is_special(codes[1][1])


def _references(cells: Sequence[str], known: Mapping[str, int], heads: Sequence[str]) -> tuple[str, ...]:
    """Return the texts in a row that can name a list of codes: those below a heading of lists first, then those that
    are no words on the variable, its type or its limits, and no numbers.
    """
    used = {place for key, place in known.items() if key not in ("name", "values")}
    first = [at for at in range(len(cells)) if at < len(heads) and is_list_heading(heads[at])]
    texts = [cells[at].strip().casefold() for at in first]
    others = (each.strip().casefold() for at, each in enumerate(cells) if at not in used and at not in first)
    return tuple(each for each in (*texts, *(each for each in others if parse_number(each) is None)) if each)


def end_of_variables(rows: Sequence[Sequence[str]], table: Sequence[str]) -> int:
    """Return the number of rows down to the last one on a column of the table; 0 without headings."""
    folded = frozenset(each.casefold() for each in table)
    found = _headings(rows, folded)
    at = found[1]["name"] if found else 0
    named = [number for number, row in enumerate(rows, 1) if at < len(row) and row[at].strip().casefold() in folded]
    filled = [number for number in named if sum(bool(each.strip()) for each in rows[number - 1]) > 1]
    return filled[-1] if found and filled else 0


def _headings(rows: Sequence[Sequence[str]], table: frozenset[str]) -> tuple[int, dict[str, int]] | None:
    """Return the number of the row of headings, and the place of each; None without such a row."""
    found = ((at, places(row, rows[at + 1 :], table)) for at, row in enumerate(rows[:MOST_TITLE_ROWS]))
    return next(((at, known) for at, known in found if known), None)


def is_dictionary(rows: Sequence[Sequence[str]], table: Sequence[str]) -> bool:
    """Return whether rows begin with headings of a data dictionary of `table`."""
    return _headings(headed_records(rows) or rows, frozenset(each.casefold() for each in table)) is not None


def merged(found: Sequence[Dictionary]) -> Dictionary:
    """Return several dictionaries of one table as one. The first that states values, a range or words of a column
    counts.
    """
    columns: dict[str, DraftColumn] = {}
    for each in (column for dictionary in found for column in dictionary.columns):
        columns[each.name] = _completed(columns[each.name], each) if each.name in columns else each
    used, ignored = ([name for each in found for name in getattr(each, key)] for key in ("used", "ignored"))
    references = {name: texts for each in reversed(found) for name, texts in each.references.items()}
    unmatched = sum(each.unmatched for each in found)
    lost = tuple(each for dictionary in found for each in dictionary.lost)
    return Dictionary(tuple(columns.values()), tuple(used), tuple(ignored), unmatched, references, lost=lost)


def _completed(first: DraftColumn, other: DraftColumn) -> DraftColumn:
    """Return a column with what another description of it adds."""
    is_listed = bool(first.values or first.bounds)
    listed = first if is_listed else other
    missing = tuple(dict.fromkeys([*first.missing, *other.missing]))
    return replace(
        first,
        type=other.type if first.type is CellType.UNKNOWN or (other.values and not is_listed) else first.type,
        description=first.description or other.description, bounds=listed.bounds,
        values=tuple(pair for pair in listed.values if pair[0] not in missing),
        unread=listed.unread, missing=missing, bottom=listed.bottom,
        step=listed.step, row=first.row,
        unread_role=first.unread_role or other.unread_role,
        role=first.role or other.role,
        withheld=first.withheld or other.withheld, top=listed.top, remark=first.remark or other.remark,
    )  # fmt: skip


def _unknown_headings(rows: Sequence[Sequence[str]]) -> str:
    """Return words on the headings that are not known, if a row has a known one: others can be somebody's record."""
    row = next((each for each in rows[:MOST_TITLE_ROWS] if known_headings(each)), ())
    unknown = [name for each in row if (name := _shown(each)) and not heading_key(each) and not known_headings([each])]
    is_record = any(parse_number(each) is not None for each in row)
    return f"; not known: {', '.join(unknown[:MOST_HEADINGS])}" if unknown and not is_record else ""


def _shown(heading: str) -> str:
    """Return a heading as a message shows it."""
    return "".join(each for each in " ".join(heading.split())[:LONGEST_HEADING] if each.isprintable())


def _columns(name: str, rows: Sequence[Row]) -> Iterator[DraftColumn]:
    """Yield the columns of one variable: several for boxes of REDCap that can be ticked, as its exports have them."""
    rows, undecided = with_values(rows)
    has_decimals = any(_BELOW_ONE.search(rows[0].get(key, "")) for key in _LIMITS)
    if stated_type(rows[0].get("type", "")).type is CellType.WHOLE and not has_decimals:
        rows = [{**row, **{key: whole_range(row[key]) for key in (*_LIMITS, "missing") if key in row}} for row in rows]
    first, kind = rows[0], rows[0].get("type", "").lower()
    listed = ListedValues(unread=undecided) if undecided else _listed(rows, kind)
    listed = without_other_days(_beside_missing(first, listed))
    stated = _type(first, listed)
    if stated.type is CellType.DAY or stated.day_form:
        listed = compact_days(listed)
        listed = (
            listed
            if listed.bounds or listed.values or listed.unread
            else days_in_words([first.get(key, "") for key in (*_WORDS, *_LIMITS)])
        )
    listed = _codes_of_range(listed) if stated.type is CellType.TEXT or is_of_texts(kind) else listed
    listed = _without_padded_range(listed) if is_of_texts(kind) else listed
    listed = ListedValues() if listed.from_zero and is_of_texts(kind) else listed
    if stated_type(rows[0].get("type", "")).type in (CellType.WHOLE, CellType.NUMBER):
        listed = _without_brackets(listed)
    listed = replace(listed, values=with_noted_labels(listed.values, first.get("notes", "")))
    told = _of_words(first, listed, stated, kind)
    listed = told if told is not None else listed
    words = [*(first.get(key, "") for key in _WORDS), *(row.get("values", "") for row in rows)]
    top = listed.top or "is top" in first or (listed.bounds is not None and has_open_end(listed.bounds[1], words))
    bottom = "is bottom" in first or (listed.bounds is not None and has_open_start(listed.bounds[0], words))
    noted = codes_in_notes(listed.bounds, [first.get(key, "") for key in _WORDS])
    said = counted_as_missing(tuple(pair for pair in noted if not is_special(pair[1])))
    unread = "" if top or bottom else noted_end(listed.bounds, first.get("notes", ""))
    listed = replace(listed, remark=listed.remark or said or unread)
    missing = (
        *listed.missing,
        *(code for row in rows for code in missing_codes(row.get("missing", ""), has_comma=listed.has_comma)),
        *(code for key in _WORDS for code in codes_in_words(first.get(key, ""))),
        *(code for code, _ in noted),
        *_labelled_ends(listed, first.get("notes", "")),
        *(code for code in codes_in_words(first.get("values", "")) if not listed.values and len(rows) == 1),
    )
    listed, missing = _without_missing_ends(listed, missing)
    is_seen = is_observed(listed.remark) or any(is_observed(row.get("value label", "")) for row in rows)
    is_free = is_free_text(plain_text(f"{kind}; {first.get('notes', '')}").lower())
    is_checked = stated_type(first.get("check", "")).type is CellType.NUMBER
    column = DraftColumn(
        name, stated.type, _description(rows, listed),
        tuple(pair for pair in listed.values if pair[0] not in missing), listed.bounds,
        first.get("identifier", "").lower() in ("y", "yes", "true", "1", "x"),
        tuple(dict.fromkeys(missing)), unread=listed.unread, decimals=stated.decimals,
        day_form=stated.day_form, has_comma=listed.has_comma, role=_stated_role(first), top=top,
        remark="" if is_seen else listed.remark if listed != ListedValues() else _remark(rows) or _noted(first),
        range_form=listed.day_form, is_designed=bool(top) or not is_seen,
        role_words=f"{_description(rows, listed)}; free text" if is_free else "",
        bottom=bottom, unread_role=_unread_role(first), step=listed.step, may_have_decimals=is_checked,
        from_zero=listed.from_zero,
        withheld=words_against_release(f"{first.get('notes', '')}\n{first.get('role', '')}"),
    )  # fmt: skip
    if column.is_age and not column.bounds:
        notes = next((first[key] for key in reversed(_WORDS) if first.get(key)), "")
        column = with_label_range(column, "" if notes == column.description else notes)
    if kind == "checkbox":
        for code, choice in listed.values:
            yield replace(
                column, name=f"{name}___{code}", description=f"{choice} ({column.description})", values=_TICKED,
                role_words="; ".join([column.description, *(each for _, each in listed.values)]),
            )  # fmt: skip
    else:
        yield column


def _beside_missing(row: Row, listed: ListedValues) -> ListedValues:
    """Return the range of a row that stands beside codes which its words call missing; others unchanged."""
    if listed.values or listed.bounds:
        return listed
    named = [code for key in _WORDS for code in codes_in_words(row.get(key, ""))]
    found = range_beside(row.get("values", ""), [*named, *missing_codes(row.get("missing", ""))])
    return found if found.bounds else listed


def _of_words(row: Row, listed: ListedValues, stated: StatedType, kind: str) -> ListedValues | None:
    """Return the range that the words on a number state, or these words, where they say something of its ends that is
    not understood; None for other variables and words.
    """
    is_number = stated.type in (CellType.WHOLE, CellType.NUMBER, CellType.UNKNOWN)
    if not is_number or listed.values or listed.bounds or listed.unread or kind in ("calc", "descriptive"):
        return None
    words = [row[key] for key in _WORDS if row.get(key)]
    found = note_range(words)
    if found.bounds:
        return replace(found, missing=listed.missing)
    said = [each for each in words if states_limits(each)]
    return replace(listed, unread="; ".join(said)) if said and stated.type is not CellType.UNKNOWN else None


def _stated_role(row: Row) -> Role | None:
    """Return the role that a variable has by its cell about sensitivity, by words in brackets, or by its notes."""
    bracketed = filter(None, (role_in_brackets(row.get(key, "")) for key in _WORDS))
    return stated_role(row.get("role", "")) or next(bracketed, None) or role_in_notes(row.get("notes", ""))


def _labelled_ends(listed: ListedValues, notes: str) -> list[str]:
    """Return the negative least number of a range, if notes begin a sentence with it and its meaning: `-9 = sample
    lost`.
    """
    least = (listed.bounds or ("",))[0]
    is_labelled = re.search(rf"(?:^|[.;,]\s+){re.escape(least)}\s*[=:]\s*[^\W\d]", notes)
    return [least] if re.fullmatch(r"-[1-9]\d*", least) and is_labelled else []


def _without_missing_ends(listed: ListedValues, missing: Sequence[str]) -> tuple[ListedValues, tuple[str, ...]]:
    """Return a range of whole numbers whose ends are no missing codes, as of a check that lets them pass: -9 to 200,
    where -9 is one, begins at 0. A negative least number for which words have a label is one, too.
    """
    if listed.bounds is None or not all(re.fullmatch(r"-?\d+", each) for each in listed.bounds) or listed.decimals:
        return listed, tuple(missing)
    low, high = map(int, listed.bounds)
    low = 0 if str(low) in missing and low < 0 <= high else low
    high = high - 1 if str(high) in missing and high > low else high
    return replace(listed, bounds=(str(low), str(high))), tuple(missing)


def _codes_of_range(listed: ListedValues) -> ListedValues:
    """Return a short range of codes with zeros before them as the list of them; others unchanged."""
    if listed.bounds is None or listed.digits < 2:
        return listed
    low, high = map(int, listed.bounds)
    values = tuple((each, "") for each in codes_between(low, high, listed.digits))
    return replace(listed, values=values, bounds=None) if values else listed


def _without_padded_range(listed: ListedValues) -> ListedValues:
    """Return a range of codes with zeros before them, which no numbers are, as unread; others unchanged."""
    if listed.bounds is None or not listed.digits:
        return listed
    ends = " to ".join(each.zfill(listed.digits) for each in listed.bounds)
    return replace(listed, bounds=None, digits=0, decimals=None, unread=listed.unread or ends)


def _without_brackets(listed: ListedValues) -> ListedValues:
    """Return brackets and other texts with numbers, which no numbers are, as unread: `Less than $10,000`. Others are
    unchanged.
    """
    texts = [code for code, label in listed.values if not label]
    is_worded = any(" " in each and re.search(r"\d", each) and parse_number(each) is None for each in texts)
    return replace(listed, values=(), unread="; ".join(texts)) if is_worded or are_brackets(texts) else listed


def _unread_role(row: Row) -> str:
    """Return what a cell about sensitivity says that is neither a role nor none."""
    stated = row.get("role", "")
    return "" if _stated_role(row) or is_no_role(stated) else stated


def _remark(rows: Sequence[Row]) -> str:
    """Return what stands in the place of values, and is not understood; nothing of forms of days, of words for an empty
    cell and of classifications, which are.
    """
    stated = " ".join(filter(None, (rows[0].get(key, "") for key in _LIMITS)))
    is_known = day_form(stated) or is_empty_entry(stated, [stated]) or _CLASSIFICATION.search(stated)
    return "" if len(rows) > 1 or is_known else stated


def _noted(row: Row) -> str:
    """Return notes with numbers, which may be on its values, on a variable of which nothing else says any."""
    notes = row.get("notes", "")
    return notes if re.search(r"\d", notes) and not _CASES.search(notes) else ""


def _listed(rows: Sequence[Row], kind: str) -> ListedValues:
    if kind in _YES_NO:
        return ListedValues(_YES_NO[kind])
    own = _listed_values(rows, kind)
    own = _in_brackets(rows[0]) if own == ListedValues() and len(rows) == 1 else own
    least, greatest = (rows[0].get(key, "") for key in ("least", "greatest"))
    if kind == "slider" and not (least or greatest):
        least, greatest = _SLIDER
    stated = stated_range(least, greatest)
    limits = stated if stated.bounds is not None else listed_values(rows[0].get("range", ""))
    if (
        limits.bounds is None
        and own == limits == ListedValues()
        and re.search(r"\d.* to .*\d", f"{least} to {greatest}")
    ):
        return ListedValues(unread=f"{least} to {greatest}")
    if limits.bounds is None:
        return own if own != ListedValues() else limits
    kept = without_scale(own.values, limits.bounds)
    if own.values and kept.values:
        return own
    alone = one_code(own.unread)
    outside = tuple(_outside((*own.values, *alone), limits.bounds))
    said = counted_as_missing(tuple(pair for pair in (*own.values, *alone) if pair[0] in outside))
    missing = (*own.missing, *kept.missing, *limits.missing, *outside)
    remark = "; ".join(filter(None, [limits.remark, said or own.unread]))
    return replace(limits, values=kept.values, missing=missing, unread=kept.unread, remark=remark)


def _outside(labelled: Values, bounds: tuple[str, str]) -> Iterator[str]:
    """Yield the codes with labels outside a range that is stated beside them: these are no values."""
    low, high = map(parse_number, bounds)
    for code, label in labelled:
        number = parse_number(code)
        if label and number is not None and low is not None and high is not None and not low <= number <= high:
            yield code


def _in_brackets(row: Row) -> ListedValues:
    """Return the list of values that the words on a variable have in brackets: `Sex (1 = male, 2 = female)`."""
    found = (each for key in _WORDS[:2] for each in re.findall(r"\(([^()]*=[^()]*=[^()]*)\)", row.get(key, "")))
    return next((listed for each in found if (listed := listed_values(each)).values), ListedValues())


def _listed_values(rows: Sequence[Row], kind: str) -> ListedValues:
    if kind in ("calc", "descriptive", "slider"):  # choices of a slider name points of it
        return ListedValues()
    if rows[0].get("values", "").startswith((DOUBTFUL, CONSTRAINT, SPLIT)):
        return ListedValues(unread=rows[0]["values"])
    if len(rows) > 1:  # a row for each value
        key = _label_each(rows) or "value label"
        pairs = tuple((row["values"], row.get(key, "")) for row in rows if row.get("values"))
        text = " | ".join(f"{code}={label}" if label else code for code, label in pairs)
        if len(pairs) > 1 and len({code for code, _ in pairs}) == len(pairs):
            return values_of_pairs(pairs, ListedValues(unread=text))
        return listed_values(text)
    if (label := rows[0].get("value label")) and rows[0].get("values"):
        return listed_values(f"{rows[0]['values']} = {label}")
    return listed_values(rows[0].get("values", ""))


def _label_each(rows: Sequence[Row]) -> str:
    """Return the heading under which each row of a variable has the label of its value; empty if there is none."""
    if len(rows) < 2 or any(row.get("value label") for row in rows):
        return ""
    named = {key: [row.get(key, "") for row in rows] for key in ("label", "description")}
    return next((key for key, each in named.items() if all(each) and len(set(each)) == len(each)), "")


def _description(rows: Sequence[Row], listed: ListedValues) -> str:
    """Return the words about a variable, which are not those about its values; but a classification that stands in the
    place of values.
    """
    used = _label_each(rows)
    keys = [key for key in _WORDS if key != used and rows[0].get(key)]
    words = " ".join(rows[0][keys[0]].split()) if keys else ""
    stated = " ".join(rows[0].get("values", "").split())
    is_named = listed == ListedValues() and _CLASSIFICATION.search(stated) and not _CLASSIFICATION.search(words)
    return f"{words} ({stated})" if is_named else words


def _type(row: Row, listed: ListedValues) -> StatedType:
    """Return the type of a variable, with the more decimals of those that its type and its range state."""
    form = next(filter(None, (day_form(row.get(key, "")) for key in ("values", *_WORDS))), "")
    is_slider = row.get("type", "").lower() == "slider"
    found = [stated_type(row.get(key, "")) for key in (("type",) if is_slider else ("check", "type"))]
    form = ISO if _DATES.match(row.get("check", "")) else form
    stated = next((each for each in found if each.type is not CellType.UNKNOWN), StatedType())
    if listed.values:
        return replace(stated, type=CellType.TEXT)
    is_days = listed.bounds is None or compact_days(listed).bounds != listed.bounds or "-" in listed.bounds[0][1:]
    if stated.type is CellType.DAY or (form and stated.type is CellType.UNKNOWN and is_days):
        return StatedType(CellType.DAY, day_form=stated.day_form or form)
    if listed.digits and listed.missing and stated.type is CellType.UNKNOWN and not listed.decimals:
        return StatedType(CellType.WHOLE)  # beside codes for no value, which have no zeros before them
    if listed.digits and stated.type is CellType.UNKNOWN:
        return StatedType(CellType.TEXT)
    decimals = [each for each in (stated.decimals, listed.decimals) if each is not None]
    if stated.type is CellType.WHOLE and listed.decimals:
        stated = replace(stated, type=CellType.NUMBER)
    return replace(stated, decimals=max(decimals, default=None))
