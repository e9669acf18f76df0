"""The process that Great Expectations runs in: facts and limits in, yes or no out. `sources/engine.py` starts it, by
its path: the package `sources` is not imported.

It holds what is confidential, as the run does: it leaves no core dump, sends no statistics about its use, and ends with
the run. What Great Expectations prints may quote values: all of that goes to the standard error, which nobody reads.
"""

import ctypes
import gc
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any

from crowdgate.system.core_dumps import disable_core_dumps
from crowdgate.system.import_filters import imports_filtered

Question = tuple[float, float | None, float | None]
"""A fact, and the least and the greatest value that it may have; at least one limit is given."""
_ABSENT = frozenset({"pyarrow", "sqlalchemy"})
"""Libraries that Great Expectations and pandas use where they are installed: for tables of other kinds than here."""
_DEFERRED = frozenset({"altair", "scipy.stats"})
"""Libraries that Great Expectations imports for charts and for distributions, which no expectation here asks for."""
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Read the question (facts and limits) from standard input, and write the answers."""
    disable_core_dumps()
    _exit_with_parent()
    gc.disable()  # the process ends before garbage matters
    with redirect_stdout(sys.stderr):
        import_engine()
        answers = expectation_results([(fact, low, high) for fact, low, high in json.load(sys.stdin)])
    json.dump(answers, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # at once: taking down a thousand modules one by one takes a fifth of a second


def _exit_with_parent() -> None:
    """End with the parent, so that a killed run leaves no process: on Linux at once, elsewhere when no question
    arrives.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def import_engine() -> Any:
    """Return the module Great Expectations, which is told to send nothing before it is imported, without libraries of
    no use here.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    with imports_filtered(_ABSENT, _DEFERRED):
        import great_expectations

    return great_expectations


def expectation_results(questions: Sequence[Question]) -> list[bool | None]:
    """Return for each question whether its fact is within its limits; None if Great Expectations could not
    decide it.
    """
    if not questions:
        return []
    import pandas as pd

    gx = import_engine()
    frame = pd.DataFrame([{str(at): fact for at, (fact, _, _) in enumerate(questions)}])
    asset = gx.get_context(mode="ephemeral").data_sources.add_pandas("memory").add_dataframe_asset("frame")
    batch = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})
    suite = gx.ExpectationSuite(name="rules", expectations=[_expectation(gx, *each) for each in enumerate(questions)])
    results = batch.validate(suite, result_format="BOOLEAN_ONLY").results
    found = {
        each.expectation_config.kwargs["column"]: bool(each.success) for each in results if not _has_exception(each)
    }
    return [found.get(str(at)) for at in range(len(questions))]


def _expectation(gx: Any, at: int, question: Question) -> Any:
    _, low, high = question
    return gx.expectations.ExpectColumnValuesToBeBetween(column=str(at), min_value=low, max_value=high)


def _has_exception(result: Any) -> bool:
    """Return whether an expectation's result reports an exception: one entry, or one per metric."""
    info = result.exception_info or {}
    entries = [info, *(entry for entry in info.values() if isinstance(entry, dict))]
    return any(entry.get("raised_exception") for entry in entries)


if __name__ == "__main__":
    main()
