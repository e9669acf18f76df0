"""Powers of ten on logarithmic axes as plain text: 2×10⁻³. matplotlib sets them as formulas, for which it first builds
a grammar: a fifth of the time that drawing takes.
"""

from typing import Any

from matplotlib.ticker import LogFormatterSciNotation

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class PlainPowers(LogFormatterSciNotation):
    """Formatter of a logarithmic axis, with the ticks of its base class and labels without markup."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of the tick at `x`; empty where the tick has none."""
        return plain(super().__call__(x, pos))


def plain(label: str) -> str:
    """A formula such as `$\\mathdefault{2\\times10^{-3}}$` as text."""
    inside = label.removeprefix(r"$\mathdefault{").removesuffix("}$").replace(r"\times", "×")
    power, _, exponent = inside.partition("^")
    return power.replace("-", "\N{MINUS SIGN}") + exponent.strip("{}").translate(SUPERSCRIPTS)


def use_plain_powers(figure: Any) -> None:
    """Make all logarithmic axes of a figure whose labels are formulas show plain text instead."""
    for axis in (each for axes in figure.axes for each in (axes.xaxis, axes.yaxis)):
        if isinstance(axis.get_major_formatter(), LogFormatterSciNotation):
            axis.set_major_formatter(PlainPowers())
        if isinstance(axis.get_minor_formatter(), LogFormatterSciNotation):
            axis.set_minor_formatter(PlainPowers())
