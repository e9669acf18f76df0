"""Accesses to confidential figures in the journal, and the policies that were charged after them.

After an access, a policy may be written that depends on confidential data. So a policy is *informed by confidential
data* if its first charge to a population comes after the first access to confidential figures of that population.
Charges count by policy digest, and those that were given back do not count. Accesses are: opening a private record, an
audit on the confidential table, and a count of its anonymity sets. The digest covers policy, contract, levels, margins
and budget: a change of any of them makes another policy. A policy that was charged before the first access stays
uninformed in all its later slots. A charge that was given back read nothing and cost nothing, so it can't reserve
uninformed status for a policy.
"""

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field

from crowdgate.ledger.journal import JournalLine
from crowdgate.ledger.schema import ENTRIES
from crowdgate.ledger.transitions import COMMITTED, READING, RESERVED, RESTORED

RECORD_OPENED = "private-record-opened"
"""Event: the private record of a release, the line's subject, was opened."""
RECORD_DELETED = "private-record-deleted"
"""Event: the private record that is the line's subject was deleted. It shows nothing, so it is no access."""
TABLE_AUDITED = "confidential-table-audited"
"""Event: an audit used the confidential table of a population, the line's subject."""
ANONYMITY_MEASURED = "confidential-anonymity-measured"
"""Event: anonymity sets or register matches were counted on the table of a population, the line's subject."""
ANONYMITY_KEPT = "confidential-anonymity-recorded"
"""Event: the result of an anonymity measurement was recorded. The subject is the contract, the commitment that of a
private record.
"""
ACCESSES_LOST = "ledger-restored"
"""Event: the ledger was restored from a copy that lacked lines, so accesses to the population, the line's subject, may
be lost.
"""
APPROVED = "release-approved"
"""Event: a release, the line's subject, has an approval. The commitment is the SHA-256 of the signed statement. It
shows nothing, so it is no access.
"""
OF_POPULATION = (TABLE_AUDITED, ANONYMITY_MEASURED, ACCESSES_LOST)


def recorded_approvals(written: Iterable[JournalLine], release_id: str, before: str) -> int:
    """Return how many approvals of a release the journal holds: those before its data were read (`charge`), or those
    after it was committed (`publication`).
    """
    return len({line.commitment for line in approval_lines(written, release_id, before)})


def approval_lines(written: Iterable[JournalLine], release_id: str, before: str) -> list[JournalLine]:
    """Return the journal lines of the approvals of a release before this step (see `recorded_approvals`)."""
    own = [line for line in written if line.subject == release_id]
    turn = {"charge": READING, "publication": COMMITTED}[before]
    at = next((at for at, line in enumerate(own) if line.event == turn), len(own))
    part = own[:at] if before == "charge" else own[at:]
    return [line for line in part if line.event == APPROVED]


def accesses(written: Iterable[JournalLine]) -> list[JournalLine]:
    """Return the journal lines that record an access to confidential figures, in order."""
    return [line for line in written if line.event in (RECORD_OPENED, *OF_POPULATION)]


@dataclass
class AccessHistory:
    """Accesses and charges up to a line of the journal.

    `viewed` are the populations whose figures were accessed. `charges` holds, by release, the population and the policy
    digest of its last charge, and whether the population was in `viewed` then. `policies` holds, by population and
    policy digest, that flag of its first charge that was read.
    """

    viewed: set[str] = field(default_factory=set)
    charges: MutableMapping[str, tuple[str, str, bool]] = field(default_factory=dict)
    policies: dict[tuple[str, str], bool] = field(default_factory=dict)

    def reserve(self, release_id: str, population: str, policy_digest: str) -> None:
        """Add a charge of a release to `population` under the policy digest, and note whether the population was viewed
        before.
        """
        self.charges[release_id] = (population, policy_digest, population in self.viewed)

    def begin_reading(self, release_id: str) -> None:
        """Note that the charged release has begun to read data: from now on its policy digest counts as charged."""
        if release_id in self.charges:
            population, policy_digest, after_access = self.charges[release_id]
            self.policies.setdefault((population, policy_digest), after_access)

    def record(self, event: str, subject: str) -> None:
        """Add a recorded event of the journal; one that is an access marks its population as viewed."""
        if event == RECORD_OPENED and subject in self.charges:
            self.viewed.add(self.charges[subject][0])
        elif event in OF_POPULATION:
            self.viewed.add(subject)

    def is_informed(self, population: str, policy_digest: str) -> bool:
        """Return whether a policy that is charged to `population` in the last line, or after it, is informed by
        confidential data.
        """
        return self.policies.get((population, policy_digest), population in self.viewed)


def is_informed(written: Iterable[JournalLine], population: str, policy_digest: str) -> bool:
    """Return whether a policy that is charged to `population` in the last of these journal lines, or after them, is
    informed by confidential data.
    """
    history = AccessHistory()
    for line in written:
        if line.event in (RESERVED, RESTORED):
            row = line.row(ENTRIES)
            if line.event == RESERVED or line.subject not in history.charges:
                history.reserve(line.subject, row["population"], row["policy_digest"])
        if line.event in (READING, RESTORED):
            history.begin_reading(line.subject)
        else:
            history.record(line.event, line.subject)
    return history.is_informed(population, policy_digest)
