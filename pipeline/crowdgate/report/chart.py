"""Charts of listings, as SVG. They are for people and never compared byte by byte."""

import io
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from crowdgate.report.svg import SvgPicture
from crowdgate.system.extras import PAGE, need

STYLES = ("-", "--", ":")
POINTS_PER_INCH = 72
"""Settings of SVG."""


class MeasuredShare(NamedTuple):
    """A measured share at the place `x` of an axis, with its confidence limits `low` and `high`."""

    x: float
    value: float
    low: float
    high: float


class MeasuredCurve(NamedTuple):
    """Measured shares of one curve, with the curve's name."""

    name: str
    marks: tuple[MeasuredShare, ...]


def draw_curves(
    curves: Sequence[MeasuredCurve],
    base: Sequence[tuple[float, float]],
    limit: tuple[float, float],
    x_label: str,
    y_label: str,
) -> SvgPicture:
    """Draw measured curves with their intervals, a baseline (`base`) and a limit (at one place), on logarithmic axes.

    A share of 0 is drawn at the floor. Raises ConfigurationError if the extra that draws is not installed.
    """
    figure, axes = figure_of()
    floor = min(y for _, y in base) / 2
    axes.plot(*zip(*base, strict=True), color="black", label="baseline")
    axes.plot(*limit, color="red", marker="v", linestyle="none", label="limit")
    for number, curve in enumerate(curves):
        x = [mark.x * 1.04 ** (number - (len(curves) - 1) / 2) for mark in curve.marks]
        y = [max(mark.value, floor) for mark in curve.marks]
        ends = [[max(0.0, at - mark.low), max(0.0, mark.high - at)] for at, mark in zip(y, curve.marks, strict=True)]
        bars = {"yerr": list(zip(*ends, strict=True)), "capsize": 2, "linestyle": "none", "marker": "."}
        axes.errorbar(x, y, color=f"C{number}", label=literal(curve.name), **bars)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(floor, 1.1)
    axes.set_xlabel(literal(x_label))
    axes.set_ylabel(literal(y_label))
    axes.legend(fontsize="small")
    names = ", ".join(curve.name for curve in curves)
    return svg_picture(figure, f"{y_label} against {x_label}, beside the baseline and the limit: {names}.")


class BoxSummary(NamedTuple):
    """Least value, quartiles and greatest value of some numbers, under a name."""

    name: str
    least: float
    lower: float
    median: float
    upper: float
    most: float


def draw_boxes(title: str, boxes: Sequence[BoxSummary], label: str) -> SvgPicture:
    """Draw boxes from the lower to the upper quartile with a line at the median, one below the other.

    Whiskers are at the least and the greatest value (all above 0), on a logarithmic axis. Raises ConfigurationError if
    the extra that draws is not installed.
    """
    figure, axes = figure_of(height=1.2 + 0.28 * len(boxes))
    figures = [
        {"whislo": box.least, "q1": box.lower, "med": box.median, "q3": box.upper, "whishi": box.most} for box in boxes
    ]
    style = {"boxprops": {"facecolor": "#cfe0f3"}, "medianprops": {"color": "#b03030", "linewidth": 2}}
    axes.bxp(figures, orientation="horizontal", showfliers=False, patch_artist=True, widths=0.6, **style)
    axes.set_title(literal(title), loc="left", fontsize="medium")
    axes.set_yticks(range(1, len(boxes) + 1), [literal(box.name) for box in boxes])
    axes.invert_yaxis()
    axes.set_xscale("log")
    whole_numbers(axes.xaxis)
    axes.set_xlabel(literal(label))
    return svg_picture(figure, f"{title}, {label}: {len(boxes)} boxes, one a line.")


class PlotLine(NamedTuple):
    """A line of a chart: its name, its points (x, y), and the limits (low, high) of each point's interval, if it has
    one."""

    name: str
    points: tuple[tuple[float, float], ...]
    ends: tuple[tuple[float, float], ...] = ()


def draw_lines(
    lines: Sequence[PlotLine], x_label: str, y_label: str, y_scale: str = "linear", *, pairs: bool = False
) -> SvgPicture:
    """Draw lines whose x, a size or a share, is on a logarithmic axis, and whose y is a share.

    `y_scale` is linear (from 0 to 1), near (fitted to the values) or log. With `pairs`, the second line of each pair
    has the colour of the first, and names are next to the picture. Raises ConfigurationError if the extra that draws is
    not installed.
    """
    figure, axes = figure_of()
    for number, line in enumerate(lines):
        color = f"C{number // 2 if pairs else number}"
        axes.plot(
            *zip(*line.points, strict=True), STYLES[number % 2], color=color, marker=".", label=literal(line.name)
        )
        if line.ends:
            x, (low, high) = [x for x, _ in line.points], tuple(zip(*line.ends, strict=True))
            axes.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
            if len(x) == 1:  # a band of one point is too thin to be seen
                axes.vlines(x, low, high, color=color, alpha=0.5)
    axes.set_xscale("log")
    axes.set_yscale("log" if y_scale == "log" else "linear")
    if y_scale == "linear":
        axes.set_ylim(-0.02, 1.02)
    axes.margins(y=0.08)
    axes.set_xlabel(literal(x_label))
    axes.set_ylabel(literal(y_label))
    if pairs:
        figure.legend(fontsize="small", loc="outside right upper")
    else:
        axes.legend(fontsize="small")
    return svg_picture(figure, f"{y_label} against {x_label}: {', '.join(line.name for line in lines)}.")


def draw_steps(lines: Sequence[PlotLine], names: Sequence[str], y_label: str) -> SvgPicture:
    """Draw lines of numbers of people, on a logarithmic axis, after each of the named steps; a horizontal line marks
    one person.

    Raises ConfigurationError if the extra that draws is not installed.
    """
    figure, axes = figure_of()
    for number, line in enumerate(lines):
        style = STYLES[number // 3 % 2]
        axes.plot(*zip(*line.points, strict=True), style, color=f"C{number % 3}", marker="o", label=literal(line.name))
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_xticks(range(len(names)), [literal(name) for name in names], rotation=30, ha="right")
    axes.set_ylabel(literal(y_label))
    axes.legend(fontsize="small")
    return svg_picture(figure, f"{y_label} after {', '.join(names)}: {', '.join(line.name for line in lines)}.")


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
