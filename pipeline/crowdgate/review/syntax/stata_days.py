"""Ranges of days in do-files: `gen x = date(y, "DMY")`, then `assert inrange(x, td(1jan2020), td(31dec2020))`."""

import re
from collections.abc import Iterator, Sequence

from crowdgate.domain import parse_date
from crowdgate.review.syntax.facts import Subject, SyntaxFact
from crowdgate.review.syntax.tokens import Statement

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MADE = re.compile(
    r"g(?:e|en|ene|ener|enera|enerat|enerate)? (?:\w+ )?(\w+) ?= ?(?:date|daily) ?\( ?(\w+) ?, ?\"[DMY]+\" ?\)"
)
_DAY = r"(?:td|d) ?\( ?(\d{1,2}) ?([a-z]{3}) ?(\d{4}) ?\)"
_RANGE = re.compile(
    rf"assert inrange ?\( ?(\w+) ?, ?{_DAY} ?, ?{_DAY} ?\)(?: ?\| ?(?:mi|missing) ?\( ?\1 ?\))?", re.IGNORECASE
)


def day_ranges(found: Sequence[Statement]) -> Iterator[SyntaxFact]:
    """Yield the range of the days in each variable of texts, by a condition on the variable of days that is made of it;
    none if other statements make or change that one, too.
    """
    made = [(each[1], each[2]) for statement in found if (each := _MADE.fullmatch(statement.text))]
    for statement in found:
        stated = _RANGE.fullmatch(statement.text)
        sources = [text for day, text in made if stated and day == stated[1]]
        if not stated or len(sources) != 1 or any(_changes(each, stated[1]) for each in found):
            continue
        low, high = _day(*stated.group(2, 3, 4)), _day(*stated.group(5, 6, 7))
        if low and high:
            yield SyntaxFact(Subject.RANGE, (sources[0],), statement.line, ((low, high),))


def _changes(statement: Statement, name: str) -> bool:
    return (
        len(statement.tokens) > 1 and statement.tokens[0].is_("replace", "recode") and statement.tokens[1].text == name
    )


def _day(day: str, month: str, year: str) -> str:
    """Return a day as YYYY-MM-DD; empty if there is none."""
    at = _MONTHS.index(month.lower()) + 1 if month.lower() in _MONTHS else 0
    found = parse_date(f"{year}-{at:02}-{int(day):02}")
    return found.isoformat() if found else ""
