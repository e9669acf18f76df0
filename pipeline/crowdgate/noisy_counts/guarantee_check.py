"""Checks of a noise budget: the parts of its queries, and the guarantee that it keeps, alone or jointly."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from crowdgate.accounting import part_laws
from crowdgate.accounting.joint import GREATEST_EPSILON, JointLaw
from crowdgate.accounting.joint_points import Curve
from crowdgate.accounting.noise_laws import NoiseLaw, NoisyVector
from crowdgate.accounting.noise_sums import width
from crowdgate.accounting.numbers import down, up
from crowdgate.accounting.release_series import ReleaseSeries
from crowdgate.accounting.tables_plan import split_budget, stated_guarantee
from crowdgate.guarantee import group
from crowdgate.limits import MOST_NUMBERS
from crowdgate.manifest import GuaranteeFields, Manifest, PointFields
from crowdgate.noisy_counts.manifest_fields import NoiseFields, ResidualFields
from crowdgate.number_text import decimal

NEAR = Fraction(1, 10**9)


def budget_problems(said: NoiseFields) -> Iterator[str]:
    """Yield a problem unless each noisy query of a manifest spends exactly what the budget's split gives it, and all
    together spend at most the budget."""
    if sum(query.cells for query in said.queries) > MOST_NUMBERS:
        yield f"more than {MOST_NUMBERS} noisy numbers"
        return
    if said.residuals is not None or said.split == "residuals":
        yield from _residual_budget_problems(said)
        return
    spends = [said.spent(query) for query in said.queries]
    other = "rho" if said.noise_kind == "laplace" else "epsilon"
    if said.spend is None or any(getattr(each, other) is not None for each in (said, *said.queries)):
        yield f"a mechanism with {said.noise} noise must state its total privacy cost, and no {other}"
        return
    known = [each for each in spends if each is not None]
    if len(known) < len(spends) or min(known) <= 0 or sum(known) > said.spend:
        yield "the queries together spend more than the mechanism, or one of them spends nothing"
    else:
        split = _due(said, said.spend, known)
        # the weights are roots of numbers of cells in floats, whose last bits vary between machines
        if any(abs(spent - due) > due * NEAR for spent, due in zip(known, split, strict=True)):
            yield "the privacy cost of a query differs from what its share gives it"


def _residual_budget_problems(said: NoiseFields) -> Iterator[str]:
    """Yield a problem unless the residuals of a manifest, and nothing else, spend exactly the stated rho."""
    residuals, queries = said.residuals, said.queries
    if residuals is None or said.split != "residuals" or said.noise_kind != "gaussian":
        yield "a manifest states residuals exactly if it divides Gaussian noise by `residuals`"
    elif any(each is not None for query in queries for each in (query.rho, query.epsilon, query.share, query.grid)):
        yield "a query spends nothing of its own if the noise is on residuals"
    elif said.rho is None or said.epsilon is not None or not all(each.rho > 0 for each in residuals):
        yield "a mechanism with noise on residuals must state its rho, and that of each residual"
    elif sum(each.cells for each in residuals) > MOST_NUMBERS:
        yield f"more than {MOST_NUMBERS} noisy numbers"
    elif sum(each.rho for each in residuals) != said.rho:
        yield "the residuals together spend another rho than the mechanism"


def _due(said: NoiseFields, spend: Fraction, known: Sequence[Fraction]) -> Sequence[Fraction]:
    """Return what each query should spend. A division for the least error decides about errors alone, not about the
    guarantee: there the stated shares are due, and otherwise what a query states."""
    queries = [query.query for query in said.queries]
    if said.split in ("equal", "least-variance"):
        return split_budget(queries, spend, said.noise_kind, said.split)
    pairs = zip(queries, known, strict=True)
    return [spent if query.share is None else query.share * spend for query, spent in pairs]


def width_problems(said: NoiseFields, rows: int, form: int) -> Iterator[str]:
    """Yield a problem if a manifest's `width` is wrong: half an interval for sums of the noise on counts, in standard
    errors. It is stated from format 2 (`form`) on."""
    if said.residuals is not None:
        due: Fraction | None = width(said.residual_laws(), sum(each.cells for each in said.residuals))
    else:
        counted = [at for at, query in enumerate(said.queries) if query.grid is None]
        cells = sum(said.queries[at].cells for at in counted)
        due = width([said.law_of(at, rows) for at in counted], cells) if counted and form > 1 else None
    if said.width != due:
        yield "the stated width of intervals does not follow from the noise"


def spend_problems(said: NoiseFields, epsilon: Fraction, delta: Fraction, beta: Fraction) -> Iterator[str]:
    """Yield a problem if the noise, on a sample of rate beta, does not keep the stated epsilon and delta."""
    assert said.spend is not None, "asked before"
    gaussian = said.noise_kind == "gaussian"
    inner = min(delta / beta, 1 - Fraction(1, 10**9)) if gaussian else Fraction(0)
    if gaussian and inner <= 0:
        yield "gaussian noise needs a delta above 0, and the guarantee has 0"
        return
    spent = stated_guarantee(said.noise_kind, said.spend, inner, beta, again=True)
    if spent[0] > epsilon or spent[1] > delta:
        yield "the noise is too small for the stated epsilon and delta"


def stated_noise(said: NoiseFields, rows: int, beta: Fraction = Fraction(1)) -> NoiseLaw | None:
    """Return the law of a manifest's noise, for units of at most `rows` rows; None if a query states no spend that a
    plan can have."""
    if said.residuals is not None:
        return _stated_residual_noise(said.residuals, rows, beta)
    spends = [said.spent(query) or Fraction(0) for query in said.queries]
    if not all(0 < spend <= 2 * Fraction(GREATEST_EPSILON) for spend in spends):
        return None
    vectors = (
        NoisyVector(query.query.sensitivity(rows), spend, query.is_one_sided)
        for query, spend in zip(said.queries, spends, strict=True)
    )
    return NoiseLaw(said.noise_kind, tuple(vectors), rows, beta)


def _stated_residual_noise(residuals: Sequence[ResidualFields], rows: int, beta: Fraction) -> NoiseLaw | None:
    if not all(0 < each.rho <= 2 * Fraction(GREATEST_EPSILON) for each in residuals):
        return None
    vectors = (NoisyVector(each.sensitivity, each.rho, one_sided=False, cells=each.cells) for each in residuals)
    return NoiseLaw("gaussian", tuple(vectors), rows, beta)


def share_problems(said: NoiseFields, rows: int, epsilon: Fraction, delta: Fraction) -> Iterator[str]:
    """Yield a problem if noise that is a share of a joint cost does not keep its own epsilon and delta, neither by the
    sum of its costs nor by its law."""
    noise = stated_noise(said, rows)
    known = noise is not None and noise.is_known
    if noise is None or not known or Fraction(noise.joint(()).delta(down(epsilon))) > delta:
        yield from spend_problems(said, epsilon, delta, Fraction(1))


def series_problems(said: Manifest, law: JointLaw | None) -> Iterator[str]:
    """Yield a problem of the series that a manifest states: its releases, each with this `law` (None: any with the
    guarantee), have a larger delta together than it states."""
    stated, own = said.facts.series, said.guarantee
    if stated is None:
        return
    if stated.epsilon >= stated.releases * own.epsilon and stated.delta >= stated.releases * own.delta:
        return
    if own.epsilon > GREATEST_EPSILON or stated.epsilon > GREATEST_EPSILON:
        yield "its series states less than the sum of its releases, whose joint cost is not known"
        return
    any_law = JointLaw(None, (part_laws.opaque(up(own.epsilon), up(own.delta)),))
    series = ReleaseSeries(any_law if law is None else law, stated.releases)
    if Fraction(series.delta(down(stated.epsilon))) > stated.delta:
        yield "the releases of its series have a larger delta together than it states"


def curve_problems(said: GuaranteeFields, curve: Curve, replaced: Curve) -> Iterator[str]:
    """Yield the problems of a manifest's joint cost, whose parts have the joint `curve`, and the curve `replaced` for
    one unit replaced by another: it states a smaller delta, or does not keep its total."""
    joint = said.joint
    assert joint is not None, "asked before"
    if not any(point.epsilon == said.epsilon and point.delta <= said.delta for point in joint.curve):
        yield "its joint cost does not keep its total"
        return
    epsilon, delta = group(said.epsilon, said.delta, 2)

    def of_the_total(point: PointFields) -> bool:
        return point.epsilon >= epsilon and point.delta >= Fraction(delta)

    others = [point for point in (joint.replaced, *(joint.replacements or ())) if not of_the_total(point)]
    for own, points in ((curve, joint.curve), (replaced, others)):
        for point in points:
            if Fraction(own(down(point.epsilon))) > point.delta:
                yield f"its parts together have a larger delta at epsilon {decimal(point.epsilon)} than it states"
