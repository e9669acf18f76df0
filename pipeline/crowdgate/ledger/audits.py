"""Audits as the journal holds them: every attempt at a policy, and the digest of every record.

An attempt is written down with a commitment to its setting and its seed before anything is played, so that none can be
tried and forgotten. The level of error of attempt j at one policy digest is .05 / 2^(j - 1): at most .1 in all.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crowdgate.ledger.journal import Line

BEGUN = "audit-begun"
RECORDED = "audit-recorded"
"""Of the policy that is the line's subject."""
KEPT_PRIVATE = "confidential-audit-recorded"
"""The same, of an audit on the policy's own table: the commitment is that of a private record."""


def subject(policy: str, version: str, policy_digest: str) -> str:
    """How the journal names the audits of a policy."""
    return f"{policy}/{version} {policy_digest}"


def attempt_commitment(setting_digest: str, seed: str) -> str:
    """What says which attempt it was, once the seed is known."""
    return hashlib.sha256(f"{setting_digest}\n{seed}".encode()).hexdigest()


def attempt(written: Iterable[Line], policy_digest: str, commitment: str) -> int | None:
    """The number of an attempt among all at this policy digest, from 1 on; None for one that was not written down."""
    begun = [line.commitment for line in _of(written, BEGUN, policy_digest)]
    return begun.index(commitment) + 1 if commitment in begun else None


def attempts(written: Iterable[Line], policy_digest: str) -> int:
    """How many audits of this policy digest were begun."""
    return sum(1 for _ in _of(written, BEGUN, policy_digest))


def is_recorded(written: Iterable[Line], policy_digest: str, record_digest: str) -> bool:
    """Whether a record of this SHA-256 is one that an audit of this policy digest ended with."""
    return any(line.commitment == record_digest for line in _of(written, RECORDED, policy_digest))


@dataclass(frozen=True)
class Told:
    """A line about an audit."""

    line: int
    policy: str
    event: str


def audits(written: Iterable[Line]) -> list[Told]:
    """All lines about audits."""
    words = {BEGUN: "begun", RECORDED: "recorded", KEPT_PRIVATE: "recorded in the private folder"}
    told = (line for line in written if line.event in words)
    return [Told(line.number, line.subject.partition(" ")[0], words[line.event]) for line in told]


def _of(written: Iterable[Line], event: str, policy_digest: str) -> Iterator[Line]:
    return (line for line in written if line.event == event and line.subject.endswith(f" {policy_digest}"))
