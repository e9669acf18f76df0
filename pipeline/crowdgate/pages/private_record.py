"""A private record as a report for its custodian. Text of a record can hold anything, so it is made printable first."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from crowdgate.kind.listing import text_listing
from crowdgate.kind.section import Section, table_section
from crowdgate.manifest import GateFields
from crowdgate.number_text import Value
from crowdgate.releases.private_record import PrivateRecord
from crowdgate.report.report import Report
from crowdgate.system import permissions

NO_DIGEST = "The ledger holds no digest of this record: the run stopped before the digest was recorded."
_FORMED = ("outcome", "ingestion", "verdicts", "rules", "release")
_HOLDS = {True: "yes", False: "no", None: "not known"}
Row = Sequence[str]


def record_report(found: PrivateRecord, *, full: bool = True) -> Report:
    """Return a private record as a report: ingestion summary, rules, gates, and everything else unchanged. Unless
    `full`, everything else is named only; of a run that crashed all is shown."""
    record: dict[str, Any] = _printable(found.sections)
    title = f"Private record of {found.release_id}: {record.get('outcome')}"
    full = full or record.get("outcome") == "crashed"
    return Report(title, lambda: list(_sections(found, record, full)), found.to_json, access=permissions.PRIVATE_PAGE)


def _sections(found: PrivateRecord, record: dict[str, Any], full: bool) -> Iterator[Section]:
    said = (
        f"Confidential: for the custodian only. This access is recorded in the ledger {found.ledger}: policies and"
        f" contracts of the population {found.population} that are first used from now on are marked"
        ' "informed by confidential data".'
    )
    yield Section("", [said, *([] if found.committed else [NO_DIGEST])])
    yield from _ingestion(record.get("ingestion", {}))
    if rules := [(each["rule"], each["kind"], _HOLDS[each["passed"]]) for each in record.get("rules", ())]:
        yield table_section("Rules of the contract", ("rule", "of a", "holds"), rules)
    if gates := list(map(_gate, record.get("verdicts", ()))):
        yield table_section("Gates", ("gate", "class", "outcome", "measured"), gates)
    rest = [name for name in record if name not in _FORMED]
    if full:
        yield from (table_section(name.capitalize(), ("figure", "value"), _figures(record[name])) for name in rest)
    elif rest:
        yield Section("", [f"More with --full, --page FILE or --json: {', '.join(rest)}."])


def _ingestion(came_in: dict[str, Any]) -> Iterator[Section]:
    if columns := came_in.get("columns"):
        counts = _figures({name: came_in[name] for name in ("rows", "people") if came_in.get(name)})
        yield table_section("Ingestion summary", ("counted", "number"), counts)
        titles = ("column", ("invalid cells", "d"), "share", "reasons", "then")
        yield Section(listings=[text_listing("", titles, (_column(*each) for each in columns.items()))])


def _column(name: str, counted: dict[str, Any]) -> Sequence[Value]:
    reasons = ", ".join(f"{each['reason']} {each['cells']}" for each in counted["reasons"])
    return name, counted["invalid"], counted["share"], reasons, counted["then"]


def _gate(stored: Any) -> Row:
    verdict = GateFields.model_validate_json(json.dumps(stored)).verdict
    return verdict.gate, str(verdict.reads), verdict.ended, verdict.reason


def _figures(value: Any, path: tuple[str, ...] = ()) -> Iterator[Row]:
    """Yield the path and the text of each figure in a nested value of JSON; a list of figures is one text. Nested
    children of a list are numbered."""
    if isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        value = {str(number): each for number, each in enumerate(value, start=1)}
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _figures(each, (*path, name))
    else:
        yield ": ".join(path), ", ".join(map(str, value)) if isinstance(value, dict | list) else str(value)


def _printable(value: Any) -> Any:
    """Return a value of JSON with every unprintable character, also in names, as its escape."""
    if isinstance(value, dict):
        return {_printable(name): _printable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_printable(each) for each in value]
    if isinstance(value, str):
        return "".join(each if each.isprintable() else repr(each)[1:-1] for each in value)
    return value
