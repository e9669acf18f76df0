"""What the README of a release of rows says: for the people who use the data."""

from crowdgate.kind.kind import Page
from crowdgate.kinds.rows.candidate import PublishedRows
from crowdgate.kinds.rows.estimates import Estimate, estimates, largest
from crowdgate.kinds.rows.said import ChoiceSaid, RowsManifest
from crowdgate.mechanisms.rows.choice import choice_words


def page(said: RowsManifest, held: PublishedRows) -> Page:
    """Columns, what was done, how to use it, and an example with the release's own numbers."""
    safe = said.mechanism
    found = largest(estimates(held.rows, safe.beta, held.labels))
    values = {
        "columns": [{"name": each.name, "level": each.level, "values": each.values} for each in said.data.columns],
        "beta": f"{float(safe.beta):g}",
        "rest": f"{float(1 - safe.beta):g}",
        "weight": f"{float(1 / safe.beta):g}",
        "k": safe.k,
        "rows": safe.rows,
        "inherited": safe.inherited,
        "choice": [] if safe.choice is None else [_chosen(safe.choice)],
        "examples": list(map(_example, found)),
    }
    return Page(f"kinds/rows/release.{said.format}.md.j2", values)


def _chosen(choice: ChoiceSaid) -> str:
    return choice_words(choice.chosen, choice.candidates, choice.score, choice.target, choice.on, choice.epsilon)


def _example(each: Estimate) -> dict[str, object]:
    middle, half = each.persons_hundredths / 100, 1.96 * each.error_hundredths / 100
    ends = f"{middle - half:.0f} to {middle + half:.0f}"
    return {"column": each.column, "label": each.label, "rows": each.count, "persons": each.persons,
            "error": each.error, "interval": ends}  # fmt: skip
