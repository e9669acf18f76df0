"""The pages for policy owners: the guide, the glossary and the reference."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "policies"
GUIDES = ("README.md", "guide/release-and-change.md", "guide/gates-and-budgets.md")
"""The guide for policy owners, in the order in which it is read."""
PAGES = (*(FOLDER / each for each in GUIDES), FOLDER / "glossary.md", *sorted((FOLDER / "reference").glob("*.md")))


def policy_pages() -> str:
    """Return the text of all pages."""
    return "\n".join(path.read_text(encoding="utf-8") for path in PAGES)


def code_blocks(language: str) -> list[str]:
    """Return the code blocks of all pages in one language."""
    return re.findall(rf"```{language}\n(.*?)```", policy_pages(), flags=re.DOTALL)


def without_code(text: str) -> str:
    """Return the prose of a page: no code blocks, and no tables that are generated."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return re.sub(r"<!-- table \w+ -->.*?<!-- end of table -->", "", prose, flags=re.DOTALL)
