"""Bounds on the share of unique people over all tables that fit an entry: its distances and, where it has one, its
curve.

The rows of an entry of a release are those of a model: its bounds are over all laws whose probabilities are multiples
of one in VIRTUAL times its rows (or bins), and a group is drawn from the law.
"""

from crowdgate.anonymity.kl.entry import ChargedNoise, FigureInterval, KlEntry
from crowdgate.noise import laplace_quantile
from crowdgate.risk.kl_bounds import CurvePoint, FigureLimits, PublishedLimits, unique_share_bounds
from crowdgate.risk.kl_sums import ALPHA, PARTS

VIRTUAL = 10**6
LARGER, CONTRADICTORY = "the group may be larger than the table", "no table fits the limits of this entry"


def unique_share_range(entry: KlEntry, people: int) -> FigureLimits | str:
    """Return the bounds on the expected share of unique people in a group of `people` that is drawn from an entry's
    people, or the reason why they are unknown.

    With charged noise they hold with probability 95 % for an entry with a curve and 90 % for another one, since the
    upper limits of its sums hold with 95 %, and so do the lower ones.
    """
    figures = published_limits(entry)
    if people > figures.rows.low or (entry.basis.kind == "release" and people > entry.people.rows):
        return LARGER
    return unique_share_bounds(figures, people) or CONTRADICTORY


def published_limits(entry: KlEntry) -> PublishedLimits:
    """Return the limits that an entry states, or that follow from its noise."""
    points = () if entry.curve is None else entry.curve.points
    curve = tuple(CurvePoint(each.rate, _limits(each.share)) for each in points)
    return PublishedLimits(entry.bins, _row_limits(entry), _limits(entry.kl), _limits(entry.collision), curve)


def _limits(figure: FigureInterval) -> FigureLimits:
    return FigureLimits(figure.low, figure.high)


def _row_limits(entry: KlEntry) -> FigureLimits:
    if entry.curve is not None:
        return FigureLimits(entry.curve.rows.low, entry.curve.rows.high)
    rows, basis = entry.people.rows, entry.basis
    if basis.kind == "release":
        many = float(VIRTUAL * max(rows, entry.bins))
        return FigureLimits(many, many)
    reach = _reach(entry, basis) if isinstance(basis, ChargedNoise) else 0
    return FigureLimits(max(rows - reach, 1), rows + reach)


def _reach(entry: KlEntry, basis: ChargedNoise) -> int:
    """Return the half-width of the confidence limits of a noisy number of rows (`risk.kl_sums.rows_interval`)."""
    return laplace_quantile(entry.people.rows_each, basis.epsilon / PARTS, ALPHA / PARTS)
