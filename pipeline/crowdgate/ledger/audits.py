"""Audits in the journal: every attempt on a policy, and the digest of every record.

The journal records an attempt before the first trial, with a commitment to its setting and its seed, so no attempt can
be dropped afterwards. The significance level of attempt j on one policy digest is .05 / 2^(j - 1): at most .1 in all.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crowdgate.candidate import AuditQuestion
from crowdgate.ledger.journal import JournalLine

BEGUN = "audit-begun"
RECORDED = "audit-recorded"
"""Event: an audit of a policy, the line's subject, was recorded."""
KEPT_PRIVATE = "confidential-audit-recorded"
"""Event: an audit on the policy's confidential table was recorded; the commitment is that of a private record."""


def subject(policy: str, version: str, policy_digest: str, question: AuditQuestion = AuditQuestion.SINGLING_OUT) -> str:
    """Return the subject under which the journal records audits of a policy: name, version and digest, and the question
    unless it is singling out.
    """
    return f"{policy}/{version} {key(policy_digest, question)}"


def key(policy_digest: str, question: AuditQuestion = AuditQuestion.SINGLING_OUT) -> str:
    """Return the key by which attempts on one question about one policy digest are counted."""
    return policy_digest if question is AuditQuestion.SINGLING_OUT else f"{question} {policy_digest}"


def attempt_commitment(setting_digest: str, seed: str) -> str:
    """Return the commitment to an attempt: the SHA-256 of its setting's digest and its seed."""
    return hashlib.sha256(f"{setting_digest}\n{seed}".encode()).hexdigest()


def attempt(written: Iterable[JournalLine], key: str, commitment: str) -> int | None:
    """Return the number, from 1, of the attempt with this commitment among all attempts with this key; None if the
    journal does not have it.
    """
    begun = [line.commitment for line in _of(written, BEGUN, key)]
    return begun.index(commitment) + 1 if commitment in begun else None


def attempts(written: Iterable[JournalLine], key: str) -> int:
    """Return the number of audits with this key that were begun."""
    return sum(1 for _ in _of(written, BEGUN, key))


def is_recorded(written: Iterable[JournalLine], key: str, record_digest: str) -> bool:
    """Return whether the journal holds `record_digest` (SHA-256) as the record of an audit with this key."""
    return any(line.commitment == record_digest for line in _of(written, RECORDED, key))


@dataclass(frozen=True)
class AuditLine:
    """A line of the journal about an audit: an attempt or its record."""

    line: int
    policy: str
    question: str
    event: str


def audits(written: Iterable[JournalLine]) -> list[AuditLine]:
    """Return all lines of the journal about audits, in order."""
    words = {BEGUN: "begun", RECORDED: "recorded", KEPT_PRIVATE: "recorded in the private folder"}
    told = (line for line in written if line.event in words)
    return [AuditLine(line.number, line.subject.partition(" ")[0], _question(line), words[line.event]) for line in told]


def _question(line: JournalLine) -> str:
    """Return the audit question that a journal line names; a line that names none is about singling out."""
    name, digest, _ = line.subject.partition(" ")[2].rpartition(" ")
    return name if digest else AuditQuestion.SINGLING_OUT


def _of(written: Iterable[JournalLine], event: str, key: str) -> Iterator[JournalLine]:
    return (line for line in written if line.event == event and line.subject.partition(" ")[2] == key)
