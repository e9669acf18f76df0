"""Domains, levels and margins of a contract: from its text and its CSV files to lookup tables, with all errors
reported.
"""

import csv
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from crowdgate import hierarchy as levels_of
from crowdgate.contracts import classifications
from crowdgate.contracts.csv_file import MOST_FAULTS, CsvFile, read_file
from crowdgate.contracts.models import (
    DAY,
    NUMBER,
    VALUES_FILE,
    VALUES_LIST,
    DomainModel,
    LevelModel,
    Place,
    parse,
    quoted_value,
)
from crowdgate.documents.synonyms import meant_word
from crowdgate.domain import Domain, categories, dates, numbers, parse_date, parse_number
from crowdgate.errors import Code, ConfigurationError, Problem, nearest
from crowdgate.hierarchy import ANY, ANY_LABEL, EXACT, INVALID_LABEL, Hierarchy
from crowdgate.limits import LONGEST_CELL
from crowdgate.number_text import stated_number
from crowdgate.system.regular_files import is_url

LOGICAL = ("string", "date", "timestamp", "time", "number", "integer", "object", "array", "boolean", "map", "vector")
"""The logical types of the Open Data Contract Standard."""
FIT = "a label that can be published"
_SEVERAL = re.compile(r"\S *[;,|] *\S|[0-9] *(?:-|\u2013|\.\.) *[0-9]")
"""Signs that one text of a list was meant as several values: a separator, or a range of numbers."""
_PAGE = "data_contracts/reference/domains-and-levels.md"
_ALL_IN_GROUPS = 'each value in one group: add it to one, or write "*" in the group of all others, as in Other: ["*"]'
CURLY = "\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"
"""Quotation marks that YAML takes for letters."""
LABEL_OR_MISSING = (
    "a label that can be published: state one, as in labels: {-1: none}, or state the code as missing: [-1]"
)
REST = "*"
"""The end of a name in a tree that stands for all values with this beginning."""


def read_csv(place: Place, name: str) -> CsvFile | None:
    """Return the CSV file `name` in the contract's folder, or None after its problems were added."""
    path = place.document.path.parent / name
    if is_url(name):
        place.refuse(f"the URL {quoted_value(name)}", "a CSV file of this machine, relative to the contract")
        return None
    try:
        file = read_file(path)
    except OSError as error:
        place.refuse(
            f"the file {quoted_value(name)} can't be read: {error.strerror or 'unknown reason'}",
            "a readable CSV file, relative to the contract",
            None,
            Code.UNREADABLE,
        )
        return None
    except (ValueError, csv.Error) as error:
        why = "it is not UTF-8 text" if isinstance(error, UnicodeError) else str(error)
        found = f"the file {quoted_value(name)} is not valid CSV: {why}"
        place.refuse(found, "a CSV file in UTF-8, with commas between its cells", None, Code.TABLE)
        return None
    except ConfigurationError as error:
        place.problems.extend(error.problems)
        return None
    if path not in place.files:
        place.files.append(path)
    return file


def label_fault(label: str, *, shown: bool = True) -> str | None:
    """Return the reason why a label (or a column's name) can't be published, or None. Spreadsheets run cells that begin
    with = + - @, unless a text is not `shown`.
    """
    if not label:
        return "is empty"
    if len(label.encode(errors="replace")) > LONGEST_CELL:
        return f"is longer than {LONGEST_CELL} bytes"
    if label != label.strip():
        return "begins or ends with a space"
    if shown and label[0] in "=+-@":
        return "begins with = + - or @, which a spreadsheet would run as a formula"
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in label):
        return "contains a control character"
    return "is reserved" if label in (ANY_LABEL, INVALID_LABEL) else None


def code_fault(code: str) -> str | None:
    """Return the reason why a code of the table that is published under a label can't be stated, or None. It may begin
    with a sign, such as -9.
    """
    return label_fault(code, shown=False)


def check_labels(
    place: Place, labels: Iterable[str], fault_of: Callable[[str], str | None] = label_fault, expected: str = FIT
) -> bool:
    """Return whether every label can be published; adds a problem for each that can't."""
    faults = [(label, fault) for label in dict.fromkeys(labels) if (fault := fault_of(label))]
    for label, fault in faults[:MOST_FAULTS]:
        place.refuse(f"{quoted_value(label)} {fault}", expected)
    return not faults


