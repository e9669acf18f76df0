"""Tables of text, and numbers as they stand in them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TextTable:
    """Rows of text; the first `words` columns are words, the others numbers."""

    title: str
    note: str
    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1


def number(value: float | None) -> str:
    """A number with at most one digit after the point; nothing where there is none."""
    if value is None:
        return ""
    text = f"{value:,.1f}"
    return text.removesuffix(".0")


def percent(part: float, whole: float) -> str:
    """A share; nothing of nobody. Neither some is 0 % nor less than all 100 %."""
    if not whole:
        return ""
    share = part / whole
    if 0 < share < 0.0001:
        return "below 0.01%"
    return "above 99.99%" if 0.9999 < share < 1 else f"{share:.2%}"
