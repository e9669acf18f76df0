"""Attackers who know more than the release, or less."""

from collections.abc import Iterator
from hashlib import sha256

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.predicates import Predicate
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.best_predicate import (
    BoxPosterior,
    PosteriorAttacker,
    best_predicates,
    cells_in_boxes,
)
from crowdgate.audit.singling_out_attackers.on_releases import places
from crowdgate.histogram import Histogram, project
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.noisy_counts.mechanism_output import NoisyCounts


class PolicyAndMargins(Attacker):
    """Attacker that ignores the release, and uses no tags: takes the cells that are rarest by the product of public
    margins, together as heavy as the weight allows."""

    name = "policy and margins"
    source = "Cohen, Nissim (PNAS) section 4: a trivial attacker may know D"
    blind = True

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        population = sight.population
        independent = np.zeros(len(population.weights))  # logarithms: products over many attributes underflow
        for name, level in population.levels.items():
            box, own = population.boxes({name: level})
            independent += np.log(np.maximum(own, 1e-300))[box]
        order = np.argsort(independent, kind="stable")
        mass, cells = np.cumsum(population.weights[order]), np.arange(len(order))
        return [
            Predicate(
                cells=cells_in_boxes(cells, order[: np.searchsorted(mass, float(weight), side="right")], len(order))
            )
            for weight in sight.weights
        ]


class InformedAttacker(Attacker):
    """Attacker that knows all units of the table except the target, and locates it by Bayes' rule: from the likelihood
    ratio of the release with the target in each cell. No known record matches its predicates, so that without the
    release it succeeds with probability w (the weight), not n w (1 - w)^(n - 1)."""

    name = "all others known"
    source = "the attacker of differential privacy: Dwork, McSherry, Nissim, Smith 2006"
    aside = True

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        others, weight = sight.told.others, sight.population.weights
        gains = [] if sight.seen is None or others is None else list(self.gains(sight.seen, sight.known, others))
        if not gains:
            return None
        posterior = weight * np.exp(sum(gains) - np.max(sum(gains)))
        cells = np.arange(len(weight))
        belief = BoxPosterior(cells, weight, np.asarray(posterior / posterior.sum()), np.zeros_like(weight))
        found = best_predicates([belief], sight.population, sight.weights)
        return [None if each is None else each.aside() for each in found]

    def gains(self, seen: MechanismOutput, known: PublicKnowledge, others: Integers) -> Iterator[Floats]:
        """Yield, for each part of the release, the log likelihood ratio of the part with the target in each cell of the
        population against without the target. `others` are the known units' rows by cell."""
        if seen.rows is not None:
            yield _row_log_ratios(seen, seen.rows, known, others)
        for table in seen.tables:
            yield _table_log_ratios(table, known, others)
        yield from _distance_log_ratios(seen, known, others)


_MOST, _LEAST = 50, 1e-12
"""Bounds of a logarithm, and of a ratio: a release that is impossible with the target in some cell is treated as very
improbable."""


def _row_log_ratios(seen: MechanismOutput, rows: Histogram, known: PublicKnowledge, others: Integers) -> Floats:
    box, weight = known.population.boxes(seen.levels)
    counts = np.zeros(len(weight), dtype=np.int64)
    counts[places(rows)] = rows.counts
    rest = np.bincount(box, others, len(weight)).astype(np.int64)
    return np.asarray(np.log(np.clip(_class_log_ratios(seen, counts, rest), _LEAST, 1 / _LEAST))[box])


def _table_log_ratios(table: NoisyCounts, known: PublicKnowledge, others: Integers) -> Floats:
    box, weight = known.population.boxes(table.levels)
    rest, beta = np.bincount(box, others, len(weight)), float(table.beta)
    off = table.counts.reshape(-1) - beta * rest
    spread = _noise_variance(off, np.asarray(table.variance + beta * (1 - beta) * rest, dtype=np.float64))
    return np.asarray(np.clip((2 * off * beta - beta**2) / (2 * spread), -_MOST, _MOST)[box])


def _noise_variance(off: Floats, stated: Floats) -> Floats:
    """Return the variances of the noise as stated; their observed mean instead, if the observed noise `off` is so small
    that its probability is below 1 in 100."""
    from scipy.special import chdtr

    seen = float(chdtr(len(off), np.sum(off**2 / stated)))
    return np.where(seen < _SMALL, np.mean(off**2) + _LEAST, stated)


_SMALL = 0.01


def _distance_log_ratios(seen: MechanismOutput, known: PublicKnowledge, others: Integers) -> Iterator[Floats]:
    """Yield, for each noisy distance of synthetic rows from the table, its log likelihood ratio with the target in each
    cell: a row there lowers the distance by 1 if synthetic rows outnumber known ones, else raises it by 1. Nothing if
    rows were sampled, which hides more than that."""
    if seen.made is None or seen.beta != 1 or not seen.distances:
        return
    steps, off = list[Floats](), list[int]()
    for each in seen.distances:
        box, weight = known.population.boxes({name: seen.levels[name] for name in each.names})
        own = project(seen.made, each.names)
        more = -np.bincount(box, others, len(weight)).astype(np.int64)
        more[np.ravel_multi_index(own.codes, own.sizes)] += own.counts
        steps.append(np.where(more > 0, -1.0, 1.0)[box])
        off.append(each.noisy - int(np.abs(more).sum()))
    far = np.array(off, dtype=np.float64)
    spreads = _noise_variance(far, np.array([each.variance for each in seen.distances]))
    for step, one, spread in zip(steps, far, spreads, strict=True):
        yield np.clip((2 * one * step - 1) / (2 * spread), -_MOST, _MOST)


def _class_log_ratios(seen: MechanismOutput, counts: Integers, rest: Integers) -> Floats:
    """Return, for each class, the likelihood ratio (no logarithm) of its released count (0: suppressed) with one row
    more than the `rest` known rows against without."""
    from scipy.stats import binom

    beta = float(seen.beta)
    shown = counts > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        more = binom.pmf(counts, rest + 1, beta) / binom.pmf(counts, rest, beta)
        hidden = binom.cdf(seen.least - 1, rest + 1, beta) / binom.cdf(seen.least - 1, rest, beta)
    return np.asarray(np.nan_to_num(np.where(shown, more, hidden), nan=1.0, posinf=1e12))


class DigestOnly(PosteriorAttacker):
    """Attacker that sees only a digest of the release: it can tell whether a guess of the release is right, and nothing
    else. It must never beat the attackers that see the release."""

    name = "digest only"
    source = "post-processing: Cohen, Nissim (arXiv) section 4.1"
    blind = True

    def posteriors(self, sight: SinglingOutAttackerView) -> Iterator[BoxPosterior]:
        if sight.seen is not None:
            picks = np.random.default_rng(np.frombuffer(digest(sight.seen), dtype=np.uint32))
            weight = sight.population.weights
            picked = weight * sight.n * picks.uniform(0.5, 1.5, len(weight))
            yield BoxPosterior(np.arange(len(weight)), weight, np.zeros_like(weight), picked)


def digest(seen: MechanismOutput) -> bytes:
    """Return the SHA-256 of all that a release publishes: rows, noisy tables and noisy distances."""
    found = sha256()
    for array in (
        *(() if seen.released_rows is None else (*seen.released_rows.codes, seen.released_rows.counts)),
        *(t.counts for t in seen.tables),
        np.array([each.noisy for each in seen.distances]),
    ):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.digest()
