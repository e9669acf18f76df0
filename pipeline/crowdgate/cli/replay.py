"""The command that judges a policy's gates on its past releases."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.errors import VerificationFailed


def replay(
    policy: Annotated[Path, typer.Argument(help="The policy file, as it stands.")],
    private: Annotated[
        bool,
        typer.Option("--private", help="Open private records too: each access is recorded, and marks later policies."),
    ] = False,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Judge a policy's gates again on what its past releases recorded: which would be withheld now?

    Exit 6 where a past release does not hold what the ledger committed to, which is refused.
    """
    from crowdgate.review.replay.replay import replay as judge_again
    from crowdgate.review.replay.text import lines

    found = judge_again(policy, ledger, private)
    if as_json:
        print_json(found.to_json())
    else:
        typer.echo("\n".join(lines(found)))
    if not found.all_readable:
        raise typer.Exit(VerificationFailed.exit_code)
