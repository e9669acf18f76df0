"""A private record as a report for its custodian. Text of a record can hold anything, so it is made printable first."""

import json
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from crowdgate.kind.listing import Listing, text_listing
from crowdgate.kind.section import Section, table_section
from crowdgate.manifest import GateFields
from crowdgate.number_text import AMOUNT, Value, format_value
from crowdgate.releases.private_record import PrivateRecord
from crowdgate.report.report import Report
from crowdgate.system import permissions

NO_DIGEST = "The ledger holds no digest of this record: the run stopped before the digest was recorded."
_FORMED = ("outcome", "ingestion", "verdicts", "rules", "release")
_LONG_FRACTION = re.compile(r"-?\d+/\d{7,}")
_HOLDS = {True: "yes", False: "no", None: "not known"}
Row = Sequence[str]


def record_report(found: PrivateRecord, *, full: bool = True) -> Report:
    """Return a private record as a report: ingestion summary, rules, gates, and everything else. Unless `full`,
    everything else is named only; of a run that crashed all is shown."""
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
        yield table_section("Rules of the contract", ("rule", "about a", "holds"), rules)
    if gates := list(map(_gate, record.get("verdicts", ()))):
        yield table_section("Gates", ("gate", "class", "outcome", "measured"), gates)
    rest = [name for name in record if name not in _FORMED]
    if full:
        yield from (Section(name.capitalize(), listings=list(_listings(record[name]))) for name in rest)
    elif rest:
        yield Section("", [f"More with --full, --page FILE or --json: {', '.join(rest)}."])


def _ingestion(came_in: dict[str, Any]) -> Iterator[Section]:
    if columns := came_in.get("columns"):
        counted = {name: came_in[name] for name in ("rows", "people") if came_in.get(name)}
        points = [f"{name}, {of}: {number}" for name, each in counted.items() for of, number in each.items()]
        yield Section("Ingestion summary", points=points)
        titles = ("column", ("invalid cells", "d"), "share", "reasons", "effect")
        yield Section(listings=[text_listing("", titles, (_column(*each) for each in columns.items()))])


def _column(name: str, counted: dict[str, Any]) -> Sequence[Value]:
    reasons = ", ".join(f"{each['reason']} {each['cells']}" for each in counted["reasons"])
    return name, counted["invalid"], counted["share"], reasons, counted["then"]


def _gate(stored: Any) -> Row:
    verdict = GateFields.model_validate_json(json.dumps(stored)).verdict
    return verdict.gate, str(verdict.reads), verdict.ended, verdict.reason


def _listings(value: Any, title: str = "") -> Iterator[Listing]:
    """Yield a nested value of JSON as tables: one of its figures, and one of each nested child, under its path.

    Children with the same keys are the rows of one table. Children of a list are numbered.
    """
    children = value if isinstance(value, dict) else dict(enumerate(value if isinstance(value, list) else [value], 1))
    nested = {name: each for name, each in children.items() if _is_nested(each)}
    keys = [list(each) for each in nested.values() if isinstance(each, dict)]
    if 1 < len(keys) == len(children) and all(each == keys[0] for each in keys):
        rows = ((str(name), *map(_text, each.values())) for name, each in nested.items())
        yield text_listing(title, ("", *keys[0]), rows)
        return
    figures = [(str(name), _text(each)) for name, each in children.items() if name not in nested]
    if figures:
        yield text_listing(title, ("figure", "value"), figures)
    for name, each in nested.items():
        yield from _listings(each, f"{title}: {name}" if title else str(name))


def _is_nested(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value)
    return isinstance(value, list) and any(isinstance(each, dict | list) for each in value)


def _text(value: Any) -> str:
    """Return a value of JSON as text for people: six digits of a number that is not whole."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_text(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, str) and _LONG_FRACTION.fullmatch(value):
        return format_value(Fraction(value), AMOUNT)
    return format_value(value, AMOUNT) if isinstance(value, float) else str(value)


def _printable(value: Any) -> Any:
    """Return a value of JSON with every unprintable character, also in names, as its escape."""
    if isinstance(value, dict):
        return {_printable(name): _printable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_printable(each) for each in value]
    if isinstance(value, str):
        return "".join(each if each.isprintable() else repr(each)[1:-1] for each in value)
    return value
