"""Commands that audit mechanisms."""

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdgate.audit.run import processes
from crowdgate.cli.output import print_json, print_table
from crowdgate.cli.releases import WITHHELD, AsJson, LedgerUrl, progress_bar
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.gate import Outcome
from crowdgate.jobs.audit import Asked, Audited
from crowdgate.jobs.audit import audit as run_audit
from crowdgate.jobs.audit_confidential import audit_table
from crowdgate.jobs.audit_keeping import How
from crowdgate.jobs.audit_page import write_audit_page
from crowdgate.jobs.audit_words import (
    CONTROL_TEXT,
    CONTROL_TITLES,
    TEXT,
    TITLES,
    attacker_rows,
    control_rows,
    idle,
    to_json,
    words,
)
from crowdgate.jobs.plan_page import check_name

if TYPE_CHECKING:
    from crowdgate.jobs.inference.job import Inferred
    from crowdgate.jobs.inference.words import Listing
    from crowdgate.jobs.member.job import Claimed


class Question(StrEnum):
    """What an audit asks."""

    SINGLING_OUT = "singling-out"
    INFERENCE = "inference"
    MEMBERSHIP = "membership"


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
        bool, typer.Option("--on-confidential", help="On the table itself: for the curator; recorded as a look.")
    ] = False,
    question: Annotated[
        Question,
        typer.Option(
            "--of", help="Whether somebody can be singled out, a secret attribute inferred, or membership told."
        ),
    ] = Question.SINGLING_OUT,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Let attackers play against a policy's mechanism on a public population: how often do they single somebody out,
    infer what is secret, or tell who is in the table?

    Exit 0 when they stay within the limit, 3 when they do not or nothing can be concluded.
    """
    if page is not None:
        check_name(page)
    asked = Asked(policy, units, trials, weight, ledger)
    if question is not Question.SINGLING_OUT:
        _refuse_beside(question, trials=trials, weight=weight, on_confidential=on_confidential or None)
        ask = infer if question is Question.INFERENCE else tell_members
        ask(asked, jobs, page, as_json)
        return
    with progress_bar(as_json, "playing") as progress:
        how = How(executor=processes(jobs or os.cpu_count() or 1), progress=progress)
        if on_confidential:
            ended = audit_table(asked, how)
        else:
            found = run_audit(asked, how)
    if on_confidential:
        if as_json:
            print_json({"outcome": "ended", "plain": ended})
        else:
            typer.echo(ended)
        return
    if page is not None:
        write_audit_page(found, page)
    show(found, page, as_json)
    if found.findings.outcome is not Outcome.PASS:
        raise typer.Exit(WITHHELD)


def infer(asked: Asked, jobs: int | None, page: Path | None, as_json: bool) -> None:
    """The audit of attribute inference."""
    from crowdgate.jobs.inference.job import audit_inference
    from crowdgate.jobs.inference.page import write_inference_page
    from crowdgate.jobs.inference.words import inferred_json, inferred_listings, inferred_words

    with progress_bar(as_json, "releasing") as progress:
        found = audit_inference(asked, How(executor=processes(jobs or os.cpu_count() or 1), progress=progress))
    if page is not None:
        write_inference_page(found, page)
    if as_json:
        print_json(inferred_json(found))
    else:
        _tell(found, inferred_listings(found), inferred_words(found), page)
    if found.findings.outcome is not Outcome.PASS:
        raise typer.Exit(WITHHELD)


def tell_members(asked: Asked, jobs: int | None, page: Path | None, as_json: bool) -> None:
    """The audit of membership."""
    from crowdgate.jobs.member.job import audit_membership
    from crowdgate.jobs.member.page import write_membership_page
    from crowdgate.jobs.member.words import membership_json, membership_words, point_listing, precision_listing

    with progress_bar(as_json, "releasing") as progress:
        found = audit_membership(asked, How(executor=processes(jobs or os.cpu_count() or 1), progress=progress))
    if page is not None:
        write_membership_page(found, page)
    if as_json:
        print_json(membership_json(found))
    else:
        listings = [point_listing(found), precision_listing(found, judged=True)]
        _tell(found, listings, membership_words(found), page)
    if found.findings.outcome is not Outcome.PASS:
        raise typer.Exit(WITHHELD)


def _tell(found: "Inferred | Claimed", listings: "Sequence[Listing]", words: Sequence[str], page: Path | None) -> None:
    setting = found.record.setting
    typer.echo(f"{found.findings.outcome} {setting.policy}/{setting.version}, {setting.question}")
    for listing in listings:
        typer.echo(listing.title)
        print_table(listing.titles, listing.rows, left=listing.text)
    for line in words:
        typer.echo(line)
    for path in filter(None, (page, found.path)):
        typer.echo(str(path))


def _refuse_beside(question: Question, **given: object) -> None:
    stated = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
    if stated:
        found, expected = f"beside --of {question}", "only for singling out"
        raise ConfigurationError([Problem("command line", None, name, found, expected) for name in stated])


def show(found: Audited, page: Path | None, as_json: bool) -> None:
    """What was found, for people or for programs."""
    if as_json:
        print_json(to_json(found))
        return
    typer.echo(f"{found.findings.outcome} {found.record.setting.policy}/{found.record.setting.version}")
    print_table(TITLES, attacker_rows(found), left=TEXT)
    if idle(found):
        typer.echo(f"Nothing of what is released is read by: {', '.join(idle(found))}.")
    if found.record.controls:
        print_table(CONTROL_TITLES, control_rows(found), left=CONTROL_TEXT)
    for line in words(found):
        typer.echo(line)
    for path in filter(None, (page, found.path)):
        typer.echo(str(path))
