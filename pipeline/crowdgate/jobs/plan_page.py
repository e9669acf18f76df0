"""The outlook of a policy as a page: Markdown, or the same as HTML with a chart."""

from pathlib import Path

from crowdgate import report
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.jobs.outlook import Outlook
from crowdgate.publish.pages import write_page
from crowdgate.report.chart import draw
from crowdgate.report.html import PICTURES, as_html
from crowdgate.report.numbers import listed, range_of, shown, sides

TEMPLATE = "report/plan.md.j2"


def write_plan_page(found: Outlook, path: Path) -> None:
    """Write a new file: Markdown if its name ends in .md, HTML if in .html.

    Raises EnvironmentFault when the file exists or can't be written, ConfigurationError for another ending, or when
    charts can't be drawn.
    """
    if path.suffix not in (".md", ".html"):
        said, expected = f"a file that ends in {path.suffix!r}", "one that ends in .html or .md"
        raise ConfigurationError(Problem("command line", None, "--page", said, expected, f"{path.stem}.html"))
    text = plan_markdown(found)
    if path.suffix == ".md":
        write_page(path, text.replace(f"\n{PICTURES}\n", ""))
    else:
        write_page(path, as_html(f"Plan of {_title(found)}", text, draw(found.forecast)))


def plan_markdown(found: Outlook) -> str:
    """The page as Markdown."""
    figures = [
        {"label": each.label, "value": shown(each.value), "range": range_of(each), "basis": each.basis}
        for each in found.forecast.figures
    ]
    listings = [
        {
            "title": each.title,
            "note": each.note,
            "titles": [column.title for column in each.columns],
            "sides": sides(each),
            "rows": list(listed(each)),
        }
        for each in found.forecast.listings
    ]
    values = {
        "title": _title(found),
        "promise": [*found.plan.promise(), *found.plan.protection.notes(), *found.rests_on()],
        "figures": figures,
        "people_times_delta": shown(found.people_times_delta),
        "releases": found.releases,
        "pso_bounds": [shown(bound) for bound in found.pso_bounds],
        "pictures": PICTURES,
        "listings": listings,
    }
    return report.markdown(TEMPLATE, values)


def _title(found: Outlook) -> str:
    return found.plan.bundle.policy.metadata.name
