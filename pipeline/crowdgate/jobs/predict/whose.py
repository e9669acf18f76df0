"""Whose figures a prediction takes, and warnings where those are other people than it is asked of, or contradict one
another."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError
from crowdgate.jobs.prior import Figures, Subject, elsewhere
from crowdgate.kind.forecast import SHARE, Axes
from crowdgate.kind.prior import Prior, coarsened
from crowdgate.policy.files import budget_of_contract
from crowdgate.report.numbers import shown

OTHER = "Warning: {found}; the figures hold only as far as both are alike."
MORE = (
    "Warning: {people:,} people are more than the population {population} has, at most {most:,} by its budget: the"
    " shares are of other people than are asked."
)
APART = (
    "Warning: counts contradict one another, so that no law has all of them: the figures miss those of {names} by {off}"
    " of the people."
)
MOST_OFF = 0.001
"""Share of people by which the joint figures may miss counts: a fit is stopped before."""


def whose(subject: Subject, known: Figures, most: int | None, asked: str | None) -> Iterator[str]:
    """The population of every source of shares, warnings first. `most` is the greatest number of people in the
    contract's population, `asked` the population that is asked in words, None where it is the contract's."""
    own = subject.contract.population
    if asked is not None:
        yield OTHER.format(found=f"shares of {', '.join(subject.levels)} are of the population {own}, {asked}")
    yield from doubts(known, subject)
    if most is not None and subject.people > most:
        yield MORE.format(people=subject.people, population=own, most=most)
    yield f"{_sources(subject, known)}."


def doubts(known: Figures, subject: Subject) -> Iterator[str]:
    """Warnings where counts are of another population than the contract's, or no law has all of them."""
    found = elsewhere(known.population, subject.contract)
    if found is not None:
        yield OTHER.format(found=f"counts are {found}")
    if known.source is not None:
        yield from _contradicted(known.prior, subject.levels)


def _contradicted(prior: Prior, levels: Axes) -> Iterator[str]:
    """A warning for each exact table that the joint figures are far from."""
    joint = prior.joint(levels)
    for table in prior.tables if joint is not None else ():
        own = {name: min(table.axes[name], levels[name], key=len) for name in levels if name in table.axes}
        if joint is not None and own and not table.variance.any():
            told, found = coarsened(table.counts, table.axes, own), coarsened(joint.people, joint.axes, own)
            off = float(np.abs(told / told.sum() - found / found.sum()).sum()) / 2
            if off > MOST_OFF:
                yield APART.format(names=" and ".join(own), off=shown(off, SHARE))


def _sources(subject: Subject, known: Figures) -> str:
    own = [name for name in subject.levels if subject.contract.by_name[name].margins is not None]
    margins = f"margins of {', '.join(own)} are of the population {subject.contract.population}"
    if known.source is None:
        return f"Public {margins}"
    counts = f"Counts are of the population {known.population}"
    return f"{counts}, public {margins}" if own else counts


def most_people(path: Path, contract: Contract) -> int | None:
    """How many people a contract's population has at most, by its budget in the working copy around a file; None where
    no budget says it."""
    try:
        return budget_of_contract(path, contract)[0].spec.people
    except ConfigurationError:
        return None
