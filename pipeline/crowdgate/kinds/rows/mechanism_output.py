"""The output of a release of rows that an attacker observes: retained classes, and margins as drawn."""

from collections.abc import Mapping
from dataclasses import replace

from crowdgate.histogram import Histogram, subsample
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.kind.randomness import Randomness
from crowdgate.kinds.rows.plan import VIEW
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.noisy_counts.mechanism_output import noisy_counts_of


def mechanism_output(safe: SafeK, counted: Mapping[str, Histogram], randomness: Randomness) -> MechanismOutput:
    """Return the output of one run: retained classes of rows, their levels, and noisy margins. An inherited sample is
    drawn here, as the attacked table is the one before sampling. Weights and estimates are computed from these
    alone."""
    full = counted[VIEW]
    if safe.inherited is not None:
        full = subsample(full, randomness.subsampler(safe.beta))
    made = safe.protect(full, randomness.subsampler(safe.beta), randomness.select, randomness.vectors)
    seen = MechanismOutput((), made.output, made.levels, safe.k, safe.beta)
    if made.margins is None:
        return seen
    return replace(seen, tables=noisy_counts_of(made.margins.mechanism, made.margins.noisy))
