"""Faults, planted in a policy's own mechanism or in what it writes, and the policy in which they are planted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdgate.audit.common.population_table import population
from crowdgate.audit.common.setting import audit_spec
from crowdgate.audit.law.play import FreshReleases, schedule
from crowdgate.histogram import Histogram, at_least, merge
from crowdgate.kind import randomness
from crowdgate.kinds.rows import release as rows_release
from crowdgate.kinds.rows.calibrated_margins import calibrated_margins
from crowdgate.kinds.rows.candidate import PublishedRows
from crowdgate.ledger import key
from crowdgate.mechanisms.rows import margins, safe_k
from crowdgate.noise import OPENDP, NoiseSource
from crowdgate.planning.plan import plan_policy
from crowdgate.sampling import bernoulli_subsampler
from tests.audit.workshop import Town, make_town
from tests.workshop import Row, write_parquet

SECTION = "  audit: {population: towns, law: {releases: 40}}\n"
PEOPLE = 3000
Patch = pytest.MonkeyPatch


def make_law_town(root: Path, section: str = SECTION) -> Town:
    """Return a working copy with margins, whose public table has 40 classes of 2 to 300 rows."""
    town = make_town(root, section, "")
    town.edit(town.policy, "age: 50 years", "age: 10 years")
    town.edit(town.policy, "{beta: 0.5}", "{beta: 0.3}")
    town.edit(
        town.policy, "ward: exact}\n", "ward: exact}\n    margins: {epsilon: 0.7, delta: 1e-6, tables: [{all: 2}]}\n"
    )
    write_parquet(root / "data_contracts" / "towns.parquet", uneven_rows(PEOPLE))
    return town


def uneven_rows(count: int) -> list[Row]:
    """Rows whose classes of age and ward have very different sizes."""
    draws = np.random.default_rng(7)
    ages = np.minimum(99, (draws.random(count) ** 2.2 * 100).astype(int))
    wards = draws.choice(["north", "south", "east"], count, p=[0.7, 0.25, 0.05])
    return [
        {"patient": str(at), "age": int(age), "ward": str(ward), "note": ""}
        for at, (age, ward) in enumerate(zip(ages, wards, strict=True))
    ]


def fresh_releases(town: Town, seed: int = 1) -> FreshReleases:
    """Return the game of the law audit of this working copy's policy."""
    plan = plan_policy(town.policy)
    (scheduled,) = schedule(plan, audit_spec(plan), population(plan, plan.bundle.population), seed)
    assert isinstance(scheduled.game, FreshReleases)
    return scheduled.game


@dataclass(frozen=True)
class Plant:
    """One fault: its name in the audit guide, and how to plant it."""

    name: str
    plant: Callable[[Patch], None]


def _suppressing(least: Callable[[Histogram, int], Histogram]) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(safe_k, "at_least", least)


def _margins_with(factor: Fraction | None) -> Callable[[Patch], None]:
    """Draw margins with this multiple of their budget, or without noise."""

    def louder(draw: Any) -> Any:
        return lambda values, sensitivity, spend: (
            values if factor is None else draw(values, sensitivity, spend * factor)
        )

    source = NoiseSource(louder(OPENDP.laplace), louder(OPENDP.gaussian))
    honest = margins.PlannedMargins.draw

    def plant(patch: Patch) -> None:
        patch.setattr(
            margins.PlannedMargins, "draw", lambda self, full, released, _: honest(self, full, released, source)
        )

    return plant


def _twice_the_rate(patch: Patch) -> None:
    patch.setattr(
        randomness.KeyedRandomness,
        "subsampler",
        lambda self, beta: bernoulli_subsampler(self.key, 2 * beta, next(self._numbers)),
    )


def _raw_classes(patch: Patch) -> None:
    """Publish the first twenty classes with all their rows."""

    def at(safe: safe_k.SafeK, levels: Any, full: Histogram, sample: Histogram) -> safe_k.AnonymisedRows:
        raw = np.arange(len(full)) < 20
        first = Histogram(full.names, full.sizes, tuple(each[raw] for each in full.codes), full.counts[raw])
        return safe_k.AnonymisedRows(_either(first, at_least(sample, safe.k)), sample, full, levels)

    patch.setattr(safe_k.SafeK, "_at", at)


def _either(first: Histogram, others: Histogram) -> Histogram:
    """Return the classes of `first`, and those of `others` that it lacks."""
    known = set(zip(*(each.tolist() for each in first.codes), strict=True))
    new = np.array(
        [key not in known for key in zip(*(each.tolist() for each in others.codes), strict=True)], dtype=bool
    )
    rest = Histogram(others.names, others.sizes, tuple(each[new] for each in others.codes), others.counts[new])
    return merge([first, rest])


