"""The distribution of a release with chosen levels: all outcomes of sampling, each scheme at its exact probability."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from crowdgate.guarantee import Part
from crowdgate.hierarchy import Level
from crowdgate.histogram import Column, Histogram, Records, scan
from crowdgate.mechanisms.rows.choice import LevelSelection, joint_delta
from crowdgate.mechanisms.rows.lattice import SchemeLattice
from crowdgate.mechanisms.rows.safe_k import SafeK

Row = tuple[int, ...]
Law = dict[object, float]
EXACT = Level("exact", ("0", "1"), np.array([0, 1], dtype=np.int32))
ANY = Level("any", ("*",), np.array([0, 0], dtype=np.int32))


def chooser(
    columns: int,
    *,
    k: int,
    beta: Fraction,
    total: Fraction,
    price: Fraction,
    on: str = "full",
    score: str = "expected_kept_rows",
) -> SafeK:
    """Return a choice on binary attributes, each exact or any: 2^columns candidates (one attribute less if the last is
    a target)."""
    names = [f"c{i}" for i in range(columns)]
    candidates: dict[str, tuple[Level, ...]] = dict.fromkeys(names, (EXACT, ANY))
    last = names[-1] if score == "classification" else None
    if last is not None:
        candidates[last] = (EXACT,)
    choice = LevelSelection(SchemeLattice(candidates, last), price, score, on, {})  # type: ignore[arg-type]
    part = Part("mechanism", total if on == "sample" else total - price, Fraction(1, 2))
    return SafeK(beta, k, choice.lattice.finest, part, choice)


def table(safe: SafeK, rows: Sequence[Row]) -> Histogram:
    """Return the rows as a release counts them."""
    columns = {name: Column(np.array([row[i] for row in rows], dtype=np.int32)) for i, name in enumerate(safe.levels)}
    return scan([Records(len(rows), columns)], {"release": safe.view})["release"]


def permute_and_flip(scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> list[float]:
    """Return the noisy maximum's distribution: candidates come up in random order, each is selected with p = e^(epsilon
    (s - max) / D).

    The one that comes up at time u was preceded by each other one with probability u: p times the integral over u of
    the product of 1 - u p of the others.
    """
    best = max(scores)
    taken = [math.exp(float(epsilon) * (score - best) / sensitivity) for score in scores]
    masses = []
    for i, own in enumerate(taken):
        others = np.polynomial.Polynomial([1.0])
        for j, other in enumerate(taken):
            others = others * np.polynomial.Polynomial([1.0, -other]) if j != i else others
        masses.append(own * float(others.integ()(1.0)))
    assert abs(sum(masses) - 1) < 1e-9
    return masses


@dataclass(frozen=True, eq=False)
class Fixed:
    """A fixed choice: the mechanism's remaining work is its own."""

    lattice: SchemeLattice
    on: str
    epsilon: Fraction
    scheme: Mapping[str, Level]

    def choose(self, *_: object) -> Mapping[str, Level]:
        return self.scheme


def scheme_law(safe: SafeK, counted: Histogram) -> list[float]:
    """Return the probability of each scheme, at the scores that the implementation computes for this table or
    sample."""
    found: list[float] = []

    def record(scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
        found.extend(permute_and_flip(scores, sensitivity, epsilon))
        return 0

    assert safe.choice is not None
    safe.choice.choose(counted, safe.k, safe.beta, record)
    return found


def coins(counts: Sequence[int], beta: Fraction) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield each vector of sampled numbers with its probability."""
    b = float(beta)
    laws = [[math.comb(n, h) * b**h * (1 - b) ** (n - h) for h in range(n + 1)] for n in counts]
    for heads in product(*(range(n + 1) for n in counts)):
        yield heads, math.prod(law[h] for law, h in zip(laws, heads, strict=True))


def release_law(safe: SafeK, rows: Sequence[Row], chosen: Any = scheme_law) -> Law:
    """Return the distribution of (released levels, released classes)."""
    assert safe.choice is not None
    full, on, lattice = table(safe, rows), safe.choice.on, safe.choice.lattice
    out: defaultdict[object, float] = defaultdict(float)
    fixed = [
        replace(safe, choice=Fixed(lattice, on, safe.choice.epsilon, lattice.scheme(i)))  # type: ignore[arg-type]
        for i in range(len(lattice))
    ]
    if on == "full":
        for i, mass in enumerate(chosen(safe, full)):
            for heads, chance in coins(_sizes(fixed[i], full), safe.beta):
                out[_seen(i, fixed[i], full, heads)] += mass * chance
    else:
        for heads, chance in coins(full.counts.tolist(), safe.beta):
            sample = _selected(full, heads)
            for i, mass in enumerate(chosen(safe, sample)):
                if mass > 0:
                    out[_seen(i, fixed[i], full, heads)] += mass * chance
    assert abs(sum(out.values()) - 1) < 1e-9
    return dict(out)


def _sizes(safe: SafeK, full: Histogram) -> list[int]:
    sizes: list[int] = []

    def probe(counts: np.ndarray) -> np.ndarray:
        sizes.extend(counts.tolist())
        return np.zeros_like(counts)

    safe.protect(full, probe)
    return sizes


def _selected(full: Histogram, heads: Sequence[int]) -> Histogram:
    kept = np.array(heads, dtype=np.int64)
    codes = tuple(column[kept > 0] for column in full.codes)
    return Histogram(full.names, full.sizes, codes, kept[kept > 0])


def _seen(i: int, safe: SafeK, full: Histogram, heads: Sequence[int]) -> object:
    output = safe.protect(full, lambda _: np.array(heads, dtype=np.int64)).output
    return i, tuple(map(tuple, np.column_stack([*output.codes, output.counts]).tolist()))


def divergence(left: Law, right: Law, epsilon: float) -> float:
    """Return the greatest difference left(set) - e^epsilon right(set)."""
    return math.fsum(max(mass - math.exp(epsilon) * right.get(seen, 0.0), 0.0) for seen, mass in left.items())


def exact_delta_of(safe: SafeK, rows: Sequence[Row], total: Fraction, chosen: Any = scheme_law) -> float:
    """Return delta at the total epsilon for this table and the one without its first row, in the worse direction."""
    more, less = (release_law(safe, part, chosen) for part in (rows, rows[1:]))
    return max(divergence(more, less, float(total)), divergence(less, more, float(total)))


def union_bound(safe: SafeK, schemes: int) -> float:
    """Return the delta of a choice on the same sample among fewer schemes than the lattice has."""
    assert safe.choice is not None
    return joint_delta(safe.k, safe.beta, safe.part.epsilon, safe.choice.epsilon, schemes)
