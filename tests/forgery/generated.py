"""All forgeries of a release folder, and release folders of every kind."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from crowdgate.formats import FORMATS
from crowdgate.kind.run import Request
from crowdgate.kinds import KINDS
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.stores import STORES
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases import release as job
from crowdgate.settings import KEY_VARIABLE
from crowdgate.sources import SOURCES
from tests.conformance.copies import SLOT, Case, working_copy
from tests.forgery.cells import line_forgeries, table_forgeries
from tests.forgery.files import added_forgeries, file_forgeries
from tests.forgery.forgery import Change, Forgery, reseal
from tests.forgery.hidden import parquet_forgeries
from tests.forgery.leaves import leaf_forgeries, written_forgeries
from tests.kinds.margins import margins_workshop
from tests.kinds.registers import register_workshop
from tests.kinds.synthetic import RICH, synthetic_workshop
from tests.kinds.test_tables_release import tables_workshop
from tests.workshop import Workshop


def forgeries(folder: Path, seed: int = 0, seal: Change = reseal) -> Iterator[Forgery]:
    """Yield every forgery of this folder, deterministically. `seal` makes the manifest fit after a change."""
    yield from leaf_forgeries(folder, seed, seal)
    yield from written_forgeries()
    yield from file_forgeries(folder, seed, seal)
    yield from added_forgeries(seal)
    yield from line_forgeries(folder, seal)
    yield from table_forgeries(folder, seal)
    yield from parquet_forgeries(folder, seal)


def _proposed(kind: str) -> Callable[[Path], Workshop]:
    case = Case(kind, next(iter(SOURCES)), tuple(FORMATS), next(iter(STORES)))
    return lambda root: working_copy(case, root)


FOLDERS: dict[str, Callable[[Path], Workshop]] = {
    **{kind: _proposed(kind) for kind in KINDS},
    "dp_synthetic": lambda root: synthetic_workshop(root, RICH),
    "rows with gates": register_workshop,
    "rows with margins": margins_workshop,
    "all tables": tables_workshop,
}
"""Working copies by their release: the proposal of every kind, and further options."""


def released(name: str, root: Path) -> Path:
    """Make a release, and return its folder."""
    workshop = FOLDERS[name](root)
    if KEY_VARIABLE in os.environ:
        ledger_at(workshop.root, None).sign()
    found = job.release(Request(workshop.policy, SLOT), draw_key).path
    assert found is not None
    return found
