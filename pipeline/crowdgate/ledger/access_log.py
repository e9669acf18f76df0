"""Looks at confidential figures, as the journal holds them, and what was decided after them.

Whoever has looked may write what no policy would otherwise hold. So a policy is *informed by confidential data* if the
first charge of its digest to a population that was not given back comes after the first look at a private record of the
same population, or after an audit on its confidential table or a count of its anonymity sets. The digest covers policy,
contract, levels, margins and budget: a change of any of them makes another policy. What was paid for before the first
look stays uninformed in all its later slots. A charge that was given back read nothing and cost nothing, so it can't
keep a policy ready for after a look.
"""

from collections.abc import Iterable

from crowdgate.ledger.journal import JournalLine
from crowdgate.ledger.schema import ENTRIES

RECORD_OPENED = "private-record-opened"
"""Of the private record of the release that is the line's subject."""
TABLE_AUDITED = "confidential-table-audited"
"""Of the population that is the line's subject: its own table served as the population of an audit."""
ANONYMITY_MEASURED = "confidential-anonymity-measured"
"""Of the population that is the line's subject: anonymity sets of its table or matches with its people were counted."""
ANONYMITY_KEPT = "confidential-anonymity-recorded"
"""What came of it: the subject is the contract, the commitment that of a private record."""
OF_POPULATION = (TABLE_AUDITED, ANONYMITY_MEASURED)


def accesses(written: Iterable[JournalLine]) -> list[JournalLine]:
    """The lines of all looks."""
    return [line for line in written if line.event in (RECORD_OPENED, *OF_POPULATION)]


def is_informed(written: Iterable[JournalLine], population: str, policy_digest: str) -> bool:
    """Whether a policy is informed that is charged to a population in the last of these lines, or after them."""
    charged: dict[str, tuple[str, str, bool]] = {}
    looked = False
    for line in written:
        if line.event == "entry.reserved":
            row = line.row(ENTRIES)
            charged[line.subject] = (row["population"], row["policy_digest"], looked)
        elif line.event == "entry.reading":
            whose, digest, before = charged.get(line.subject, ("", "", False))
            if (whose, digest) == (population, policy_digest):
                return before
        elif line.event in (RECORD_OPENED, *OF_POPULATION):
            whose = charged.get(line.subject, ("",))[0] if line.event == RECORD_OPENED else line.subject
            looked = looked or whose == population
    return looked
