"""The public facts that gates read, taken from a manifest."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from crowdgate.candidate import ColumnFacts, Static
from crowdgate.hierarchy import Level
from crowdgate.manifest import Manifest


def level_of(name: str, labels: tuple[str, ...]) -> Level:
    """Return a level whose values serve as a domain, as nothing finer is known of a release."""
    return Level(name, labels, np.arange(len(labels), dtype=np.int32))


def static_of(
    said: Manifest, levels: Mapping[str, Level], facts: Mapping[str, ColumnFacts], least_class: int
) -> Static:
    """Return public facts as the manifest states them, with these columns. Raises ValueError for parts of a guarantee
    that do not add up."""
    stated = said.facts
    spent, budget = (stated.spent.epsilon, stated.spent.delta), (stated.budget.epsilon, stated.budget.delta)
    return Static(
        guarantee=said.guarantee.guarantee, spent=spent, budget=budget, people=stated.people, least_class=least_class,
        levels=levels, facts=facts, rows_per_unit=stated.rows_per_unit, beta=said.mechanism.beta,
        lifetime=None if stated.lifetime is None else stated.lifetime.lifetime,
        series=None if stated.series is None else (stated.series.epsilon, stated.series.delta),
    )  # fmt: skip


def static_before_data(said: Manifest) -> Static:
    """Return the facts that static gates were judged by: columns are known by their public counts alone."""
    counts, joint = said.facts.margins, tuple(each.histogram for each in said.facts.joint or ())
    sizes = {name: size for each in joint for name, size in zip(each.names, each.sizes, strict=True)}
    sizes |= {name: len(own) for name, own in counts.items()}
    levels = {name: level_of(name, tuple(map(str, range(size)))) for name, size in sizes.items()}
    facts = {name: ColumnFacts(margins=counts.get(name)) for name in sizes}
    stated = said.facts.classes
    classes = None if stated is None else {frozenset(each.over): each.class_sizes for each in stated}
    return replace(static_of(said, levels, facts, 1), joint=joint, classes=classes)
