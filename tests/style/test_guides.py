"""The guides follow the rules of plain English, and address their readers."""

import re
from pathlib import Path

import pytest

from tests.style.rules import Scope, faults, lengths

ROOT = Path(__file__).parents[2]
GUIDES = [
    "CHANGELOG.md",
    "README.md",
    "data_contracts/README.md",
    "data_contracts/guide/databases.md",
    "flows/README.md",
    "flows/guide/cluster.md",
    "flows/guide/operator.md",
    "pipeline/README.md",
    "pipeline/STABILITY.md",
    "pipeline/analyses.md",
    "pipeline/operations.md",
    "pipeline/verification.md",
    *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("*/reference/*.md")) if path.parts[-3] != "policies"),
]
FOR_USERS = (
    "README.md",
    "data_contracts/README.md",
    "data_contracts/guide/databases.md",
    "flows/README.md",
    "flows/guide/cluster.md",
    "flows/guide/operator.md",
    "pipeline/operations.md",
)
MOST_WORDS = {"README.md": 900, "CHANGELOG.md": 700}
LONGEST_PAGE = 1500
"""Words of any page but the reference, and what lists every promise, code, term or change."""
LISTS = {"SECURITY.md", "CHANGELOG.md", "policies/CODES.md", "policies/glossary.md"}
USUAL = 25
"""Words of nine sentences in ten at most."""


def prose(guide: str) -> str:
    """A guide without its code, headings and addresses."""
    text = re.sub(r"```.*?```", "", (ROOT / guide).read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"^#.*$", "", text, flags=re.MULTILINE))


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_uses_the_terms_of_the_field_in_short_sentences(guide: str) -> None:
    text = prose(guide)
    assert list(faults(text, Scope.PROSE)) == []
    words = sorted(count for _, count in lengths(text))
    assert words[int(0.9 * len(words))] <= USUAL


@pytest.mark.parametrize("guide", FOR_USERS)
def test_a_guide_for_users_says_you(guide: str) -> None:
    text = prose(guide)
    assert len(re.findall(r"\byours?\b|\byou\b", text, flags=re.IGNORECASE)) >= 0.008 * len(text.split())


@pytest.mark.parametrize("guide", MOST_WORDS)
def test_what_is_read_first_is_short(guide: str) -> None:
    text = (ROOT / guide).read_text(encoding="utf-8")
    parts = text.split("\n## [") if guide == "CHANGELOG.md" else [text]  # one part for each version
    assert max(len(part.split()) for part in parts) <= MOST_WORDS[guide]


def test_no_page_but_the_reference_is_long() -> None:
    places = ("*.md", "*/*.md", "*/guide/**/*.md", "pipeline/internals/*.md", "pipeline/crowdgate/**/README.md")
    found = {path.relative_to(ROOT) for place in places for path in ROOT.glob(place)}
    words = {str(path): len((ROOT / path).read_text(encoding="utf-8").split()) for path in found}
    assert {page: count for page, count in words.items() if count > LONGEST_PAGE and page not in LISTS} == {}
