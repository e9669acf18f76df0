"""A private record as a page for its custodian. Text of a record can hold anything, so it is made printable first."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crowdgate import report
from crowdgate.manifest import GateFields
from crowdgate.number_text import rounded
from crowdgate.releases.private_record import PrivateRecord
from crowdgate.report.page_files import write_as
from crowdgate.system import permissions

TEMPLATE = "report/record.md.j2"
_FORMED = ("outcome", "ingestion", "verdicts", "rules", "release")
_HOLDS = {True: "yes", False: "no", None: "not known"}


def write_record_page(found: PrivateRecord, path: Path) -> None:
    """Write a new file for its owner only: Markdown for a name in .md, HTML for one in .html. Raises as `write_as`."""
    write_as(
        path, f"Private record of {found.release_id}", lambda: record_markdown(found), access=permissions.PRIVATE_PAGE
    )


def record_markdown(found: PrivateRecord, *, full: bool = True) -> str:
    """Return the page of a private record as Markdown: ingestion summary, rules and gates as tables, everything else
    unchanged. Unless `full`, everything else is named only; of a run that crashed all is shown."""
    record: dict[str, Any] = _printable(found.sections)
    rest = [name for name in record if name not in _FORMED]
    full = full or record.get("outcome") == "crashed"
    came_in = record.get("ingestion", {})
    values = {
        "release_id": found.release_id,
        "ledger": found.ledger,
        "population": found.population,
        "committed": found.committed,
        "outcome": record.get("outcome"),
        "ingested": list(_nested_lines({name: came_in[name] for name in ("rows", "people") if came_in.get(name)})),
        "columns": [_column(name, each) for name, each in came_in.get("columns", {}).items()],
        "rules": [{**each, "holds": _HOLDS[each["passed"]]} for each in record.get("rules", ())],
        "gates": [GateFields.model_validate_json(json.dumps(each)).verdict for each in record.get("verdicts", ())],
        "rest": [{"title": name, "lines": list(_nested_lines(record[name]))} for name in rest if full],
        "left_out": [] if full else rest,
    }
    return report.markdown(TEMPLATE, values)


def _column(name: str, counted: dict[str, Any]) -> dict[str, Any]:
    reasons = ", ".join(f"{each['reason']} {each['cells']}" for each in counted["reasons"])
    return {**counted, "name": name, "share": rounded(counted["share"]), "reasons": reasons}


def _nested_lines(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield a nested value of JSON as the lines of an indented list."""
    for name, each in _named_children(value):
        inside = isinstance(each, dict | list)
        words = [str(part) for part in (name, None if inside else each) if part is not None]
        yield f"{'  ' * depth}- {': '.join(words)}"
        if inside:
            yield from _nested_lines(each, depth + 1)


def _named_children(value: Any) -> Iterator[tuple[str | None, Any]]:
    """Yield (name, child) for each child of a value of JSON. Children of a list have no name, unless they are nested:
    these are numbered."""
    if isinstance(value, dict):
        yield from value.items()
    else:
        inside = value if isinstance(value, list) else [value]
        for number, each in enumerate(inside, start=1):
            yield (str(number) if isinstance(each, dict | list) else None), each


def _printable(value: Any) -> Any:
    """Return a value of JSON with every unprintable character, also in names, as its escape."""
    if isinstance(value, dict):
        return {_printable(name): _printable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_printable(each) for each in value]
    if isinstance(value, str):
        return "".join(each if each.isprintable() else repr(each)[1:-1] for each in value)
    return value
