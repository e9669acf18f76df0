"""Summary of a ledger: its releases, the budget left of each population and its changes, and what was recorded.

Each item names its line of the journal, with time and author.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any

from crowdgate.ledger.access_log import (
    ANONYMITY_MEASURED,
    APPROVED,
    RECORD_DELETED,
    RECORD_OPENED,
    TABLE_AUDITED,
    accesses,
)
from crowdgate.ledger.audits import audits
from crowdgate.ledger.filters import parse_lifetime, parse_vector
from crowdgate.ledger.journal import JournalLine
from crowdgate.ledger.journal_rules import CONVERTED
from crowdgate.ledger.ledger import Entry, Ledger
from crowdgate.ledger.schema import ENTRIES, FILTERS, POPULATIONS, SERIES, TOTALS
from crowdgate.ledger.series import SeriesSlot
from crowdgate.ledger.transitions import RESERVED, RESTORED, VOID, WITHDRAWN
from crowdgate.ledger.values import State
from crowdgate.number_text import exact_text, rounded
from crowdgate.planning.budgets import budget_left_text, budgets_json

REASONED = {
    "budget.raised": "raised",
    CONVERTED: "converted to Renyi divergences",
    "population.frozen": "frozen",
    "population.thawed": "thawed",
}
CHARGES = {RESERVED: "charged", VOID: "given back", RESTORED: "restored"}


def ledger_summary(ledger: Ledger) -> dict[str, Any]:
    """Return the summary of a ledger as JSON: all that `ledger show` prints."""
    journal, entries = ledger.journal(), ledger.entries()
    names = {entry.number: entry.release_id for entry in entries}
    return {
        "ledger": ledger.id,
        "budgets": [{**each, "frozen": ledger.frozen(each["population"])} for each in budgets_json(ledger)],
        "releases": [_release(entry, ledger) for entry in entries],
        "burn_down": [_charge(line, names) for line in journal if line.event in CHARGES and _has_total(line)],
        "changes": [_change(line) for line in journal if line.event in REASONED],
        "withdrawn": [
            {**_line_origin(line), "release_id": line.subject, "reason": line.detail_values["reason"]}
            for line in journal
            if line.event == WITHDRAWN
        ],
        "approvals": [
            {**_line_origin(line), "release_id": line.subject, "sha256": line.commitment}
            for line in journal
            if line.event == APPROVED
        ],
        "records_opened": [
            {**_line_origin(line), "release_id": line.subject} for line in _accesses(journal, RECORD_OPENED)
        ],
        "records_deleted": [
            {**_line_origin(line), "record": line.subject} for line in journal if line.event == RECORD_DELETED
        ],
        "audits": [vars(each) for each in audits(journal)],
        "tables_audited": [
            {**_line_origin(line), "population": line.subject} for line in _accesses(journal, TABLE_AUDITED)
        ],
        "tables_measured": [
            {**_line_origin(line), "population": line.subject} for line in _accesses(journal, ANONYMITY_MEASURED)
        ],
    }


def summary_lines(listing: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of text of a summary that `ledger_summary` made."""
    yield listing["ledger"]
    for budget in listing["budgets"]:
        yield f"  {budget_left_text(budget)}{'; frozen' if budget['frozen'] else ''}"
        yield from (
            _burn_down_line(each, budget) for each in listing["burn_down"] if each["population"] == budget["population"]
        )
    for entry in listing["releases"]:
        cost = f"epsilon {entry['epsilon']}, delta {entry['delta']}{_in_brackets(series_text(entry))}"
        yield f"  {entry['state']:<10} {entry['release_id']} {cost}"
    for each in listing["changes"]:
        what = f" to epsilon {each['epsilon']}, delta {each['delta']}" if "epsilon" in each else ""
        yield f"  {each['population']} {each['change']}{what}: {each['reason']} ({_written_by(each)})"
    for each in listing["withdrawn"]:
        yield f"  {each['release_id']} withdrawn: {each['reason']} ({_written_by(each)})"
    for each in listing["approvals"]:
        yield f"  {each['release_id']} approved by the signed statement {each['sha256'][:16]} ({_written_by(each)})"
    for look in listing["records_opened"]:
        yield f"  private record of {look['release_id']} opened ({_written_by(look)})"
    for each in listing["records_deleted"]:
        yield f"  private record of {each['record']} deleted ({_written_by(each)})"
    for each in listing["audits"]:
        yield f"  audit of {each['policy']}, {each['question']}: {each['event']} (line {each['line']})"
    for look in listing["tables_audited"]:
        yield f"  audit on the confidential table of {look['population']} ({_written_by(look)})"
    for look in listing["tables_measured"]:
        yield f"  anonymity sets of the confidential table of {look['population']} ({_written_by(look)})"


