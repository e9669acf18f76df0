"""The claim of a run on its destination, and disk space there: taken before the charge, given back if nothing is
charged.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TypeVar

from crowdgate.errors import CrowdgateError
from crowdgate.kind.run import Run
from crowdgate.ledger.ledger import Ledger, State
from crowdgate.publish import destination_claims
from crowdgate.publish.locking import locked
from crowdgate.publish.publisher import check_free
from crowdgate.publish.reserved_space import free_space, reserve_space, sweep_space
from crowdgate.releases.largest_release import most_bytes
from crowdgate.releases.object_destination import claim_objects, give_back_objects

T = TypeVar("T")
Charging = Callable[[Run], T]


def claim_destination(run: Run) -> Run:
    """Return the run after claiming its destination, which must be free, and reserving space for the largest possible
    release. Raises EnvironmentFault.
    """
    destination_claims.claim(run.root, run.id, run.ledger.id)
    try:
        claim_objects(run.plan.bundle.root, run.root, run.id, run.ledger.id)
        reserve_space(run.root, run.id, run.ledger.id, most_bytes(run))
        check_free(run.destination)  # the previous holder of the claim may have published
    except BaseException:
        give_back_claim(run)
        raise
    return run


def give_back_claim(run: Run) -> None:
    """Give back the run's claim on its destination, unless the ledger has charged the release: then another run
    continues with the claim.
    """

    def charged() -> bool:
        return run.ledger.entry(run.id) is not None

    destination_claims.give_back(run.root, run.id, run.ledger.id, charged)
    if not os.path.lexists(destination_claims.claim_file(run.root, run.id)):
        free_space(run.root, run.id, run.ledger.id)
        give_back_objects(run.plan.bundle.root, run.root, run.id, run.ledger.id)


def remove_claim(run: Run) -> None:
    """Remove the claim on a release's destination after the ledger has decided: the release is published, or never will
    be.
    """
    free_space(run.root, run.id, run.ledger.id)
    destination_claims.give_back(run.root, run.id, run.ledger.id)
    give_back_objects(run.plan.bundle.root, run.root, run.id, run.ledger.id)


def sweep_killed_runs(root: Path, ledger: Ledger) -> None:
    """Remove claims and reserved space of this ledger's runs that were killed. The claim of a release that is committed
    and not yet moved into place stays. Never raises a CrowdgateError.
    """

    def is_committed(release_id: str) -> bool:
        entry = ledger.entry(release_id)
        return entry is not None and entry.state is State.COMMITTED

    with suppress(CrowdgateError), locked(root, "claims") as staging:
        sweep_space(staging, ledger.id)
        destination_claims.sweep_claims(staging, ledger.id, is_committed)


def give_back_unless_charged(charge: Charging[T]) -> Charging[T]:
    """Return the step `charge`, such that the run's claim on its destination is given back if the step ends without a
    charge.
    """

    @wraps(charge)
    def charged(run: Run) -> T:
        try:
            return charge(run)
        finally:
            give_back_claim(run)

    return charged
