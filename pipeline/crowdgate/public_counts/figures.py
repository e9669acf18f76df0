"""The prior before a release: the contract's public margins, a verified release's counts, or a public table.

Rows without margins carry no information about people whose rows are missing, so they are no source. A table is counted
only if a contract states that it is public.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdgate.contracts.contract import Attribute, Contract, JointCounts
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.hierarchy import EXACT, Level
from crowdgate.histogram import Histogram, View, joint, project
from crowdgate.kind.prior import CountsAtLevels, Prior, ReportedCounts
from crowdgate.limits import MOST_CELLS_FITTED
from crowdgate.planning.bundle import KNOWN
from crowdgate.planning.public_tables import public_table
from crowdgate.public_counts.unknown_shares import UnknownShares, unknown_shares

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan


@dataclass(frozen=True, eq=False)
class PriorFigures:
    """A prior (public knowledge about a population before a release), the population of its counts, and their source in
    words (None: there are margins only).

    `untold` are the attributes of the plan without counts, `unknown` those whose shares at the plan's levels are
    unknown. `table` means that the counts are those of a public table.
    """

    prior: Prior
    population: str
    source: str | None = None
    untold: tuple[str, ...] = ()
    unknown: tuple[UnknownShares, ...] = ()
    table: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the object of `--json` that describe the source of the figures."""
        about = {"source": self.source, "population": self.population}
        unknown = {each.name: None if each.known is None else each.known.name for each in self.unknown}
        return {**about, "attributes_without_counts": list(self.untold), "attributes_with_unknown_shares": unknown}

    def gaps(self) -> Iterator[str]:
        """Yield sentences about the attributes of the plan without counts at its levels, and the consequences."""
        margins = [name for name in self.untold if self.prior.attributes[name].margins is not None]
        if margins:
            yield f"No count tells {', '.join(margins)}: public margins stand in, as if independent."
        for each in self.unknown:
            missing = f"Figures that need {each.name} at {each.level.name!r} are unknown"
            yield f"{missing}: {each.found}. Give {each.expected}."


@dataclass(frozen=True, eq=False)
class PriorSubject:
    """The subject of a prior: a contract in its working copy, a bound on the people of its population, and attributes
    at levels.

    `root` is None outside a working copy.
    """

    contract: Contract
    root: Path | None
    people: int
    levels: Mapping[str, Level]

    @classmethod
    def of_plan(cls, plan: Plan) -> PriorSubject:
        """Return the subject of a plan: every attribute, at the finest level that the plan counts."""
        levels = joint(plan.protection.views.values()).levels
        return cls(plan.bundle.contract, plan.bundle.root, plan.bundle.budget.spec.people, levels)


def read_prior(subject: PriorSubject, source: Path | None, further: Sequence[str] = ()) -> PriorFigures:
    """Return the prior of a subject and further attributes.

    It rests on the contract's margins and joint public counts; with `source`, on counts of a release folder or a public
    table in place of the joint counts. Raises VerificationFailed for a folder that is no release, ConfigurationError
    for a source without counts or with other values than the contract, for counts of no people, and for a table that no
    contract states to be public; FileFault if it is unreadable.
    """
    if source is None:
        return _contract_figures(subject, further)
    population, words, told = (
        _release_tables(source) if source.is_dir() else _count_public_table(subject, source, further)
    )
    tables = _at_contract_levels(told, subject.contract, source)
    if not any(table.axes for table in tables):
        expected = "a release of tables of counts, or of rows with margins, or the public table itself"
        found = "this source has no counts of the contract's attributes, and rows alone do not show who is missing"
        raise _source_error(source, found, expected)
    peopled = tuple(table for table in tables if table.variance.any() or table.counts.any())
    if not peopled:
        raise _source_error(source, "no row of this table has valid values in every attribute",
                       "a table with valid rows")  # fmt: skip
    return replace(_prior_figures(subject, peopled, population, words), table=not source.is_dir())


def other_population(population: str, contract: Contract) -> str | None:
    """Return in words that figures are of another population than a contract's; None if they are of the same one."""
    own = contract.population
    return None if population == own else f"of the population {population}, not of {own}, the contract's"


def _prior_figures(
    subject: PriorSubject, tables: tuple[CountsAtLevels, ...], population: str, words: str
) -> PriorFigures:
    prior = Prior(subject.people, subject.contract.by_name, tables)
    untold = tuple(name for name in subject.levels if not prior.is_counted(name))
    return PriorFigures(prior, population, words, untold, tuple(unknown_shares(prior, subject.levels)))


def _contract_figures(subject: PriorSubject, further: Sequence[str]) -> PriorFigures:
    """Return the prior from the contract's public margins and joint counts; joint counts are scaled to the bound on
    people."""
    chosen = [{*subject.levels}, *([{*subject.levels, *further}] if further else [])]
    counts = [_dense(each, names, subject.people) for each in subject.contract.joint for names in chosen]
    tables = tuple(table for table in counts if table is not None)
    if not tables:
        return PriorFigures(Prior(subject.people, subject.contract.by_name), subject.contract.population)
    return _prior_figures(subject, tables, subject.contract.population, "the joint public counts of the contract")


def _dense(stated: JointCounts, names: Collection[str], people: int) -> CountsAtLevels | None:
    """Return public joint counts, summed to these attributes and scaled to `people`, with a number for every cell; None
    if they have none of these attributes, or too many cells."""
    axes = {name: level for name, level in stated.levels.items() if name in names}
    shape = tuple(map(len, axes.values()))
    if not axes or prod(shape) > MOST_CELLS_FITTED:
        return None
    held, counts = project(stated.counts, [*axes]), np.zeros(shape)
    counts[held.codes] = held.counts * (people / held.rows)
    return CountsAtLevels(axes, counts, np.zeros(shape))


