"""The variables of the model of a release of synthetic rows, read from its dictionary.csv and levels.csv."""

from dataclasses import dataclass

from crowdgate.errors import VerificationFailed
from crowdgate.kinds.synthetic.manifest_fields import SyntheticManifest
from crowdgate.kinds.synthetic.released_files import PublishedSynthetic
from crowdgate.mechanisms.synthetic.domain import ModelDomain, Table
from crowdgate.mechanisms.synthetic.impossible import Levels, impossible_cells
from crowdgate.mechanisms.synthetic.model import Impossible
from crowdgate.publish.dictionary import DICTIONARY
from crowdgate.publish.levels import COARSER, ReleasedDomains, domains_of, levels_of


@dataclass(frozen=True, eq=False)
class ReleasedVariables:
    """The levels of each column with the finest first, their domain, and the measured tables and the impossible cells
    over its variables."""

    levels: Levels
    domain: ModelDomain
    measured: tuple[Table, ...]
    impossible: Impossible


def released_variables(said: SyntheticManifest, held: PublishedSynthetic) -> ReleasedVariables:
    """Return the variables of a release. Raises VerificationFailed if a level is none of the model's variables, or no
    level has the values of an impossible combination."""
    levels = _by_column(domains_of((*held.columns, *held.levels), held.coarser))
    try:
        domain = ModelDomain.of(levels)
        impossible = impossible_cells(said.mechanism.impossible, levels, domain)
    except (ValueError, KeyError):
        raise VerificationFailed(f"{DICTIONARY}, {COARSER}: a value without a finer one, or what can't occur") from None
    place = {(each.attribute, each.level): at for at, each in enumerate(domain.variables)}
    if place.keys() != said.data.sizes.keys():
        raise VerificationFailed(f"{COARSER}: a level that is as fine as the one before it")
    measured = tuple(tuple(place[axis] for axis in each.named) for each in said.mechanism.measured)
    return ReleasedVariables(levels, domain, measured, impossible)


def _by_column(domains: ReleasedDomains) -> Levels:
    found: Levels = {}
    for (column, _), level in levels_of(domains).items():
        found = {**found, column: (*found.get(column, ()), level)}
    return found
