"""Levels are removed until tables at the others are few enough to choose among."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.hierarchy import Level
from crowdgate.mechanisms.synthetic.level_reduction import fewer_levels, tables_at


def ladder(*sizes: int) -> tuple[Level, ...]:
    """Return levels of these sizes."""
    return tuple(
        Level(f"of {size}", tuple(map(str, range(size))), np.arange(sizes[0], dtype=np.int32) * size // sizes[0])
        for size in sizes
    )


LADDERS = st.lists(
    st.lists(st.integers(2, 60), min_size=1, max_size=5, unique=True).map(lambda sizes: sorted(sizes, reverse=True)),
    min_size=2, max_size=6,
)  # fmt: skip


@given(LADDERS, st.integers(1, 120), st.data())
def test_as_few_levels_are_left_out_as_it_takes(sizes: list[list[int]], most: int, data: st.DataObject) -> None:
    levels = {f"a{at}": ladder(*own) for at, own in enumerate(sizes)}
    triples = data.draw(st.lists(st.sampled_from([*combinations(levels, 3)]), max_size=3)) if len(levels) > 2 else []
    every = [(name, level.name) for name, own in levels.items() for level in own]
    needed = {*data.draw(st.lists(st.sampled_from(every), max_size=3))}
    found = fewer_levels(levels, triples, needed, most)
    left = {(name, level.name) for name, own in found.items() for level in own}
    assert all(own[0] is levels[name][0] for name, own in found.items())
    assert needed <= left
    assert all([each for each in levels[name] if each in own] == [*own] for name, own in found.items())
    spare = left - needed - {(name, own[0].name) for name, own in levels.items()}
    assert tables_at(found, triples) <= most or not spare
    if tables_at(levels, triples) <= most:
        assert left == {*every}


def test_levels_that_tell_least_beside_the_finer_one_go_first() -> None:
    levels = {"a": ladder(64, 32, 16, 8, 4, 2), "b": ladder(3)}
    assert [len(level) for level in fewer_levels(levels, [], {}, 4)["a"]] == [64, 16, 4, 2]
    assert [len(level) for level in fewer_levels({**levels, "a": ladder(9, 8, 2)}, [], {}, 2)["a"]] == [9, 2]
    assert tables_at(levels, [("a", "b", "a")]) == 6 + 6
