"""The command `crowdgate`: thin, one file for a group of commands. Their work is done in other subpackages."""

import atexit
import gc
import os
import sys

from crowdgate.cli.app import app
from crowdgate.cli.options import Runner
from crowdgate.cli.output import report_error, report_fault
from crowdgate.errors import CrowdgateError
from crowdgate.system.core_dumps import disable_core_dumps

__all__ = ["Runner", "app", "main"]

SELDOM = 200_000
"""The number of new objects after which the garbage collector runs. Python's default 700 costs a light command 1/14 of
its time.
"""


def main(scheduler: Runner, arguments: list[str] | None = None) -> None:
    """Run the command line. `scheduler` runs a release under a Prefect server, if one is requested."""
    disable_core_dumps()
    _collect_seldom()
    _keep_to_itself()
    as_json = "--json" in (sys.argv if arguments is None else arguments)
    try:
        app(args=arguments, obj=scheduler, prog_name="crowdgate")
    except CrowdgateError as error:
        report_error(error, as_json)
        sys.exit(error.exit_code)
    except Exception as error:
        report_fault(error, as_json)
        sys.exit(1)


def _collect_seldom() -> None:
    """Make the garbage collector look for cycles seldom, and not at the end, when the process gives all memory back
    anyway. Files and databases are closed where they were opened: none waits for the collector."""
    gc.set_threshold(SELDOM)
    atexit.register(gc.freeze)


def _keep_to_itself() -> None:
    """Set the environment before imports: no plugin sees validated values, and linear algebra starts no threads, which
    would not help.
    """
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
