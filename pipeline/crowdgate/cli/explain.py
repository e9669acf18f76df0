"""The command that explains a policy in plain words."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson
from crowdgate.cli.output import print_json, print_page
from crowdgate.report.page_files import in_style
from crowdgate.review.explain import explain_policy


class ExplainFormat(StrEnum):
    """The output format of the explanation."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    HTML = "html"


def explain(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    form: Annotated[
        ExplainFormat, typer.Option("--format", help="For the terminal, as Markdown, or as one HTML page.")
    ] = ExplainFormat.TERMINAL,
    as_json: AsJson = False,
) -> None:
    """Explain in plain sentences the privacy guarantee of a policy, each of its rules, what is assumed and what is not
    protected; no data is read."""
    if as_json:
        print_json(explain_policy(policy).to_json())
    elif form is ExplainFormat.TERMINAL:
        print_page(explain_policy(policy))
    else:
        page = in_style(lambda: explain_policy(policy))
        typer.echo(page.html() if form is ExplainFormat.HTML else in_style(page.markdown), nl=False)
