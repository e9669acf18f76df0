"""The command that computes the precision of a published membership attack at realistic base rates."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.anonymity.published_attacks.convert import convert
from crowdgate.anonymity.published_attacks.request import curve_request
from crowdgate.cli.options import AsJson
from crowdgate.cli.output import print_report
from crowdgate.report.page_files import check_name


def membership(
    roc: Annotated[
        Path,
        typer.Option(
            "--roc", metavar="FILE", help="CSV with columns fpr,tpr; or, balanced, recall,precision or tpr,accuracy."
        ),
    ],
    skew: Annotated[
        list[str] | None,
        typer.Option("--skew", metavar="1:N", help="Non-members for each member; may be repeated [1:1 to 1:2400]."),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="PRECISION", help="The greatest recall at it; may be repeated [.5, .8, .95]."),
    ] = None,
    members: Annotated[
        str | None, typer.Option("--members", metavar="M", help="Members whom the attack was tried on.")
    ] = None,
    non_members: Annotated[
        str | None, typer.Option("--non-members", metavar="N", help="Non-members whom the attack was tried on.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write a page: HTML with a chart, or Markdown (.md).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how often a published membership attack is right where members are rare: precision and recall at a skew."""
    if page is not None:
        check_name(page)
    print_report(convert(curve_request(roc, skew, at, members, non_members)), page, as_json)
