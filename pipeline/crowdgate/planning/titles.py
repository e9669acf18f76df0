"""The title of a run in words: the policy and its version, the kind of release, and the day of the slot."""

from __future__ import annotations

import re
from datetime import date

from crowdgate.kind.run_facts import RunDescription
from crowdgate.kinds import KINDS

_SLOT = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d)(\d\d)Z)?")


def run_title(release_id: str, facts: RunDescription | None) -> str:
    """Return the title of a run, e.g. "Census income (version 2), public-use file, 1 January 2030"."""
    name, version, slot = release_id.split("/")
    kind = None if facts is None or facts.kind is None else KINDS.get(facts.kind)
    return ", ".join([policy_title(name, version), *([] if kind is None else [kind.product]), slot_text(slot)])


def policy_title(name: str, version: str) -> str:
    """Return the name of a policy in words, with its version."""
    return f"{in_words(name)} (version {version})"


def in_words(name: str) -> str:
    """Return a name with hyphens as words, the first with a capital letter."""
    text = name.replace("-", " ").replace("_", " ")
    return text[:1].upper() + text[1:]


def slot_text(slot: str) -> str:
    """Return a slot as a day in words, with its minute (UTC) if it has one."""
    found = _SLOT.fullmatch(slot)
    if found is None:
        return slot
    day = date.fromisoformat(found[1])
    time = "" if found[2] is None else f", {found[2]}:{found[3]} UTC"
    return f"{day.day} {day:%B %Y}{time}"
