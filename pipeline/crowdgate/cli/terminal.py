"""Lines for a person at a terminal: wrapped at words to its width, with colour unless NO_COLOR is set.

Without a terminal (a pipe, a file, a build server) every line stays unchanged.
"""

import sys
import textwrap
from collections.abc import Iterable, Iterator

import typer

from crowdgate.errors import CrowdgateError

STYLES = {
    r"(?<=: )allowed\b|^ *pass\b": "green",
    r"^ +(Fails|Inconclusive|Cannot pass|Refused)\b": "bold red",
    r"(?<=: )would be withheld\b|^ *(fail|inconclusive)\b|^crowdgate:": "bold red",
    r"^ *(warning|note|Warning|Note)\b:?": "yellow",
    r"\bCG[0-9]{3}\b": "bold",
    r"write instead:": "bold cyan",
}
"""The highlighted patterns, with their styles."""
INDENT = "  "
AS_IT_IS = f"{INDENT}write instead: "
"""The prefix of a line that is meant to be copied: it is not wrapped."""


def show(lines: Iterable[str], *, err: bool = False) -> None:
    """Print lines on standard output, or on standard error."""
    if (sys.stderr if err else sys.stdout).isatty():
        _at_terminal(lines, err)
    else:
        for line in lines:
            typer.echo(line, err=err)


def error_lines(error: CrowdgateError) -> Iterator[str]:
    """Yield the lines of an error's message, each problem followed by the corrected line of its file, if that is
    known; then its advice, if it has one."""
    corrected = {str(problem): problem.corrected for problem in getattr(error, "problems", ())}
    for at, line in enumerate(str(error).splitlines()):
        yield line if at else f"crowdgate: {line}"
        if corrected.get(line) is not None:
            yield f"{AS_IT_IS}{corrected[line]}"
    if (advice := getattr(error, "advice", None)) is not None:
        yield advice


def _at_terminal(lines: Iterable[str], err: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=err, highlight=False)
    for line in lines:
        text = Text(line if line.startswith(AS_IT_IS) else wrap_line(line, console.width))
        for pattern, style in () if console.no_color else STYLES.items():
            text.highlight_regex(pattern, style)
        console.print(text, soft_wrap=True)


def wrap_line(line: str, width: int) -> str:
    """Return a line wrapped at words to `width` characters, its further lines indented more. Longer words stay
    whole."""
    further = " " * (len(line) - len(line.lstrip())) + 2 * INDENT
    return "\n".join(
        textwrap.wrap(
            line, width, subsequent_indent=further, break_long_words=False, break_on_hyphens=False,
            replace_whitespace=False, drop_whitespace=True,
        )
    )  # fmt: skip