def _tails(patch: Patch) -> None:
    """Publish the classes of the oldest age, however small."""

    def least(sample: Histogram, k: int) -> Histogram:
        oldest = sample.codes[0] == sample.codes[0].max()
        tail = Histogram(
            sample.names, sample.sizes, tuple(each[oldest] for each in sample.codes), sample.counts[oldest]
        )
        return _either(tail, at_least(sample, k))

    patch.setattr(safe_k, "at_least", least)


def _weights_of_suppressed(patch: Patch) -> None:
    """Calibrate weights as if the rows of suppressed classes were released, and publish those of the others."""

    def calibrated(beta: Any, rows: Histogram, levels: Any, drawn: Any, contract: Any) -> Any:
        plain = calibrated_margins(beta, rows, levels, drawn, contract)
        share = rows.rows / max(1, round(float(beta) * PEOPLE))
        return replace(plain, weights=np.rint(plain.weights * share).astype(np.int64))

    patch.setattr(rows_release, "calibrated_margins", calibrated)


def _unpaid_margin(patch: Patch) -> None:
    """Publish one margin more than was drawn."""

    def calibrated(*given: Any) -> Any:
        plain = calibrated_margins(*given)
        return replace(plain, margins=(*plain.margins, plain.margins[-1]))

    patch.setattr(rows_release, "calibrated_margins", calibrated)


def _constant_key(patch: Patch) -> None:
    one = key.draw_key()
    patch.setattr(key, "draw_key", lambda: one)


def _shared_key(patch: Patch) -> None:
    """Give every second release the key of the release before."""
    honest, held = key.draw_key, list[Any]()

    def draw_key() -> Any:
        if held:
            return held.pop()
        held.append(honest())
        return held[0]

    patch.setattr(key, "draw_key", draw_key)


def _silent_gates(patch: Patch) -> None:
    patch.setattr(randomness.KeyedRandomness, "__init__", _without_gate_noise(randomness.KeyedRandomness.__init__))


def _without_gate_noise(honest: Any) -> Any:
    def init(self: Any, key: Any, noise: Any = None, *rest: Any, **named: Any) -> None:
        del noise
        honest(self, key, lambda count, *_: count, *rest, **named)

    return init


def _raw_column(patch: Patch) -> None:
    """Publish the age of each row as it is, in the place of its level."""
    honest = rows_release.publish

    def publish(candidate: Any, contract: Any) -> PublishedRows:
        plain = honest(candidate, contract)
        exact = contract.by_name["age"].hierarchy.levels[0]
        age = replace(plain.columns[0], labels=tuple(exact.labels))
        return replace(plain, columns=(age, *plain.columns[1:]))

    patch.setattr(rows_release, "publish", publish)


def _id_column(patch: Patch) -> None:
    """Publish a further column, as a writer would that adds a hash of each id."""
    honest = rows_release.publish

    def publish(candidate: Any, contract: Any) -> PublishedRows:
        plain = honest(candidate, contract)
        return replace(plain, columns=(*plain.columns, replace(plain.columns[0], column="id")))

    patch.setattr(rows_release, "publish", publish)


DRAWN = (
    Plant("suppression off", _suppressing(lambda sample, _: sample)),
    Plant("noise of margins off", _margins_with(None)),
    Plant("half the noise", _margins_with(Fraction(4))),
    Plant("a third of k", _suppressing(lambda sample, k: at_least(sample, k // 3))),
    Plant("beta .6 for .3", _twice_the_rate),
    Plant("twenty classes published raw", _raw_classes),
    Plant("90 % of the noise", _margins_with(Fraction(100, 81))),
    Plant("a hash of the id as a column", _id_column),
    Plant("weights of suppressed classes", _weights_of_suppressed),
    Plant("an unpaid margin", _unpaid_margin),
    Plant("a constant key", _constant_key),
    Plant("one key for two releases", _shared_key),
    Plant("noise of gates off", _silent_gates),
    Plant("classes of k - 1", _suppressing(lambda sample, k: at_least(sample, k - 1))),
    Plant("tails published", _tails),
    Plant("one raw column", _raw_column),
)
"""Faults that fresh draws show."""


@contextmanager
def planted(fault: Plant) -> Iterator[None]:
    """Plant a fault, and remove it afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        fault.plant(patch)
        yield
