"""The output of a release of synthetic rows that an attacker observes: noisy tables as drawn, rows drawn from their
model, and the distances of the certificate."""

from collections.abc import Iterator, Mapping

from crowdgate.histogram import Histogram
from crowdgate.kind.mechanism_output import MechanismOutput, NoisyDistance
from crowdgate.kind.randomness import Randomness
from crowdgate.kinds.synthetic.plan import SyntheticPlan
from crowdgate.kinds.synthetic.release import certificate_of, draw_rows, histogram
from crowdgate.mechanisms.synthetic.certificate import pairs
from crowdgate.mechanisms.synthetic.fitting import MeasuredTable
from crowdgate.mechanisms.synthetic.rounds import SynthesisResult
from crowdgate.noisy_counts.mechanism_output import NoisyCounts


def mechanism_output(
    planned: SyntheticPlan, counted: Mapping[str, Histogram], randomness: Randomness
) -> MechanismOutput:
    """Return tables, rows and distances of one run. Rows are a function of the tables and of a public seed, so they add
    no information, but permit other attacks. The selection of tables is random too, but no attacker reads it."""
    drawn, _ = draw_rows(planned, counted, randomness)
    mechanism = planned.mechanism
    return MechanismOutput(
        tuple(_counts(planned, each) for each in drawn.measured), levels=mechanism.finest, beta=mechanism.beta,
        unread=("which tables were chosen",), made=histogram(mechanism.finest, drawn),
        distances=tuple(_distances(planned, drawn)),
    )  # fmt: skip


def _counts(planned: SyntheticPlan, each: MeasuredTable) -> NoisyCounts:
    mechanism = planned.mechanism
    variables = mechanism.drawing.domain.variables
    levels = {variables[at].attribute: mechanism.level(at) for at in each.table}
    return NoisyCounts(levels, each.noisy, float(each.variance), mechanism.beta)


def _distances(planned: SyntheticPlan, drawn: SynthesisResult) -> Iterator[NoisyDistance]:
    certificate, domain = certificate_of(planned, drawn), planned.mechanism.drawing.domain
    if certificate is None:
        return
    for table, noisy in zip(pairs(domain), drawn.distances.tolist(), strict=True):
        names = tuple(domain.variables[at].attribute for at in table)
        yield NoisyDistance(names, noisy, float(certificate.squared_sigma))
