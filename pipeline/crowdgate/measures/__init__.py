"""Measures: numbers about a candidate release that gates put limits on. A new measure is a function, and a line
here."""

from crowdgate.measures import (
    conditions,
    confidential,
    expected_classes,
    guarantees,
    ingestion,
    pair_errors,
    recorded_audits,
    register_matches,
    released_rows,
    small_classes,
    tables,
    weighted_rows,
)
from crowdgate.measures.base import Aspect, BetterSide, Measure, MeasureClass

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        guarantees.EPSILON,
        guarantees.DELTA,
        guarantees.PSO_BOUND,
        guarantees.PSO_BOUND_IN_SAMPLE,
        guarantees.MEMBERSHIP_PRECISION_BOUND,
        expected_classes.EXPECTED_SINGLETONS,
        expected_classes.SINGLETON_PROBABILITY,
        expected_classes.EXPECTED_SHARE_IN_SETS_UP_TO,
        recorded_audits.PSO_SUCCESS,
        recorded_audits.PSO_EXCESS,
        recorded_audits.ISOLATION_RATE,
        recorded_audits.KEPT_SHARE,
        recorded_audits.INFERENCE_GAIN,
        recorded_audits.INFERENCE_ABOVE,
        recorded_audits.MEMBERSHIP_PRECISION,
        released_rows.RELEASED_ROWS,
        released_rows.RELEASED_CLASSES,
        released_rows.SMALLEST_CLASS,
        weighted_rows.MARGINS_MET,
        weighted_rows.REPRESENTED_SHARE,
        weighted_rows.ABSENT_VALUES,
        weighted_rows.EFFECTIVE_ROWS,
        weighted_rows.WORST_SHARE_ERROR,
        register_matches.REGISTER_MATCHES,
        register_matches.REGISTER_MATCH_SHARE,
        conditions.DISTINCT_DIVERSITY,
        conditions.ENTROPY_DIVERSITY,
        conditions.T_CLOSENESS,
        conditions.BETA_LIKENESS,
        conditions.DELTA_DISCLOSURE,
        tables.TRUSTED_SHARE,
        tables.TOTAL_RELATIVE_ERROR,
        tables.SMALLEST_TRUSTED_CELL,
        pair_errors.SYNTHETIC_PAIR_ERROR,
        pair_errors.SYNTHETIC_MEAN_ERROR,
        pair_errors.TRUSTED_PAIRS,
        small_classes.SINGLETONS,
        small_classes.J_TONS,
        small_classes.CLASSES_BELOW,
        small_classes.SINGLETON_SHARE,
        small_classes.SHARE_IN_CLASSES_BELOW,
        ingestion.INVALID_SHARE,
        ingestion.INVALID_PEOPLE,
        ingestion.TRUNCATED_PEOPLE,
        confidential.ANONYMITY_SET_QUARTILE,
        confidential.SUPPRESSED_SHARE,
        confidential.SAMPLE_UNIQUES,
        confidential.POPULATION_UNIQUES,
    )
}

__all__ = ["MEASURES", "Aspect", "BetterSide", "Measure", "MeasureClass"]
