"""Tables drawn around expected counts, for simulated releases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.histogram import Histogram
from crowdgate.kind.forecast import Basis

if TYPE_CHECKING:
    from crowdgate.kind.drawing import Draws
    from crowdgate.kind.prior import ExpectedCounts


def drawn_tables(joint: ExpectedCounts, number: int, draws: Draws) -> Iterator[Histogram]:
    """Yield tables of Poisson counts around the expected ones, or around those with the noise of their source added
    once more; the expected ones if they are known exactly."""
    _, *noisy = joint.others or (None,)
    expected = (joint.people, *noisy)
    for at in range(number):
        people = expected[at % len(expected)]
        counts = np.rint(people) if joint.basis is Basis.COUNTED else draws.poisson(people)
        codes = tuple(each.astype(np.int64) for each in np.nonzero(counts))
        yield Histogram(tuple(joint.axes), people.shape, codes, counts[counts > 0].astype(np.int64))
