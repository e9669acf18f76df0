"""Lines of a plain text below the name of a variable, whose codes, labels and counts stand below each other."""

import re
from collections.abc import Iterator, Sequence

from crowdgate.review.templates.code_rows import DOUBTFUL, cells_of, is_range, plain_table


def with_code_points(text: str) -> str:
    """Return a text in which codes with labels beside them are indented lines `1 = Male`; counts behind the labels are
    left out. Where it is doubtful which cells are codes, one line says so with the labels.
    """
    return "\n".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    run = list[str]()
    for line in [*text.splitlines(), ""]:
        if re.match(r"\s+\S|\d|-\d", line) and len(cells_of(line)) > 1:
            run.append(line)
            continue
        yield from _points(run)
        run = []
        yield line


def _points(run: Sequence[str]) -> Iterator[str]:
    """Yield the lines of codes for those of a table; other lines as they are."""
    rows = [cells_of(line) for line in run]
    table = plain_table(rows) if rows else None
    if table is not None and table.entries:
        ranges = [code for code, _ in table.entries if is_range(code)]
        words = (
            (code, "" if code in ranges and not re.search(r"\d", label) else label) for code, label in table.entries
        )
        yield from (f"    {code} = {label}" if label else f"    {code}" for code, label in words)
    elif table is not None and table.doubtful:
        yield f"    values: {DOUBTFUL}{'; '.join(table.doubtful)}"
    else:
        yield from run
