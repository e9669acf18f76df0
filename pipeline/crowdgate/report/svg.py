"""A picture as SVG, on a page of HTML."""

import html
from dataclasses import dataclass


@dataclass(frozen=True)
class SvgPicture:
    """A picture as SVG, with its text for readers who can't see it (`alt`)."""

    svg: str
    alt: str

    @property
    def figure(self) -> str:
        """The picture as an element of HTML."""
        told = f'<svg role="img" aria-label="{html.escape(self.alt)}"'
        return f"<figure>{self.svg.replace('<svg', told, 1)}</figure>"
