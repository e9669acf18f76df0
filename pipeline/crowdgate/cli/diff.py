"""The command that compares policies."""

from typing import Annotated

import typer

from crowdgate.cli.options import WITHHELD, AsJson
from crowdgate.cli.output import print_json


def diff(
    old: Annotated[str, typer.Argument(metavar="A", help="A policy, a folder of policies, or REV:path in git.")],
    new: Annotated[str, typer.Argument(metavar="B", help="The same after a change.")],
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a review.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say of every field that changed between two policies whether it is tighter, looser, or neither, and what it does.

    Exit 0 where nothing changed or only towards tighter, otherwise 3.
    """
    from crowdgate.review.diff.difference import diff as compare
    from crowdgate.review.diff.text import lines, markdown

    found = compare(old, new)
    if as_json:
        print_json(found.to_json())
    else:
        typer.echo("\n".join((markdown if as_markdown else lines)(found)))
    if not found.stricter:
        raise typer.Exit(WITHHELD)
