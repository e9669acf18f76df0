"""The command that checks policies and related files, and reads no data."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import WITHHELD, AsJson
from crowdgate.cli.output import print_json
from crowdgate.cli.terminal import show
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.review.check_text import check_lines
from crowdgate.review.files import WARNING, LintedFile, Remark, lint_files


class CheckFormat(StrEnum):
    """The output format of the check."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


def _explain(code: str | None) -> None:
    if code is not None:
        from crowdgate.review.lint.codes import explanation

        typer.echo(explanation(code))
        raise typer.Exit()


def check(
    policies: Annotated[
        list[Path],
        typer.Argument(help="Policies, budgets, contracts, levels (CSV), cases, questionnaires; or folders of them."),
    ],
    form: Annotated[
        CheckFormat,
        typer.Option("--format", help="For people, or all problems and warnings as JSON or as JUnit's XML."),
    ] = CheckFormat.TEXT,
    as_json: AsJson = False,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain", metavar="CODE", callback=_explain, is_eager=True, help="Say what a code means, and end."
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 3 for a file that is allowed with warnings.")] = False,
) -> None:
    """Find out whether policies are right and can be let through, reading no rows but those of a public register.

    A contract is compared with the header of its table: names, types, delimiter and compression, never a cell.

    Budgets, contracts, levels and cases are read for what is wrong with them. Warnings judge what is allowed:
    policies/CODES.md explains each by its code.

    Exit 2 for wrong files, 3 when a static gate fails, a gate can't pass or the ledger would refuse it, otherwise 0.
    """
    del explain
    found = lint_files(policies)
    problems = [*dict.fromkeys(problem for each in found for problem in each.problems)]  # of a contract, say, once
    _print(found, problems, form, as_json=as_json, strict=strict)
    if problems:
        raise ConfigurationError(problems)
    refused = any(each.checked is not None and not each.checked.allowed for each in found)
    if refused or (strict and any(each.warnings for each in found)):
        raise typer.Exit(WITHHELD)


def _print(
    found: Sequence[LintedFile], problems: Sequence[Problem], form: CheckFormat, *, as_json: bool, strict: bool
) -> None:
    if as_json:
        checked = [each.checked.to_json() for each in found if each.checked is not None]
        if not problems:
            print_json({"policies": checked})
    elif form is CheckFormat.JSON:
        remarks = dict.fromkeys(remark for each in found for remark in each.remarks)
        print_json({"remarks": [remark.to_json() for remark in remarks]})
    elif form is CheckFormat.JUNIT:
        from crowdgate.cli.junit import TestCase, junit

        cases = [
            TestCase(each.kind or "unknown", str(each.path), str(each.path), *_failures_and_notes(each, strict))
            for each in found
        ]
        typer.echo(junit(cases))
    else:
        for each in found:
            show(_lines(each))


def _failures_and_notes(found: LintedFile, strict: bool) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the remarks that make a file fail, each as (message, line of the terminal), and the terminal lines of all
    other remarks. With `strict`, warnings fail, too."""
    counts = [remark for remark in found.remarks if strict or remark.severity != WARNING]
    rest = [remark for remark in found.remarks if remark not in counts]
    return [(remark.message, _line(remark)) for remark in counts], [_line(remark) for remark in rest]


def _line(remark: Remark) -> str:
    place = ":".join(str(part) for part in (remark.path, remark.line, remark.column) if part is not None)
    rest = "" if remark.expected is None else f"; expected {remark.expected}"
    mended = "" if remark.corrected is None else f"\nwrite instead: {remark.corrected}"
    return f"{remark.severity} {remark.code or ''} {place}: {remark.message}{rest}{mended}".replace("  ", " ", 1)


def _lines(found: LintedFile) -> Iterator[str]:
    if found.checked is not None:
        yield from check_lines(found.checked)
    elif not found.problems and found.kind is not None:
        yield f"{found.path}: right ({found.kind})"
        yield from (f"  Warning         {each}" for each in found.warnings)
