"""The candidate of a release of rows, and its entries in the manifest and the private record."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from crowdgate.accounting.noise_sums import MISS
from crowdgate.candidate import Static
from crowdgate.contracts.contract import Contract
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram, project
from crowdgate.kind.kind import Sections
from crowdgate.kind.randomness import Randomness
from crowdgate.kinds.rows.calibrated_margins import calibrated_margins
from crowdgate.kinds.rows.candidate import CalibratedMargins, PublishedRows, RowsCandidate
from crowdgate.kinds.rows.estimates import limits_of
from crowdgate.kinds.rows.manifest_fields import (
    ChoiceFields,
    MarginsData,
    MarginsFields,
    RowsColumnFields,
    RowsData,
    RowsLevelFields,
    RowsMechanism,
    SharesFields,
    released_columns,
)
from crowdgate.kinds.rows.margins import margin_fit, weighted_rows
from crowdgate.kinds.rows.plan import VIEW
from crowdgate.kinds.rows.share_limits import PARTS
from crowdgate.kinds.rows.use import use_fields
from crowdgate.kinds.rows.utility import utility
from crowdgate.kinds.rows.weights import bounds
from crowdgate.manifest import json_fields
from crowdgate.mechanisms.rows.calibration import GRID as UNITS
from crowdgate.mechanisms.rows.choice import LevelSelection
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.mechanisms.tables.dp_tables import DpTables
from crowdgate.noisy_counts.statements import noise_fields
from crowdgate.publish.dictionary import entries


def protect(safe: SafeK, static: Static, counted: Mapping[str, Histogram], randomness: Randomness) -> RowsCandidate:
    """Choose the levels if they are open, sample with fresh randomness, suppress small classes, draw the margins, and
    weight the rows to them."""
    made = safe.protect(counted[VIEW], randomness.subsampler(safe.beta), randomness.select, randomness.vectors)
    static, weighting = replace(static, levels=made.levels), None
    if made.margins is not None and safe.margins is not None:
        weighting = calibrated_margins(safe.beta, made.output, made.levels, made.margins, safe.margins.contract)
    return RowsCandidate(
        static=static, rows=made.output, table=made.full, sample=made.sample, noise=randomness.noise,
        weighted=None if weighting is None else weighted_rows(made.output, weighting), weighting=weighting,
        drawn=made.margins,
    )  # fmt: skip


def parameters(safe: SafeK) -> dict[str, Any]:
    """Return the mechanism's parameters as known before a release, with the candidates of levels that are to be
    chosen."""
    stated = json_fields(_mechanism(safe, safe.levels))
    if safe.choice is not None:
        for name in safe.choice.chosen:
            stated["attributes"][name] = [level.name for level in safe.choice.lattice.candidates[name]]
    return stated


def mechanism_fields(safe: SafeK, candidate: RowsCandidate) -> RowsMechanism:
    """Return the manifest's entry for the mechanism, with the released levels."""
    return _mechanism(safe, candidate.static.levels)


def _mechanism(safe: SafeK, at: Mapping[str, Level]) -> RowsMechanism:
    levels = {name: level.name for name, level in at.items()}
    return RowsMechanism(
        kind="safe_k_anonymity", beta=safe.beta, k=safe.k, rows=safe.rows, inherited=safe.inherited,
        attributes=levels, choice=None if safe.choice is None else _choice(safe.choice),
        margins=None if safe.margins is None else _margins(safe.margins.tables(at), safe.beta),
    )  # fmt: skip


def _margins(made: DpTables, beta: Fraction) -> MarginsFields:
    low, high = bounds(beta)
    stated = noise_fields(made, "least-variance")
    return MarginsFields.model_validate(
        {**stated, "calibration": "integer ridge", "unit": Fraction(1, UNITS), "low": low, "high": high}
    )


def _choice(choice: LevelSelection) -> ChoiceFields:
    return ChoiceFields(
        chosen=tuple(choice.chosen), candidates=len(choice.lattice), score=choice.score, target=choice.lattice.last,
        on=choice.on, epsilon=choice.epsilon,
    )  # fmt: skip


def publish(candidate: RowsCandidate, contract: Contract) -> PublishedRows:
    """Return the released rows with each column at its level, and margins and weights if the policy has margins. A
    column at `any` holds no information and is left out."""
    levels, static = candidate.static.levels, candidate.static
    told = [name for name in levels if name in released_columns({n: level.name for n, level in levels.items()})]
    columns = entries([(contract.by_name[name], levels[name]) for name in told])
    ordered = tuple(map(static.ordered, told))
    weighted, weighting, rows = candidate.weighted, candidate.weighting, project(candidate.rows, told)
    if weighted is None or weighting is None:
        return PublishedRows(rows, columns, ordered)
    use = use_fields(rows.counts, weighted, static.beta, static.least_class)
    return PublishedRows(rows, columns, ordered, weighting, use, limits_of(rows, weighting))


def data_fields(held: PublishedRows) -> RowsData:
    """Return the manifest's entry for the files: columns, and numbers of rows, classes and cells of margins."""
    columns = tuple(
        RowsColumnFields(name=each.column, level=each.level, values=len(each.labels), ordered=ordered)
        for each, ordered in zip(held.columns, held.ordered, strict=True)
    )
    margins = None if held.weighting is None else _margins_data(held, held.weighting)
    return RowsData(columns=columns, rows=held.rows.rows, classes=len(held.rows), margins=margins)


def _margins_data(held: PublishedRows, weighting: CalibratedMargins) -> MarginsData:
    found = [margin_fit(held, margin) for margin in weighting.margins]
    levels = tuple(RowsLevelFields(name=e.column, level=e.level, values=len(e.labels)) for e in weighting.entries)
    return MarginsData(
        levels=levels, cells=sum(len(each.rows) for each in found),
        represented=sum(int((each.rows > 0).sum()) for each in found),
        met=sum(int((each.residual == 0).sum()) for each in found), use=held.use,
        shares=None if held.shares is None else _shares(weighting.together),
    )  # fmt: skip


def _shares(together: Fraction) -> SharesFields:
    return SharesFields(level=1 - Fraction(str(MISS)), width=together, unit=Fraction(1, PARTS))


def private(safe: SafeK, candidate: RowsCandidate, _: Mapping[str, Histogram]) -> Sections:
    """Return the custodian's private record: numbers of rows, and the utility of the release."""
    rows = {"table": candidate.table.rows, "sample": candidate.sample.rows}
    return {"rows": lambda: rows, "utility": lambda: utility(candidate, safe)}
