"""Faults that tests plant in a policy's own mechanism, or in what a release writes, decides and charges, and the audits
that see them.

What an audit's page says about unseen faults follows from this table. tests/audit/test_planted_faults.py plants every
fault again for every audit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from crowdgate.candidate import AuditQuestion

_LAW, _FILES = AuditQuestion.LAW, AuditQuestion.FILES
_SINGLING_OUT, _MEMBERSHIP, _INFERENCE = AuditQuestion.SINGLING_OUT, AuditQuestion.MEMBERSHIP, AuditQuestion.INFERENCE
ATTACKED: Mapping[AuditQuestion, int] = {_SINGLING_OUT: 50, _MEMBERSHIP: 100, _INFERENCE: 40}
"""Trials, or releases, of the audits by attackers in which faults were planted."""


@dataclass(frozen=True)
class PlantedFault:
    """A fault: its name, what it is a fault of, and the number of releases or trials in which each audit that sees it
    does so in at least nine of ten plays. `sometimes` has the number of ten plays in which another audit saw it, if
    any did."""

    name: str
    subject: str
    releases: Mapping[AuditQuestion, int] = field(default_factory=dict)
    sometimes: Mapping[AuditQuestion, int] = field(default_factory=dict)

    def cell(self, question: AuditQuestion) -> str:
        """Return the cell of the table of planted faults for an audit."""
        if question in self.releases:
            return str(self.releases[question])
        return f"no ({self.sometimes[question]} of 10)" if question in self.sometimes else "no"


def _drawn(name: str, subject: str, releases: int = 1, *attacked: AuditQuestion) -> PlantedFault:
    """Return a fault of the drawn numbers, which both comparisons with what is stated see in so many releases."""
    found = {_LAW: releases, _FILES: releases}
    return PlantedFault(name, subject, found | {each: ATTACKED[each] for each in attacked})


NOISE, CLASSES, RATE, COLUMNS = "the noise of margins", "suppression", "the sampling rate", "columns"
CHARGES, KEYS, GATES, WRITTEN = "charges", "keys", "gates", "files"
PLANTED_FAULTS = (
    _drawn("suppression off", CLASSES, 1, _SINGLING_OUT, _MEMBERSHIP, _INFERENCE),
    _drawn("noise of margins off", NOISE, 1, _SINGLING_OUT, _MEMBERSHIP),
    _drawn("half the noise", NOISE, 3),
    _drawn("a third of k", CLASSES),
    _drawn("beta .6 for .3", RATE),
    _drawn("twenty classes published raw", CLASSES, 1, _SINGLING_OUT, _MEMBERSHIP),
    PlantedFault("90 % of the noise", NOISE, {_LAW: 40}, {_FILES: 6}),
    _drawn("a hash of the id as a column", COLUMNS),
    _drawn("weights of suppressed classes", COLUMNS, 3),
    _drawn("an unpaid margin", CHARGES),
    PlantedFault("a constant key", KEYS, {_LAW: 6, _FILES: 2}),
    PlantedFault("one key for two releases", KEYS, {_LAW: 6, _FILES: 2}),
    _drawn("noise of gates off", GATES, 14),
    _drawn("classes of k - 1", CLASSES, 4),
    _drawn("tails published", CLASSES, 4, _SINGLING_OUT),
    _drawn("one raw column", COLUMNS),
    PlantedFault("input order", WRITTEN, {_FILES: 1}),
    PlantedFault("private figures in a README", WRITTEN, {_FILES: 1}),
    PlantedFault("a decision that leaks", GATES, {_FILES: 1}),
    PlantedFault("a wrong spend", CHARGES, {_FILES: 1}),
)


def unseen_faults(question: AuditQuestion) -> str:
    """Return sentences about the planted faults that an audit can't see or may miss, and the audits that see them:
    whole subjects, and single faults of the other ones."""
    unseen = [each for each in PLANTED_FAULTS if question not in each.releases]
    seen = {each.subject for each in PLANTED_FAULTS if question in each.releases}
    subjects = [each for each in dict.fromkeys(fault.subject for fault in unseen) if each not in seen]
    single = [each.name for each in unseen if each.subject in seen]
    said = []
    if subjects:
        said.append(f"It can't see planted faults of {_listed(subjects)}.")
    if single:
        said.append(f"It may miss {_listed(single)}.")
    return " ".join([*said, f"To see them, use {' and '.join(f'`--of {each}`' for each in _seeing(unseen))}."])


def _seeing(unseen: list[PlantedFault]) -> Iterator[AuditQuestion]:
    """Yield the fewest audits, of those that compare with what is stated, that see these faults."""
    left = unseen
    for question in (_LAW, _FILES):
        if any(question in each.releases for each in left):
            yield question
            left = [each for each in left if question not in each.releases]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
