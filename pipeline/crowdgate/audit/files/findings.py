"""Findings of an audit of whole releases, computed from its record."""

from collections.abc import Iterator
from dataclasses import dataclass

from crowdgate.audit.common.audit import Options
from crowdgate.audit.common.findings import Findings, outcome_of
from crowdgate.audit.files.record import FilesRecord
from crowdgate.audit.law.findings import refuting_tests
from crowdgate.audit.law.score_tests import LawTest
from crowdgate.candidate import Measurement
from crowdgate.number_text import whole


@dataclass(frozen=True)
class FilesFindings(Findings):
    """Findings on whole releases: all tests of drawn numbers, those that refute the stated distributions (p-values of
    at most `level`), and contradictions."""

    tests: tuple[LawTest, ...]
    refuting: tuple[LawTest, ...]
    level: float
    contradictions: tuple[str, ...]


def findings_of(record: FilesRecord) -> FilesFindings:
    """Return the findings of a finished audit of whole releases."""
    played = record.policy_results
    tests, level = refuting_tests(played, record.setting.error, record.attempt)
    refuting = tuple(each for each in tests if each.p <= level)
    broken = bool(refuting or played.contradictions)
    reasons = () if broken else tuple(_reasons(record))
    return FilesFindings(outcome_of(reasons, not broken), reasons, tests, refuting, level, played.contradictions)


def _reasons(record: FilesRecord) -> Iterator[str]:
    """Yield why the audit can't tell: it saw no files."""
    played = record.policy_results
    if played.published == 0:
        yield (
            f"the gates withheld all {whole(played.releases)} releases, so no file was read: this audit could not have"
            " failed on files"
        )


def measurement(record: FilesRecord, found: FilesFindings, name: str, options: Options) -> Measurement | None:
    """Return None: no measure reads this audit."""
    del record, found, name, options
    return None
