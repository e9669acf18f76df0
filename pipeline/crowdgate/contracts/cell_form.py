"""The form in which cells state numbers, days and codes, where it is not the usual one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crowdgate.domain import Domain, day_of, parse_number

POINT, COMMA = ".", ","
ISO = "YYYY-MM-DD"
DAYS = {
    "DD.MM.YYYY": r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})",
    "DD-MM-YYYY": r"(?P<d>\d{1,2})-(?P<m>\d{1,2})-(?P<y>\d{4})",
    "DD/MM/YYYY": r"(?P<d>\d{1,2})/(?P<m>\d{1,2})/(?P<y>\d{4})",
    "MM/DD/YYYY": r"(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})",
    "YYYYMMDD": r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})",
}
"""The forms of days, each with the day, the month and the year as named groups."""
_NUMBER = re.compile(r"([+-]?)([1-9]\d{0,2}([. '\u00a0\u202f])\d{3}(?:\3\d{3})*|\d+)(?:,(\d+))?")
"""A number with a decimal comma. One mark stands between all thousands; after a 0 there are none: 0.123 is no 123."""
_TIME = r"[ T]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AaPp]\.?[Mm]\.?|Z|[+-]\d{2}:?\d{2})?|T\d{4}(?:\d{2})?Z?"
"""A time of day after a day."""
_NONE = "unreadable"
"""A text that is no number and no day."""


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
        states none; texts that state neither in any form stay. So do the texts of missing values, which a contract
        states as the table has them.
        """
        return [text if text is None or text.strip() in domain.missing else self._usual(text, domain) for text in texts]

    def _usual(self, text: str, domain: Domain) -> str:
        if domain.grid is not None:
            return _number(text) if self.decimal_mark == COMMA else text
        if domain.first_day is not None:
            return _day(text, DAYS[self.day]) if self.day != ISO else text
        return text if self.first is None else text.strip()[: self.first]


USUAL = CellForm()
"""The usual form."""


def _number(text: str) -> str:
    """Return a number with a decimal comma as one with a decimal point."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return text if parse_number(text) is None else _NONE
    sign, whole, _, fraction = found.groups()
    return sign + re.sub(r"\D", "", whole) + ("" if fraction is None else f".{fraction}")


def _day(text: str, form: str) -> str:
    """Return a day as an ISO day; a time of day after it is left out."""
    found = re.fullmatch(rf"\s*{form}(?:{_TIME})?\s*", text)
    if found is None:
        return text if day_of(text) is None else _NONE
    return f"{found['y']}-{found['m']:0>2}-{found['d']:0>2}"
