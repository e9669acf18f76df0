"""Measures: numbers about a candidate release that gates put limits on. A new one is a function and a line here."""

from crowdgate.measures import (
    audited,
    conditions,
    confidential,
    expected,
    guarantees,
    ingestion,
    output,
    pairs,
    registered,
    small_classes,
    tables,
)
from crowdgate.measures.base import Aspect, Measure, MeasureClass

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        guarantees.EPSILON,
        guarantees.DELTA,
        guarantees.PSO_BOUND,
        guarantees.PSO_BOUND_IN_SAMPLE,
        guarantees.MEMBERSHIP_PRECISION_BOUND,
        expected.EXPECTED_SINGLETONS,
        expected.SINGLETON_PROBABILITY,
        expected.EXPECTED_SHARE_IN_SETS_UP_TO,
        audited.PSO_SUCCESS,
        audited.PSO_EXCESS,
        audited.ISOLATION_RATE,
        audited.KEPT_SHARE,
        audited.INFERENCE_GAIN,
        audited.INFERENCE_ABOVE,
        audited.MEMBERSHIP_PRECISION,
        output.RELEASED_ROWS,
        output.RELEASED_CLASSES,
        output.SMALLEST_CLASS,
        registered.REGISTER_MATCHES,
        registered.REGISTER_MATCH_SHARE,
        conditions.DISTINCT_DIVERSITY,
        conditions.ENTROPY_DIVERSITY,
        conditions.T_CLOSENESS,
        conditions.BETA_LIKENESS,
        conditions.DELTA_DISCLOSURE,
        tables.TRUSTED_SHARE,
        tables.TOTAL_RELATIVE_ERROR,
        tables.SMALLEST_TRUSTED_CELL,
        pairs.SYNTHETIC_PAIR_ERROR,
        pairs.SYNTHETIC_MEAN_ERROR,
        pairs.TRUSTED_PAIRS,
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

__all__ = ["MEASURES", "Aspect", "Measure", "MeasureClass"]
