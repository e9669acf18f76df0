"""What happens when a run stops after it has read data: the public sees one word, the curator the reason."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from crowdgate.errors import Crashed, FileFault
from crowdgate.kind.run import Reserved, Run
from crowdgate.ledger.private import write_private

P = ParamSpec("P")
T = TypeVar("T")
Step = Callable[Concatenate[Reserved, P], T]


def after_reading(step: Step[P, T]) -> Step[P, T]:
    """Any stop of this step is a crash: the public sees one word, the curator the reason."""

    def guarded(reserved: Reserved, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return step(reserved, *args, **kwargs)
        except BaseException as error:
            fault, reason = isinstance(error, FileFault), f"{type(error).__name__}: {error}"
        # raised outside the except block: a chained exception would carry the confidential reason along
        _note_crash(reserved.run, step.__name__, reason)
        raise FileFault("the input changed while it was read, or cannot be read to its end") if fault else Crashed()

    guarded.__name__, guarded.__doc__ = step.__name__, step.__doc__
    return guarded


def _note_crash(run: Run, step: str, reason: str) -> None:
    try:
        commitment = write_private(
            run.ledger.path, run.ledger.id, run.id, {"outcome": "crashed", "step": step, "reason": reason}
        )
        run.ledger.note_private(run.id, commitment)
    except Exception:  # the disk may be full: the reservation stays charged all the same
        return
