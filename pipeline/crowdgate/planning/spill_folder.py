"""The temporary folder of a run, in the private folder beside the ledger, for rows by person that exceed memory."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from crowdgate.errors import EnvironmentFault
from crowdgate.kind.plan import Plan
from crowdgate.ledger.ledger import Ledger
from crowdgate.ledger.private import FOLDER, private_folder
from crowdgate.sources.spill import Spill, spill_to
from crowdgate.system import permissions
from crowdgate.system.temporary_folder import sweep_temporary_folders, temporary_folder

PREFIX = "temporary~"


@contextmanager
def spill_of_people(ledger: Ledger, plan: Plan) -> Iterator[Spill | None]:
    """Yield the spill to a new folder, which is removed afterwards; None if the privacy unit is a row. Raises
    EnvironmentFault."""
    if plan.bundle.contract.unit.person is None:
        yield None
        return
    folder = private_folder(ledger.path)
    with ExitStack() as stack:
        try:
            made = stack.enter_context(temporary_folder(folder, PREFIX, permissions.SPILLED))
        except OSError as error:
            raise EnvironmentFault(f"{folder}: temporary files can't be stored there: {error.strerror}") from None
        yield spill_to(made)


def sweep_spills(ledger: Ledger) -> None:
    """Remove the temporary folders of runs of this private folder that were killed. Never raises."""
    sweep_temporary_folders(ledger.path.parent / FOLDER, PREFIX)