def label_of(domain: Domain, text: str) -> str | None:
    """Return the label of the domain that a contract's text means: the text itself, or the number or day that it
    denotes; None if there is none.
    """
    code = domain.code(text)
    if code < 0:
        return None
    at = int(domain.values[code])
    if domain.grid is not None:
        meant = domain.labels[at] == text or parse_number(text) == domain.grid.first + domain.grid.step * at
    else:
        names = (domain.labels[at], *(domain.written or ())[at : at + 1])
        meant = text in names or (domain.first_day is not None and parse_date(text) is not None)
    return domain.labels[at] if meant else None


def build_domain(place: Place, model: DomainModel, logical: str | None) -> Domain | None:
    """Return the domain that the contract states for a column, or None after its problems were added."""
    domain = _domain(place, model, logical)
    missing = tuple(model.missing or ())
    if domain is None or not missing:
        return domain
    _refuse_joined(place / "missing", missing)
    _refuse_curly(place / "missing", missing)
    told = replace(domain, missing=missing)
    both = next(
        (text for text in domain.written or domain.labels if domain.grid is None and told.is_missing(text)), None
    )
    if both is not None:
        (place / "missing").refuse(
            f"{quoted_value(both)} is a value of the domain, too", "texts that are no value of the domain"
        )
    return told


def _refuse_joined(at: Place, missing: Sequence[str]) -> None:
    """Add a problem for each text that holds several numbers with semicolons between them."""
    for i, text in enumerate(missing):
        parts = [part.strip() for part in text.split(";")]
        if len(parts) > 1 and all(parse_number(part) is not None for part in parts):
            line = at.document.text.replaced((at / i).location, ", ".join(parts))
            (at / i).refuse(f"{quoted_value(text)}, several numbers", "a comma between them", None, Code.VALUE, line)


def _domain(place: Place, model: DomainModel, logical: str | None) -> Domain | None:
    if logical in (None, "string"):
        logical = _implied_type(model)
    elif logical not in LOGICAL:
        logical = meant_word(logical, LOGICAL)  # another type is told by the standard
    try:
        if model.values is not None:
            return _categories(place, model)
        if logical == "date":
            return _dates(place, model)
        if logical not in ("integer", "number"):
            place.refuse(
                "from and to in the domain of a column that is neither a number nor a date",
                "logicalType integer, number or date for this column, or a domain with a list of values",
            )
            return None
        return _numbers(place, model, whole=logical == "integer")
    except ValueError as error:
        place.refuse(f"this domain can't be used: {error}", f"a domain as {_PAGE} describes it")
        return None


def _implied_type(model: DomainModel) -> str:
    """Return the type of a column of texts that has a range, as in a CSV file: that of the limits."""
    limits = (model.first, model.last)
    is_days = all(isinstance(each, str) and parse_date(each) is not None for each in limits)
    return "date" if is_days else "number"


def _categories(place: Place, model: DomainModel) -> Domain | None:
    at = place / "values"
    in_file = isinstance(at.value, dict)
    if in_file and not {"file", "column"} & {*at.value}:
        codes = ", ".join(f'"{code}"' for code in [*at.value][:2])
        at.refuse("values as keys", f"a list, and what they mean beside it: values: [{codes}, ...], labels: {{...}}")
        return None
    values = _values_in_file(at) if in_file else parse(VALUES_LIST, at)
    shown = [value for value in values or () if value not in (model.labels or {})]
    coded = [value for value in values or () if value in (model.labels or {})]
    fit = check_labels(at, shown, expected=LABEL_OR_MISSING if any(each[:1] in "+-" for each in shown) else FIT)
    if values is None or not check_labels(at, coded, code_fault) or not fit:
        return None
    words = _joined(values[0]) if len(values) == 1 and not in_file else []
    if len(words) > 1 and {*words} <= _names_beside(at):
        line = at.document.text.replaced((at / 0).location, ", ".join(words))
        (at / 0).refuse("values without commas between them", "a comma after each value", None, Code.VALUE, line)
        return None
    if len(values) == 1 and not in_file and "CHANGE" not in values[0] and _SEVERAL.search(values[0]):
        at.refuse("one value that looks like several", 'a list with each value on its own, as in ["1", "2", "3"]')
        return None
    torn = next((i for i, each in enumerate(values) if not in_file and _is_torn(at / i, each)), None)
    if torn is not None:
        line = at.document.text.replaced((at / torn).location, json.dumps(values[torn].strip('"')))
        found, expected = f"a quotation mark at one end of {quoted_value(values[torn])}", "one at both ends, or none"
        (at / torn).refuse(found, expected, None, Code.VALUE, line)
        return None
    if any([not in_file and _refuse_curly(at, values), _refuse_curly_keys(place / "labels", model.labels or {})]):
        return None
    twice = _repeated(values)
    if twice is not None:
        at.refuse(f"the value {quoted_value(twice)} is listed twice", "each value once", None, Code.TWICE)
        return None
    domain = categories(values, model.source)
    return domain if not model.labels else _labelled(place / "labels", domain, model.labels)


