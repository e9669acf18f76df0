"""The variables of a release of synthetic rows, as its dictionary.csv and levels.csv tell them."""

from dataclasses import dataclass

from crowdgate.errors import VerificationFailed
from crowdgate.kinds.synthetic.published import PublishedSynthetic
from crowdgate.kinds.synthetic.said import SyntheticManifest
from crowdgate.mechanisms.synthetic.domain import Domain, Table
from crowdgate.mechanisms.synthetic.impossible import Levels, holes
from crowdgate.mechanisms.synthetic.model import Impossible
from crowdgate.publish.dictionary import DICTIONARY
from crowdgate.publish.levels import COARSER, Domains, domains_of, levels_of


@dataclass(frozen=True, eq=False)
class Space:
    """The levels of every column with the finest first, their domain, the measured tables over its variables, and those
    of what can't occur."""

    levels: Levels
    domain: Domain
    measured: tuple[Table, ...]
    impossible: Impossible


def space_of(said: SyntheticManifest, held: PublishedSynthetic) -> Space:
    """Raises VerificationFailed where a level is none of a model's variables, or no level has what can't occur."""
    levels = _by_column(domains_of((*held.columns, *held.levels), held.coarser))
    try:
        domain = Domain.of(levels)
        impossible = holes(said.mechanism.impossible, levels, domain)
    except (ValueError, KeyError):
        raise VerificationFailed(f"{DICTIONARY}, {COARSER}: a value without a finer one, or what can't occur") from None
    place = {(each.attribute, each.level): at for at, each in enumerate(domain.variables)}
    if place.keys() != said.data.sizes.keys():
        raise VerificationFailed(f"{COARSER}: a level that is as fine as the one before it")
    measured = tuple(tuple(place[axis] for axis in each.named) for each in said.mechanism.measured)
    return Space(levels, domain, measured, impossible)


def _by_column(domains: Domains) -> Levels:
    found: Levels = {}
    for (column, _), level in levels_of(domains).items():
        found = {**found, column: (*found.get(column, ()), level)}
    return found
