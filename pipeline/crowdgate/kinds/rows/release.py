"""The candidate of a release of rows, and what is said of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crowdgate.candidate import Static
from crowdgate.contracts.contract import Contract
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram
from crowdgate.kind.kind import Sections
from crowdgate.kind.randomness import Randomness
from crowdgate.kinds.rows.candidate import PublishedRows, RowsCandidate
from crowdgate.kinds.rows.plan import VIEW
from crowdgate.kinds.rows.said import ChoiceSaid, ColumnSaid, RowsData, RowsMechanism
from crowdgate.kinds.rows.utility import utility
from crowdgate.manifest import dumped
from crowdgate.mechanisms.rows.choice import Choice
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.publish.dictionary import entries


def protect(safe: SafeK, static: Static, counted: Mapping[str, Histogram], randomness: Randomness) -> RowsCandidate:
    """Choose the levels if they are open, sample with fresh coins, suppress."""
    made = safe.protect(counted[VIEW], randomness.coins(safe.beta), randomness.select)
    static = replace(static, levels=made.levels)
    return RowsCandidate(static=static, rows=made.output, table=made.full, sample=made.sample, noise=randomness.noise)


def parameters(safe: SafeK) -> dict[str, Any]:
    """What can be said of the mechanism before a release: what may be chosen stands for the level."""
    stated = dumped(_mechanism(safe, safe.levels))
    if safe.choice is not None:
        for name in safe.choice.chosen:
            stated["attributes"][name] = [level.name for level in safe.choice.lattice.candidates[name]]
    return stated


def mechanism(safe: SafeK, candidate: RowsCandidate) -> RowsMechanism:
    """What the manifest says of the mechanism, with the released levels."""
    return _mechanism(safe, candidate.static.levels)


def _mechanism(safe: SafeK, at: Mapping[str, Level]) -> RowsMechanism:
    levels = {name: level.name for name, level in at.items()}
    return RowsMechanism(
        kind="safe_k_anonymity", beta=safe.beta, k=safe.k, rows=safe.rows, inherited=safe.inherited,
        attributes=levels, choice=None if safe.choice is None else _choice(safe.choice),
    )  # fmt: skip


def _choice(choice: Choice) -> ChoiceSaid:
    return ChoiceSaid(
        chosen=tuple(choice.chosen), candidates=len(choice.lattice), score=choice.score, target=choice.lattice.last,
        on=choice.on, epsilon=choice.epsilon,
    )  # fmt: skip


def publish(_: SafeK, candidate: RowsCandidate, contract: Contract) -> PublishedRows:
    """The released rows, with every column at its level."""
    levels = candidate.static.levels
    columns = entries([(contract.by_name[name], level) for name, level in levels.items()])
    return PublishedRows(candidate.rows, columns, tuple(map(candidate.static.ordered, levels)))


def data(held: PublishedRows) -> RowsData:
    """What the manifest says of the files: columns, rows, classes."""
    columns = tuple(
        ColumnSaid(name=each.column, level=each.level, values=len(each.labels), ordered=ordered)
        for each, ordered in zip(held.columns, held.ordered, strict=True)
    )
    return RowsData(columns=columns, rows=held.rows.rows, classes=len(held.rows))


def private(safe: SafeK, candidate: RowsCandidate, _: Mapping[str, Histogram]) -> Sections:
    """What the curator may know: rows, and what the release is worth."""
    rows = {"table": candidate.table.rows, "sample": candidate.sample.rows}
    return {"rows": lambda: rows, "utility": lambda: utility(candidate, safe)}