def _release_tables(folder: Path) -> tuple[str, str, list[ReportedCounts]]:
    from crowdgate.attachments import ATTACHMENTS
    from crowdgate.kinds import KINDS
    from crowdgate.verification.steps import Verification

    run = Verification(folder, KINDS, ATTACHMENTS)
    said = run.run()
    return (
        said.contract.population,
        f"the published counts of release {said.release.id}",
        list(run.kind.counts_for_planning(said, run.contents)),
    )


def _count_public_table(
    subject: PriorSubject, path: Path, further: Sequence[str]
) -> tuple[str, str, list[ReportedCounts]]:
    from crowdgate.ledger.key import draw_key
    from crowdgate.sources import open_source
    from crowdgate.sources.counting import CountingTask, count_table, histograms, serial

    contract = _public_contract(subject, path)
    planned = {name: level.name for name, level in subject.levels.items()}
    wanted = {**dict.fromkeys(further, EXACT), **planned}
    shared = {name: contract.by_name[name] for name in wanted if name in contract.by_name}
    found = {name: attribute for name, attribute in shared.items() if attribute.releasable}
    if not found:
        raise _source_error(
            path, f"contract {contract.id} has no attribute of {', '.join(wanted)}", "a table with some"
        )
    views = _views(found, wanted, planned)
    source = open_source(contract, tuple(found), path)
    task = CountingTask(contract, tuple(found), views)
    held = histograms(count_table(source, task, serial()), task, draw_key())
    told = [_labelled_table(view, held[name]) for name, view in views.items()]
    return contract.population, f"the public table {path.name}", told


def _public_contract(subject: PriorSubject, path: Path) -> Contract:
    """Return the contract that states that the table in a file is public. Raises ConfigurationError if no contract
    does."""
    found = public_table(path, subject.contract, KNOWN)
    if isinstance(found, Contract):
        return found
    raise _source_error(
        path, found, "a release that `crowdgate verify` accepts, or the table of a contract with public: true"
    )


def _views(attributes: Mapping[str, Attribute], wanted: Mapping[str, str], own: Collection[str]) -> dict[str, View]:
    """Return, by name, the views to count, except those with too many cells: all attributes at the wanted levels, those
    of `own` alone, and each pair of attributes at `exact`."""
    exact, planned = {}, {}
    for name, attribute in attributes.items():
        assert attribute.hierarchy is not None, "it is releasable"
        exact[name] = attribute.hierarchy.level(EXACT)
        planned[name] = attribute.hierarchy.level(wanted[name] if wanted[name] in attribute.hierarchy.names else EXACT)
    chosen = [exact] if len(exact) < 2 else [{name: exact[name] for name in pair} for pair in combinations(exact, 2)]
    alone = {name: level for name, level in planned.items() if name in own}
    views = [View(planned), *([View(alone)] if 0 < len(alone) < len(planned) else []), *map(View, chosen)]
    return {str(at): view for at, view in enumerate(views) if view.cells <= MOST_CELLS_FITTED}


def _labelled_table(view: View, counted: Histogram) -> ReportedCounts:
    counts = np.zeros(view.sizes)
    counts[counted.codes] = counted.counts
    return ReportedCounts({name: level.labels for name, level in view.levels.items()}, counts, np.zeros(view.sizes))


def _at_contract_levels(told: Sequence[ReportedCounts], contract: Contract, source: Path) -> tuple[CountsAtLevels, ...]:
    """Return reported counts at the contract's levels; attributes that the contract lacks are summed over.

    Raises ConfigurationError for values that are those of no level.
    """
    problems: dict[str, Problem] = {}
    tables = []
    for each in told:
        axes, places = {}, []
        for name, labels in each.axes.items():
            found = _matching_level(contract.by_name.get(name), labels)
            if isinstance(found, str):
                problems.setdefault(
                    name,
                    _source_problem(
                        source, f"{name!r}: {found}", f"the values of a level of {name!r} in contract {contract.id}"
                    ),
                )
            elif found is not None:
                axes[name], order = found
                places.append(order)
        others = tuple(at for at, name in enumerate(each.axes) if name not in axes)
        parts = (part.sum(axis=others) for part in (each.counts, each.variance))
        if not problems:
            tables.append(CountsAtLevels(axes, *(part[np.ix_(*places)] if places else part for part in parts)))
    if problems:
        raise ConfigurationError(list(problems.values()))
    return tuple(tables)


def _matching_level(attribute: Attribute | None, labels: tuple[str, ...]) -> tuple[Level, list[int]] | str | None:
    """Return the attribute's level that has exactly these labels, and for each label of the level its position in
    `labels`.

    Return in words what does not fit if no level has them, and None for an attribute that is not the contract's.
    """
    if attribute is None or attribute.hierarchy is None:
        return None
    place = {label: at for at, label in enumerate(labels)}
    for level in attribute.hierarchy.levels:
        if {*level.labels} == {*labels}:
            return level, [place[label] for label in level.labels]
    known = {label for level in attribute.hierarchy.levels for label in level.labels}
    other = next((label for label in labels if label not in known), None)
    return f"{len(labels)} values of no level" if other is None else f"a value {other!r} that no level has"


def _source_problem(source: Path, found: str, expected: str) -> Problem:
    return Problem("command line", None, f"--from {source}", found, expected)


def _source_error(source: Path, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(_source_problem(source, found, expected))
