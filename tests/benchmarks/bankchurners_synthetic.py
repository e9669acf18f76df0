"""Synthetic customers in place of the members: made as `dp_synthetic` makes rows, and fitted to as if they were people.

Numbers of more than 64 values are rounded to the nearest of 64 that are equally far apart, from the least to the
greatest that any customer has: a policy would take these ends from public knowledge.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from crowdgate.accounting.tables_plan import tables_budget
from crowdgate.arrays import Floats, Integers
from crowdgate.hierarchy import EXACT, Level
from crowdgate.histogram import Histogram, collapse
from crowdgate.mechanisms.synthetic.domain import ModelDomain
from crowdgate.mechanisms.synthetic.domain import Table as Variables
from crowdgate.mechanisms.synthetic.rounds import RoundsPlan, SyntheticBudget, synthesize
from tests.benchmarks.bankchurners_table import Draw, Random, Table
from tests.mechanisms.synthetic.noise import OPENDP_ZCDP

BINS, COARSER = 64, (4, 16)
DELTA = Fraction("1e-9")
ONE_WAYS, CERTIFICATE = Fraction("0.35"), Fraction("0.05")


def made(people: Table, draw: Draw, epsilon: Fraction, rng: Random) -> tuple[Table, Draw]:
    """Rows made of a draw's members, and behind them everybody: models are fitted to the first, and asked for the
    targets, or for the members."""
    binned = {name: bins(people, name) for name in people.codes}
    drawing = drawing_of({name: len(values) for name, (_, values) in binned.items()}, epsilon)
    rows = synthesize(drawing, _counted(binned, draw), OPENDP_ZCDP, rng).rows
    return _joined(people, binned, rows), Draw(*_behind(draw, len(rows[0])))


def bins(people: Table, name: str) -> tuple[Integers, Floats]:
    """The code of everybody, and the number of each code: rounded ones, or the values that there are."""
    numbers, codes = people.numbers[name], people.codes[name]
    if numbers is None or len(numbers) <= BINS:
        size = int(codes.max()) + 1
        return codes, np.arange(size, dtype=np.float64) if numbers is None else numbers
    low, width = numbers[0], (numbers[-1] - numbers[0]) / (BINS - 1)
    own = np.rint((numbers[codes] - low) / width).astype(np.int64)
    return own, low + width * np.arange(BINS)


def drawing_of(sizes: dict[str, int], epsilon: Fraction) -> RoundsPlan:
    """The rounds of a policy of these attributes, with coarser levels of those that have many values."""
    domain = ModelDomain.of({name: _levels(size) for name, size in sizes.items()})
    rho = tables_budget(epsilon, DELTA, "gaussian").spend
    budget = SyntheticBudget(
        (ONE_WAYS * rho / len(sizes),) * len(sizes), rho * (1 - ONE_WAYS - CERTIFICATE), CERTIFICATE * rho
    )
    return RoundsPlan(domain, tuple(_pairs(domain)), (), 1 << 18, 1, budget)


def _levels(size: int) -> Sequence[Level]:
    widths = (1, *(width for width in COARSER if size >= 4 * width))
    return [_level(size, width) for width in widths]


def _level(size: int, width: int) -> Level:
    codes = np.arange(size, dtype=np.int32) // width
    labels = tuple(str(code) for code in range(int(codes.max()) + 1))
    return Level(EXACT if width == 1 else str(width), labels, codes)


def _pairs(domain: ModelDomain) -> list[Variables]:
    every = range(len(domain.variables))
    return [(a, b) for a in every for b in every if domain.attribute_of[a] < domain.attribute_of[b]]


def _counted(binned: dict[str, tuple[Integers, Floats]], draw: Draw) -> Histogram:
    sizes = tuple(len(values) for _, values in binned.values())
    return collapse(tuple(binned), sizes, [codes for codes, _ in binned.values()], draw.fitted)


def _joined(people: Table, binned: dict[str, tuple[Integers, Floats]], rows: Sequence[np.ndarray]) -> Table:
    codes: dict[str, Integers] = {}
    numbers: dict[str, Floats | None] = {}
    for own, (name, (_, values)) in zip(rows, binned.items(), strict=True):
        known = people.numbers[name]
        if known is None:
            codes[name], numbers[name] = np.concatenate([own, people.codes[name]]).astype(np.int64), None
        else:
            both, place = np.unique(np.concatenate([values[own], known[people.codes[name]]]), return_inverse=True)
            codes[name], numbers[name] = place.astype(np.int64), both
    return Table(codes, numbers)


def _behind(draw: Draw, rows: int) -> tuple[Integers, Integers]:
    fitted, asked = np.zeros((2, rows + len(draw.asked)), dtype=np.int64)
    fitted[:rows], asked[rows:] = 1, draw.asked
    return fitted, asked