def _refuse_curly(at: Place, texts: Sequence[str]) -> bool:
    """Return whether texts of a list stand in curly quotation marks; adds a problem for each that does."""
    found = [(i, text) for i, text in enumerate(texts) if _is_curly(text)][:MOST_FAULTS]
    for i, text in found:
        line = at.document.text.replaced((at / i).location, json.dumps(text[1:-1], ensure_ascii=False))
        (at / i).called(*at.names).refuse(*_curly(text), None, Code.VALUE, line)
    return bool(found)


def _refuse_curly_keys(at: Place, labels: Mapping[str, str]) -> bool:
    """Return whether values stand in curly quotation marks beside their labels; adds a problem for each that does."""
    found = [value for value in labels if _is_curly(value)][:MOST_FAULTS]
    for value in found:
        line = at.document.text.with_key((at / value).location, json.dumps(value[1:-1], ensure_ascii=False))
        (at / value).called(*at.names).refuse(*_curly(value), None, Code.VALUE, line)
    return bool(found)


def _joined(text: str) -> list[str]:
    """Return the texts between semicolons or lines in a text, or else between its blanks."""
    return [each.strip() for each in re.split("[;|]", text)] if re.search("[;|]", text) else text.split()


def _names_beside(at: Place) -> set[str]:
    """Return the values that the levels and rules of a column name, beside the `values` of its domain."""
    path = at.location
    if "properties" not in path:  # a definition is of several columns
        return set()
    around: Any = at.document.data
    for part in path[: path.index("properties") + 2]:
        around = around[part]
    return set(_texts(around))


def _texts(stated: Any) -> Iterator[str]:
    """Yield the texts in the lists of a part of a document."""
    for each in stated.values() if isinstance(stated, dict) else stated if isinstance(stated, list) else ():
        if isinstance(each, str) and isinstance(stated, list):
            yield each
        yield from _texts(each)


def _is_torn(at: Place, value: str) -> bool:
    """Return whether a value that is in no quotes has a quotation mark at one end only."""
    is_torn = value.count('"') == 1 and '"' in (value[:1], value[-1:])
    return is_torn and len(value) > 1 and not at.document.text.is_quoted(at.location)


def _labelled(at: Place, domain: Domain, labels: Mapping[str, str]) -> Domain | None:
    """Return the domain with labels in place of its values, or None after problems were added: each must be one value's
    label and no other value's text.
    """
    problems = len(at.problems)
    free = [value for value in domain.labels[:1000] if value not in labels]
    for value in [value for value in labels if value not in domain.labels][:MOST_FAULTS]:
        near, found = nearest(value, free), f"a label of {quoted_value(value)}, which is no value"
        expected = "labels of values" if near else "labels of values: add it to `values`, or delete its label"
        (at / value).called(*at.names).refuse(found, expected, near, Code.UNKNOWN_NAME)
    shown = tuple(labels.get(value, value) for value in domain.labels)
    twice = _repeated(shown)
    if twice is not None:
        at.refuse(
            f"two values have the label {quoted_value(twice)}", "a different label for each value", None, Code.TWICE
        )
    other = next((label for value, label in labels.items() if label != value and label in domain.labels), None)
    if other is not None and twice is None:
        at.refuse(f"the label {quoted_value(other)} is another value", "labels that are no values", None, Code.TWICE)
    if not check_labels(at, labels.values()) or len(at.problems) > problems:
        return None
    return replace(domain, labels=shown, written=domain.labels)


