"""Labels of codes among the words on a variable: `Official code. 01 Alt Camp, 03 Bages` of the values 01 and 03."""

import re
from dataclasses import replace

from crowdgate.review.templates.codebook_values import codes_in_words, without_scale
from crowdgate.review.templates.draft_column import Values
from crowdgate.review.templates.stated_ranges import ListedValues

_BEFORE = r"(?:^|(?<=[;|:\n(])|(?<=[,.]\s))\s*"
"""The place at which an entry can begin: not behind a mark within a number."""
_BEHIND = r"(?:\s*[=:]\s*|\s+(?:means|is|stands for)\s+|\s+[-–—]\s+(?=[^\W\d])|\s+(?=[^\W\d]))"
"""The end of a code before its label. Only a sign parts a code from a label that begins with a digit."""
_CODES = re.compile(r"(?:^|[|;,]\s*)(-?\w+)\s*=")
_NOTED = re.compile(r"(?<![\w.,-])(?P<code>-?\w{1,6})\s*=\s*(?P<label>[^\W\d][^=:;,\n]*)")
_END = re.compile(r"[;|\n]|\.\s|,\s*$")
"""The end of the last label."""


def with_labels(values: Values, words: str) -> Values:
    """Return values without labels with those that words on them state; unchanged unless the words have each code once,
    with a label.
    """
    codes = [code for code, _ in values]
    if not codes or any(label for _, label in values):
        return values
    listed = "|".join(map(re.escape, sorted(codes, key=len, reverse=True)))
    found = [*re.finditer(rf"{_BEFORE}['\"]?(?P<code>{listed})['\"]?{_BEHIND}", words)]
    if sorted(each["code"] for each in found) != sorted(codes):
        return values
    ends = [*(each.start() for each in found[1:]), len(words)]
    texts = [words[each.end() : end].strip(" ,;|") for each, end in zip(found, ends, strict=True)]
    texts[-1] = _END.split(texts[-1], maxsplit=1)[0]
    texts[-1] = texts[-1].removesuffix(")") if texts[-1].count(")") > texts[-1].count("(") else texts[-1]
    labels = {each["code"]: text.rstrip(".") for each, text in zip(found, texts, strict=True)}
    return tuple((code, labels[code]) for code in codes) if all(labels.values()) else values


def with_noted_labels(values: Values, notes: str) -> Values:
    """Return values without labels with those that notes state, be it only of some: `1 = yes` of 0 and 1. Unchanged if
    the notes have a label of another code.
    """
    labelled = with_labels(values, notes)
    found = {each["code"]: each["label"].strip(" .)") for each in _NOTED.finditer(notes)}
    if labelled != values or not found or any(label for _, label in values) or not {*found} <= {c for c, _ in values}:
        return labelled
    return tuple((code, found.get(code, "")) for code, _ in values)


def beside_range(listed: ListedValues, ranged: ListedValues) -> ListedValues:
    """Return labelled codes in place of a range that is stated beside them; the range with its codes for no value, and
    with what is left to decide, if they are points of a scale. An end of the range can be such a code.
    """
    if ranged.bounds is None or listed == ListedValues():
        return listed if ranged.bounds is None else ranged
    if not listed.values:
        plain = [each for each in _CODES.findall(listed.unread) if each not in codes_in_words(listed.unread)]
        return listed if len(plain) > 1 and {plain[0], plain[-1]} != {*ranged.bounds} else ranged
    ends = listed.values[0][0], listed.values[-1][0]
    low, high = (end if each in listed.missing else each for end, each in zip(ends, ranged.bounds, strict=True))
    kept = without_scale(listed.values, (low, high))
    missing = tuple(dict.fromkeys([*listed.missing, *kept.missing]))
    return replace(listed, missing=missing) if kept.values else replace(ranged, missing=missing, unread=kept.unread)
