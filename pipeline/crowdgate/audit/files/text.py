"""Findings of an audit of whole releases, in words and tables for people, and as JSON for programs."""

from __future__ import annotations

from typing import Any

from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.planted_faults import unseen_faults
from crowdgate.audit.files.findings import FilesFindings
from crowdgate.audit.files.record import FilesRecord, FilesResults
from crowdgate.audit.law.findings import error_of
from crowdgate.candidate import AuditQuestion
from crowdgate.gate import Outcome
from crowdgate.kind.listing import Listing, text_listing
from crowdgate.number_text import decimal, whole

ReadFiles = FinishedAudit[FilesRecord, FilesFindings]
TESTS = ("numbers", "test", ("p-value", ".2g"), "refuted")
UNSEEN = unseen_faults(AuditQuestion.FILES) + (
    " It does not check whether a number is released again with a second noise value. Unkeyed hashes are"
    " searched for about 2,000 marked cells only. It can't see a guarantee that is planned wrongly, values that are"
    " hidden behind a secret key, or the times and the load of a run."
)
UNMARKED = "No marked value was searched for."
"""Said of a pass where no cell could be marked."""


def verdict(found: ReadFiles) -> str:
    """Return one sentence that says whether whole releases contradict their statement."""
    said = found.findings
    if said.outcome is Outcome.PASS:
        fit = "Whole releases fit their statement: files, decisions, charges and drawn numbers."
        return fit if _is_marked(found.record.policy_results) else f"{fit} {UNMARKED}"
    if said.contradictions:
        return f"The release contradicts its statement: {said.contradictions[0]}"
    worst = min(said.refuting, key=lambda each: each.p)
    return f"Released numbers contradict their stated distribution: {worst.family}, {worst.test} (p {worst.p:.2g})."


def lines(found: ReadFiles) -> list[str]:
    """Return sentences with all that a reader must know to understand the figures."""
    record, played = found.record, found.record.policy_results
    error = decimal(error_of(record.setting.error, record.attempt))
    return [
        f"{whole(played.releases)} whole releases of the public table of {record.setting.population}, from the policy"
        f" file to the published folder, each with a key and a ledger of its own. {whole(played.published)} were"
        " published, all others withheld. Gates on recorded audits were left out.",
        _marked_text(played),
        f"All tests together raise a false alarm with probability at most {error} (attempt {record.attempt} at these"
        " policy files). A mark is found by chance with probability below 1e-9.",
    ]


def _is_marked(played: FilesResults) -> bool:
    return played.marked == played.releases


def _marked_text(played: FilesResults) -> str:
    if not _is_marked(played):
        return "The release reads every column of the table, so no cell could be marked."
    return "Every cell that the release does not read, and every person's identifier, held a secret mark."


def test_listing(found: ReadFiles) -> Listing:
    """Return a table of all tests with their p-values."""
    refuted = {*found.findings.refuting}
    rows = ([each.family, each.test, each.p, "refuted" if each in refuted else ""] for each in found.findings.tests)
    return text_listing("Tests of the released numbers", TESTS, rows)


def json_fields(found: ReadFiles) -> dict[str, Any]:
    """Return the fields that `--json` prints, by name."""
    said = found.findings
    return {
        "contradictions": list(said.contradictions),
        "level_of_each_test": said.level,
        "tests": [{"numbers": each.family, "test": each.test, "p": each.p} for each in said.tests],
    }
