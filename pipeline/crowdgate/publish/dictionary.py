"""dictionary.csv: every released column with every public value it may hold, whether or not it occurs."""

import csv
from collections.abc import Sequence
from pathlib import Path

from crowdgate.contracts.contract import Attribute
from crowdgate.hierarchy import Level

DICTIONARY = "dictionary.csv"
DICTIONARY_COLUMNS = ("column", "level", "code", "label", "description")


def write_dictionary(attributes: Sequence[tuple[Attribute, Level]], path: Path) -> None:
    """One line for each value of each column at each of its levels."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(DICTIONARY_COLUMNS)
        for attribute, level in attributes:
            for code, label in enumerate(level.labels):
                out.writerow((attribute.name, level.name, code, label, attribute.description))