def _is_curly(value: str) -> bool:
    """Return whether a text stands between quotation marks that YAML takes for letters."""
    return len(value) > 1 and value[0] in CURLY and value[-1] in CURLY


def _curly(value: str) -> tuple[str, str]:
    """Return what is found and what is expected of such a text."""
    return f"curly quotation marks: {quoted_value(value)}", f'straight ones: "{value[1:-1]}"'


def _values_in_file(at: Place) -> list[str] | None:
    model = parse(VALUES_FILE, at)
    file = None if model is None else read_csv(at, model.file)
    column = None if model is None or file is None else _column(at, file, model.column)
    return None if file is None or column is None else [row[column] for _, row in file.rows]


def _column(at: Place, file: CsvFile, name: str) -> int | None:
    if name in file.header:
        return file.header.index(name)
    at.refuse(
        f"there is no column {quoted_value(name)} in {file.path.name}",
        "the name of a column of that file",
        nearest(name, file.header),
        Code.UNKNOWN_NAME,
    )
    return None


def _repeated(values: Iterable[str]) -> str | None:
    return next((value for value, times in Counter(values).items() if times > 1), None)


def _numbers(place: Place, model: DomainModel, *, whole: bool) -> Domain | None:
    first, last = parse(NUMBER, place / "from"), parse(NUMBER, place / "to")
    if first is None or last is None:
        return None
    step = parse_number("1") if model.step is None else model.step
    assert step is not None
    if step <= 0 or last < first:
        at = place / ("step" if step <= 0 else "to")
        at.refuse(
            quoted_value(at.value), "a step above 0" if step <= 0 else _turned(place, "a number that is not below")
        )
        return None
    if model.precision is not None and (model.precision <= 0 or step % model.precision):
        at, shown = place / "precision", (stated_number(each) for each in (step, step / 10))
        at.refuse(quoted_value(at.value), f"a number above 0 that divides the step, such as {' or '.join(shown)}")
        return None
    return numbers(
        first, last, step, model.source, top=bool(model.top), bottom=bool(model.bottom), whole=whole,
        precision=model.precision,
    )  # fmt: skip


def _turned(place: Place, expected: str) -> str:
    """Return what is expected of the limits of a domain that are, perhaps, the wrong way round."""
    first, last = (str((place / key).value)[:30] for key in ("from", "to"))
    return f"{expected} `from`; if the limits are the wrong way round, from: {last}, to: {first}"


def _dates(place: Place, model: DomainModel) -> Domain | None:
    if model.model_fields_set & {"step", "top", "bottom", "precision"}:
        place.refuse(
            "a key that a domain of dates can't have: step, top, bottom or precision", "only from, to and source"
        )
        return None
    first, last = parse(DAY, place / "from"), parse(DAY, place / "to")
    if first is not None and last is not None and last < first:
        (place / "to").refuse(quoted_value((place / "to").value), _turned(place, "a day that is not before"))
        return None
    return None if first is None or last is None else dates(first, last, model.source)


def build_hierarchy(place: Place, models: Sequence[LevelModel], domain: Domain, *, invalid_level: bool) -> Hierarchy:
    """Return the levels of an attribute, without faulty levels, whose problems were added."""
    named: list[tuple[str, Sequence[str]]] = [(EXACT, domain.labels)]
    names: set[str] = set()
    lost: list[LevelModel] = []
    for i, model in enumerate(models):
        at = (place / i).called(*place.names, model.name if label_fault(model.name) is None else str(i))
        good = _name_is_good(at, model.name, names)
        labels = _level(at, model, domain, named[-1], lost) if good else None
        if labels is not None and check_labels(at, labels):
            named.append((model.name, labels))
        else:
            lost.append(model)
    return levels_of.hierarchy(domain, named[1:], invalid_level=invalid_level)


