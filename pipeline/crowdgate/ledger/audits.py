"""Audits as the journal holds them: every attempt at a policy, and the digest of every record.

An attempt is written down with a commitment to its setting and its seed before anything is played, so that none can be
tried and forgotten. The level of error of attempt j at one policy digest is .05 / 2^(j - 1): at most .1 in all.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crowdgate.candidate import AuditQuestion
from crowdgate.ledger.journal import JournalLine

BEGUN = "audit-begun"
RECORDED = "audit-recorded"
"""Of the policy that is the line's subject."""
KEPT_PRIVATE = "confidential-audit-recorded"
"""The same, of an audit on the policy's own table: the commitment is that of a private record."""


def subject(policy: str, version: str, policy_digest: str, question: AuditQuestion = AuditQuestion.SINGLING_OUT) -> str:
    """How the journal names the audits of a policy: of a question beside singling out with its name."""
    return f"{policy}/{version} {key(policy_digest, question)}"


def key(policy_digest: str, question: AuditQuestion = AuditQuestion.SINGLING_OUT) -> str:
    """By which the attempts at one question about one policy digest are counted."""
    return policy_digest if question is AuditQuestion.SINGLING_OUT else f"{question} {policy_digest}"


def attempt_commitment(setting_digest: str, seed: str) -> str:
    """What says which attempt it was, once the seed is known."""
    return hashlib.sha256(f"{setting_digest}\n{seed}".encode()).hexdigest()


def attempt(written: Iterable[JournalLine], key: str, commitment: str) -> int | None:
    """The number of an attempt among all at this key, from 1 on; None for one that was not written down."""
    begun = [line.commitment for line in _of(written, BEGUN, key)]
    return begun.index(commitment) + 1 if commitment in begun else None


def attempts(written: Iterable[JournalLine], key: str) -> int:
    """How many audits of this key were begun."""
    return sum(1 for _ in _of(written, BEGUN, key))


def is_recorded(written: Iterable[JournalLine], key: str, record_digest: str) -> bool:
    """Whether a record of this SHA-256 is one that an audit of this key ended with."""
    return any(line.commitment == record_digest for line in _of(written, RECORDED, key))


@dataclass(frozen=True)
class AuditLine:
    """A line about an audit."""

    line: int
    policy: str
    question: str
    event: str


def audits(written: Iterable[JournalLine]) -> list[AuditLine]:
    """All lines about audits."""
    words = {BEGUN: "begun", RECORDED: "recorded", KEPT_PRIVATE: "recorded in the private folder"}
    told = (line for line in written if line.event in words)
    return [AuditLine(line.number, line.subject.partition(" ")[0], _question(line), words[line.event]) for line in told]


def _question(line: JournalLine) -> str:
    """Singling out stands without its name."""
    name, digest, _ = line.subject.partition(" ")[2].rpartition(" ")
    return name if digest else AuditQuestion.SINGLING_OUT


def _of(written: Iterable[JournalLine], event: str, key: str) -> Iterator[JournalLine]:
    return (line for line in written if line.event == event and line.subject.partition(" ")[2] == key)
