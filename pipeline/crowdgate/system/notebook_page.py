"""Pages of values in notebooks. The page of a value is made by a subpackage above its own, which is registered here."""

from collections.abc import Callable
from typing import Any, Protocol


class NotebookPage(Protocol):
    """A page that a notebook can show."""

    def _repr_html_(self) -> str: ...


PAGES: dict[str, Callable[[Any], NotebookPage | None]] = {}
"""The functions that make the pages of values, by the name of the value's class; None for a value without one."""


class ShownInNotebooks:
    """A value that notebooks show as its page, if one is registered for its class."""

    def _repr_html_(self) -> str | None:
        """Return the page as HTML; None if there is none, so that the notebook shows the representation."""
        make = PAGES.get(type(self).__name__)
        page = None if make is None else make(self)
        return None if page is None else page._repr_html_()
