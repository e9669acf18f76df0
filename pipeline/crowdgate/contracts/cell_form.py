"""The form in which cells state numbers, days and codes, where it is not the usual one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crowdgate.domain import Domain, parse_date, parse_number

POINT, COMMA = ".", ","
ISO = "YYYY-MM-DD"
DAYS = {
    "DD.MM.YYYY": r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})",
    "DD/MM/YYYY": r"(?P<d>\d{1,2})/(?P<m>\d{1,2})/(?P<y>\d{4})",
    "MM/DD/YYYY": r"(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})",
    "YYYYMMDD": r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})",
}
"""The forms of days, each with the day, the month and the year as named groups."""
_NUMBER = re.compile(r"([+-]?)(\d{1,3}(?:[. '\u00a0\u202f]\d{3})+|\d+)(?:,(\d+))?")
_NONE = "unreadable"


@dataclass(frozen=True)
class CellForm:
    """The form of a column's cells: the decimal mark of numbers, with the other marks between thousands; the form of
    days; and how many first characters of a text are read (None: all).
    """

    decimal_mark: str = POINT
    day: str = ISO
    first: int | None = None

    def usual(self, texts: Sequence[str | None], domain: Domain) -> list[str | None]:
        """Return the texts of cells in the usual form. A number or a day in another form than this becomes a text that
        states none; texts that state neither in any form, such as codes of missing values, stay.
        """
        if domain.grid is not None:
            return [_number(text) for text in texts] if self.decimal_mark == COMMA else [*texts]
        if domain.first_day is not None:
            return [_day(text, DAYS[self.day]) for text in texts] if self.day != ISO else [*texts]
        return [text if text is None else text[: self.first] for text in texts]


USUAL = CellForm()
"""The usual form."""


def _number(text: str | None) -> str | None:
    """Return a number with a decimal comma as one with a decimal point."""
    found = None if text is None else _NUMBER.fullmatch(text.strip())
    if text is None or found is None:
        return text if text is None or parse_number(text) is None else _NONE
    sign, whole, fraction = found.groups()
    return sign + re.sub(r"\D", "", whole) + ("" if fraction is None else f".{fraction}")


def _day(text: str | None, form: str) -> str | None:
    """Return a day as an ISO day; a time of day after it is left out."""
    found = None if text is None else re.fullmatch(rf"\s*{form}(?:[ T]\d.*)?\s*", text)
    if text is None or found is None:
        return text if text is None or parse_date(text) is None else _NONE
    return f"{found['y']}-{found['m']:0>2}-{found['d']:0>2}"
