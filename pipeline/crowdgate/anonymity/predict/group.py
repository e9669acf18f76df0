"""The prediction for a group of people who are asked for attributes of a contract."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from crowdgate.anonymity.predict.coarser import widths_listing
from crowdgate.anonymity.predict.figures import Row, degrees_listing, listings, number, prediction_rows
from crowdgate.anonymity.predict.laws import INDEPENDENT, JOINT, Laws, check_classes, laws
from crowdgate.anonymity.predict.population_check import greatest_population, population_notes
from crowdgate.anonymity.predict.subject import groups_of, option_problem, subject_of
from crowdgate.domain import parse_number
from crowdgate.errors import ConfigurationError
from crowdgate.hierarchy import EXACT
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kind.picture import Picture, curve
from crowdgate.number_text import PEOPLE, SHARE, Value, format_value, percent, rounded, whole
from crowdgate.public_counts.figures import PriorFigures, PriorSubject, read_prior
from crowdgate.report.report import Report, short_report
from crowdgate.risk.bins import Bins
from crowdgate.risk.group_size import best_group_size, least_group, singleton_share
from crowdgate.risk.prediction import SIZES
from crowdgate.risk.singletons import expected

DRAWN = 24
"""The greatest number of sizes of groups in a picture."""
GROUP_SIZES = (
    ListingColumn("question", "group size"),
    ListingColumn("people", "people", PEOPLE),
    ListingColumn("share_alone", "share unique", SHARE),
)
ATTACKER_KNOWLEDGE = (
    "The figures are for an attacker who knows that the person is among these people (Koot 2012, sections 4.5 and"
    " 5.1). Without that knowledge, the person must be singled out of the whole population, of whose {population}"
    " people {alone} ({share}) are expected to be unique."
)
BIAS = (
    "The shares are of the whole population. People of a small area or group are more alike, so that fewer of them"
    " are unique (Koot 2012, section 6.2.3)."
)
ALIKE = (
    "The figures assume independent attributes. If attributes are related, other numbers of people are unique: give"
    " counts that relate them with --from."
)


@dataclass(frozen=True)
class PredictionTargets:
    """Additional targets of a prediction, as text: group sizes, the greatest share of unique people, the cost of a
    group."""

    people: str | None = None
    at_most: str | None = None
    cost: str | None = None


def predict_group(
    path: Path, of: str | None, population: str | None, source: Path | None, wish: PredictionTargets
) -> Report:
    """Return the prediction for groups of people by a contract's attributes.

    Raises ConfigurationError for a wrong contract or command line, and what public_counts.figures raises for `source`.
    """
    subject = subject_of(path, of, population)
    sizes = groups_of(wish.people, subject.people)
    limit, cost = limit_of(wish.at_most), cost_of(wish.cost)
    if source is not None:
        check_classes(subject.levels)
    known = read_prior(subject, source)
    found = laws(subject, known)
    rows = list(prediction_rows(found.bins(), found.bounds, sizes))
    more = [widths_listing(subject, known, sizes[0], float(limit))] if limit is not None else []
    if limit is not None or cost is not None:
        more.append(_group_sizes(found, subject.people, limit, cost))
    return short_report(
        f"Prediction of {subject.contract.id}",
        lambda: (
            sentence(rows[0], subject_attributes(subject)),
            *population_notes(subject, known, greatest_population(path, subject.contract), None),
            *notes(found, known, subject.people, sizes),
        ),
        (*listings(rows), *more, degrees_listing(found.bins(), subject.people)),
        _about(subject, known),
        lambda: pictures(found, subject.people, rows),
    )


def limit_of(text: str | None) -> Fraction | None:
    """Return the greatest share of unique people that `--at-most` states, from 0 to 1; None without the option. Raises
    ConfigurationError."""
    return None if text is None else _number("--at-most", text, Fraction(1), "a share from 0 to 1")


def cost_of(text: str | None) -> Fraction | None:
    """Return the cost of one group that `--cost` states, at least 0; None without the option. Raises
    ConfigurationError."""
    return None if text is None else _number("--cost", text, Fraction(10**12), "a number of at least 0")


def _number(option: str, text: str, most: Fraction, expected: str) -> Fraction:
    number = parse_number(text)
    if number is None or not 0 <= number <= most:
        raise ConfigurationError(option_problem(option, f"{text!r}", expected))
    return number


def subject_attributes(subject: PriorSubject) -> str:
    """Return the attributes of a subject as a phrase, with their levels where these are not exact."""
    return levels_phrase({name: level.name for name, level in subject.levels.items()})


def levels_phrase(levels: Mapping[str, str]) -> str:
    """Return the attributes in words, with their levels where these are not exact."""
    each = [name if level == EXACT else f"{name} ({level})" for name, level in levels.items()]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"


def sentence(row: Row, what: str) -> str:
    """Return a sentence on the figures of a row: the expected unique people, and the share of people who share their
    answers with at most four others. `what` names the attributes."""
    few = f"{format_value(row['singletons'], PEOPLE)} ({format_value(row['share_alone'], SHARE)})"
    return (
        f"Of {people_phrase(row['people'])} asked for {what}, {few} are expected to be unique by their answers, and"
        f" {format_value(row['up_to_5'], SHARE)} to share them with at most four others."
    )


def people_phrase(people: Value) -> str:
    """Return "N people who are", or "1 person who is"."""
    return "1 person who is" if people == 1 else f"{format_value(people, PEOPLE)} people who are"


def notes(found: Laws, known: PriorFigures, population: int, sizes: Sequence[int]) -> Iterator[str]:
    """Yield sentences on the basis of the figures, on attributes without counts, and on the attackers and groups for
    which the figures hold."""
    yield f"The figures are {found.basis_text}{f' ({known.source})' if known.source else ''}."
    yield from known.gaps()
    if known.source is None and len(found.axes) > 1:
        yield ALIKE
    yield attacker_knowledge_note(found.best, population)
    if min(sizes) < population:
        yield BIAS


def attacker_knowledge_note(bins: Bins, population: int) -> str:
    """Return a note on the attacker for whom the figures hold, and on the anonymity set for all others."""
    alone, share = expected(bins, population), singleton_share(bins, population)
    return ATTACKER_KNOWLEDGE.format(
        population=whole(population), alone=format_value(alone, PEOPLE), share=format_value(share, SHARE)
    )


def _group_sizes(found: Laws, population: int, limit: Fraction | None, cost: Fraction | None) -> Listing:
    rows: list[Row] = []
    if limit is not None:
        least = least_group(found.best, limit, population)
        what = f"the least group of whom at most {percent(limit)} are unique"
        rows.append(
            _group_size_row(what, least, found) if least else {"question": what, "people": None, "share_alone": None}
        )
    if cost is not None:
        what = f"the group size at which most people are unique, at a cost of {rounded(cost)} for each group"
        rows.append(_group_size_row(what, best_group_size(found.best, cost, population), found))
    note = "none: more people of the whole population are unique" if any(row["people"] is None for row in rows) else ""
    return Listing("group_sizes", "best group size", GROUP_SIZES, tuple(rows), note)


def _group_size_row(question: str, people: int, found: Laws) -> Row:
    return {"question": question, "people": people, "share_alone": singleton_share(found.best, people)}


def _about(subject: PriorSubject, known: PriorFigures) -> dict[str, Any]:
    return {
        "contract": subject.contract.id,
        "population": subject.people,
        "levels": {name: level.name for name, level in subject.levels.items()},
        "from": known.to_json(),
    }


def pictures(found: Laws, population: int, rows: Sequence[Row]) -> list[Picture]:
    """Return pictures of the share of people in small groups, and of unique people in groups of every size."""
    small = [
        curve(
            f"{format_value(row['people'], PEOPLE)}: {row['by']}",
            ((size, number(row[f"up_to_{size}"])) for size in SIZES),
        )
        for row in rows
        if row["by"] in (JOINT, INDEPENDENT)
    ]
    sizes = drawn_sizes(population)
    alone = {name: [(size, singleton_share(bins, size)) for size in sizes] for name, bins in found.bins().items()}
    title, value = "People in groups up to each size", "expected share of people"
    return [
        Picture("small", title, "size of the group", value, tuple(small), (), "log"),
        unique_people_picture(alone),
    ]


def drawn_sizes(population: int) -> list[int]:
    """Return the sizes of groups in a picture, up to the population."""
    return sorted({round(float(size)) for size in np.geomspace(1, population, DRAWN)})


def unique_people_picture(shares: Mapping[str, Sequence[tuple[int, float]]]) -> Picture:
    """Return a picture of the expected share of unique people in groups of people, by the name of the basis."""
    place, value = "people among whom somebody is known to be", "expected share of unique people"
    series = tuple(curve(name, points) for name, points in shares.items())
    return Picture("unique", "Unique people, by the size of the group", place, value, series, (), "log")
