"""The command that runs the cases of policies."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.junit import TestCase
from crowdgate.cli.junit import junit as report
from crowdgate.cli.options import AsJson
from crowdgate.cli.output import print_json
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.review.cases import CaseResult, case_results, files_of

FAILED = 3


def cases(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files of cases, or folders of them (policies/cases).")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write a report for a build server as well.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try the cases of policies: does each end as its file says? No table of people is read.

    Exit 2 for wrong files or cases (the others are tried), 3 when a case does not hold, otherwise 0.
    """
    found: list[CaseResult] = []
    problems: list[Problem] = []
    for file in files_of(paths or [Path("policies/cases")]):
        try:
            for each in case_results(file):
                found.append(each)
        except ConfigurationError as error:
            problems += error.problems
    if problems:
        if found and not as_json:
            _show(found)
        raise ConfigurationError(problems)
    if junit is not None:
        junit.write_bytes(report([_case(each) for each in found]))
    if as_json:
        print_json({"cases": [each.to_json() for each in found]})
    else:
        _show(found)
    if not all(each.holds for each in found):
        raise typer.Exit(FAILED)


test = cases
"""The command's name; pytest collects nothing here."""


def _show(found: list[CaseResult]) -> None:
    for each in found:
        typer.echo(
            f"{'holds ' if each.holds else 'FAILED'} {each.policy}: {each.name} ({each.outcome}{_assumed(each)})"
        )
        for words in each.differences:
            typer.echo(f"       {each.file}:{each.line}: {words}")
    failed = sum(not each.holds for each in found)
    typer.echo(f"{len(found)} cases, {failed} failed")


def _assumed(each: CaseResult) -> str:
    return f", if {len(each.assumed)} gates pass that got no number" if each.assumed else ""


def _case(each: CaseResult) -> TestCase:
    said = "; ".join(each.differences)
    failures = [] if each.holds else [(said, f"{each.file}:{each.line}: {said}")]
    return TestCase(each.policy, each.name, str(each.file), failures)
