"""The health of a working copy: what an operator must know before the next release, and what to do about it.

Nothing is changed, and no table is read. Each check states one thing that was looked at. A check that meets an error
reports it as a fault, so that one broken part never hides another.
"""

from __future__ import annotations

import json
import os
import platform
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.errors import CrowdgateError
from crowdgate.ledger.reservations import expired
from crowdgate.ledger.schema import FORMAT
from crowdgate.ledger.values import State
from crowdgate.measures.recorded_audits import command
from crowdgate.operations.audit_age import AuditAge, audit_ages
from crowdgate.planning.budget_left import today
from crowdgate.planning.budgets import budget_left_text, budgets_json, low_budget_text
from crowdgate.planning.open_ledger import ledger_for_reading, verify_ledger
from crowdgate.planning.plan import bundle_of
from crowdgate.planning.published_places import policy_destinations
from crowdgate.policy.files import policy_files
from crowdgate.releases.record_retention import expired_records
from crowdgate.review.files import ERROR, REFUSED, LintedFile, lint_files
from crowdgate.settings import (
    event_channels,
    head_folders,
    page_style,
    private_record_days,
    revoked_keys,
    signing_key,
    trusted_keys,
)
from crowdgate.system.extras import RELEASE

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.ledger.values import Entry

SERVER = "PREFECT_API_URL"
PATIENCE = 5.0
"""Seconds until a server that does not answer counts as out of reach."""
LONGEST_ANSWER = 1 << 10


class Health(StrEnum):
    """The state of what a check looked at: `fault` hinders the next release, `advice` does not."""

    GOOD = "good"
    ADVICE = "advice"
    FAULT = "fault"


