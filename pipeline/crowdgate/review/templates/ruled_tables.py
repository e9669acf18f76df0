"""Tables of a text in reStructuredText, AsciiDoc and LaTeX as rows of cells."""

import re
from collections.abc import Iterator, Sequence

_SIMPLE = re.compile(r"\s*=+(?:\s+=+)+\s*")
"""The rule of a simple table of reStructuredText."""
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
"""The rule of a grid table of reStructuredText."""
_FENCE = re.compile(r"\s*\|={3,}\s*")
"""The line before and behind a table of AsciiDoc."""
_MACRO = re.compile(r"\\(?:texttt|textbf|textit|emph|code|verb|multicolumn\{\d+\}\{[^{}]*\})\{([^{}]*)\}")
_ESCAPED = re.compile(r"\\([_%&#$])")
_HOLD = "\x00"


def ruled_tables(text: str) -> Iterator[list[list[str]]]:
    """Yield the rows of each table of a text, of which continued lines are joined; none in other texts."""
    lines = text.expandtabs().splitlines()
    yield from _simple_tables(lines)
    yield from _grid_tables(lines)
    yield from _fenced_tables(lines)
    yield from _latex_tables(text)


def _simple_tables(lines: Sequence[str]) -> Iterator[list[list[str]]]:
    rules = [at for at, line in enumerate(lines) if _SIMPLE.fullmatch(line)]
    for top, middle, end in zip(rules[::3], rules[1::3], rules[2::3], strict=False):
        starts = [each.start() for each in re.finditer(r"=+", lines[top])]
        spans = list(zip(starts, [*starts[1:], None], strict=True))
        kept = [*lines[top + 1 : middle], *lines[middle + 1 : end]]
        cells = [[line[low:high].strip() for low, high in spans] for line in kept if line.strip()]
        yield _joined(cells)


def _joined(rows: Sequence[list[str]]) -> list[list[str]]:
    """Return rows in which those without a first cell are parts of the row before them."""
    found = list[list[str]]()
    for row in rows:
        if found and not row[0]:
            found[-1] = [f"{one} {two}".strip() for one, two in zip(found[-1], row, strict=True)]
        else:
            found.append(row)
    return found


def _grid_tables(lines: Sequence[str]) -> Iterator[list[list[str]]]:
    found, row, width = list[list[str]](), list[str](), 0
    for line in [*lines, ""]:
        if _GRID.fullmatch(line):
            found += [row] if row else []
            row, width = [], width or line.count("+") - 1
        elif width and line.strip().startswith("|"):
            cells = [each.strip() for each in line.strip().strip("|").split("|")]
            row = [f"{one} {two}".strip() for one, two in zip(row, cells, strict=False)] if row else cells
        elif width:
            if found:
                yield found
            found, row, width = [], [], 0


def _fenced_tables(lines: Sequence[str]) -> Iterator[list[list[str]]]:
    fences = [at for at, line in enumerate(lines) if _FENCE.fullmatch(line)]
    for top, end in zip(fences[::2], fences[1::2], strict=False):
        body = [line for line in lines[top + 1 : end] if line.strip()]
        if not body:
            continue
        cells = [each.strip() for each in "\n".join(body).replace("\\|", _HOLD).split("|")][1:]
        width = body[0].count("|")
        whole = [each.replace(_HOLD, "|") for each in cells]
        yield [whole[at : at + width] for at in range(0, len(whole) - width + 1, width)] if width else []


def _latex_tables(text: str) -> Iterator[list[list[str]]]:
    for body in re.findall(
        r"\\begin\{(?:long|x)?tabular?[xy*]?\}(.*?)\\end\{", text.replace("longtable", "tabular"), re.S
    ):
        plain = re.sub(r"(?m)\\(?:top|mid|bottom|h|end\w*)(?:rule|line|head|foot)?\b|(?<!\\)%.*$", "", body)
        rows = [_latex_cells(each) for each in re.split(r"\\\\", plain) if "&" in each]
        yield [row for row in rows if any(row)]


def _latex_cells(row: str) -> list[str]:
    """Return the cells of a row of LaTeX without its commands."""
    held = row.replace("\\&", _HOLD)
    plain = (_MACRO.sub(r"\1", each.replace("--", "-")) for each in held.split("&"))
    cells = (" ".join(_ESCAPED.sub(r"\1", each.replace(_HOLD, "&")).split()) for each in plain)
    return [re.sub(r"^(?:\{[^{}]*\}\s*)+(?=\w)", "", each) for each in cells]
