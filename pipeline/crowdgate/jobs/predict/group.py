"""The prediction for a group of people who are asked for attributes of a contract."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from crowdgate.domain import parse_number
from crowdgate.errors import ConfigurationError
from crowdgate.hierarchy import EXACT
from crowdgate.jobs.predict.coarser import widths
from crowdgate.jobs.predict.figures import Row, degrees_listing, listings, number, rows_of
from crowdgate.jobs.predict.foretold import Foretold
from crowdgate.jobs.predict.laws import INDEPENDENT, JOINT, Laws, check_classes, laws
from crowdgate.jobs.predict.subject import groups_of, subject_of, wrong
from crowdgate.jobs.predict.whose import most_people, whose
from crowdgate.jobs.prior import Figures, Subject, figures
from crowdgate.kind.forecast import PEOPLE, SHARE, Column, Listing, Value
from crowdgate.report.chart import Line, draw_lines
from crowdgate.report.html import Drawn
from crowdgate.report.numbers import percent, shown
from crowdgate.risk.bins import Bins
from crowdgate.risk.group_size import best_group_size, least_group, share_alone
from crowdgate.risk.prediction import SIZES
from crowdgate.risk.singletons import expected

GROUP_SIZES = (
    Column("question", "group size"),
    Column("people", "people", PEOPLE),
    Column("share_alone", "share alone", SHARE),
)
KNOWN = (
    "The figures are for somebody who knows who is among the people (Koot 2012, sections 4.5 and 5.1). Who does not"
    " know it must single a person out of the whole population, of whose {population} people {alone}"
    " ({share}) are expected to be alone."
)
BIAS = (
    "The shares are of the whole population. People of a small area or group are more alike, so that fewer of them are"
    " alone than is said here (Koot 2012, section 6.2.3)."
)
ALIKE = (
    "The figures take attributes as independent. Related ones leave other numbers of people alone: give counts that"
    " relate them with --from."
)


@dataclass(frozen=True)
class Wish:
    """What is asked beside the prediction, as text: which group sizes, the greatest share of people who may be alone,
    the cost of a group."""

    people: str | None = None
    at_most: str | None = None
    cost: str | None = None


def predict_group(path: Path, of: str | None, population: str | None, source: Path | None, wish: Wish) -> Foretold:
    """The prediction for groups of people by a contract's attributes.

    Raises ConfigurationError for a wrong contract or command line, and what jobs.prior raises for `source`.
    """
    subject = subject_of(path, of, population)
    sizes = groups_of(wish.people, subject.people)
    limit, cost = limit_of(wish.at_most), cost_of(wish.cost)
    if source is not None:
        check_classes(subject.levels)
    known = figures(subject, source)
    found = laws(subject, known)
    rows = list(rows_of(found.bins(), found.ends, sizes))
    more = [widths(subject, known, sizes[0], float(limit))] if limit is not None else []
    if limit is not None or cost is not None:
        more.append(_group_sizes(found, subject.people, limit, cost))
    return Foretold(
        f"Prediction of {subject.contract.id}",
        sentence(rows[0], asked(subject)),
        (
            *whose(subject, known, most_people(path, subject.contract), None),
            *notes(found, known, subject.people, sizes),
        ),
        (*listings(rows), *more, degrees_listing(found.bins(), subject.people)),
        _about(subject, known),
        lambda: pictures(found, subject.people, rows),
    )


def limit_of(text: str | None) -> Fraction | None:
    """The greatest share that `--at-most` states. Raises ConfigurationError."""
    return None if text is None else _number("--at-most", text, Fraction(1), "a share from 0 to 1")


def cost_of(text: str | None) -> Fraction | None:
    """The cost of a group that `--cost` states. Raises ConfigurationError."""
    return None if text is None else _number("--cost", text, Fraction(10**12), "a number of at least 0")


def _number(option: str, text: str, most: Fraction, expected: str) -> Fraction:
    number = parse_number(text)
    if number is None or not 0 <= number <= most:
        raise ConfigurationError(wrong(option, f"{text!r}", expected))
    return number


def asked(subject: Subject) -> str:
    """What is asked, in words."""
    return in_words({name: level.name for name, level in subject.levels.items()})


def in_words(levels: Mapping[str, str]) -> str:
    """Attributes with their levels, where these are not exact."""
    each = [name if level == EXACT else f"{name} ({level})" for name, level in levels.items()]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"


def sentence(row: Row, what: str) -> str:
    """What is expected, in plain words."""
    few = f"{shown(row['singletons'], PEOPLE)} ({shown(row['share_alone'], SHARE)})"
    return (
        f"Of {who_are(row['people'])} asked for {what}, {few} are expected to be alone with their answers, and"
        f" {shown(row['up_to_5'], SHARE)} to be so or to share them with four others at most."
    )


def who_are(people: Value) -> str:
    """So many people who are, or one who is."""
    return "1 person who is" if people == 1 else f"{shown(people, PEOPLE)} people who are"


def notes(found: Laws, known: Figures, population: int, sizes: Sequence[int]) -> Iterator[str]:
    """What the figures rest on, and for whom they hold."""
    yield f"The figures are {found.basis}{f' ({known.source})' if known.source else ''}."
    yield from known.gaps()
    if known.source is None and len(found.axes) > 1:
        yield ALIKE
    yield known_by(found.best, population)
    if min(sizes) < population:
        yield BIAS


def known_by(bins: Bins, population: int) -> str:
    """For whom the figures hold, and what everybody else must single a person out of."""
    alone, share = expected(bins, population), share_alone(bins, population)
    return KNOWN.format(population=f"{population:,}", alone=shown(alone, PEOPLE), share=shown(share, SHARE))


def _group_sizes(found: Laws, population: int, limit: Fraction | None, cost: Fraction | None) -> Listing:
    rows: list[Row] = []
    if limit is not None:
        least = least_group(found.best, limit, population)
        what = f"the least group of whom at most {percent(limit)} are alone"
        rows.append(_size(what, least, found) if least else {"question": what, "people": None, "share_alone": None})
    if cost is not None:
        what = f"the group size at which most are alone, at a cost of {float(cost):.4g} for each group"
        rows.append(_size(what, best_group_size(found.best, cost, population), found))
    note = "none: more of the whole population are alone" if any(row["people"] is None for row in rows) else ""
    return Listing("group_sizes", "best group size", GROUP_SIZES, tuple(rows), note)


def _size(question: str, people: int, found: Laws) -> Row:
    return {"question": question, "people": people, "share_alone": share_alone(found.best, people)}


def _about(subject: Subject, known: Figures) -> dict[str, Any]:
    return {
        "contract": subject.contract.id,
        "population": subject.people,
        "levels": {name: level.name for name, level in subject.levels.items()},
        "from": known.to_json(),
    }


def pictures(found: Laws, population: int, rows: Sequence[Row]) -> list[Drawn]:
    """The share of people in small groups, and of people alone in groups of every size. Raises ConfigurationError when
    the extra that draws is not installed."""
    both = (JOINT, INDEPENDENT)
    small = [
        Line(
            f"{shown(row['people'], PEOPLE)}: {row['by']}",
            tuple((size, number(row[f"up_to_{size}"])) for size in SIZES),
        )
        for row in rows
        if row["by"] in both
    ]
    sizes = sorted({round(float(size)) for size in np.geomspace(1, population, 60)})
    alone = [
        Line(name, tuple((size, share_alone(bins, size)) for size in sizes)) for name, bins in found.bins().items()
    ]
    return [
        draw_lines(small, "size of the group", "expected share of people in groups up to it"),
        draw_lines(alone, "people among whom somebody is known to be", "expected share of them alone"),
    ]
