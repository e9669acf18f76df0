"""Pictures have a text alternative and a table, and are deterministic; pages make no requests."""

import html
import re
from collections.abc import Sequence
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.kind.picture import Limit, Picture, PicturePoint, Series, SeriesStyle, curve
from crowdgate.kind.section import Section, table_section
from crowdgate.report import pictures
from crowdgate.report.blocks import PageBlock
from crowdgate.report.chart import figure_of
from crowdgate.report.html import as_html
from crowdgate.report.pictures import alt, draw_picture, picture_table
from crowdgate.report.report import Report
from tests.examples import examples

Scale = Literal["linear", "near", "log"]
NUMBER = st.floats(0.001, 1e9, allow_nan=False)
POINTS = st.lists(st.builds(PicturePoint, NUMBER, NUMBER, NUMBER, NUMBER), min_size=1, max_size=6).map(tuple)


def picture(*points: PicturePoint, **rest: object) -> Picture:
    series = (Series("measured", points),)
    return Picture("one", "Title", "place", "value", series, (Limit("limit (at most 7)", 7.0),), **rest)  # type: ignore[arg-type]


@settings(max_examples=examples(25), deadline=None)
@given(POINTS, POINTS)
def test_every_number_stands_in_the_table(one: tuple[PicturePoint, ...], other: tuple[PicturePoint, ...]) -> None:
    drawn = Picture("p", "T", "x", "y", (Series("a", one), Series("b", other, "joined")))
    told = picture_table(drawn)
    assert told.titles == ["x", "series", "y", "lower limit", "upper limit"]
    rows = list(told.texts)
    assert [row[1] for row in rows] == ["a"] * len(one) + ["b"] * len(other)
    shown = [[float(cell.replace(",", "")) for cell in (row[0], *row[2:])] for row in rows]
    stated = [[float(each) for each in (point.at, point.value, point.low, point.high)] for point in (*one, *other)]  # type: ignore[arg-type]
    assert all(a == pytest.approx(b, rel=1e-3) for a, b in zip(shown, stated, strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "made",
    [
        picture(PicturePoint(1.0, 3.0), PicturePoint(2.0, 5.0, 4.0, 6.0)),
        picture(PicturePoint("a name", 3.0, 1.0, 5.0), PicturePoint("b", 9.0)),
        picture(PicturePoint("1/2026-01-01", 3.0), PicturePoint("1/2026-02-01", 4.0), across=True),
    ],
)
def test_a_picture_is_the_same_each_time_and_told_in_words(made: Picture) -> None:
    one, two = draw_picture(made), draw_picture(made)
    assert one == two
    assert "limit (at most 7)" in one.svg
    assert "limit (at most 7)" in one.alt == alt(made)
    assert '<svg role="img" aria-label="Title: value by place.' in one.figure


@pytest.mark.parametrize("across", [True, False])
def test_names_are_drawn_as_they_stand(across: bool) -> None:
    """Text between two dollar signs would be a formula, or end in an error; the font lacks some letters."""
    names = ["$10 to $20", "$^$", "東京", "a_b^2", "<b> & \\alpha"]
    svg = draw_picture(picture(*(PicturePoint(name, 1.0) for name in names), across=across)).svg
    assert all(html.escape(name, quote=False) in svg for name in names)


def test_names_below_an_axis_are_names() -> None:
    """Regression: they became numbers when the scale was set after them."""
    many = [PicturePoint(f"run {at}", float(at)) for at in range(30)]
    svg = draw_picture(picture(*many, across=True)).svg
    shown = re.findall(r">(run \d+)<", svg)
    assert shown == [f"run {at}" for at in range(0, 30, 3)]


def test_a_page_asks_nobody_and_runs_nothing() -> None:
    drawn, rows = picture(PicturePoint(1.0, 3.0)), [["pass, waived"], ["<script>x</script>"]]
    page = Report("T <b>", lambda: [Section(pictures=lambda: [drawn]), table_section("h", ["a"], rows)])
    made = page.html()
    assert "<title>T &lt;b&gt;</title>" in made
    assert "default-src 'none'" in made
    assert "<script" not in made
    assert not re.search(r"(src|href)=\"(?!#)", made.replace('xlink:href="#', ""))
    assert re.search(r"<figure><svg role=\"img\" aria-label=.*<details><summary>", made, re.DOTALL)
    assert '<td class="pass" data-label="a">pass, waived</td>' in made


def test_links_are_ours_alone() -> None:
    table = PageBlock("| a |\n|---|\n| one |\n| [two](http://x) |\n")
    made = as_html("T", [table], links={"one": "one.html"})
    assert '<td data-label="a"><a href="one.html">one</a></td>' in made
    assert made.count("<a ") == 1


@pytest.mark.parametrize("values", [(-46.0, 12.0), (0.0, 0.0), (-3.0,)])
def test_what_noise_made_negative_is_drawn_where_the_axis_is_logarithmic(values: tuple[float, ...]) -> None:
    """A negative number has no logarithm, and would be missing from the picture."""
    points = tuple(PicturePoint(float(at), value) for at, value in enumerate(values, 1))
    svg = draw_picture(Picture("p", "T", "x", "y", (Series("a", points),), (), "log", "log")).svg
    (placed,) = re.findall(
        r'<g id="line2d_\d+">\s*<defs>\s*<path id="[^"]*"[^>]*stroke: #1a4a7a[^>]*/>.*?</g>\s*</g>', svg, re.S
    ) or [""]
    assert placed.count("<use") == len(values)


@pytest.mark.thorough
@pytest.mark.parametrize("across", [True, False])
def test_a_picture_is_laid_out_once_as_matplotlib_would_lay_it_out(
    across: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`savefig` draws a figure that has a layout twice, and the first time for the layout alone."""

    def with_layout(height: float = 4) -> tuple[Any, Any]:
        figure, axes = figure_of(height)
        figure.set_layout_engine("constrained")
        return figure, axes

    made = picture(PicturePoint("a long name of a place", 3.0, 1.0, 5.0), PicturePoint("b", 9e6), across=across)
    once = draw_picture(made)
    monkeypatch.setattr(pictures, "figure_of", with_layout)
    assert once == draw_picture(made)


def drawn(series: Sequence[Series], place: Literal["linear", "log"] = "log", value: Scale = "linear") -> str:
    return draw_picture(Picture("p", "T", "x", "y", tuple(series), (), place, value)).svg


def test_what_is_near_one_can_be_told_apart_in_a_picture() -> None:
    """The axis includes all points and confidence limits."""
    points = (PicturePoint(0.1, 0.99, 0.98, 0.995), PicturePoint(1.0, 0.97, 0.96, 0.975))
    near, whole = (drawn([Series("a", points, "joined")], value=scale) for scale in ("near", "linear"))
    assert [(">0.2<" in picture, ">0.970<" in picture) for picture in (near, whole)] == [
        (False, True),
        (True, False),
    ]


def test_a_logarithmic_axis_of_many_decades_has_ticks_at_powers_of_ten_only() -> None:
    ticks = [drawn([curve("a", [(1.0, 0.5), (most, 0.6)])]).count('id="xtick_') for most in (1e6, 20.0)]
    assert ticks[0] <= 9
    assert ticks[1] > 9


@pytest.mark.parametrize("style", ["joined", "dashed"])
def test_a_dashed_series_has_the_colour_of_the_one_before(style: SeriesStyle) -> None:
    svg = drawn([curve("a", [(1.0, 0.5), (2.0, 0.6)]), curve("b", [(1.0, 0.5), (2.0, 0.6)], style)])
    assert (pictures.COLOURS[1] in svg) == (style == "joined") != ("stroke-dasharray" in svg)


@pytest.mark.parametrize("place", ["linear", "log"])
def test_intervals_at_one_place_of_a_logarithmic_axis_stand_side_by_side(place: Literal["linear", "log"]) -> None:
    one, other = (Series(name, (PicturePoint(1.0, 0.5, 0.4, 0.6), PicturePoint(9.0, 0.5))) for name in "ab")
    placed = re.findall(
        r'd="M ([\d.]+) [\d.]+ \nL \1 [\d.]+ \n"[^>]*stroke: #(?:1a4a7a|b85c00)', drawn([one, other], place)
    )
    assert (placed[:2] == placed[2:4]) == (place == "linear")


DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(1, 9), st.integers(-30, 30), st.sampled_from([1, -1]))
def test_a_power_of_ten_is_the_number_of_its_tick(digit: int, exponent: int, sign: int) -> None:
    from crowdgate.report.plain_powers import PlainPowers

    label = PlainPowers()(sign * digit * 10.0**exponent)
    negative, coefficient, power = re.fullmatch(r"(−?)(?:([2-9])×)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", label).groups()  # type: ignore[union-attr]
    assert (negative == "−", int(coefficient or 1), int(power.translate(DIGITS))) == (sign < 0, digit, exponent)


def test_logarithmic_axes_hold_no_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of the time of drawing went into setting powers of ten as formulas."""
    from matplotlib.mathtext import MathTextParser

    monkeypatch.setattr(MathTextParser, "parse", None)
    points = (PicturePoint(1e-9, 1e-4), PicturePoint(1e-3, 0.9), PicturePoint(1e3, -5.0))
    svg = draw_picture(Picture("p", "T", "x", "y", (Series("a", points),), (), "log", "log")).svg
    assert {"10⁻⁹", "10³", "10⁰", "0"} <= set(re.findall(r">([^<>]+)</text>", svg))
