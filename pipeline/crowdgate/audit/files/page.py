"""The page of an audit of whole releases."""

from crowdgate.audit.files.text import ReadFiles, test_listing
from crowdgate.kind.section import ANNEX, Section

COMPARED = (
    "Files: verified from their bytes; their rows, tables and weights are those that were drawn.",
    "Bytes: no mark of an unread cell, as text or as an unkeyed hash; no further metadata, and no telling file time.",
    "Decision: published or withheld as the stated gates decide, each judged again from the same candidate.",
    "Charge: one, of the stated epsilon and delta.",
    "Keys: no two releases share one, nor any randomness.",
    "Drawn numbers: by their stated distributions, as `--of law` compares them.",
)


def sections(found: ReadFiles) -> list[Section]:
    """Return the sections of the page: contradictions, what is compared, and all tests."""
    wrong = list(found.findings.contradictions)
    return [
        *([Section("Contradictions", points=wrong)] if wrong else []),
        Section("What is compared", points=list(COMPARED)),
        ANNEX,
        Section("Tests", listings=[test_listing(found)], further=True),
    ]
