"""What an attacker sees of a release of rows: the classes that stayed, and the margins as drawn."""

from collections.abc import Mapping
from dataclasses import replace

from crowdgate.histogram import Histogram, subsample
from crowdgate.kind.randomness import Randomness
from crowdgate.kind.seen import Seen
from crowdgate.kinds.rows.plan import VIEW
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.noisy.drawn import drawn


def attacked(safe: SafeK, counted: Mapping[str, Histogram], randomness: Randomness) -> Seen:
    """Classes, levels and margins of one draw. An inherited sample is drawn here: what is attacked is the table before
    it. Weights and estimates are made of these alone."""
    full = counted[VIEW]
    if safe.inherited is not None:
        full = subsample(full, randomness.coins(safe.beta))
    made = safe.protect(full, randomness.coins(safe.beta), randomness.select, randomness.vectors)
    seen = Seen((), made.output, made.levels, safe.k, safe.beta)
    if made.margins is None:
        return seen
    return replace(seen, tables=drawn(made.margins.mechanism, made.margins.noisy))
