"""Pictures of listings, as SVG. They are for people and never part of what is compared byte by byte."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.kind.forecast import Chart, Value, plain

STYLES = ("-", "--", ":")


def draw(chart: Chart, rows: Sequence[Mapping[str, Value]]) -> str:
    """The picture of a listing's rows. Raises ConfigurationError when the extra that draws is not installed."""
    figure, axes = _figure()
    for number, group in enumerate(sorted({plain(row[chart.by]) for row in rows})):
        own = [row for row in rows if plain(row[chart.by]) == group]
        for name, style in zip(chart.lines, STYLES, strict=False):
            known = [(plain(row[chart.x]), plain(row[name])) for row in own if row[name] is not None]
            label = f"{group:g}" if style == STYLES[0] else None
            axes.plot(*zip(*known, strict=True), color=f"C{number}", linestyle=style, marker=".", label=label)
    axes.set_xscale(chart.x_scale)
    axes.set_yscale("log")
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    axes.legend(title=chart.by)
    picture = io.StringIO()
    figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    return picture.getvalue()[picture.getvalue().index("<svg") :]


def _figure() -> tuple[Any, Any]:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        found, expected = "matplotlib is not installed", "pip install 'crowdgate[page]'"
        raise ConfigurationError(Problem("command line", None, "--page", found, expected)) from None
    matplotlib.rcParams.update({"svg.hashsalt": "crowdgate", "svg.fonttype": "none"})
    figure = Figure(figsize=(7, 4), layout="constrained")
    return figure, figure.subplots()
