"""Programs in text files without the ending of their language."""

import re

_SIGNS = (
    (("SQL", ".sql"), r"^[ \t]*create[ \t]+table[ \t]+[\w.\"`\[\] ]+\("),
    (
        ("Stata", ".do"),
        r"^[ \t]*la(?:b|bel)?[ \t]+(?:var\w*[ \t]+\w+[ \t]+[\"`]|def\w*[ \t]+\w+[ \t]*(?:-?\d|///|\r?\n))",
    ),
    (("SPSS", ".sps"), r"^[ \t]*(?:add[ \t]+)?(?:variable|value)[ \t]+labels\s+/?\w+\s+(?:-?\d+\s+)?['\"]"),
    (("SAS", ".sas"), r"^[ \t]*proc[ \t]+format[ \t\w=.]*;"),
)
"""A statement by which a language is known, at the start of a line."""


def program_of(text: str) -> tuple[str, str] | None:
    """Return the language of a text, and the ending of its files; None if it is none of these languages."""
    return next((known for known, sign in _SIGNS if re.search(sign, text, re.IGNORECASE | re.MULTILINE)), None)
