"""Pictures of numbers with their ranges and limits, as SVG, and the same numbers as tables."""

from collections.abc import Iterator, Sequence
from math import ceil
from textwrap import wrap
from typing import Any

from crowdgate.kind.listing import Listing, text_listing
from crowdgate.kind.picture import Picture, PicturePoint, Place, Series
from crowdgate.number_text import PLACE, format_value
from crowdgate.report.chart import figure_of, literal, svg_picture, whole_numbers
from crowdgate.report.svg import SvgPicture

COLOURS = ("#1a4a7a", "#b85c00", "#2d6a2d", "#7a3b8f", "#555555", "#8f1414")
LIMIT = "#a01818"
MARKS = ("o", "s", "^", "D", "v", "P")
LINES = {"joined": "-", "steps": "-", "dashed": "--"}
"""The line of each style of a series."""
LINE = 0.32
"""The height that each name takes in a picture with names below one another, in inches."""
ENTRY = 0.17
"""The height of each line of a legend after the second, in inches."""
MOST_NAMES, LONGEST = 12, 28
"""The greatest number of names below an axis, and of letters of a name: the table has them in full."""


def picture_table(picture: Picture) -> Listing:
    """Return the numbers of a picture as a listing."""
    titles = [picture.place, *(["series"] if len(picture.series) > 1 else []), picture.value]
    titles += ["lower limit", "upper limit"] if picture.ranged else []
    rows = (_row(picture, each, point) for each in picture.series for point in each.points)
    return text_listing(picture.title, titles, rows)


def draw_picture(picture: Picture) -> SvgPicture:
    """Draw a picture of numbers, and return it as SVG. Raises ConfigurationError if the extra that draws is not
    installed."""
    names = list(dict.fromkeys(point.at for point in picture.points)) if picture.named else []
    below = picture.named and not picture.across
    entries = len(picture.series) + len(picture.limits)
    figure, axes = figure_of((1.3 + LINE * len(names) if below else 3.2) + ENTRY * max(0, ceil(entries / 2) - 2))
    (_draw_by_name if below else _draw_over_axis)(axes, picture, names)
    _draw_limits(axes, picture)
    _start_at_nothing(axes.set_xlim if below else axes.set_ylim, picture)
    _drop_minor_ticks(axes)
    if entries > 1:
        figure.legend(fontsize="small", loc="outside upper left", ncols=2, frameon=False)
    return svg_picture(figure, alt(picture))


def alt(picture: Picture) -> str:
    """Return the text of a picture for readers who can't see it: title, axes, and the range of each series."""
    said = [f"{picture.title}: {picture.value} by {picture.place}."]
    said += [_range_text(each, picture) for each in picture.series if each.points]
    said += [f"Line: {each.name}." for each in picture.limits]
    return " ".join(said)


def _range_text(series: Series, picture: Picture) -> str:
    values = [point.value for point in series.points]
    least, most = (format_value(end, picture.format) for end in (min(values), max(values)))
    return f"{series.name}: {len(values)} numbers, {least} to {most}." if least != most else f"{series.name}: {least}."


def _row(picture: Picture, series: Series, point: PicturePoint) -> Iterator[str]:
    yield point.at if isinstance(point.at, str) else format_value(point.at, PLACE)
    if len(picture.series) > 1:
        yield series.name
    yield format_value(point.value, picture.format)
    if picture.ranged:
        yield from ("" if end is None else format_value(end, picture.format) for end in (point.low, point.high))


def _start_at_nothing(set_limits: Any, picture: Picture) -> None:
    """Start the axis of values at 0 if it is linear and no value is negative, so that distances are not exaggerated."""
    least = min((point.value if point.low is None else point.low for point in picture.points), default=0)
    if picture.value_scale == "linear" and least >= 0:
        ends = [point.value if point.high is None else point.high for point in picture.points]
        most = max([*ends, *(limit.value for limit in picture.limits if limit.of == "value")], default=0)
        set_limits(0, 1.08 * most or 1)


