"""A Markdown page as one HTML file: no links to anywhere, no scripts, and no HTML that stood in the Markdown."""

import html
import logging
from collections.abc import Sequence

_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; color: #222 }}
table {{ border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }}
td, th {{ padding: .2rem .8rem; border-bottom: 1px solid #ccc }} svg {{ max-width: 100%; height: auto }}
</style></head><body>
{body}
</body></html>
"""
PICTURES = "<!-- pictures -->"
_PLACE = "PICTURES-STAND-HERE"


def as_html(title: str, page: str, pictures: Sequence[str] = ()) -> str:
    """The page; SVG `pictures` stand where it says PICTURES."""
    from markdown_it import MarkdownIt

    logging.getLogger("markdown_it").setLevel(logging.INFO)  # below, it tells where on the page it is
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    reader.disable(["link", "image", "autolink"])
    body = reader.render(page.replace(PICTURES, _PLACE))
    body = body.replace(f"<p>{_PLACE}</p>", "".join(f"<figure>{picture}</figure>" for picture in pictures))
    return _PAGE.format(title=html.escape(title), body=body)
