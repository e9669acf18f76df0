"""Short representations of large values, for notebooks: a contract or a plan may hold thousands of labels."""

from dataclasses import fields, is_dataclass
from reprlib import Repr
from typing import Any

MOST = 2000
"""The greatest length of a representation, in characters."""
_ONE = 160
"""The greatest length of one field, in characters."""
_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxother, _SHORT.maxstring, _SHORT.maxlong = 3, _ONE, _ONE, _ONE
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = 6


def short_repr(value: Any) -> str:
    """Return the type's name and its fields, each cut to 160 characters, and all of them to 2,000.

    Fields that a dataclass excludes from its representation are left out. For `__repr__ = short_repr` in the body of a
    class.
    """
    names = [each.name for each in fields(value) if each.repr] if is_dataclass(value) else [*type(value).model_fields]
    text = ", ".join(f"{name}={_cut(_SHORT.repr(getattr(value, name)), _ONE)}" for name in names)
    return f"{_cut(f'{type(value).__name__}({text}', MOST - 1)})"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
