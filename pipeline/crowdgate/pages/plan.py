"""The outlook of a policy as a page: Markdown, or the same as HTML with a chart."""

from pathlib import Path

from crowdgate import report
from crowdgate.forecast.outlook import Outlook
from crowdgate.kind.picture import Picture
from crowdgate.number_text import decimal, format_value
from crowdgate.planning.budget_left import guarantee_sentences, informed_text
from crowdgate.report.page_files import write_as
from crowdgate.report.pictures import draw_all, picture_values

TEMPLATE = "report/plan.md.j2"


def write_plan_page(found: Outlook, path: Path) -> None:
    """Write a new file: Markdown if its name ends in .md, HTML if in .html.

    Raises EnvironmentFault when the file exists or can't be written, ConfigurationError for another ending, or when
    charts can't be drawn.
    """
    write_as(path, f"Plan of {_title(found)}", lambda: plan_markdown(found), lambda: draw_all(_pictures(found)))


def plan_markdown(found: Outlook) -> str:
    """The page as Markdown."""
    figures = [
        {
            "label": each.label,
            "value": format_value(each.value, each.format),
            "range": each.range_text,
            "basis": each.basis,
        }
        for each in found.forecast.figures
    ]
    values = {
        "title": _title(found),
        "promise": [
            *guarantee_sentences(found.plan, found.standing.left),
            *found.plan.protection.kind.notes(found.plan.protection.mechanism),
            *found.rests_on(),
            *found.charges,
            *informed_text(found.informed),
        ],
        "figures": figures,
        "people_times_delta": decimal(found.people_times_delta, 4),
        "releases": found.releases,
        "pso_bounds": [decimal(bound, 4) for bound in found.pso_bounds],
        "singling_out": picture_values(found.singling_out),
        "pictures": [picture_values(each) for each in found.forecast.pictures()],
        "left": found.standing.left.words(),
        "chance": found.chances.words(),
        "chances": [{"gate": each.gate, "words": each.words()} for each in found.chances.gates],
        "curve": found.pso_curve,
        "listings": [found.prediction, *found.forecast.listings],
    }
    return report.markdown(TEMPLATE, values)


def _pictures(found: Outlook) -> list[Picture]:
    return [found.singling_out, *found.forecast.pictures()]


def _title(found: Outlook) -> str:
    return found.plan.bundle.policy.metadata.name
