"""Great Expectations in a process of its own, for expectations that a contract states.

It takes two seconds to import and 124 MB, so it starts before the table is read, and its memory is not
that of the run. It is told expectations and counts of values through a pipe, no rows, and answers with yes, no or
neither; whatever else it says goes nowhere. It ends with the run.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Any

from crowdgate.contracts.contract import Expectation
from crowdgate.errors import EnvironmentFault
from crowdgate.sources.facts import Columns
from crowdgate.sources.rules import Answers
from crowdgate.system.child_environment import without_secrets

Weighted = Mapping[Columns, Mapping[str, Any]]
"""The counts of values by the columns that have them: `TableFacts.weighted_cells`."""
Ask = Callable[[Weighted], Answers]
"""A function from the counts to the results of the expectations."""

_COMMAND = (sys.executable, "-P", str(Path(__file__).with_name("expectations.py")))
_PATIENCE = 300
"""The number of seconds after which a process without an answer counts as hanging."""


@contextmanager
def engine(expectations: Sequence[Expectation]) -> Iterator[Ask]:
    """Yield a function that asks Great Expectations once which of the expectations hold. Its process ends with the
    block; without expectations none starts.
    """
    if not expectations:
        yield lambda _: {}
        return
    with Popen(_COMMAND, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=without_secrets()) as process:
        try:
            yield lambda cells: _engine_answers(process, expectations, cells)
        finally:
            process.kill()


def _engine_answers(process: Popen[bytes], expectations: Sequence[Expectation], cells: Weighted) -> Answers:
    """Return for each expectation whether it holds; one whose columns were not counted has no answer.

    Raises EnvironmentFault if there is no answer to all others, as after a crash or a hang they are unknown. No fact of
    the table can cause that.
    """
    asked, places = [each for each in expectations if each.columns in cells], list(cells)
    stated = [{"type": each.type, "kwargs": each.kwargs, "table": places.index(each.columns)} for each in asked]
    question = json.dumps({"tables": list(cells.values()), "expectations": stated})
    try:
        told = json.loads(process.communicate(question.encode(), _PATIENCE)[0])
    except (TimeoutExpired, ValueError, OSError):
        told = None
    answered = isinstance(told, list) and all(each is None or isinstance(each, bool) for each in told)
    if process.returncode != 0 or not answered or len(told) != len(asked):
        raise EnvironmentFault(
            "Great Expectations, which judges expectations of the contract, did not answer. Run again, or see whether "
            "it works here"
        )
    return dict(zip(asked, told, strict=True))