def series_left(releases: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each paid series of entries of `releases` on how many of its releases are left."""
    charged = [each for each in releases if "series" in each and each["state"] != State.VOID]
    taken = Counter(each["series"]["paid_by"] for each in charged)
    for each in charged:
        if each["series"]["paid_by"] == each["release_id"]:
            payer, of = each["release_id"], each["series"]["releases"]
            yield f"{of - taken[payer]} of {of} releases are left of the series that {payer} paid for."


def series_text(entry: dict[str, Any]) -> str:
    """Return who pays for a charge of a series, as text, of one entry of `releases` or `burn_down`; empty for a charge
    of no series.
    """
    series = entry.get("series")
    if series is None:
        return ""
    if series["paid_by"] == entry["release_id"]:
        return f"pays for a series of {series['releases']} releases"
    return f"paid by {series['paid_by']}"


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


def _burn_down_line(each: dict[str, Any], budget: dict[str, Any]) -> str:
    cap, spent = (Fraction(of["epsilon"]) for of in (budget["registered"], each["spent"]))
    left = f"epsilon {rounded(cap - spent, 6)} of {rounded(cap, 6)}"
    if "used" in each:
        left = f"{floor(100 * max(Fraction(0), 1 - Fraction(each['used'])))} %"
    said = [text for text in (series_text(each), _written_by(each)) if text]
    return f"    {left} left after {each['release_id']} was {each['change']} ({', '.join(said)})"


def _written_by(each: dict[str, Any]) -> str:
    said = [f"line {each['line']}", *(each[name] for name in ("at", "by") if each[name])]
    return ", ".join(said)


def _line_origin(line: JournalLine) -> dict[str, Any]:
    """Return the number, time and author of a journal line; lines of format 1 lack time and author."""
    said = line.detail_values
    return {"line": line.number, "at": said.get("at"), "by": said.get("by")}


def _accesses(journal: Sequence[JournalLine], event: str) -> list[JournalLine]:
    return [line for line in accesses(journal) if line.event == event]


def _has_total(line: JournalLine) -> bool:
    return any(name == TOTALS for name, _ in line.rows())


def _charge(line: JournalLine, names: Mapping[int, str]) -> dict[str, Any]:
    """Return a journal line that charged or gave back a release; `names` holds the release of each charge."""
    spent, charged = line.row(TOTALS), line.row(ENTRIES)
    slot = next((SeriesSlot(**row) for name, row in line.rows() if name == SERIES), None)
    return {
        **_line_origin(line),
        "population": spent["population"],
        "release_id": line.subject,
        "change": CHARGES[line.event],
        "cost": {name: exact_text(Fraction(charged[name])) for name in ("epsilon", "delta")},
        "spent": {name: exact_text(Fraction(spent[name])) for name in ("epsilon", "delta")},
        **({"used": exact_text(used)} if (used := used_part(line)) is not None else {}),
        **({} if slot is None else _series(slot, names[slot.payer])),
    }


def used_part(line: JournalLine) -> Fraction | None:
    """Return the part of a filter that is used after a line of the journal; None if the line counts nothing in one."""
    row = next((row for name, row in line.rows() if name == FILTERS), None)
    return None if row is None else parse_lifetime(row["caps"]).used(parse_vector(row["spent"]))


def _change(line: JournalLine) -> dict[str, Any]:
    said = line.detail_values
    found = {**_line_origin(line), "population": line.subject, "change": REASONED[line.event], "reason": said["reason"]}
    if line.event in ("budget.raised", CONVERTED):
        row = line.row(POPULATIONS)
        found |= {name: exact_text(Fraction(row[name])) for name in ("epsilon", "delta")} | {"people": row["people"]}
    return found


def _release(entry: Entry, ledger: Ledger) -> dict[str, Any]:
    slot = ledger.slot(entry)
    return {
        "release_id": entry.release_id,
        "state": str(entry.state),
        "population": entry.population,
        "epsilon": exact_text(entry.spend.epsilon),
        "delta": exact_text(entry.spend.delta),
        "policy_digest": entry.policy_digest,
        "manifest_digest": entry.manifest_digest,
        **({} if slot is None else _series(slot, ledger.paying(entry).release_id)),
    }


def _series(slot: SeriesSlot, payer: str) -> dict[str, Any]:
    return {"series": {"paid_by": payer, "releases": slot.releases}}
