"""What an attacker sees of a release of tables: the noisy counts as drawn."""

from collections.abc import Mapping

from crowdgate.histogram import Histogram
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.kind.randomness import Randomness
from crowdgate.kinds.tables.plan import TablesPlan
from crowdgate.noisy_counts.mechanism_output import noisy_counts_of


def mechanism_output(planned: TablesPlan, counted: Mapping[str, Histogram], randomness: Randomness) -> MechanismOutput:
    """The noisy counts of one draw. Consistent tables, means and quantiles are made of noisy vectors alone; those of
    sums are drawn as well, and no attacker reads them."""
    mechanism = planned.mechanism
    coins = None if mechanism.beta == 1 else randomness.subsampler(mechanism.beta)
    unread = tuple(linear.query.name for linear in mechanism.queries if linear.grid is not None)
    return MechanismOutput(
        noisy_counts_of(mechanism, mechanism.protect(counted, coins, randomness.vectors)), unread=unread
    )
