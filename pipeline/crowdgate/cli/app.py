"""All commands together. A command's module is imported when the command is run; until then it is a line of a table."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from crowdgate.cli.output import QUIET, VERBOSE
from crowdgate.cli.paths import without_urls

if TYPE_CHECKING:
    from typer import _click


@dataclass(frozen=True)
class CommandEntry:
    """A command or a group of commands: the module of this package that holds it, and its first sentences."""

    module: str
    help: str


COMMANDS = {
    "demo": CommandEntry(
        "init",
        "Release the bundled census data once: make a working copy (unless it is there), then publish from it.",
    ),
    "init": CommandEntry(
        "init",
        "Make a working copy: the bundled policies and contracts, and a new ledger. Or, with --policy, write a"
        " commented policy into one from a template; what no option says is asked for on a terminal. Nothing is"
        " overwritten.",
    ),
    "upgrade": CommandEntry(
        "upgrade",
        "Upgrade the schedules and JSON Schemas of a working copy that an earlier version made: show the changes, and"
        " write them with --write.",
    ),
    "release": CommandEntry(
        "release",
        "Make one release of a table, if all rules of its policy allow it: published (exit 0) or withheld (exit 3).",
    ),
    "withdraw": CommandEntry(
        "withdraw",
        "Withdraw a published release: its files are removed, a tombstone stays, and the privacy cost stays charged.",
    ),
    "schedule": CommandEntry(
        "schedule",
        "Print a policy's deployment for `schedules/prefect.yaml`: bound to the policy and to its files as they are"
        " now.",
    ),
    "deployments": CommandEntry(
        "deployments",
        "Print a whole `schedules/prefect.yaml` with one deployment for each policy, bound to its files as they are"
        " now.",
    ),
    "check": CommandEntry(
        "check",
        "Find out whether policies are right and can be let through, reading no rows but those of a public register.",
    ),
    "explain": CommandEntry(
        "explain",
        "Explain in plain sentences the privacy guarantee of a policy, each of its rules, what is assumed and what"
        " is not protected; no data is read.",
    ),
    "plan": CommandEntry(
        "plan", "Show the guarantee, the privacy cost and alternatives of a policy; only public figures are read."
    ),
    "rehearse": CommandEntry(
        "rehearse", "Run a whole release on simulated rows, drawn from public figures; no ledger is touched."
    ),
    "test": CommandEntry(
        "test", "Try the cases of policies: does each end as its file says? No table of people is read."
    ),
    "predict": CommandEntry(
        "predict",
        "Predict how many people would be unique by the attributes that are asked; only public figures are read.",
    ),
    "audit": CommandEntry(
        "audit",
        "Let attackers play against a policy's mechanism on a public population: how often do they single somebody"
        " out, infer what is secret, or recognize members of the table? `--of law` compares fresh releases with what it"
        " states, and `--of files` whole ones: files, decisions and charges.",
    ),
    "anonymity": CommandEntry(
        "anonymity",
        "Count who shares a combination of values with how many: anonymity sets for every few attributes at every"
        " level.",
    ),
    "membership": CommandEntry(
        "membership",
        "Say how often a published membership attack is right where members are rare: precision and recall at a skew.",
    ),
    "verify": CommandEntry(
        "verify",
        "Verify from its files whether a release is what its manifest states (exit 6 for anything else).",
    ),
    "doctor": CommandEntry(
        "doctor",
        "Say whether anything hinders the next release, and what to do about it.",
    ),
    "metrics": CommandEntry(
        "metrics",
        "Print metrics of the working copy as OpenMetrics: budgets, audits, forecasts, latest slots.",
    ),
    "version": CommandEntry("version", "Show the versions of the program and of its formats."),
    "diff": CommandEntry(
        "diff",
        "Say of every field that changed between two policies whether it is tighter, looser, or neither, and what it"
        " does.",
    ),
    "replay": CommandEntry(
        "replay",
        "Judge a policy's gates again on what its past releases recorded: which would be withheld now?",
    ),
    "report": CommandEntry(
        "report", "Pages for a board: a release, published or withheld; a budget; an index over a ledger."
    ),
    "contract": CommandEntry("contract", "Draft, show, compare or export a contract."),
    "ledger": CommandEntry("ledger", "Create, show and verify the ledger; raise a budget, stop a population."),
    "backfill": CommandEntry(
        "backfill",
        "Make the releases that past periods of a policy's calendar lack, after saying what they cost together.",
    ),
    "approve": CommandEntry(
        "approve",
        "Approve a release: sign its policy files before it is charged, or its manifest before it is published.",
    ),
    "record": CommandEntry(
        "record", "Open, list and delete private records; every access and every deletion is recorded."
    ),
    "keys": CommandEntry("keys", "Create and show the keys that sign releases."),
    "catalogue": CommandEntry("catalogue", "Write and verify the signed list of a destination's releases."),
    "kl": CommandEntry("kl", "Publish and query KL distances; record what is collected."),
}


_OTHER_NAMES = {
    **dict.fromkeys(("new", "create", "policy"), "init DIR --policy --template NAME, or contract draft TABLE"),
    **dict.fromkeys(("draft", "import"), "contract draft TABLE"),
    **dict.fromkeys(("lint", "validate"), "check POLICY"),
    **dict.fromkeys(("publish", "run"), "release POLICY"),
    **dict.fromkeys(("simulate", "dry-run", "preview"), "rehearse POLICY"),
    **dict.fromkeys(("budget", "status"), "ledger show"),
    "show": "contract show CONTRACT, or ledger show",
    "export": "contract export CONTRACT --gx",
}
"""The commands that are meant by names that other tools have for them."""


def load_command(name: str) -> Any:
    """Return the command or group of this name after importing its module. A group is the module's `app`, a command is
    a function of the module."""
    module = import_module(f"crowdgate.cli.{COMMANDS[name].module}")
    if isinstance(getattr(module, "app", None), typer.Typer):
        command = get_command(module.app)
        command.name = name
        return without_urls(command)
    alone = typer.Typer(add_completion=False)
    alone.command(name)(getattr(module, name))
    return without_urls(get_command(alone))


class CommandGroup(TyperGroup):
    """A group of commands that are listed from the table COMMANDS, and imported when one of them is run."""

    def __init__(self, **rest: Any) -> None:
        super().__init__(
            **{**rest, "commands": {name: TyperCommand(name, help=COMMANDS[name].help) for name in COMMANDS}}
        )

    def resolve_command(
        self, ctx: "_click.Context", args: list[str]
    ) -> tuple[str | None, "_click.Command | None", list[str]]:
        """Return the command that the command line names, after importing it."""
        if args[0] in _OTHER_NAMES:
            ctx.fail(f"No such command '{args[0]}'. Use: crowdgate {_OTHER_NAMES[args[0]]}")
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name else command, rest


app = typer.Typer(
    name="crowdgate",
    cls=CommandGroup,
    help="Release data about people with exact privacy guarantees, and refuse to when it must.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(version("crowdgate"))
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Nothing but errors on standard error: no progress, no notes.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Of a fault in crowdgate itself, say which functions it passed.")
    ] = False,
) -> None:
    del version
    QUIET.set(quiet)
    VERBOSE.set(verbose)
