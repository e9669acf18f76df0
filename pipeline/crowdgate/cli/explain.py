"""The command that explains a policy in plain words."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.report.page_files import html_page, in_style
from crowdgate.review.explain import explain_policy

WIDTH = 80
"""The width of a line, in characters, if no terminal states one."""


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
) -> None:
    """Explain in plain sentences the privacy guarantee of a policy, each of its rules, what is assumed and what is not
    protected; no data is read."""
    if form is ExplainFormat.HTML:
        text = in_style(lambda: explain_policy(policy))
        typer.echo(html_page(text.splitlines()[0].removeprefix("# "), lambda: text), nl=False)
    elif form is ExplainFormat.MARKDOWN:
        typer.echo(in_style(lambda: explain_policy(policy)), nl=False)
    else:
        _show(explain_policy(policy))


def _show(text: str) -> None:
    """Print text wrapped at words, as wide as the terminal."""
    from rich.console import Console
    from rich.markdown import Markdown

    width = None if sys.stdout.isatty() else WIDTH
    Console(file=sys.stdout, width=width).print(Markdown(text, hyperlinks=False))
