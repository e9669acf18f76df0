"""The page of an audit of the stated distributions."""

from crowdgate.audit.law.text import Compared, estimate_listing, rate_listing, test_listing
from crowdgate.kind.section import ANNEX, Section

FAMILIES = (
    "Noise: each released number minus the exact one, and its discrete distribution.",
    "Class sizes: binomial, and suppressed below k.",
    "Choices: by the scores, with the stated epsilon or rho.",
    "Weights, margins and tables: recomputed from what was drawn.",
    "Charged gates: their noise, at the stated epsilon.",
)


def sections(found: Compared) -> list[Section]:
    """Return the sections of the page: what is shown, contradictions, and all tests."""
    wrong = list(found.findings.contradictions)
    rated = any(each.rate is not None for each in found.findings.estimates)
    return [
        *([Section("Contradictions", points=wrong)] if wrong else []),
        Section("What is compared", points=list(FAMILIES), further=True),
        Section(
            "What fresh releases show", listings=[estimate_listing(found), *([rate_listing(found)] if rated else [])]
        ),
        ANNEX,
        Section("Tests", listings=[test_listing(found)], further=True),
    ]
