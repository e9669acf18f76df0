"""Guard of a run after it has read data: a crash shows one word in public, and the reason only to the curator."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from crowdgate.errors import Crashed, FileFault
from crowdgate.kind.run import ReservedRun, Run
from crowdgate.ledger.ledger import Ledger, Reservation
from crowdgate.ledger.private import write_private
from crowdgate.publish.destination_claims import claim_file
from crowdgate.publish.live_files import let_go
from crowdgate.publish.reserved_space import free_space

P = ParamSpec("P")
T = TypeVar("T")
Step = Callable[Concatenate[ReservedRun, P], T]


def after_reading(step: Step[P, T]) -> Step[P, T]:
    """Return the step of a run, such that any exception in it becomes a crash: one word in public, the reason in the
    private record.
    """

    def guarded(reserved: ReservedRun, /, *args: P.args, **kwargs: P.kwargs) -> T:
        def work() -> T:
            return step(reserved, *args, **kwargs)

        try:
            return guarded_step(reserved.run.ledger, reserved.charge, step.__name__, work)
        except BaseException:
            _let_go(reserved.run)
            raise

    guarded.__name__, guarded.__doc__ = step.__name__, step.__doc__
    return guarded


def _let_go(run: Run) -> None:
    """Give up reserved disk space, and the hold on the run's claim, which a later run of the ledger then removes."""
    free_space(run.root, run.id, run.ledger.id)
    let_go(claim_file(run.root, run.id))


def guarded_step(ledger: Ledger, charge: Reservation, step: str, work: Callable[[], T]) -> T:
    """Return the result of `work`. Any exception becomes Crashed, or FileFault with a constant message."""
    try:
        return work()
    except BaseException as error:
        fault, reason = isinstance(error, FileFault), f"{type(error).__name__}: {error}"
    # raised outside the except block: a chained exception would include the confidential reason
    _note_crash(ledger, charge, step, reason)
    raise (
        FileFault(
            "the input table changed while it was read, or can't be read to its end. Run again with a complete "
            "file that nothing changes"
        )
        if fault
        else Crashed()
    )


def _note_crash(ledger: Ledger, charge: Reservation, step: str, reason: str) -> None:
    try:
        record = {"outcome": "crashed", "step": step, "reason": reason}
        commitment = write_private(ledger.path, ledger.id, charge.release_id, record)
        ledger.note_private(charge.release_id, commitment, charge.number)
    except Exception:  # the disk may be full: the reservation stays charged anyway
        return
