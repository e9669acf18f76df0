"""Public joint counts of several attributes: CSV files that a contract names in addition to single margins."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crowdgate.contracts.contract import Attribute, JointCounts
from crowdgate.contracts.csv_file import MOST_FAULTS, CsvFile
from crowdgate.contracts.domains import label_of, read_csv
from crowdgate.contracts.models import Place, quoted_value
from crowdgate.errors import Problem, nearest
from crowdgate.hierarchy import EXACT, INVALID_LABEL, Level
from crowdgate.histogram import collapse

COUNT = "count"
MOST_COUNTED = 10**15
"""The greatest total of a file, so that sums stay exact."""


@dataclass(frozen=True)
class _Column:
    """A column of a CSV file of joint counts: the attribute's level that has its values, and the code of each text in
    it.
    """

    level: Level
    codes: Mapping[str, int]


def read_joint(place: Place, name: str, attributes: Mapping[str, Attribute]) -> JointCounts | None:
    """Return the public joint counts in the CSV file `name`, or None after problems were added.

    Each attribute is at the finest of its levels that has all the values of its column; a cell without a row counts 0.
    """
    file = read_csv(place, name)
    if file is None:
        return None
    names, faults = file.header[:-1], list[Problem]()
    if len(names) < 2 or file.header[-1] != COUNT:
        faults.append(
            file.problem(
                1,
                "the header lacks attributes or counts",
                f"a header of two or more attributes, with {COUNT} as the last column",
            )
        )
    faults += _unknown(file, names, attributes)
    columns = [] if faults else [_column(file, at, attributes[each], faults) for at, each in enumerate(names)]
    cells = [] if faults else [tuple(e.codes[row[at]] for at, e in enumerate(columns)) for _, row in file.rows]
    counts = [] if faults else _counts(file, cells, faults)
    place.problems.extend(faults[:MOST_FAULTS])
    if faults:
        return None
    codes = [np.array(column) for column in zip(*cells, strict=True)]
    levels = {name: each.level for name, each in zip(names, columns, strict=True)}
    held = np.array(counts, dtype=np.int64)
    sizes = tuple(map(len, levels.values()))
    return JointCounts(levels, collapse(names, sizes, [column[held > 0] for column in codes], held[held > 0]))


def _unknown(file: CsvFile, names: Sequence[str], attributes: Mapping[str, Attribute]) -> list[Problem]:
    known = [name for name, attribute in attributes.items() if attribute.releasable]
    return [
        file.problem(
            1,
            f"the column {quoted_value(name)} is no attribute with a domain",
            "columns named as attributes of the contract that have a domain",
            nearest(name, known),
        )
        for name in names
        if name not in known
    ]


def _column(file: CsvFile, at: int, attribute: Attribute, faults: list[Problem]) -> _Column:
    """Return column `at` at the finest level that has all its values. If no level has, report the values that the best
    level lacks.
    """
    texts = list(dict.fromkeys(row[at] for _, row in file.rows))
    assert attribute.hierarchy is not None, "it is releasable"
    tried = [_Column(level, _codes(attribute, level, texts)) for level in attribute.hierarchy.levels]
    best = max(tried, key=lambda each: len(each.codes))
    found = next((each for each in tried if len(each.codes) == len(texts)), best)
    for line, row in file.rows:
        if row[at] not in found.codes:
            near = nearest(row[at], [label for label in found.level.labels[:1000] if label != INVALID_LABEL])
            faults.append(
                file.problem(
                    line,
                    f"the value {quoted_value(row[at])}",
                    f"a value of {quoted_value(attribute.name)}, all at the same level",
                    near,
                )
            )
    return found


def _codes(attribute: Attribute, level: Level, texts: Sequence[str]) -> dict[str, int]:
    place = {label: at for at, label in enumerate(level.labels) if label != INVALID_LABEL}
    domain = attribute.domain
    meant = {text: label_of(domain, text) if level.name == EXACT and domain else text for text in texts}
    return {text: place[label] for text, label in meant.items() if label is not None and label in place}


def _counts(file: CsvFile, cells: Sequence[tuple[int, ...]], faults: list[Problem]) -> list[int]:
    seen: set[tuple[int, ...]] = set()
    counts: list[int] = []
    for cell, (line, (*_, count)) in zip(cells, file.rows, strict=True):
        if cell in seen:
            faults.append(
                file.problem(
                    line, "a second line for the same combination of values", "one line for each combination of values"
                )
            )
        elif not re.fullmatch("[0-9]+", count):
            faults.append(file.problem(line, f"the count {quoted_value(count)}", "a whole number, 0 or more"))
        elif len(count) > 15:
            faults.append(file.problem(line, f"a count of {len(count)} digits", "a count of at most 15 digits"))
        else:
            counts.append(int(count))
        seen.add(cell)
    if not faults and not sum(counts):
        faults.append(file.problem(None, "all counts are 0, or there are none", "at least one count above 0"))
    if sum(counts) > MOST_COUNTED:
        faults.append(
            file.problem(None, "counts with a sum that is too large", f"counts that add up to at most {MOST_COUNTED}")
        )
    return counts
