"""Looks at confidential figures, as the journal holds them, and what was decided after them.

Whoever has looked may write what no policy would otherwise hold. So a policy is *informed by confidential data* if the
first charge of its digest to a population, whatever became of that run, comes after the first look at a private record
of the same population. The digest covers policy, contract, levels, margins and budget: a change of any of them makes
another policy. What was charged before the first look stays uninformed in all its later slots.
"""

import json
from collections.abc import Iterable

from crowdgate.ledger.journal import Line

RECORD_OPENED = "private-record-opened"
"""Of the private record of the release that is the line's subject."""


def looks(written: Iterable[Line]) -> list[Line]:
    """The lines of all looks."""
    return [line for line in written if line.event == RECORD_OPENED]


def informed(written: Iterable[Line], population: str, policy_digest: str) -> bool:
    """Whether a policy is informed that is charged to a population in these lines, or after them."""
    of: dict[str, str] = {}
    looked = False
    for line in written:
        if line.event == "entry.reserved" and line.detail is not None:
            row = json.loads(line.detail)["row"]
            of[line.subject] = row["population"]
            if (row["population"], row["policy_digest"]) == (population, policy_digest):
                return looked
        elif line.event == RECORD_OPENED and of.get(line.subject) == population:
            looked = True
    return looked
