"""Attackers who know more than the release, or less."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import ClassVar

import numpy as np

from crowdgate.audit.attackers.aim import Beliefs, Floats, best_of, within
from crowdgate.audit.attackers.base import Answers, Attacker
from crowdgate.audit.attackers.release import places
from crowdgate.audit.observation import Known, Observation
from crowdgate.audit.population import Rng
from crowdgate.audit.predicates import Predicate
from crowdgate.histogram import Counts
from crowdgate.kind.seen import Seen


class PolicyAndMargins(Attacker):
    """Does not look at the release, and has no tags: the rarest classes as public margins of single attributes have
    them, together as heavy as the weight allows. Their true weight is often another."""

    name: ClassVar[str] = "policy and margins"
    summary: ClassVar[str] = "does not look at the release: the rarest classes as if attributes were independent"
    source: ClassVar[str] = "Cohen, Nissim (PNAS) section 4: a trivial attacker may know D"
    blind: ClassVar[bool] = True

    def answer(self, told: Observation, known: Known, weights: Sequence[Fraction], rng: Rng) -> Answers | None:
        box, _ = known.population.boxes(known.population.levels)
        independent = np.ones(1)
        for name, level in known.population.levels.items():
            own = known.population.boxes({name: level})[1]
            independent = np.multiply.outer(independent, own).reshape(-1)
        order = np.argsort(independent, kind="stable")
        mass = np.cumsum(independent[order])
        return [
            Predicate(cells=within(box, order[: np.searchsorted(mass, float(weight), side="right")], len(mass)))
            for weight in weights
        ]


class OthersKnown(Attacker):
    """Knows all units of the table but one, and aims at that one: by Bayes' rule, from how much likelier each class
    makes the release if the unknown unit is in it. No known record matches its predicates, so that without the release
    it succeeds with probability w, not B(n, w)."""

    name: ClassVar[str] = "all others known"
    summary: ClassVar[str] = "knows every other unit of the table, and aims at the one that it does not know"
    source: ClassVar[str] = "the attacker of differential privacy: Dwork, McSherry, Nissim, Smith 2006"
    aside: ClassVar[bool] = True

    def answer(self, told: Observation, known: Known, weights: Sequence[Fraction], rng: Rng) -> Answers | None:
        if told.seen is None or told.others is None:
            return None
        beliefs = list(_posteriors(told.seen, known, told.others))
        if not beliefs:
            return None
        found = best_of(beliefs, known.population, weights)
        return [None if each is None else each.aside() for each in found]


def _posteriors(seen: Seen, known: Known, others: Counts) -> Iterator[Beliefs]:
    if seen.rows is not None:
        box, weight = known.population.boxes(seen.levels)
        counts = np.zeros(len(weight), dtype=np.int64)
        counts[places(seen.rows)] = seen.rows.counts
        rest = np.bincount(box, others, len(weight)).astype(np.int64)
        yield Beliefs(box, weight, _normal(weight * _of_rows(seen, counts, rest)), np.zeros_like(weight))
    for table in seen.tables:
        box, weight = known.population.boxes(table.levels)
        rest, beta = np.bincount(box, others, len(weight)), float(table.beta)
        off = table.counts.reshape(-1) - beta * rest
        spread = table.variance + beta * (1 - beta) * rest
        gain = np.clip((2 * off * beta - beta**2) / (2 * spread), -50, 50)
        yield Beliefs(box, weight, _normal(weight * np.exp(gain)), np.zeros_like(weight))


def _of_rows(seen: Seen, counts: Counts, rest: Counts) -> Floats:
    """How much likelier a class is as it was released with one row more than is known of it."""
    from scipy.stats import binom

    beta = float(seen.beta)
    shown = counts > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        more = binom.pmf(counts, rest + 1, beta) / binom.pmf(counts, rest, beta)
        hidden = binom.cdf(seen.least - 1, rest + 1, beta) / binom.cdf(seen.least - 1, rest, beta)
    return np.asarray(np.nan_to_num(np.where(shown, more, hidden), nan=1.0, posinf=1e12))


def _normal(posterior: Floats) -> Floats:
    return np.asarray(posterior / posterior.sum())


class DigestOnly(Attacker):
    """Sees a digest of the release alone: it can tell whether it guessed the release, and nothing else. It must never
    beat the attackers that see it."""

    name: ClassVar[str] = "digest only"
    summary: ClassVar[str] = "sees only a digest of the release, and picks its cells by that"
    source: ClassVar[str] = "post-processing: Cohen, Nissim (arXiv) section 4.1"
    blind: ClassVar[bool] = True

    def answer(self, told: Observation, known: Known, weights: Sequence[Fraction], rng: Rng) -> Answers | None:
        if told.seen is None:
            return None
        picks = np.random.default_rng(np.frombuffer(digest(told.seen), dtype=np.uint32))
        box, weight = known.population.boxes(known.population.levels)
        picked = weight * known.n * picks.uniform(0.5, 1.5, len(weight))
        return Beliefs(box, weight, np.zeros_like(weight), picked).best(known.population, weights)


def digest(seen: Seen) -> bytes:
    """SHA-256 of all that was drawn."""
    found = sha256()
    for array in (
        *(() if seen.rows is None else (*seen.rows.codes, seen.rows.counts)),
        *(t.counts for t in seen.tables),
    ):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.digest()
