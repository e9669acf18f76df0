"""Controls: mechanisms of which it is known what an audit must find. One class each, and one line here."""

from crowdgate.audit.controls.base import Control
from crowdgate.audit.controls.counts import (
    ExactCounts,
    GuessableSeed,
    HashedCounts,
    MaskedCounts,
    OneCount,
    RepeatedCounts,
)
from crowdgate.audit.controls.groups import (
    BitSuppression,
    Buckets,
    Close,
    Datafly,
    Diverse,
    MinimalPrefixes,
    Mondrian,
)
from crowdgate.audit.controls.own import own_controls
from crowdgate.audit.controls.pad import Extractor, ExtractorAndPad, OneTimePad
from crowdgate.audit.controls.raw import (
    Constant,
    Identity,
    LastBits,
    ManyPredicates,
    OneColumn,
    OnePredicate,
    Pseudonyms,
    RandomFunction,
)

CONTROLS: tuple[Control, ...] = (
    Constant(),
    RandomFunction(),
    Identity(),
    OneColumn(),
    Pseudonyms(),
    LastBits(),
    OnePredicate(),
    ManyPredicates(),
    OneCount(),
    ExactCounts(),
    RepeatedCounts(),
    MaskedCounts(),
    HashedCounts(),
    GuessableSeed(),
    Extractor(),
    OneTimePad(),
    ExtractorAndPad(),
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

__all__ = ["CONTROLS", "Control", "own_controls"]
