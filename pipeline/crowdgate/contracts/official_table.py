"""Counts of a statistical office's CSV table: with a title above its header, a total, footnotes and marks of them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from crowdgate.contracts.csv_file import MOST_BYTES, MOST_FAULTS
from crowdgate.contracts.domains import label_of
from crowdgate.contracts.models import MarginsModel, Place, quoted_value
from crowdgate.documents.synonyms import plain_number
from crowdgate.domain import Domain
from crowdgate.errors import Code, Problem, nearest
from crowdgate.system.regular_files import is_url, read_plain

DELIMITERS = (",", ";", "\t")
ROUNDED = 100
"""A total may differ from the sum of its counts by one part in this many: offices round each number by itself."""
_MARK = re.compile(r"\s*(?:\([0-9a-z]\)|\[[0-9a-z]\]|[*\N{DAGGER}\N{DOUBLE DAGGER}\N{SUPERSCRIPT TWO}"
                   r"\N{SUPERSCRIPT THREE}\N{SUPERSCRIPT ONE}]+)$")  # fmt: skip
"""A mark of a footnote at the end of a cell."""
Line = tuple[int, str, str]
"""The number of a line, its value and its count, as they are written."""


def read_official_counts(place: Place, model: MarginsModel, domain: Domain) -> tuple[int, ...] | None:
    """Return a public count for each value of the domain (0 where the table has none), or None after its problems were
    added.
    """
    lines = _lines(place, model)
    if lines is None:
        return None
    counts, totals, faults = dict[str, int](), list[tuple[int, int]](), list[Problem]()
    for line, value, text in lines:
        label, count = _label(domain, value), _count(text)
        is_total = model.total is not None and _unmarked(value) == model.total
        if label is None and not is_total and not text:
            continue  # a heading, a footnote or the source
        if count is None:
            faults.append(_fault(place, model, line, f"the count {quoted_value(text)}", "a whole number, 0 or more"))
        elif is_total:
            totals.append((line, count))
        elif label is None:
            near, expected = nearest(value, domain.labels[:1000]), "a value of the domain, or the stated total"
            faults.append(_fault(place, model, line, f"the value {quoted_value(value)}", expected, near))
        elif label in counts:
            found = f"a second line for the value {quoted_value(value)}"
            faults.append(_fault(place, model, line, found, "one line for each value"))
        else:
            counts[label] = count
    whole = len(counts) == len(domain.labels)
    faults += [] if faults else _sum_faults(place, model, sum(counts.values()), totals, whole)
    place.problems.extend(faults[:MOST_FAULTS])
    return None if faults else tuple(counts.get(label, 0) for label in domain.labels)


def _sum_faults(
    place: Place, model: MarginsModel, added: int, totals: Sequence[tuple[int, int]], whole: bool
) -> Iterator[Problem]:
    """Yield the problem of a total that is missing, or that the counts do not add up to. Only if the `whole` domain has
    counts may a difference be of rounding: people of a value without a line would be missing otherwise."""
    if not added:
        yield _fault(place, model, None, "all counts are 0, or there are none", "at least one count above 0")
    if model.total is not None and len(totals) != 1:
        found = f"{len(totals)} lines of the total {quoted_value(model.total)}"
        yield _fault(place, model, None, found, "one line, with the sum of all counts")
        return
    for line, total in totals:
        if abs(total - added) * ROUNDED > (total if whole else 0):
            yield _fault(place, model, line, f"the total {total}, where all counts add up to {added}", "their sum")


def _lines(place: Place, model: MarginsModel) -> list[Line] | None:
    """Return the lines below the first one that names both columns, each once; None after a problem was added."""
    path = place.document.path.parent / model.file
    if is_url(model.file):
        place.refuse(f"the URL {quoted_value(model.file)}", "a CSV file of this machine, relative to the contract")
        return None
    try:
        text = read_plain(path, MOST_BYTES).decode("utf-8-sig")
    except (OSError, ValueError):
        place.refuse(f"the file {quoted_value(model.file)} can't be read", "a CSV file in UTF-8", None, Code.UNREADABLE)
        return None
    if path not in place.files:
        place.files.append(path)
    for delimiter in DELIMITERS:
        try:
            lines = _below_header(text, delimiter, model)
        except csv.Error:
            lines = None
        if lines is not None:
            return lines
    both = f"{quoted_value(model.value)} and {quoted_value(model.count)}"
    found = f"no line of {path.name} names, once each, the columns {both}"
    place.refuse(found, "the names of two columns of that table", None, Code.UNKNOWN_NAME)
    return None


def _below_header(text: str, delimiter: str, model: MarginsModel) -> list[Line] | None:
    """Return the lines below the header; None without one. Raises csv.Error for text that is no CSV."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    for row in rows:
        names = [cell.strip() for cell in row]
        if names.count(model.value) == names.count(model.count) == 1:
            at, of = names.index(model.value), names.index(model.count)
            return [(rows.line_num, *_two(each, at, of)) for each in rows if each]
    return None


def _two(row: Sequence[str], *places: int) -> tuple[str, str]:
    value, count = (row[at].strip() if at < len(row) else "" for at in places)
    return value, count


def _unmarked(cell: str) -> str:
    return _MARK.sub("", cell)


def _label(domain: Domain, value: str) -> str | None:
    return label_of(domain, value) or label_of(domain, _unmarked(value))


def _count(text: str) -> int | None:
    """Return a count with or without thousands separators and a mark of a footnote; None for other texts."""
    plain = _unmarked(text)
    number = plain if re.fullmatch("[0-9]{1,15}", plain) else plain_number(plain, whole=True)
    return int(number) if number is not None and re.fullmatch("[0-9]{1,15}", number) else None


def _fault(
    place: Place, model: MarginsModel, line: int | None, found: str, expected: str, instead: str | None = None
) -> Problem:
    path = place.document.path.parent / model.file
    return Problem(str(path), line, "row", found, expected, instead, Code.TABLE)
