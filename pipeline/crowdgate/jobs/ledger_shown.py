"""A ledger for people: its releases, what each population has left and how it went down, raises and freezes with their
reasons, and every look and audit; each with the line that says so, when and by whom."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from crowdgate.accounting.numbers import exact_text
from crowdgate.jobs.budgets import budgets_json, left_words
from crowdgate.ledger.audits import audits
from crowdgate.ledger.journal import Line
from crowdgate.ledger.ledger import Entry, Ledger
from crowdgate.ledger.looks import ANONYMITY_MEASURED, RECORD_OPENED, TABLE_AUDITED, looks
from crowdgate.ledger.schema import entries, populations, totals

REASONED = {"budget.raised": "raised", "population.frozen": "frozen", "population.thawed": "thawed"}
CHARGES = {"entry.reserved": "charged", "entry.void": "given back"}


def shown(ledger: Ledger) -> dict[str, Any]:
    """All that `ledger show` tells, as JSON."""
    journal = ledger.journal()
    return {
        "ledger": ledger.id,
        "budgets": [{**each, "frozen": ledger.frozen(each["population"])} for each in budgets_json(ledger)],
        "releases": [_release(entry) for entry in ledger.entries()],
        "burn_down": [_charge(line) for line in journal if line.event in CHARGES and _has_total(line)],
        "changes": [_change(line) for line in journal if line.event in REASONED],
        "records_opened": [{**_place(line), "release_id": line.subject} for line in _looks(journal, RECORD_OPENED)],
        "audits": [vars(each) for each in audits(journal)],
        "tables_audited": [{**_place(line), "population": line.subject} for line in _looks(journal, TABLE_AUDITED)],
        "tables_measured": [
            {**_place(line), "population": line.subject} for line in _looks(journal, ANONYMITY_MEASURED)
        ],
    }


def words(listing: dict[str, Any]) -> Iterator[str]:
    """The same in lines."""
    yield listing["ledger"]
    for budget in listing["budgets"]:
        yield f"  {left_words(budget)}{'; frozen' if budget['frozen'] else ''}"
        yield from (_burnt(each, budget) for each in listing["burn_down"] if each["population"] == budget["population"])
    for entry in listing["releases"]:
        yield f"  {entry['state']:<10} {entry['release_id']} epsilon {entry['epsilon']}, delta {entry['delta']}"
    for each in listing["changes"]:
        what = f" to epsilon {each['epsilon']}, delta {each['delta']}" if "epsilon" in each else ""
        yield f"  {each['population']} {each['change']}{what}: {each['reason']} ({_when(each)})"
    for look in listing["records_opened"]:
        yield f"  private record of {look['release_id']} opened ({_when(look)})"
    for each in listing["audits"]:
        yield f"  audit of {each['policy']}, {each['question']}: {each['event']} (line {each['line']})"
    for look in listing["tables_audited"]:
        yield f"  audit on the confidential table of {look['population']} ({_when(look)})"
    for look in listing["tables_measured"]:
        yield f"  anonymity sets of the confidential table of {look['population']} ({_when(look)})"


def _burnt(each: dict[str, Any], budget: dict[str, Any]) -> str:
    cap, spent = (Fraction(of["epsilon"]) for of in (budget["registered"], each["spent"]))
    left = f"{float(cap - spent):.6g} of {float(cap):.6g}"
    return f"    epsilon {left} left after {each['release_id']} was {each['change']} ({_when(each)})"


def _when(each: dict[str, Any]) -> str:
    said = [f"line {each['line']}", *(each[name] for name in ("at", "by") if each[name])]
    return ", ".join(said)


def _place(line: Line) -> dict[str, Any]:
    """Where a line is, when it was written and by whom; a ledger of format 1 did not say."""
    said = line.said
    return {"line": line.number, "at": said.get("at"), "by": said.get("by")}


def _looks(journal: Sequence[Line], event: str) -> list[Line]:
    return [line for line in looks(journal) if line.event == event]


def _has_total(line: Line) -> bool:
    return any(name == totals.name for name, _ in line.rows())


def _charge(line: Line) -> dict[str, Any]:
    spent, charged = line.row(totals), line.row(entries)
    return {
        **_place(line),
        "population": spent["population"],
        "release_id": line.subject,
        "change": CHARGES[line.event],
        "cost": {name: exact_text(Fraction(charged[name])) for name in ("epsilon", "delta")},
        "spent": {name: exact_text(Fraction(spent[name])) for name in ("epsilon", "delta")},
    }


def _change(line: Line) -> dict[str, Any]:
    said = line.said
    found = {**_place(line), "population": line.subject, "change": REASONED[line.event], "reason": said["reason"]}
    if line.event == "budget.raised":
        row = line.row(populations)
        found |= {name: exact_text(Fraction(row[name])) for name in ("epsilon", "delta")} | {"people": row["people"]}
    return found


def _release(entry: Entry) -> dict[str, Any]:
    return {
        "release_id": entry.release_id,
        "state": str(entry.state),
        "population": entry.population,
        "epsilon": exact_text(entry.spend.epsilon),
        "delta": exact_text(entry.spend.delta),
        "policy_digest": entry.policy_digest,
        "manifest_digest": entry.manifest_digest,
    }
