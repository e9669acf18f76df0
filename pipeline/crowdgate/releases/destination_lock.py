"""The claim of a run on its destination: taken before the charge, given back if nothing is charged."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from crowdgate.kind.run import Run
from crowdgate.publish import destination_claims
from crowdgate.publish.publisher import check_free

T = TypeVar("T")
Charging = Callable[[Run], T]


def claim_destination(run: Run) -> Run:
    """Return the run after claiming its destination, which must be free. Raises EnvironmentFault."""
    destination_claims.claim(run.root, run.id, run.ledger.id)
    try:
        check_free(run.destination)  # the previous holder of the claim may have published
    except BaseException:
        give_back_claim(run)
        raise
    return run


def give_back_claim(run: Run) -> None:
    """Give back the run's claim on its destination, unless the ledger has charged the release: then another run
    continues with the claim.
    """
    destination_claims.give_back(run.root, run.id, run.ledger.id, lambda: run.ledger.entry(run.id) is not None)


def remove_claim(run: Run) -> None:
    """Remove the claim on a release's destination after the ledger has decided: the release is published, or never will
    be.
    """
    destination_claims.give_back(run.root, run.id, run.ledger.id)


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
