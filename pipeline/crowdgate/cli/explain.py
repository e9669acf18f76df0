"""The command that says in plain words what a policy promises."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.review.explain import explain_policy

WIDTH = 80
"""Columns of a line where no terminal says how wide it is."""


class ExplainFormat(StrEnum):
    """How the words are given."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    HTML = "html"


def explain(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    form: Annotated[
        ExplainFormat, typer.Option("--format", help="For the terminal, as Markdown, or as one HTML page.")
    ] = ExplainFormat.TERMINAL,
) -> None:
    """Say in plain sentences what a policy promises, what each of its rules does, what is assumed and what is not
    protected; no data is read."""
    text = explain_policy(policy)
    if form is ExplainFormat.TERMINAL:
        _show(text)
    elif form is ExplainFormat.MARKDOWN:
        typer.echo(text, nl=False)
    else:
        from crowdgate.report.html import as_html

        typer.echo(as_html(text.splitlines()[0].removeprefix("# "), text), nl=False)


def _show(text: str) -> None:
    """Wrapped at words, as wide as the terminal."""
    from rich.console import Console
    from rich.markdown import Markdown

    width = None if sys.stdout.isatty() else WIDTH
    Console(file=sys.stdout, width=width).print(Markdown(text, hyperlinks=False))
