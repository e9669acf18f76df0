"""The outlook of a policy as a page: Markdown, or the same as HTML with a chart."""

from collections.abc import Callable, Sequence
from pathlib import Path

from crowdgate import modes, report
from crowdgate.accounting.numbers import decimal
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.jobs.outlook import Outlook
from crowdgate.jobs.standing import informed_words
from crowdgate.kind.forecast import Listing
from crowdgate.publish.pages import write_page
from crowdgate.report.html import PICTURES, as_html
from crowdgate.report.numbers import listed, range_of, shown, sides

TEMPLATE = "report/plan.md.j2"


def write_plan_page(found: Outlook, path: Path) -> None:
    """Write a new file: Markdown if its name ends in .md, HTML if in .html.

    Raises EnvironmentFault when the file exists or can't be written, ConfigurationError for another ending, or when
    charts can't be drawn.
    """
    write_as(path, f"Plan of {_title(found)}", plan_markdown(found), found.pictures)


def write_as(
    path: Path,
    title: str,
    text: str,
    pictures: Callable[[], Sequence[str]] = list,
    access: modes.Access = modes.PAGE,
) -> None:
    """Write a page of Markdown as a new file, as HTML with its pictures if the name ends in .html, as it is if in .md.

    Raises EnvironmentFault when the file exists or can't be written, ConfigurationError for another ending.
    """
    check_name(path)
    if path.suffix == ".md":
        write_page(path, text.replace(f"\n{PICTURES}\n", ""), access)
    else:
        write_page(path, as_html(title, text, pictures()), access)


def check_name(path: Path) -> None:
    """Raises ConfigurationError for the name of no page."""
    if path.suffix not in (".md", ".html"):
        said, expected = f"a file that ends in {path.suffix!r}", "one that ends in .html or .md"
        raise ConfigurationError(Problem("command line", None, "--page", said, expected, f"{path.stem}.html"))


def plan_markdown(found: Outlook) -> str:
    """The page as Markdown."""
    figures = [
        {"label": each.label, "value": shown(each.value, each.format), "range": range_of(each), "basis": each.basis}
        for each in found.forecast.figures
    ]
    values = {
        "title": _title(found),
        "promise": [
            *found.plan.told(),
            *found.plan.protection.notes(),
            *found.rests_on(),
            *found.charges,
            *informed_words(found.informed),
        ],
        "figures": figures,
        "people_times_delta": decimal(found.people_times_delta, 4),
        "releases": found.releases,
        "pso_bounds": [decimal(bound, 4) for bound in found.pso_bounds],
        "pictures": PICTURES,
        "curve": _shown(found.pso_curve),
        "listings": [_shown(each) for each in (found.prediction, *found.forecast.listings)],
    }
    return report.markdown(TEMPLATE, values)


def _shown(listing: Listing) -> dict[str, object]:
    return {
        "title": listing.title,
        "note": listing.note,
        "titles": [column.title for column in listing.columns],
        "sides": sides(listing),
        "rows": list(listed(listing)),
    }


def _title(found: Outlook) -> str:
    return found.plan.bundle.policy.metadata.name