@dataclass(frozen=True)
class CheckedPart:
    """One part that was looked at: its name, its state in a word and in a sentence, and what to do (empty: nothing)."""

    part: str
    health: Health
    said: str
    todo: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` lists."""
        return asdict(self)


Parts = Iterator[CheckedPart]


def examine(root: Path, ledger: str | None = None) -> list[CheckedPart]:
    """Return what was found of a working copy and of the ledger that it, or `ledger` in its place, names."""
    checks: dict[str, Callable[[], Parts]] = {
        "installation": _installation,
        "settings": partial(_settings, root),
        "keys": partial(_keys, root),
        "ledger": partial(_ledger, root, ledger),
        "heads": partial(_heads, root),
        **_checks_of_ledger(root, ledger),
        "destinations": partial(_destinations, root),
        "policies": partial(_policies, root),
        "server": _server,
    }
    found = [each for name, check in checks.items() for each in _guarded(name, check)]
    return list({each.said: each for each in reversed(found)}.values())[::-1]  # what hinders several checks, once


def _checks_of_ledger(root: Path, option: str | None) -> dict[str, Callable[[], Parts]]:
    """Return the checks that read the ledger; none if it can't be read, as the check of the ledger itself reports."""
    try:
        opened = ledger_for_reading(root, option)
        opened.head()
    except CrowdgateError:
        return {}
    return {
        "clock": partial(_clock, opened),
        "budgets": partial(_budgets, opened),
        "runs": partial(_runs, opened),
        "audits": partial(_audits, root, opened),
        "records": partial(_records, root, opened),
    }


def _guarded(name: str, check: Callable[[], Parts]) -> list[CheckedPart]:
    try:
        return list(check())
    except CrowdgateError as error:
        return [CheckedPart(name, Health.FAULT, str(error), "correct this, then run crowdgate doctor again")]


def _installation() -> Parts:
    said = f"crowdgate {version('crowdgate')}, Python {platform.python_version()}, ledger format {FORMAT}"
    if find_spec(RELEASE.module) is None:
        todo = f"pip install 'crowdgate[{RELEASE.name}]'"
        yield CheckedPart("installation", Health.ADVICE, f"{said}; without {RELEASE.title} it makes no release", todo)
    else:
        yield CheckedPart("installation", Health.GOOD, said)


def _settings(root: Path) -> Parts:
    page_style(root)
    private_record_days(root)
    event_channels(root)
    yield CheckedPart("settings", Health.GOOD, "crowdgate.toml is valid")


def _keys(root: Path) -> Parts:
    own, trusted, revoked = signing_key(root), trusted_keys(root), {key.id for key in revoked_keys(root)}
    if own is None:
        said = "no key signs here, so a replaced ledger can look like the true one"
        todo = "crowdgate keys create FILE, then name it in crowdgate.toml (signing_key)"
        yield CheckedPart("keys", Health.ADVICE, said, todo)
    elif own.public.id in revoked:
        yield CheckedPart("keys", Health.FAULT, "the key that signs here is revoked", "name another signing_key")
    else:
        yield CheckedPart("keys", Health.GOOD, f"{own.public.id[:16]} signs here; {len(trusted)} keys are trusted")


def _ledger(root: Path, option: str | None) -> Parts:
    line, ledger = verify_ledger(root, option, (), ())
    said = f"{ledger.id} agrees with its journal up to line {line.number}, and with all that is kept outside of it"
    form = ledger.state().form
    todo = "" if form == FORMAT else "crowdgate ledger upgrade, before policies declare a series"
    yield CheckedPart("ledger", Health.ADVICE if todo else Health.GOOD, f"{said}; format {form}", todo)


def _heads(root: Path) -> Parts:
    folders = head_folders(root)
    if not folders:
        todo = 'heads = ["FOLDER"] in crowdgate.toml, a folder on another disk'
        yield CheckedPart("heads", Health.ADVICE, "the ledger's last line is kept beside the releases only", todo)
    for folder in folders:
        if folder.is_dir() and os.access(folder, os.W_OK):
            yield CheckedPart("heads", Health.GOOD, f"{folder} can be written")
        else:
            yield CheckedPart("heads", Health.FAULT, f"{folder} is no folder that can be written", "mount or make it")


def _clock(ledger: Ledger) -> Parts:
    last, now = ledger.head().day or "", today()
    if last > now:
        said = f"the clock says {now}, and the ledger's last line is of {last}"
        yield CheckedPart("clock", Health.FAULT, said, "set the clock of this machine")
    else:
        yield CheckedPart("clock", Health.GOOD, f"today is {now} (UTC)")


def _budgets(ledger: Ledger) -> Parts:
    for budget in budgets_json(ledger):
        said, low = budget_left_text(budget), low_budget_text(budget)
        if ledger.frozen(budget["population"]):
            todo = f"crowdgate ledger show says why; crowdgate ledger thaw {budget['population']} --reason REASON"
            yield CheckedPart("budgets", Health.FAULT, f"{said}; it is frozen", todo)
        elif low is not None:
            yield CheckedPart("budgets", Health.ADVICE, f"{said}. {low}", "plan which releases are still worth it")
        else:
            yield CheckedPart("budgets", Health.GOOD, said)


def _runs(ledger: Ledger) -> Parts:
    unended = [each for each in ledger.entries() if each.state in (State.RESERVED, State.COMMITTED)]
    for each in unended:
        yield _run(each)
    if not unended:
        yield CheckedPart("runs", Health.GOOD, "every run that was charged has ended")


def _run(entry: Entry) -> CheckedPart:
    again = f"crowdgate release POLICY --as-of {entry.release_id.rpartition('/')[2]}"
    if entry.state is State.COMMITTED:
        said = f"{entry.release_id} is staged and not at its destination"
        return CheckedPart("runs", Health.ADVICE, said, f"{again} publishes it, or says what it waits for")
    if entry.reading:
        said = f"{entry.release_id} began to read data and has not ended; its cost stays charged"
        return CheckedPart("runs", Health.ADVICE, said, f"if no process of it runs, {again} says what to do")
    if expired(entry, datetime.now(UTC).isoformat()):
        said = f"{entry.release_id} is reserved by a run that stopped before it read data"
        return CheckedPart("runs", Health.ADVICE, said, f"{again} goes on; crowdgate ledger free gives it back")
    return CheckedPart("runs", Health.GOOD, f"{entry.release_id} is running")


def _audits(root: Path, ledger: Ledger) -> Parts:
    """Yield the audits that gates read and that are missing or too old: these gates can't pass."""
    journal = ledger.journal()
    for path, _ in policy_files(root):
        with suppress(CrowdgateError):  # the check of policies names it
            bundle = bundle_of(path)
            yield from (_audit(path.relative_to(root), each) for each in audit_ages(bundle, journal, today()))


def _audit(path: Path, found: AuditAge) -> CheckedPart:
    age = "not recorded" if found.age is None else f"{found.age} days old"
    said = f"{path}: its audit of {found.question} is {age}; its gates allow {found.most} days"
    todo = f"{command(found.question)} {path}" if found.stale else ""
    return CheckedPart("audits", Health.ADVICE if found.stale else Health.GOOD, said, todo)


def _records(root: Path, ledger: Ledger) -> Parts:
    if private_record_days(root) is None:
        todo = "private_record_days = 365 in crowdgate.toml"
        yield CheckedPart("records", Health.ADVICE, "no retention of private records is stated", todo)
        return
    late = expired_records(ledger, root)
    said = f"{len(late)} private records are older than their retention"
    todo = "crowdgate record delete --expired" if late else ""
    yield CheckedPart("records", Health.ADVICE if late else Health.GOOD, said, todo)


def _destinations(root: Path) -> Parts:
    places, unread = policy_destinations([root.resolve()])
    for said in unread:
        yield CheckedPart("destinations", Health.FAULT, said, "crowdgate check policies")
    for place in dict.fromkeys(places):
        there = next(each for each in (place, *place.parents) if each.exists())
        if there.is_dir() and os.access(there, os.W_OK):
            yield CheckedPart("destinations", Health.GOOD, f"{place} can be written")
        else:
            yield CheckedPart("destinations", Health.FAULT, f"{place} can't be written", "mount it, or change its mode")


def _policies(root: Path) -> Parts:
    for each in lint_files([root]):
        severe = [remark for remark in each.remarks if remark.severity in (ERROR, REFUSED)]
        if severe or each.checked is not None:
            yield _policy(each, root, len(severe))


def _policy(file: LintedFile, root: Path, problems: int) -> CheckedPart:
    name = file.path.relative_to(root) if file.path.is_relative_to(root) else file.path
    if problems or (file.checked is not None and not file.checked.allowed):
        return CheckedPart("policies", Health.FAULT, f"{name} is not allowed", f"crowdgate check {name}")
    return CheckedPart("policies", Health.GOOD, f"{name} is allowed")


def _server() -> Parts:
    url = os.environ.get(SERVER)
    if url is None:
        return
    if _answers(f"{url.rstrip('/')}/health"):
        yield CheckedPart("server", Health.GOOD, f"the Prefect server of {SERVER} answers")
    else:
        said = f"the Prefect server of {SERVER} does not answer within {PATIENCE:g} seconds"
        yield CheckedPart("server", Health.FAULT, said, f"start it, or unset {SERVER}")


def _answers(url: str) -> bool:
    """Return whether a Prefect server says at this address that it is healthy."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return json.loads(answer.read(LONGEST_ANSWER)) is True
    except (OSError, ValueError):
        return False
