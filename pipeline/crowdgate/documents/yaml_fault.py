"""A fault of a text that is no YAML: its cause, and the line without it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class YamlFault:
    """A fault: its place (line and column, from 0), what is there, the expected text, and its line without it.

    `mended` is the line to go on with; `certain` is True if it can be proposed.
    """

    line: int
    column: int
    found: str
    expected: str
    mended: str
    certain: bool = True


def open_brackets(line: str) -> str:
    """Return the brackets and braces that a line opens and does not close, outside quotes and comments; the innermost
    one is last.
    """
    return _opened(line)[0]


def open_quote(line: str) -> int | None:
    """Return where a quotation mark opens a text that its line does not end; None if none does."""
    return _opened(line)[1]


def _opened(line: str) -> tuple[str, int | None]:
    opened, quote = "", None
    for at, each in enumerate(line):
        if quote is not None:
            quote = None if each == line[quote] else quote
        elif each in "\"'" and line[:at].rstrip(" ")[-1:] in ("", "[", "{", ",", ":", "-"):
            quote = at
        elif each == "#" and line[at - 1 : at] in ("", " "):
            break
        elif each in "[{":
            opened += each
        elif each in "]}":
            opened = opened[:-1]
    return opened, quote


def closing(opened: str) -> str:
    """Return what closes these brackets and braces, in order."""
    return "".join("]" if each == "[" else "}" for each in reversed(opened))
