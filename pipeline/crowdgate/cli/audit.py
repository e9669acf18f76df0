"""Commands that audit mechanisms."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdgate.audit.common.audit import Audit
from crowdgate.audit.common.run import AuditRequest
from crowdgate.audit.common.run import audit as run_audit
from crowdgate.audit.common.stored_records import AuditRuntime
from crowdgate.audit.common.trials import processes
from crowdgate.audit.confidential_table import audit_table
from crowdgate.candidate import AuditQuestion
from crowdgate.cli.options import WITHHELD, AsJson, LedgerUrl, progress_bar
from crowdgate.cli.output import inform, print_json, print_report
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.gate import Outcome
from crowdgate.releases.whole_releases.audits import playable
from crowdgate.report.page_files import check_name


def audit(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    units: Annotated[str | None, typer.Option("--units", metavar="N", help="In place of the policy's.")] = None,
    trials: Annotated[str | None, typer.Option("--trials", metavar="T", help="In place of the policy's.")] = None,
    weight: Annotated[str | None, typer.Option("--weight", metavar="W", help="In place of the policy's.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", help="Processes (as many as there are CPUs).", min=1)] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write a page: HTML with a chart, or Markdown (.md).")
    ] = None,
    on_confidential: Annotated[
        bool, typer.Option("--on-confidential", help="On the table itself: for the custodian; recorded as an access.")
    ] = False,
    question: Annotated[
        AuditQuestion,
        typer.Option(
            "--of", help="Singling out, inference of a secret, membership, the stated distributions, or whole releases."
        ),
    ] = AuditQuestion.SINGLING_OUT,
    anyway: Annotated[bool, typer.Option("--anyway", help="Play also an audit that could not fail.")] = False,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Let attackers play against a policy's mechanism on a public population: how often do they single somebody out,
    infer what is secret, or recognize members of the table? `--of law` compares fresh releases with what it states, and
    `--of files` whole ones: files, decisions and charges.

    Exit 0 when they stay within the limit, 3 when they do not or nothing can be concluded.
    """
    if page is not None:
        check_name(page)
    of, request = playable(question), AuditRequest(policy, units, trials, weight, ledger)
    _refuse_other_options(of, request)
    with progress_bar(as_json, "playing") as progress:
        tell = None if as_json else inform
        how = AuditRuntime(executor=processes(jobs or os.cpu_count() or 1), progress=progress, tell=tell, insist=anyway)
        ended = audit_table(of, request, how) if on_confidential else None
        found = run_audit(of, request, how) if ended is None else None
    if found is None:
        _print_outcome(str(ended), as_json)
        return
    print_report(of.report(found), page, as_json)
    if not as_json:
        for path in filter(None, (page, found.path)):
            typer.echo(str(path))
    if found.findings.outcome is not Outcome.PASS:
        raise typer.Exit(WITHHELD)


def _print_outcome(ended: str, as_json: bool) -> None:
    """Print the outcome of an audit on the confidential table, which is all that may be shown."""
    if as_json:
        print_json({"outcome": "ended", "plain": ended})
    else:
        typer.echo(ended)


def _refuse_other_options(audit: Audit[Any, Any], request: AuditRequest) -> None:
    given = [name for name, value in request.overrides.items() if value is not None and name not in audit.options]
    if given:
        found, expected = f"an option that --of {audit.question} does not have", "this option only for singling out"
        raise ConfigurationError([Problem("command line", None, f"--{name}", found, expected) for name in given])
