"""The output of a release of tables that an attacker observes: the noisy counts as drawn."""

from collections.abc import Mapping

from crowdgate.histogram import Histogram
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.kind.randomness import Randomness
from crowdgate.kinds.tables.plan import TablesPlan
from crowdgate.noisy_counts.mechanism_output import noisy_counts_of


def mechanism_output(planned: TablesPlan, counted: Mapping[str, Histogram], randomness: Randomness) -> MechanismOutput:
    """Return the noisy counts of one run. Consistent tables, means and quantiles are computed from noisy vectors alone.
    The vectors of sums are drawn too, but no attacker reads them."""
    mechanism = planned.mechanism
    coins = None if mechanism.beta == 1 else randomness.subsampler(mechanism.beta)
    unread = tuple(linear.query.name for linear in mechanism.queries if linear.grid is not None)
    return MechanismOutput(
        noisy_counts_of(mechanism, mechanism.protect(counted, coins, randomness.vectors)), unread=unread
    )
