"""Controls: mechanisms for which the correct result of an audit is known. Each is a class, listed here."""

from crowdgate.audit.singling_out_controls.base import SinglingOutControl
from crowdgate.audit.singling_out_controls.composition import Extractor, ExtractorAndPadControl, OneTimePad
from crowdgate.audit.singling_out_controls.exact_counts import (
    ExactCountsControl,
    GuessableSeed,
    HashedCounts,
    MaskedCounts,
    OneCount,
    RepeatedCounts,
)
from crowdgate.audit.singling_out_controls.faulty_policy import faulty_policy_controls
from crowdgate.audit.singling_out_controls.groups import (
    BitSuppression,
    Buckets,
    Close,
    Datafly,
    Diverse,
    MinimalPrefixes,
    Mondrian,
)
from crowdgate.audit.singling_out_controls.raw_rows import (
    Constant,
    Identity,
    LastBits,
    ManyPredicates,
    OneColumnControl,
    OnePredicate,
    Pseudonyms,
    RandomFunction,
)

CONTROLS: tuple[SinglingOutControl, ...] = (
    Constant(),
    RandomFunction(),
    Identity(),
    OneColumnControl(),
    Pseudonyms(),
    LastBits(),
    OnePredicate(),
    ManyPredicates(),
    OneCount(),
    ExactCountsControl(),
    RepeatedCounts(),
    MaskedCounts(),
    HashedCounts(),
    GuessableSeed(),
    Extractor(),
    OneTimePad(),
    ExtractorAndPadControl(),
    BitSuppression(2),
    BitSuppression(3),
    Buckets(),
    Mondrian(5),
    Mondrian(10),
    Diverse(),
    Close(),
    Datafly(),
    MinimalPrefixes(),
)

__all__ = ["CONTROLS", "SinglingOutControl", "faulty_policy_controls"]
