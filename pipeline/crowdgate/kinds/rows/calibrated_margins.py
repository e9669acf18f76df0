"""Turn noisy margins into published ones: consistent tables, and weights of the released rows."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.histogram import Histogram
from crowdgate.kinds.rows.candidate import CalibratedMargins, Lookup, PublishedMargin, Sizes
from crowdgate.kinds.rows.share_limits import width_together
from crowdgate.kinds.rows.weights import weights_of
from crowdgate.mechanisms.rows.margins import DrawnMargins
from crowdgate.mechanisms.tables.answers import TableAnswer, consistent_answers
from crowdgate.publish.dictionary import entries
from crowdgate.publish.levels import coarser

RELATIVE = Fraction(1, 10)
Levels = dict[tuple[str, str], Level]


def calibrated_margins(
    beta: Fraction, rows: Histogram, released: Mapping[str, Level], drawn: DrawnMargins, contract: Contract
) -> CalibratedMargins:
    """Return the noisy margins made consistent with each other, and a weight for each class of released rows:
    post-processing of noisy margins and released rows."""
    answers = consistent_answers(drawn.mechanism, drawn.noisy, RELATIVE)
    margins = tuple(_margin(each) for each in answers if isinstance(each, TableAnswer))
    lookup, sizes = margin_lookups(released, drawn)
    used = _margin_levels(drawn)
    further = [(name, level) for (name, _), level in used.items() if level.name != released[name].name]
    named: list[tuple[Attribute, Level]] = [(contract.by_name[name], level) for name, level in further]
    both = [pair for each, level in named for pair in ((each, released[each.name]), (each, level))]
    weights = weights_of(rows, beta, margins, lookup, sizes)
    together = width_together(drawn.mechanism.laws, sum(len(each.value) for each in margins))
    return CalibratedMargins(margins, weights, entries(named), list(coarser(both)), lookup, sizes, together)


def margin_lookups(released: Mapping[str, Level], drawn: DrawnMargins) -> tuple[Lookup, Sizes]:
    """Return, for each column at its level in the margins, the code of each released value at that level, and the
    number of values of the level."""
    used = _margin_levels(drawn)
    lookup = {axis: coarser_codes(released[axis[0]], level) for axis, level in used.items()}
    return lookup, {axis: len(level) for axis, level in used.items()}


def _margin(answer: TableAnswer) -> PublishedMargin:
    cells = answer.cells
    names = {name: level.name for name, level in answer.levels.items()}
    parts = (cells.value, cells.unbiased, cells.standard_error, cells.lower, cells.upper)
    return PublishedMargin(*(np.asarray(part, dtype=np.float64).reshape(-1) for part in parts), levels=names)


def _margin_levels(drawn: DrawnMargins) -> Levels:
    """Return each column at the level that it has in the margins."""
    return {(n, level.name): level for linear in drawn.mechanism.queries for n, level in linear.levels.items()}
