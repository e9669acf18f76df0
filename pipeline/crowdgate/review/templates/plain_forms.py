"""Texts of East Asian offices in the forms of digits and marks that lists of codes have: `１：男` as `1:男`."""

import re
from collections.abc import Collection

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    ord(wide): plain for wide, plain in {"\u3000": " ", "、": ",", "。": ".", "〜": "~", "；": ";", "｡": "."}.items()
}
"""The wide forms of characters, and the plain ones."""
_CIRCLED = re.compile(r"[①-⑳]\s*")
_TILDE = re.compile(r"(?<=\d)\s*~\s*(?=-?\d)")


def plain_form(text: str, names: Collection[str] = ()) -> str:
    """Return a text with plain digits and marks, circled numbers as codes, and a dash between the ends of a range;
    `names` of columns unchanged.
    """
    if text.strip() in names or (text.isascii() and "~" not in text):
        return text
    plain = text.translate(_WIDE)
    circled = _CIRCLED.sub(lambda each: f" {ord(each[0][0]) - 0x245F}=", plain)
    return _TILDE.sub("-", circled)
