"""The command `crowdgate`: thin, one file for a group of commands. Their work is done in other subpackages."""

import os
import sys

from crowdgate.cli.app import app
from crowdgate.cli.options import Runner
from crowdgate.cli.output import report_error, report_fault
from crowdgate.errors import CrowdgateError
from crowdgate.system.core_dumps import disable_core_dumps
from crowdgate.system.garbage_collection import collect_seldom

__all__ = ["Runner", "app", "main"]


def main(scheduler: Runner, arguments: list[str] | None = None) -> None:
    """Run the command line. `scheduler` runs a release under a Prefect server, if one is requested."""
    disable_core_dumps()
    collect_seldom()
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


def _keep_to_itself() -> None:
    """Set the environment before imports: no plugin sees validated values, and linear algebra starts no threads, which
    would not help.
    """
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
