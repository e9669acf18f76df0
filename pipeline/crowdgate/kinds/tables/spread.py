"""How exact the counts of a release are once its tables are consistent: a function of its manifest and levels alone."""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from crowdgate.hierarchy import Level
from crowdgate.kinds.tables.said import TablesManifest
from crowdgate.mechanisms.tables.consistency import variances_after
from crowdgate.publish.levels import Domains

Spread = Mapping[str, npt.NDArray[np.float64]]
"""The variance of every cell, in squared steps, by the file of the table."""


def spread_after(said: TablesManifest, domains: Domains) -> Spread:
    """The variances of all counts. The equations are the maker's: what they say is tested elsewhere."""
    counted = [table for table in said.data.tables if table.kind in ("count", "quantiles")]
    if not counted:
        return {}
    levels = dict(_levels(domains))
    axes = [{name: levels[name, level] for name, level in table.query_levels.items()} for table in counted]
    after, _ = variances_after(axes, [said.mechanism.law(table.queries[0]).variance for table in counted])
    return {table.file: own.reshape(-1) for table, own in zip(counted, after, strict=True)}


def _levels(domains: Domains) -> Iterator[tuple[tuple[str, str], Level]]:
    """Every level that a table uses, as codes of the finest one of its column, which stands first."""
    finest: dict[str, str] = {}
    for (name, level), labels in domains.listed.items():
        first = finest.setdefault(name, level)
        place = {label: code for code, label in enumerate(labels)}
        own = domains.listed[name, first] if first == level else domains.above[name, first, level].values()
        codes = np.array([place[label] for label in own], dtype=np.int32)
        yield (name, level), Level(level, tuple(labels), codes)
