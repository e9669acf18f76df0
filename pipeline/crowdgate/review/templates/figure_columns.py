"""Figures behind the labels of codes, such as frequencies: they are counts of the data, and never part of a label."""

import re
from collections.abc import Sequence

from crowdgate.review.templates.draft_column import Values

_FIGURE = r"[(\[]?[<>≈]?\s?-?(?:\d{1,3}(?:[ ,.'\u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?\s?%?[)\]]?"
FIGURE = re.compile(rf"{_FIGURE}(?:\s+{_FIGURE})*|[-–—.*x]|n\.?a\.?", re.IGNORECASE)
"""A cell with a count or a share, or with a sign in its place."""
_BEHIND = re.compile(rf"(?:[\s,;:]+(?:n\s?=\s?)?{_FIGURE})+$", re.IGNORECASE)
_STATED = re.compile(
    r"(?<=[^\W\d_)])\s*+,?\s*+(?:[(\[]\s*(?:n|obs\.?|freq\.?|count)\s*[=:]?\s*\d[\d ,.]*(?:;?\s*\d[\d.,]*\s?%)?\s*[)\]]"
    r"|(?-i:\bn)\s?=\s?\d[\d,.]*(?:\s*\(?\d[\d.,]*\s?%\)?)?)",
    re.IGNORECASE,
)
"""A count behind a label that is marked as one: `n=500`, `(N = 500)`."""
_PART = re.compile(
    r"(?:\b(?:to|than|under|over|and|or|below|above|least|most|from|in|of|since|before|after|bis|als|unter|über|ab|und"
    r"|oder|seit|vor|nach|de|à|a|y|e|et|ou|o|du|des|en|desde|hasta|até|do|od|til|till|tot|van|än|enn|end|fino|oltre|più"
    r"|plus|moins|menos|más|mais|level|grade|type|phase|wave|stage|class|no|nr|number|covid|tipo|typ|nivel|stufe)"
    r"|[-–—<>≤≥=/+&$£€#])\s*$",
    re.IGNORECASE,
)
"""The words, or signs, before a number that make it part of a label: `under 15`, `15 to 24`."""
LEAST_COLUMNS, LEAST_LABELS = 2, 2
"""The least number of columns of figures that are certainly counts, and of labels of which each has some behind it."""


def without_marked_counts(text: str) -> str:
    """Return a text without the counts that are marked as such behind words: `Male` of `Male n=500`."""
    return _STATED.sub("", text)


def plain_labels(values: Sequence[tuple[str, str]]) -> Values | None:
    """Return values whose labels have no counts behind them: `Good` of `Good 43 58,007 23.0`, if each label has as many
    columns of figures. None if it is doubtful, as with `Male (109)`. Numbers that words join to a label are parts of
    it, and so is its own code.
    """
    values = [(code, without_marked_counts(label)) for code, label in values]
    tails = [len(_tail(label)) for _, label in values if label]
    least = min(tails, default=0)
    if least >= LEAST_COLUMNS and len(tails) >= LEAST_LABELS:
        return tuple((code, " ".join(label.split()[:-least]).rstrip(" .…") if label else "") for code, label in values)
    return None if _may_have_figures(values) else tuple(values)


def _tail(label: str) -> list[str]:
    """Return the figures at the end of a label, apart from its first word."""
    words = label.split()
    end = next((at for at in range(len(words), 1, -1) if not FIGURE.fullmatch(words[at - 1])), 1)
    return words[end:] if re.search(r"[^\W\d]", label) else []


def _may_have_figures(values: Sequence[tuple[str, str]]) -> bool:
    """Return whether each of several labels has a number behind it, and without it they differ."""
    labels = [(code, label) for code, label in values if label]
    cut = [without_figures(code, label) for code, label in labels]
    stems = [stem.casefold() for stem, (_, label) in zip(cut, labels, strict=True) if stem != label]
    return len(stems) == len(labels) >= LEAST_LABELS and len({*stems}) == len(stems)


def without_figures(code: str, label: str) -> str:
    """Return a label without the figures behind it; unchanged, if these are part of it."""
    found = _BEHIND.search(label)
    if found is None or not re.search(r"[^\W\d]", stem := label[: found.start()]) or _PART.search(stem):
        return label
    return label if found[0].strip(" ,;:([)]") == code else stem


def with_doubtful_figures(values: Sequence[tuple[str, str]]) -> str:
    """Return the words on labels that can have counts behind them, without the figures."""
    named = "; ".join(f"{code} = {without_figures(code, label)}" for code, label in values)
    return f"{named} - without the figures behind the labels, which can be counts"