def _draw_over_axis(axes: Any, picture: Picture, names: Sequence[Place]) -> None:
    """Draw a picture's numbers upwards, above an axis of places, or above names side by side."""
    for number, series in enumerate(picture.series):
        x = [names.index(point.at) if names else _apart(point.at, series, picture) for point in series.points]
        y = [point.value for point in series.points]
        style = _style(number, picture)
        line = LINES.get(series.style, "none")
        steps = {"drawstyle": "steps-post"} if series.style == "steps" else {}
        axes.errorbar(x, y, yerr=_bars(series), linestyle=line, capsize=3, label=literal(series.name), **style, **steps)
    axes.set_xscale(picture.place_scale)
    _scale_values(axes, picture)
    shown_on = ((picture.place_scale, axes.xaxis, _places), (picture.value_scale, axes.yaxis, _values))
    for scale, axis, numbers in shown_on:
        if scale == "log" and min(numbers(picture), default=0) >= 1:
            whole_numbers(axis)
    if names:
        every = range(0, len(names), ceil(len(names) / MOST_NAMES))
        axes.set_xticks(every, [_short(str(names[at])) for at in every], rotation=30, ha="right")
        axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xlabel(literal(picture.place))
    axes.set_ylabel(literal(picture.value))


def _apart(place: Place, series: Series, picture: Picture) -> Place:
    """Return the place of a point, moved a little on a logarithmic axis, so that intervals of several marked series do
    not cover each other."""
    marked = [each for each in picture.series if each.style == "marked"]
    if isinstance(place, str) or picture.place_scale == "linear" or series not in marked:
        return place
    return place * float(1.04 ** (marked.index(series) - (len(marked) - 1) / 2))


def _scale_values(axes: Any, picture: Picture) -> None:
    """Set the scale of the axis of values to linear or logarithmic.

    Noise can make a number 0 or less, without a logarithm: a logarithmic axis is then linear near 0.
    """
    values = _values(picture)
    if picture.value_scale != "log" or min(values, default=1) > 0:
        axes.set_yscale("log" if picture.value_scale == "log" else "linear")
    else:
        axes.set_yscale("symlog", linthresh=min((abs(value) for value in values if value), default=1))
        if min(values) >= 0:
            axes.set_ylim(bottom=0)


def _drop_minor_ticks(axes: Any) -> None:
    """Remove the ticks between powers of ten of a logarithmic axis of more than two decades: they have no labels, and
    placing them takes half of the time that drawing takes."""
    from matplotlib.ticker import NullLocator

    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        if axis.get_scale() == "log" and high > 100 * low:
            axis.set_minor_locator(NullLocator())


def _places(picture: Picture) -> list[float]:
    return [point.at for point in picture.points if not isinstance(point.at, str)]


def _values(picture: Picture) -> list[float]:
    return [point.value for point in picture.points]


def _draw_by_name(axes: Any, picture: Picture, names: Sequence[Place]) -> None:
    """Draw a picture's numbers sideways, one row for each name, one name below the other."""
    for number, series in enumerate(picture.series):
        shift = (number - (len(picture.series) - 1) / 2) * 0.22
        y, x = [names.index(point.at) + shift for point in series.points], [point.value for point in series.points]
        style = _style(number, picture)
        axes.errorbar(x, y, xerr=_bars(series), linestyle="none", capsize=3, label=literal(series.name), **style)
    labels = [_two_lines(str(name)) for name in names]
    axes.set_yticks(range(len(names)), labels, fontsize="small" if any("\n" in each for each in labels) else None)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xscale("log" if picture.value_scale == "log" else "linear")
    if picture.value_scale == "log" and min(_values(picture), default=0) >= 1:
        whole_numbers(axes.xaxis)
    axes.set_xlabel(literal(picture.value))


def _short(name: str) -> str:
    return literal(name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…")


def _two_lines(name: str) -> str:
    """Return a name as one line, or as two if it is long."""
    return "\n".join(map(literal, wrap(name, LONGEST, max_lines=2, placeholder=" …"))) or literal(name)


def _style(number: int, picture: Picture) -> dict[str, object]:
    if picture.series[number].style == "chosen":
        return {"color": LIMIT, "marker": "*", "markersize": 14, "zorder": 5}
    number -= sum(each.style == "dashed" for each in picture.series[: number + 1])
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)], "markersize": 5}


def _bars(series: Series) -> list[list[float]] | None:
    """Return the distances of the lower limits from the numbers of a series, then those of the upper limits; None if no
    number has limits."""
    if all(point.low is None and point.high is None for point in series.points):
        return None
    low = [max(0.0, point.value - (point.value if point.low is None else point.low)) for point in series.points]
    high = [max(0.0, (point.value if point.high is None else point.high) - point.value) for point in series.points]
    return [low, high]


def _draw_limits(axes: Any, picture: Picture) -> None:
    for limit in picture.limits:
        upright = (limit.of == "place") != (picture.named and not picture.across)
        line = axes.axvline if upright else axes.axhline
        line(limit.value, color=LIMIT, linestyle="--", linewidth=1.2, label=literal(limit.name))