def _name_is_good(at: Place, name: str, names: set[str]) -> bool:
    if name in names:
        at.refuse(f"a second level called {quoted_value(name)}", "a different name for each level", None, Code.TWICE)
    elif name in (EXACT, ANY, INVALID_LABEL):
        at.refuse(f"the level name {quoted_value(name)} is reserved", "another name than exact, any and (invalid)")
    elif check_labels(at, [name]):
        names.add(name)
        return True
    return False


def _level(
    at: Place, model: LevelModel, domain: Domain, before: tuple[str, Sequence[str]], lost: Sequence[LevelModel]
) -> Sequence[str] | None:
    try:
        labels = _labels(at, model, domain, before, lost)
    except ValueError as error:
        is_left = model.tree is not None and "in no group" in str(error)
        at.refuse(
            f"this level can't be made: {error}", _ALL_IN_GROUPS if is_left else f"a level as {_PAGE} describes it"
        )
        return None
    split = None if labels is None else levels_of.first_split(before[1], labels)
    if split is not None:
        at.refuse(
            f"this level splits the group {quoted_value(split)} of the level before it",
            f"a level that merges whole groups of {before[0]!r}",
        )
        return None
    return labels


def _labels(
    at: Place, model: LevelModel, domain: Domain, before: tuple[str, Sequence[str]], lost: Sequence[LevelModel]
) -> Sequence[str] | None:
    if model.width is not None:
        return levels_of.by_width(domain, model.width, model.origin or Fraction(0))
    if model.cuts is not None:
        return levels_of.by_cuts(domain, model.cuts)
    if model.prefix is not None:
        return levels_of.by_prefix(domain, model.prefix)
    if model.part is not None:
        return levels_of.by_date_part(domain, model.part)
    if model.file is not None:
        return _labels_in_file(at, model.file, model.column or model.name, domain)
    if model.classification is not None:
        return _labels_in_stock(at, model.classification, model.column or model.name, domain)
    return _labels_in_tree(at / "tree", model.tree or {}, domain, before, lost)


def _labels_in_stock(at: Place, stock: str, level: str, domain: Domain) -> Sequence[str] | None:
    """Return the group of each value in a stock classification, or None after a problem was added, here or by
    `stock_levels.check_codes`.
    """
    known = classifications.level_names(stock)
    if level not in known:
        expected = f"a level of {stock}: {', '.join(known)}"
        at.refuse(f"the level {quoted_value(level)}", expected, nearest(level, known), Code.UNKNOWN_NAME)
        return None
    width = classifications.CLASSIFICATIONS[stock].width
    if width is not None:
        return levels_of.by_width(domain, Fraction(width), Fraction(0))
    found = classifications.groups(stock, level, domain.written or domain.labels)
    return None if None in found else [str(group) for group in found]


def _labels_in_tree(
    at: Place,
    tree: dict[str, list[str]],
    domain: Domain,
    before: tuple[str, Sequence[str]],
    lost: Sequence[LevelModel],
) -> Sequence[str] | None:
    """Return the label that a level's tree gives each value, or None after problems were added. The tree groups the
    values of the level before it or of the domain, whichever fits better.

    A name that may belong to a faulty level is no problem of this one.
    """
    name, finer = before
    known = set(finer)
    if any(member.endswith(REST) for group in tree.values() for member in group):
        tree = _without_prefixes(at, tree, finer)
    members = dict.fromkeys(member for group in tree.values() for member in group)
    above = {member: member if member in known else None for member in members}
    below = {member: label_of(domain, member) for member in members}
    of_level = _known_values(above) >= _known_values(below) and name != EXACT
    meant, values = (above, finer) if of_level else (below, domain.labels)
    unknown = [member for member, label in meant.items() if label is None]
    for member in [member for member in unknown if not _may_belong(lost, member)][:MOST_FAULTS]:
        expected = (
            f"a value of the level {name!r}, as the other names here are" if of_level else "a value of the domain"
        )
        near = nearest(member, list(dict.fromkeys(values))[:1000])
        _member(at, member).refuse(f"the name {quoted_value(member)}", expected, near, Code.UNKNOWN_NAME)
    if unknown:
        return None
    groups = {group: [label for m in inside if (label := meant[m])] for group, inside in tree.items()}
    return levels_of.by_tree(values, groups)


