"""Populations of the shares in a prediction, and warnings where they are not the requested population or contradict one
another."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError
from crowdgate.kind.forecast import Axes
from crowdgate.kind.prior import Prior, coarsened
from crowdgate.number_text import SHARE, format_value, whole
from crowdgate.policy.files import budget_of_contract
from crowdgate.public_counts.figures import PriorFigures, PriorSubject, other_population

OTHER = "Warning: {found}; the figures hold only as far as both are alike."
MORE = (
    "Warning: {people} people are more than the population {population} has, at most {most} by its budget: the"
    " shares are of other people than are asked."
)
APART = (
    "Warning: counts contradict one another, so that no law has all of them: the figures miss those of {names} by {off}"
    " of the people."
)
MOST_OFF = 0.001
"""Greatest share of people by which joint counts may differ from exact counts without a warning: a fit stops before it
is exact."""


def population_notes(subject: PriorSubject, known: PriorFigures, most: int | None, asked: str | None) -> Iterator[str]:
    """Yield the population of every source of shares, warnings first. `most` is the greatest number of people in the
    contract's population, `asked` the requested population in words, None where it is the contract's."""
    own = subject.contract.population
    if asked is not None:
        yield OTHER.format(found=f"shares of {', '.join(subject.levels)} are of the population {own}, {asked}")
    yield from population_warnings(known, subject)
    if most is not None and subject.people > most:
        yield MORE.format(people=whole(subject.people), population=own, most=whole(most))
    yield f"{_sources_text(subject, known)}."


def population_warnings(known: PriorFigures, subject: PriorSubject) -> Iterator[str]:
    """Yield warnings where counts are of another population than the contract's, or contradict one another."""
    found = other_population(known.population, subject.contract)
    if found is not None:
        yield OTHER.format(found=f"counts are {found}")
    if known.source is not None:
        yield from _contradiction_warnings(known.prior, subject.levels)


def _contradiction_warnings(prior: Prior, levels: Axes) -> Iterator[str]:
    """Yield a warning for each exact table of counts from which the joint counts at these levels differ by more than
    MOST_OFF of the people (total variation distance)."""
    joint = prior.joint(levels)
    for table in prior.tables if joint is not None else ():
        own = {name: min(table.axes[name], levels[name], key=len) for name in levels if name in table.axes}
        if joint is not None and own and not table.variance.any():
            told, found = coarsened(table.counts, table.axes, own), coarsened(joint.people, joint.axes, own)
            off = float(np.abs(told / told.sum() - found / found.sum()).sum()) / 2
            if off > MOST_OFF:
                yield APART.format(names=" and ".join(own), off=format_value(off, SHARE))


def _sources_text(subject: PriorSubject, known: PriorFigures) -> str:
    own = [name for name in subject.levels if subject.contract.by_name[name].margins is not None]
    margins = f"margins of {', '.join(own)} are of the population {subject.contract.population}"
    if known.source is None:
        return f"Public {margins}"
    counts = f"Counts are of the population {known.population}"
    return f"{counts}, public {margins}" if own else counts


def greatest_population(path: Path, contract: Contract) -> int | None:
    """Return the greatest number of people in a contract's population, by its budget in the working copy around a file;
    None without such a budget."""
    try:
        return budget_of_contract(path, contract)[0].spec.people
    except ConfigurationError:
        return None
