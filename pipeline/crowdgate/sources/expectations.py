"""The process that Great Expectations runs in: counts of values in, yes or no out. `sources/engine.py` starts it, by
its path, without the other modules of `sources` that read tables.

It holds what is confidential, as the run does: it leaves no core dump, sends no statistics about its use, and ends with
the run. What Great Expectations prints may quote values: all of that goes to the standard error, which nobody reads.
"""

import gc
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

from crowdgate.sources.weighted_metrics import METRICS, CountedCells
from crowdgate.system.core_dumps import disable_core_dumps
from crowdgate.system.import_filters import imports_filtered
from crowdgate.system.parent_process import exit_with_parent

_VERDICT = {"result_format": {"result_format": "BOOLEAN_ONLY"}}
"""The form of a result: a verdict without examples of values."""
_ABSENT = frozenset({"pyarrow", "sqlalchemy"})
"""Libraries that Great Expectations and pandas use where they are installed: for tables of other kinds than here."""
_DEFERRED = frozenset({"altair", "scipy.stats"})
"""Libraries that Great Expectations imports for charts and for distributions, which no expectation here asks for."""


def main() -> None:
    """Read the question (counts and expectations) from standard input, and write the answers."""
    disable_core_dumps()
    exit_with_parent()
    gc.disable()  # the process ends before garbage matters
    with redirect_stdout(sys.stderr):
        import_engine()
        answers = expectation_results(**_question())
    json.dump(answers, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # at once: taking down a thousand modules one by one takes a fifth of a second


def _question() -> dict[str, Any]:
    told = json.load(sys.stdin)
    return {"tables": told["tables"], "asked": told["expectations"]}


def import_engine() -> Any:
    """Return the module Great Expectations, which is told to send nothing before it is imported, without libraries of
    no use here.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    with imports_filtered(_ABSENT, _DEFERRED):
        import great_expectations

    return great_expectations


def expectation_results(tables: Sequence[Mapping[str, Any]], asked: Sequence[Mapping[str, Any]]) -> list[bool | None]:
    """Return for each expectation whether it holds on the counts of its table, one of `tables`; None if Great
    Expectations could not decide it.
    """
    if not asked:
        return []
    import_engine()
    from great_expectations.execution_engine import PandasExecutionEngine

    engine, counted = PandasExecutionEngine(), [_weighted_cells(table) for table in tables]
    return [_result(engine, each["type"], each["kwargs"], counted[each["table"]]) for each in asked]


def _weighted_cells(table: Mapping[str, Any]) -> CountedCells:
    return CountedCells([tuple(cell) for cell in table["cells"]], table["counts"])


def _result(engine: Any, kind: str, kwargs: Mapping[str, Any], cells: CountedCells) -> bool | None:
    """Return the verdict of one expectation: it names the metrics that it needs, and judges their values."""
    from great_expectations.expectations.registry import get_expectation_impl

    try:
        expectation = get_expectation_impl(kind)(**kwargs)
        needed = expectation.get_validation_dependencies(execution_engine=engine, runtime_configuration=_VERDICT)
        wanted = needed.metric_configurations
    except Exception:  # its text may quote a value
        return None
    found = {name: METRICS[each.metric_name] for name, each in wanted.items()}  # an unknown metric ends the process
    try:
        metrics = {each.id: _metric(found[name], each, cells) for name, each in wanted.items()}
        return bool(expectation.metrics_validate(metrics, _VERDICT, engine).success)
    except Exception:  # its text may quote a value
        return None


def _metric(metric: Callable[..., Any], stated: Any, cells: CountedCells) -> Any:
    return metric(cells, {**stated.metric_domain_kwargs, **stated.metric_value_kwargs})


if __name__ == "__main__":
    main()