def _member(at: Place, member: str) -> Place:
    """Return the place of the first mention of a name in a tree."""
    group, inside = next((group, inside) for group, inside in at.value.items() if member in inside)
    found: Place = at / group / inside.index(member)
    return found.called(*at.names)


def _without_prefixes(at: Place, tree: dict[str, list[str]], finer: Sequence[str]) -> dict[str, list[str]]:
    """Return the tree with the values of each prefix: `I*` means all that begin with I and are listed nowhere else, `*`
    means everything else. Of several prefixes the longest holds. A name that is a value is no prefix.
    """
    known, listed = set(finer), {member for group in tree.values() for member in group}
    owner: dict[str, str] = {}
    for group, inside in tree.items():
        for member in inside:
            if member.endswith(REST) and member not in known and owner.setdefault(member[:-1], group) != group:
                at.refuse(f"the prefix {quoted_value(member)} is in two groups", "each prefix once", None, Code.TWICE)
    found: dict[str, list[str]] = {
        group: [each for each in inside if each in known or not each.endswith(REST)] for group, inside in tree.items()
    }
    used = set[str]()
    for value in dict.fromkeys(finer):
        prefixes = (value[:length] for length in range(len(value), -1, -1))
        prefix = None if value in listed else next((each for each in prefixes if each in owner), None)
        if prefix is not None:
            used.add(prefix)
            found[owner[prefix]].append(value)
    for prefix in [prefix for prefix in owner if prefix not in used][:MOST_FAULTS]:
        expected = "a prefix of some value that is in no other group"
        at.refuse(f"the prefix {quoted_value(prefix + REST)} fits no value that is left", expected)
    return found


def _known_values(meant: Mapping[str, str | None]) -> int:
    return sum(label is not None for label in meant.values())


def _may_belong(lost: Sequence[LevelModel], member: str) -> bool:
    return any(model.tree is None or member in model.tree for model in lost)


def _labels_in_file(at: Place, name: str, column: str, domain: Domain) -> Sequence[str] | None:
    file = read_csv(at, name)
    chosen = None if file is None else _column(at, file, column)
    if file is None or chosen is None:
        return None
    twice = _repeated(row[0] for _, row in file.rows)
    if twice is not None:
        at.refuse(
            f"the value {quoted_value(twice)} is in {file.path.name} twice", "one row for each value", None, Code.TWICE
        )
        return None
    rows = {label_of(domain, row[0]) or row[0]: row[chosen] for _, row in file.rows}
    return levels_of.by_file(domain, rows)


def read_margins(place: Place, name: str, domain: Domain) -> tuple[int, ...] | None:
    """Return a public count for each value of the domain, from a CSV file with columns value,count; missing values
    count 0.
    """
    file = read_csv(place, name)
    if file is None:
        return None
    if file.header != ("value", "count"):
        place.problems.append(file.problem(1, "a header with other columns", "the header value,count"))
        return None
    counts, faults = _counts(file, domain)
    if not faults and not sum(counts.values()):
        faults = [file.problem(None, "all counts are 0, or there are none", "at least one count above 0")]
    place.problems.extend(faults[:MOST_FAULTS])
    return None if faults else tuple(counts.get(label, 0) for label in domain.labels)


def _counts(file: CsvFile, domain: Domain) -> tuple[dict[str, int], list[Problem]]:
    counts: dict[str, int] = {}
    faults: list[Problem] = []
    for line, (value, count) in file.rows:
        label = label_of(domain, value)
        if label is None:
            near = nearest(value, domain.labels[:1000])
            faults.append(file.problem(line, f"the value {quoted_value(value)}", "a value of the domain", near))
        elif label in counts:
            faults.append(
                file.problem(line, f"a second line for the value {quoted_value(value)}", "one line for each value")
            )
        elif not re.fullmatch("[0-9]{1,15}", count):
            faults.append(file.problem(line, f"the count {quoted_value(count)}", "a whole number, 0 or more"))
        else:
            counts[label] = int(count)
    return counts, faults
