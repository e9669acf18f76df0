"""The command with which an approver signs a release."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.number_text import decimal
from crowdgate.policy.approval import STEPS
from crowdgate.releases.approve import PendingApproval, pending_approval
from crowdgate.settings import configured_key, key_of_file


def approve(
    release_id: Annotated[str, typer.Argument(help="POLICY/VERSION/SLOT.")],
    key: Annotated[
        Path | None, typer.Option("--key", metavar="FILE", help="Your private key, by default that of crowdgate.toml.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Sign without asking.")] = False,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Approve a release: sign its policy files before it is charged, or its manifest before it is published.

    Run in the working copy. Shows what you sign, asks, and writes the signed approval to `policies/approvals`.
    """
    home = Path.cwd()
    found = pending_approval(release_id, home, ledger)
    if not as_json:
        _show(found)
    if not yes and (as_json or not typer.confirm("Sign this?")):
        said = "not signed" if not as_json else "--json without --yes"
        raise ConfigurationError(Problem("command line", None, release_id, said, "yes, or --yes"))
    path = found.sign(configured_key(home) if key is None else key_of_file(key))
    if as_json:
        print_json({"outcome": "approved", "release_id": release_id, "path": str(path)})
    else:
        typer.echo(f"approved {release_id}\nNext: {_next_step(found)}\n{path}")


def _next_step(found: PendingApproval) -> str:
    """Return the command that releases, or how many approvals are missing before it."""
    missing = found.missing()
    if missing:
        return f"{missing} more approval{'s' if missing > 1 else ''}, by {found.rule.signers_text()}"
    return f"crowdgate release {found.plan.bundle.document.path} --as-of {found.wanted.release_id.rpartition('/')[2]}"


def _show(found: PendingApproval) -> None:
    about, wanted = found.plan.bundle.policy.metadata, found.wanted
    typer.echo(
        f"You approve {wanted.release_id} before it is {STEPS[found.rule.before]}, for {found.rule.expires} days."
    )
    typer.echo(f"Owner: {about.owner}")
    for name, text in about.context.items():
        typer.echo(f"{name.replace('_', ' ').capitalize()}: {text}")
    cost = f"epsilon {decimal(wanted.spend.epsilon)}, delta {decimal(wanted.spend.delta)}"
    series = found.plan.series
    of_all = "" if series is None else f" for a series of {series.releases} releases"
    typer.echo(f"Privacy cost: {cost}{of_all}, charged to {wanted.population}")
    what = "policy files" if found.rule.before == "charge" else "manifest"
    typer.echo(f"SHA-256 of the {what}: {wanted.digest}")
    if found.staged is not None:
        typer.echo(f"The staged release, which nobody has received: {found.staged}")
    typer.echo("`crowdgate explain` and `crowdgate check` say what the policy guarantees and what is left.")
