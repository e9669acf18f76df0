"""Makes a file of levels for a contract from a classification that you have got from its publisher as a CSV file.

    python data_contracts/make_levels.py isic.csv --code Code --level division=Division --level section=Section \
        > data_contracts/levels/industry.csv

Name the levels from fine to coarse, each with its column in the file. The contract then reads values and levels:

    - {property: domain, value: {values: {file: levels/industry.csv, column: value}, source: "ISIC Rev. 4, UN"}}
    - property: levels
      value: [{name: division, file: levels/industry.csv}, {name: section, file: levels/industry.csv}]

See whether the publisher's licence allows what you do with the file. Crowdgate's own classifications need no file.
"""

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path


def rows(path: Path, code: str, levels: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    """Yield the header and a row for each code of a file. Raises ValueError for a code that is empty or stands there
    twice, and for a group that two groups of the next level share.
    """
    yield ["value", *(name for name, _ in levels)]
    above: dict[tuple[int, str], str] = {}
    seen: set[str] = set()
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            found = [row[code].strip(), *(row[column].strip() for _, column in levels)]
            if not all(found) or found[0] in seen:
                raise ValueError(f"the code {found[0]!r} has no group, or stands there twice")
            for at, (fine, coarse) in enumerate(pairwise(found[1:])):
                if above.setdefault((at, fine), coarse) != coarse:
                    raise ValueError(f"the group {fine!r} is in two groups of the next level")
            seen.add(found[0])
            yield found


def main() -> None:
    """Write the levels to standard output."""
    parser = argparse.ArgumentParser(description="Make a file of levels from a classification as CSV.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--code", required=True, help="the column of the codes")
    parser.add_argument("--level", action="append", required=True, metavar="NAME=COLUMN", help="from fine to coarse")
    stated = parser.parse_args()
    levels = [(name, column or name) for name, _, column in (each.partition("=") for each in stated.level)]
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows(stated.file, stated.code, levels))


if __name__ == "__main__":
    main()
