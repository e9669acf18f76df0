"""What an attacker sees of a release of synthetic rows: the noisy tables as drawn, the rows that are made of them, and
the distances of the certificate."""

from collections.abc import Iterator, Mapping

from crowdgate.histogram import Histogram
from crowdgate.kind.randomness import Randomness
from crowdgate.kind.seen import NoisyDistance, Seen
from crowdgate.kinds.synthetic.plan import SyntheticPlan
from crowdgate.kinds.synthetic.release import certificate_of, draw, histogram
from crowdgate.mechanisms.synthetic.certificate import pairs
from crowdgate.mechanisms.synthetic.learned import Measured
from crowdgate.mechanisms.synthetic.rounds import Synthesized
from crowdgate.noisy.drawn import NoisyCounts


def attacked(planned: SyntheticPlan, counted: Mapping[str, Histogram], randomness: Randomness) -> Seen:
    """Tables, rows and distances of one draw. Rows are a function of the tables and of a public seed: who reads them
    can know no more, but may go about it otherwise. Which tables were chosen is drawn as well, and no attacker reads
    it."""
    drawn, _ = draw(planned, counted, randomness)
    mechanism = planned.mechanism
    return Seen(
        tuple(_counts(planned, each) for each in drawn.measured), levels=mechanism.finest, beta=mechanism.beta,
        unread=("which tables were chosen",), made=histogram(mechanism.finest, drawn),
        distances=tuple(_distances(planned, drawn)),
    )  # fmt: skip


def _counts(planned: SyntheticPlan, each: Measured) -> NoisyCounts:
    mechanism = planned.mechanism
    variables = mechanism.drawing.domain.variables
    levels = {variables[at].attribute: mechanism.level(at) for at in each.table}
    return NoisyCounts(levels, each.noisy, float(each.variance), mechanism.beta)


def _distances(planned: SyntheticPlan, drawn: Synthesized) -> Iterator[NoisyDistance]:
    certificate, domain = certificate_of(planned, drawn), planned.mechanism.drawing.domain
    if certificate is None:
        return
    for table, noisy in zip(pairs(domain), drawn.distances.tolist(), strict=True):
        names = tuple(domain.variables[at].attribute for at in table)
        yield NoisyDistance(names, noisy, float(certificate.squared_sigma))
