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
    opened, quote = "", ""
    for at, each in enumerate(line):
        if quote:
            quote = "" if each == quote else quote
        elif each in "\"'" and line[:at].rstrip(" ")[-1:] in ("", "[", "{", ",", ":", "-"):
            quote = each
        elif each == "#" and line[at - 1 : at] in ("", " "):
            break
        elif each in "[{":
            opened += each
        elif each in "]}" and opened:
            opened = opened[:-1]
    return opened


def closing(opened: str) -> str:
    """Return what closes these brackets and braces, in order."""
    return "".join("]" if each == "[" else "}" for each in reversed(opened))
