"""Small populations for tests."""

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from crowdgate.audit.common.population import Population
from crowdgate.domain import categories
from crowdgate.hierarchy import Level, hierarchy
from crowdgate.histogram import Histogram, View


def levels(*sizes: int) -> dict[str, Level]:
    """Return attributes a, b, ... with these numbers of values, at `exact`."""
    found = {}
    for at, size in enumerate(sizes):
        own = categories([f"{at}-{value}" for value in range(size)], "a codebook")
        found["abcdefgh"[at]] = hierarchy(own, [], invalid_level=False).levels[0]
    return found


def rows(counts: np.ndarray) -> Population:
    """A population of rows with these counts in the cells of its attributes, of which some may be empty."""
    view = View(levels(*counts.shape))
    codes = tuple(axis.astype(np.int32) for axis in np.nonzero(counts))
    own = counts[codes].astype(np.int64)
    return Population("people", view, Histogram(view.names, view.sizes, codes, own), own)


def persons(lines: np.ndarray, members: np.ndarray) -> Population:
    """Return a population of persons: `lines` are the rows of each distinct person in each cell, `members` how many
    persons have them."""
    view, flat = View(levels(*lines.shape[1:])), lines.reshape(len(lines), -1).astype(np.int64)
    total = (flat.T @ members).astype(np.int64)
    codes = tuple(each[total > 0].astype(np.int32) for each in np.unravel_index(np.arange(len(total)), view.sizes))
    cells = Histogram(view.names, view.sizes, codes, total[total > 0])
    return Population("people", view, cells, members.astype(np.int64), csr_array(flat[:, total > 0]))


@st.composite
def populations(draw: st.DrawFn) -> Population:
    """Draw rows with one or two attributes, or persons with up to three rows."""
    if draw(st.booleans()):
        shape = draw(st.sampled_from([(3,), (6,), (2, 3), (4, 3)]))
        size = int(np.prod(shape))
        counts = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any))
        return rows(np.array(counts).reshape(shape))
    line = st.lists(st.integers(0, 2), min_size=4, max_size=4).filter(any).map(tuple)
    lines = draw(
        st.lists(line, min_size=2, max_size=6, unique=True).filter(lambda found: np.all(np.sum(found, axis=0)))
    )
    members = draw(st.lists(st.integers(1, 9), min_size=len(lines), max_size=len(lines)))
    return persons(np.array(lines), np.array(members))
