"""Figures of matplotlib as SVG. They are for people and never compared byte by byte."""

import io
import warnings
from typing import Any

from crowdgate.report.svg import SvgPicture
from crowdgate.system.extras import PAGE, need

POINTS_PER_INCH = 72
"""Settings of SVG."""


def literal(text: str) -> str:
    """Return text so that matplotlib draws it literally: text between two dollar signs would be read as a formula."""
    return text.replace("$", r"\$")


def whole_numbers(axis: Any) -> None:
    """Label the ticks of a logarithmic axis with full numbers instead of powers of ten."""
    from matplotlib.ticker import LogFormatter

    axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    axis.set_minor_formatter(LogFormatter())  # less than a decade has ticks between powers of ten


def svg_picture(figure: Any, alt: str) -> SvgPicture:
    """Return a figure as SVG, with equal bytes for equal figures, with its text `alt` for readers who can't see it."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from crowdgate.report.plain_powers import use_plain_powers

    picture = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the reader's own font has it, or shows a box
        use_plain_powers(figure)
        ConstrainedLayoutEngine().execute(figure)
        figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    return SvgPicture(picture.getvalue()[picture.getvalue().index("<svg") :], alt)


def figure_of(height: float = 4) -> tuple[Any, Any]:
    """Return an empty figure, of this height in inches, and its axes. It has no layout of its own, with which `savefig`
    draws everything twice: `svg_picture` lays it out. Raises ConfigurationError when the extra that draws is
    missing."""
    need(PAGE, "--page")
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    matplotlib.rcParams.update({"svg.hashsalt": "crowdgate", "svg.fonttype": "none"})
    figure = Figure(figsize=(7, height), dpi=POINTS_PER_INCH)
    FigureCanvasSVG(figure)  # measures texts as they are drawn
    return figure, figure.subplots()
