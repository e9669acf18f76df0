"""Whose figures a prediction takes, and warnings where those are other people than it is asked of."""

from collections.abc import Iterator
from pathlib import Path

from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError
from crowdgate.jobs.prior import Figures, Subject, elsewhere
from crowdgate.policy.files import budget_of_contract

OTHER = "Warning: {found}; the figures hold only as far as both are alike."
MORE = (
    "Warning: {people:,} people are more than the population {population} has, at most {most:,} by its budget: the"
    " shares are of other people than are asked."
)


def whose(subject: Subject, known: Figures, most: int | None, asked: str | None) -> Iterator[str]:
    """The population of every source of shares, warnings first. `most` is the greatest number of people in the
    contract's population, `asked` the population that is asked in words, None where it is the contract's."""
    own = subject.contract.population
    if asked is not None:
        yield OTHER.format(found=f"shares of {', '.join(subject.levels)} are of the population {own}, {asked}")
    yield from other_counts(known, subject.contract)
    if most is not None and subject.people > most:
        yield MORE.format(people=subject.people, population=own, most=most)
    yield f"{_sources(subject, known)}."


def other_counts(known: Figures, contract: Contract) -> Iterator[str]:
    """A warning where counts are of another population than the contract's."""
    found = elsewhere(known.population, contract)
    if found is not None:
        yield OTHER.format(found=f"counts are {found}")


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
