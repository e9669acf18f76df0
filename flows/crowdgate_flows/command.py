"""The command `crowdgate`: the library's command line, with Prefect as its optional scheduler."""

from typing import TYPE_CHECKING

from crowdgate import cli

if TYPE_CHECKING:
    from crowdgate.kind.run import Request, Result


def main() -> None:
    """Run the command line."""
    cli.main(_run_flow)


def _run_flow(request: "Request") -> "Result":
    from crowdgate.system.extras import PREFECT, need

    need(PREFECT, "--prefect")
    from crowdgate_flows.release import run_release  # Prefect takes a second to import

    return run_release(request)
