"""What an attacker sees of a release of synthetic rows: the noisy tables as drawn, of which the rows are made."""

from collections.abc import Mapping

from crowdgate.histogram import Histogram
from crowdgate.kind.randomness import Randomness
from crowdgate.kind.seen import Seen
from crowdgate.kinds.synthetic.plan import SyntheticPlan
from crowdgate.kinds.synthetic.release import draw
from crowdgate.mechanisms.synthetic.learned import Measured
from crowdgate.noisy.drawn import NoisyCounts


def attacked(planned: SyntheticPlan, counted: Mapping[str, Histogram], randomness: Randomness) -> Seen:
    """The noisy tables of one draw. Rows are a function of them and of a public seed; which tables were chosen, and the
    distances of the certificate, are drawn as well, and no attacker reads them."""
    drawn, _ = draw(planned, counted, randomness)
    return Seen(
        tuple(_counts(planned, each) for each in drawn.measured),
        unread=("which tables were chosen", "the distances between rows and table"),
    )


def _counts(planned: SyntheticPlan, each: Measured) -> NoisyCounts:
    mechanism = planned.mechanism
    variables = mechanism.drawing.domain.variables
    levels = {variables[at].attribute: mechanism.level(at) for at in each.table}
    return NoisyCounts(levels, each.noisy, float(each.variance), mechanism.beta)
