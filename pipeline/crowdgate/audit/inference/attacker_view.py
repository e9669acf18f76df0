"""A release as seen by an attacker who knows some attributes of a target and wants to infer another."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.tuples import distinct_tuples
from crowdgate.audit.inference.secret import Secret
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.histogram import Histogram
from crowdgate.kind.mechanism_output import MechanismOutput
from crowdgate.noisy_counts.mechanism_output import NoisyCounts


@dataclass(frozen=True, eq=False)
class TargetAttributes:
    """Known attributes of the attacked people (targets) at the levels of the release, as distinct tuples: `codes` has
    an array per attribute, `size` is the number of tuples."""

    levels: Mapping[str, Level]
    codes: Mapping[str, Integers]
    size: int

    def at(self, name: str, level: Level) -> Integers:
        """Return a known attribute's code at a level, for each distinct tuple of known attributes."""
        own = self.levels[name]
        return (
            self.codes[name]
            if own is level
            else np.asarray(coarser_codes(own, level)[self.codes[name]], dtype=np.int64)
        )


@dataclass(frozen=True, eq=False)
class RowsByLabel:
    """Numbers of released rows (`weights`): tuples of known attributes by labels of the secret attribute. `codes` has
    an array per attribute; `noise` is the standard deviation of each number."""

    levels: Mapping[str, Level]
    codes: Mapping[str, Integers]
    weights: Floats
    noise: float = 0.0


def rows_of(seen: MechanismOutput, secret: Secret, known: tuple[str, ...], prior: Floats) -> RowsByLabel | None:
    """Return the numbers of released rows (people's or synthetic) by known attributes and by labels of the secret. None
    if no rows are released, or if they lack the secret."""
    if seen.released_rows is None or secret.name not in seen.levels:
        return None
    levels = {name: level for name, level in seen.levels.items() if name in known}
    return rows_by_label(seen.released_rows, levels, secret, seen.levels[secret.name], prior)


def rows_by_label(
    rows: Histogram, levels: Mapping[str, Level], secret: Secret, told: Level, prior: Floats
) -> RowsByLabel:
    """Return the numbers of rows by distinct tuples of the attributes in `levels` and by labels of the secret, which
    was released at level `told`."""
    columns = {name: np.asarray(rows.codes[rows.names.index(name)], dtype=np.int64) for name in levels}
    tuples = distinct_tuples(list(columns.values()), len(rows), levels)
    labels = np.asarray(rows.codes[rows.names.index(secret.name)], dtype=np.int64)
    found = tuples.by_label(labels, len(told), rows.counts)
    return RowsByLabel(
        levels, dict(zip(levels, tuples.codes, strict=True)), counts_at_level(found, secret, told, prior)
    )


def table_of(table: NoisyCounts, secret: Secret, known: tuple[str, ...], prior: Floats) -> RowsByLabel | None:
    """Return the counts of a noisy table by known attributes and by labels of the secret, with 0 for negative counts.
    None if the table lacks the secret, or has no known attribute."""
    levels = {name: level for name, level in table.levels.items() if name in known}
    if secret.name not in table.levels or not levels:
        return None
    names = list(table.levels)
    aside = tuple(at for at, name in enumerate(names) if name not in levels and name != secret.name)
    counts = np.maximum(table.counts.sum(axis=aside), 0).astype(np.float64)
    kept = [name for name in names if name in levels or name == secret.name]
    last = np.moveaxis(counts, kept.index(secret.name), -1)
    codes = np.unravel_index(np.arange(int(np.prod(last.shape[:-1]))), last.shape[:-1])
    order = [name for name in kept if name != secret.name]
    told = table.levels[secret.name]
    return RowsByLabel(
        {name: levels[name] for name in order},
        {name: np.asarray(each, dtype=np.int64) for name, each in zip(order, codes, strict=True)},
        counts_at_level(last.reshape(-1, len(told)), secret, told, prior),
        float(np.sqrt(table.variance * np.prod([table.counts.shape[at] for at in aside]))),
    )


def counts_at_level(weights: npt.NDArray[np.generic], secret: Secret, told: Level, prior: Floats) -> Floats:
    """Return counts by labels of the secret at the secret's own level, from counts at the released level `told`: added
    up, or divided in proportion to the labels' shares in the public population (`prior`)."""
    if told is secret.level:
        return np.asarray(weights, dtype=np.float64)
    if len(told) > len(secret.level):
        into = coarser_codes(told, secret.level)[:, None] == np.arange(len(secret))[None, :]
        return np.asarray(weights @ into.astype(np.float64), dtype=np.float64)
    up = coarser_codes(secret.level, told)
    own = prior + 1e-12  # labels that nobody has get equal shares
    found: Floats = np.asarray(weights, dtype=np.float64)[..., up] * own / np.bincount(up, own, len(told))[up]
    return found
