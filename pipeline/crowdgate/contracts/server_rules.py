"""Rules for the place of a contract's table: the settings of a server, by the source that reads it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from crowdgate.system.regular_files import URL

_MARKS = {"comma": ",", "semicolon": ";", "colon": ":", "pipe": "|", "point": ".", "dot": ".", "period": "."}
"""The words for marks between cells, and within numbers."""


@dataclass(frozen=True)
class ServerSetting:
    """One setting of a server: the pattern of its text, the expected form, and the default (None: the setting is
    required).
    """

    pattern: str
    expected: str
    default: str | None = None

    def meant(self, text: str) -> str | None:
        """Return the setting that a word certainly means: `semicolon` is ;, and tt.mm.jjjj is DD.MM.YYYY."""
        others = (_MARKS.get(text.casefold(), ""), text.upper(), _day_form(text.upper()))
        return next((each for each in others if each and re.fullmatch(self.pattern, each)), None)


def _day_form(text: str) -> str:
    """Return a form of days in the letters of another language, such as TT.MM.JJJJ or GG/MM/AAAA, in English ones: four
    equal letters are the year, MM is the month, and two others are the day.
    """
    text = re.sub(r"([^\W\d_])\1{3}", "YYYY", text)
    return re.sub(r"([^\W\d_MY])\1(?!\1)", "DD", text)


@dataclass(frozen=True)
class ServerRule:
    """The permitted settings of a server of this type and format: `keys` are those of the standard, `properties` are
    Crowdgate's. A database has several tables (`is_database`), and no format.
    """

    type: str
    format: str | None
    keys: Mapping[str, ServerSetting] = field(default_factory=dict)
    properties: Mapping[str, ServerSetting] = field(default_factory=dict)
    is_database: bool = False

    @property
    def file_key(self) -> str:
        """The key that names a file or folder of this machine; an empty text if there is none."""
        return next((name for name, setting in self.keys.items() if setting is PATH), "")


PATH = ServerSetting(rf"(?!{URL})[^\0]+", "the path of the table on this machine, relative to the contract, and no URL")
