"""Tables of the reference for policy owners that state facts of the code: measures, their options, and all fields.

`python -m crowdgate.review.schemas.reference policies/reference` writes them anew, between the marks in its files.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from crowdgate import report
from crowdgate.candidate import OutputType
from crowdgate.measures import MEASURES, Measure
from crowdgate.measures.options import OPTIONS
from crowdgate.review.schemas.schemas import schemas

_SECTIONS = {
    "release-policy.json": "Release policy",
    "privacy-budget.json": "Privacy budget",
    "policy-cases.json": "Cases",
    "collection-decision.json": "Collection decision",
    "questionnaire.json": "Questionnaire",
    "data-contract.json": "Data contract",
    "event.json": "Event of a run",
}
_KINDS = {
    OutputType.CELLS: "tables",
    OutputType.PAIRS: "synthetic rows",
    OutputType.STATIC: "all",
    OutputType.INPUT: "all",
}


def tables() -> dict[str, dict[str, str]]:
    """Return the Markdown of every table of the reference, by the page's file name and the name of the table's
    marks."""
    return {
        "measures.md": {"measures": _measures(), "options": _options()},
        "fields.md": {"fields": _fields()},
    }


def updated(text: str, made: dict[str, str]) -> str:
    """Return the text of a page in which each table between marks is replaced by the table of that name in `made`."""
    for name, table in made.items():
        begin, end = f"<!-- table {name} -->\n", "<!-- end of table -->"
        parts = re.split(f"{re.escape(begin)}.*?{re.escape(end)}", text, flags=re.DOTALL)
        if len(parts) != 2:
            raise ValueError(f"the marks of table {name} must be there once, not {len(parts) - 1} times")
        text = f"{begin}\n{table}\n{end}".join(parts)
    return text


def write(folder: Path) -> None:
    """Write every table into its page in a folder."""
    for name, made in tables().items():
        path = folder / name
        path.write_text(updated(path.read_text(encoding="utf-8"), made), encoding="utf-8")


def _measures() -> str:
    head = ("measure", "class", "what it is", "fields", "release", "waiver")
    return _table(head, (_measure(name, each) for name, each in MEASURES.items()))


def _measure(name: str, measure: Measure) -> tuple[str, ...]:
    fields = [*measure.options, *(each for each in ("of", "over") if getattr(measure, each))]
    fields += ["charge"] if measure.of_noisy is not None else []
    release = _KINDS.get(measure.shape, "rows")
    waiver = "can be waived" if measure.waivable else ""
    return (f"`{name}`", measure.reads, measure.summary, ", ".join(f"`{each}`" for each in fields), release, waiver)


def _options() -> str:
    rows = ((f"`{name}`", each.description, each.expected) for name, each in OPTIONS.items())
    return _table(("option", "what it is", "values"), rows)


def _fields() -> str:
    every = schemas()
    return "\n".join(part for name, title in _SECTIONS.items() for part in _sections(title, json.loads(every[name])))


def _sections(title: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f"## {title}\n"
    models = {"": schema, **schema.get("$defs", {})}
    for name, model in models.items():
        fields = list(_properties(model))
        if fields:
            yield f"### {name}\n" if name else "The file itself:\n"
            yield _table(("field", "what it means"), fields)


def _properties(model: Any) -> Iterator[tuple[str, str]]:
    for name, each in model.get("properties", {}).items():
        yield f"`{name}`", each.get("description", "")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = tuple(head)
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(report.cell(each) for each in line)} |\n" for line in lines)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
