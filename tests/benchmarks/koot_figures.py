"""The figures of M. Koot, Measuring and predicting anonymity (thesis, 2012), drawn again from public data, on one page.

Run it with `python -m tests.benchmarks.koot_figures --page FILE [--data FOLDER] [--seed S]`, some of them by
`--only 4.1 6.3`. FOLDER holds NIST's excerpt of the ACS (nist_acs_national2019.csv.gz) and the sample of the UK census
of 2011 (uk_census2011_nanodata_10000.csv.gz); without it there are only the bundled table's populations. The
thesis's own data are not public: municipalities are replaced by areas (PUMAs) and by groups of Census-Income.
"""

import argparse
import io
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure as Canvas
from numpy.typing import NDArray

from crowdgate.kind.listing import text_listing
from crowdgate.kind.section import Section
from crowdgate.report import paragraph_text
from crowdgate.report.blocks import PageBlock, markdown_paragraph, markdown_table, page_blocks
from crowdgate.report.html import as_html
from crowdgate.report.svg import SvgPicture
from crowdgate.risk import approximations as ours
from crowdgate.risk import widths
from crowdgate.risk.bins import Bins
from crowdgate.risk.correlated import bivariate_normal
from crowdgate.risk.groups import share_in_groups_of
from crowdgate.risk.kl import collision_excess, groups_needed, kl_to_uniform
from crowdgate.risk.margins_only import singletons_bounds
from crowdgate.risk.products import product
from crowdgate.risk.singletons import expected, probability_all_unique, variance
from tests.benchmarks.koot_areas import ACS, UK_CENSUS, Area, Floats, Source, acs, census_income, uk_census
from tests.benchmarks.options import DATA, parse

HITS, CHUNK = groups_needed(1).hits, 50_000
KL, CHI, EXACT, UNIFORM, SEEN = "C1", "C0", "black", "0.6", "C2"
WEIGHT, HEIGHT, RHO = 5.289, 4.830, 0.5028
"""kg and cm: standard deviations of the thesis's table of children, and the correlation."""
Random = np.random.Generator


@dataclass(frozen=True)
class Drawn:
    """A figure: its title, its picture as SVG ("" for a table alone), what it says, and a table with a head."""

    title: str
    picture: str
    words: str
    numbers: Sequence[Sequence[str]]


def canvas(rows: int, columns: int, height: float = 3.4) -> tuple[Canvas, Any]:
    matplotlib.rcParams.update({"svg.hashsalt": "crowdgate", "svg.fonttype": "none", "font.size": 9})
    figure = Canvas(figsize=(9, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def svg(figure: Canvas) -> str:
    picture = io.StringIO()
    figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    return picture.getvalue()[picture.getvalue().index("<svg") :]


def label(axes: Any, x: str, y: str, title: str = "", legend: bool = True) -> None:
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.grid(alpha=0.3)
    if legend:
        axes.legend(fontsize="small")


def fit(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Slope, intercept and R^2 of a least-squares line."""
    slope, intercept = np.polyfit(x, y, 1)
    rest = np.asarray(y) - (slope * np.asarray(x) + intercept)
    return float(slope), float(intercept), float(1 - np.var(rest) / np.var(y))


def off(found: Sequence[float], truth: Sequence[float]) -> float:
    """Mean absolute relative distance."""
    return float(np.mean(np.abs(np.asarray(found) / np.asarray(truth) - 1)))


def hits(shares: Floats, k: int, most: int, random: Random) -> tuple[int, int]:
    """Groups of k drawn until HITS of them have k different values (or `most` are drawn): hits and groups."""
    found = groups = 0
    while found < HITS and groups < most:
        drawn = np.sort(random.choice(shares.size, size=(CHUNK, k), p=shares).astype(np.uint8), axis=1)
        found += int((np.diff(drawn, axis=1) > 0).all(axis=1).sum())
        groups += CHUNK
    return found, groups


def uniqueness(source: Source, k: int, values: Callable[[Area], Floats], axes: Any, random: Random) -> list[list[str]]:
    """ln of the sampled probability against both distances, with the line fitted and the line predicted."""
    tables = [values(area) for area in source.areas]
    bins, N = [Bins.from_counts(table) for table in tables], tables[0].size
    sampled = [hits(table / table.sum(), k, source.groups, random) for table in tables]
    known = [at for at, (found, _) in enumerate(sampled) if found >= 20]
    logs = [math.log(sampled[at][0] / sampled[at][1]) for at in known]
    error = [2 / math.sqrt(sampled[at][0]) for at in known]
    exact = [math.log(probability_all_unique(each, k)) for each in bins]
    rows = []
    for name, measure, color in (("κ", kl_to_uniform, KL), ("χ", collision_excess, CHI)):
        x = [measure(each) for each in bins]
        axes.errorbar(
            [x[at] for at in known], logs, yerr=error, fmt=".", color=color, capsize=1, label=f"against {name}"
        )
        slope, intercept, share = fit([x[at] for at in known], logs)
        ends = np.array([min(x), max(x)])
        axes.plot(ends, slope * ends + intercept, color=color, lw=1)
        found = [math.log(ours.uniqueness_kl_corrected(k, N, each)) for each in x]
        apart = f"{np.mean(np.abs(np.subtract(found, exact))):.2f}"
        rows.append([source.name, name, f"{share:.3f}", f"{slope:.2f}", f"{-(k**2) / N:.2f}", apart])
    start = math.log(ours.pi_u(k, N))
    reach = np.array([0, max(kl_to_uniform(each) for each in bins)])
    axes.plot(reach, start - k**2 / N * reach, "--", color=UNIFORM, label="ln π_u(k, N) − x k²/N")
    label(axes, "distance x to the uniform law (κ or χ)", "ln P(all unique)", f"{source.name}, k = {k}, N = {N}")
    naive = f"{np.mean(np.abs(start - np.array(exact))):.2f}"
    return [*rows, [f"{source.name}, {len(known)} of {len(bins)} populations drawn", "uniform", "", "", "", naive]]


def figure_uniqueness(sources: Sequence[Source], random: Random, sexes: bool) -> Drawn:
    figure, axes = canvas(1, len(sources), 4)
    numbers = [
        [
            "populations",
            "x",
            "R² of the line",
            "its slope",
            "predicted −k²/N",
            "mean distance of predicted ln p from exact",
        ]
    ]
    for source, own in zip(sources, axes[0], strict=True):
        older, N = source.oldest, (source.oldest + 1) * (1 + sexes)
        k = {95: 29, 90: 28, 190: 41, 180: 40, 8: 7, 16: 11}[N]
        values = (lambda area, top=older: area.pairs(top)) if sexes else (lambda area, top=older: area.counts(top))
        numbers += uniqueness(source, k, values, own, random)
    what = "age and sex" if sexes else "age"
    words = (
        f"The probability that all of k people differ in {what}, by sampled groups (each dot a population; bars are "
        f"two standard errors), against the Kullback-Leibler distance κ and the excess of collisions χ. Groups of k "
        f"people are drawn with replacement from a population's {what} until {HITS} are hits, or "
        f"{sources[0].groups:,} are drawn. k is chosen as in the thesis, so that uniform values would give about 1 % "
        f"(2 % of eight bands). Full lines: least squares; dashed: the approximation π_u exp(−x k²/N). Populations "
        f"with under 20 hits are not drawn. (The thesis: R² of 0.72 to 0.82. Of the regions of the UK census London, "
        f"E12000007, is far from all others, and carries the line.)"
    )
    return Drawn(f"Figure 4.{1 + sexes}: all unique by {what}", svg(figure), words, numbers)


def figure_4_3(sources: Sequence[Source], _: Random) -> Drawn:
    source = sources[0]
    ranked = sorted(source.areas, key=lambda area: kl_to_uniform(area.bins(source.oldest)))
    figure, axes = canvas(1, 2)
    k, N = np.arange(2, 46), source.oldest + 1
    numbers = [
        ["population, k", "exact", "exp(−(1/2 + κ) k²/N)", "exp(−(1/2 + χ) k²/N)", "π_u exp(−κ k²/N)", "uniform"]
    ]
    for area, own in zip((ranked[0], ranked[-1]), axes[0], strict=True):
        bins = area.bins(source.oldest)
        kappa, chi = kl_to_uniform(bins), collision_excess(bins)
        truth = [probability_all_unique(bins, int(each)) for each in k]
        own.plot(k, truth, color=EXACT, label="exact")
        for x, color, name in ((kappa, KL, "κ"), (chi, CHI, "χ")):
            own.plot(k, np.exp(-(0.5 + x) * k**2 / N), "--", color=color, label=f"exp(−(1/2 + {name}) k²/N)")
            own.plot(
                k,
                [ours.uniqueness_kl_corrected(int(n), N, x) for n in k],
                ":",
                color=color,
                label=f"π_u exp(−{name} k²/N)",
            )
        own.plot(k, [ours.pi_u(int(each), N) for each in k], color=UNIFORM, label="uniform")
        own.set_yscale("log")
        own.set_ylim(1e-5, 1.3)
        label(own, "people k", "probability that all are unique", f"{area.name}: κ = {kappa:.3f}, χ = {chi:.3f}")
        for n in (5, 10, 20):
            near = [math.exp(-(0.5 + x) * n**2 / N) for x in (kappa, chi)]
            cells = [truth[n - 2], *near, ours.uniqueness_kl_corrected(n, N, kappa), ours.pi_u(n, N)]
            numbers.append([f"{area.name}, k = {n}", *(f"{cell:.4f}" for cell in cells)])
    words = (
        "The probability that all of k people differ in age, in the population nearest to the uniform law and the one "
        f"furthest from it ({source.words}). The thesis draws the dashed curve in κ only, and the uniform one."
    )
    return Drawn("Figure 4.3: all unique, by group size", svg(figure), words, numbers)


def figure_4_4(sources: Sequence[Source], _: Random) -> Drawn:
    figure, axes = canvas(1, len(sources))
    numbers = [["populations", "mean κ, single years", "two years", "five years"]]
    for source, own in zip(sources, axes[0], strict=True):
        means = []
        ranked = sorted(source.areas, key=lambda area: kl_to_uniform(area.bins(source.oldest)))
        for years, marker in ((1, "."), (2, "+"), (5, "x")):
            kappa = [kl_to_uniform(area.bins(source.oldest, years)) for area in ranked]
            own.plot(range(1, len(ranked) + 1), kappa, marker, label=f"{years} years" if years > 1 else "single years")
            means.append(f"{np.mean(kappa):.3f}")
        numbers.append([source.name, *means])
        own.set_ylim(bottom=0)
        own.set_xticks(range(1, len(ranked) + 1, 3))
        label(own, "population, by κ of single years", "κ (nats)", source.name)
    words = (
        "The Kullback-Leibler distance of age when ages are told in single years, in intervals of two and of five "
        "years. Of n people in N intervals chance alone adds about (N − 1) / (2n), which is .03 for 1,400 people in 95 "
        "years and .006 in 19 intervals: the gap between the marks is partly that."
    )
    return Drawn("Figure 4.4: ages told less precisely", svg(figure), words, numbers)


def figure_5_1(sources: Sequence[Source], _: Random) -> Drawn:
    sizes = (60, 90, 120)
    figure, axes = canvas(3, 2, 3)
    numbers = [["k, ages", "mean distance of (5.4) with κ", "of (5.4) with χ", "of the uniform law"]]
    for column, oldest in enumerate((None, 79)):
        for row, k in enumerate(sizes):
            own = axes[row][column]
            found: dict[str, list[float]] = {"truth": [], "kl": [], "chi": [], "uniform": []}
            for source in sources:
                top = source.oldest if oldest is None else oldest
                bins = [area.bins(top) for area in source.areas]
                kappa = [kl_to_uniform(each) for each in bins]
                mean = [expected(each, k) for each in bins]
                spread = [2 * math.sqrt(variance(each, k)) for each in bins]
                near = [ours.ES_kl(k, top + 1, collision_excess(each)) for each in bins]
                lines = [ours.ES_kl(k, top + 1, each) for each in kappa]
                marker = "o" if source is sources[0] else "s"
                own.errorbar(
                    kappa,
                    mean,
                    yerr=spread,
                    fmt=marker,
                    ms=3,
                    lw=0.4,
                    color=EXACT,
                    label=f"exact ± 2 sd, N = {top + 1}",
                )
                own.plot(kappa, near, "+", color=CHI, label="(5.4) with χ" if source is sources[0] else None)
                reach = np.array([0, max(kappa)])
                own.plot(
                    reach,
                    [ours.ES_kl(k, top + 1, each) for each in reach],
                    color=KL,
                    lw=1,
                    ls="-" if source is sources[0] else "--",
                    label=f"(5.4) with κ, N = {top + 1}",
                )
                for name, values in (
                    ("truth", mean),
                    ("kl", lines),
                    ("chi", near),
                    ("uniform", [ours.ES_homogeneous(k, top + 1)] * len(bins)),
                ):
                    found[name] += values
            who = "full age range" if oldest is None else "ages 0 to 79"
            label(own, "κ (nats)", "singletons among k people", f"k = {k}, {who}", legend=row == 0)
            far = [f"{off(found[name], found['truth']):.1%}" for name in ("kl", "chi", "uniform")]
            numbers.append([f"k = {k}, {who}", *far])
    words = (
        "Expected singletons among k people by age, exact with two standard deviations of the number to either side, "
        "against κ, beside approximation (5.4) with κ (a line) and with χ (a mark for each population). Left: all ages "
        "that are told apart; right: ages 0 to 79 only, without the nearly empty bins of the oldest. Means of absolute "
        "relative distances from the exact value stand in the table."
    )
    return Drawn("Figure 5.1: mean number of singletons", svg(figure), words, numbers)


def figure_5_2(sources: Sequence[Source], _: Random) -> Drawn:
    figure, axes = canvas(1, 2)
    numbers = [["k, ages", "least Var S", "greatest Var S", "mean distance of 5.3.2 as corrected, with χ"]]
    for own, oldest in zip(axes[0], (None, 79), strict=True):
        for k, color in ((60, "C0"), (90, "C1"), (120, "C2")):
            truth: list[float] = []
            near: list[float] = []
            for source in sources:
                top = source.oldest if oldest is None else oldest
                bins = [area.bins(top) for area in source.areas]
                x = [kl_to_uniform(each) for each in bins]
                exact = [variance(each, k) for each in bins]
                approximate = [ours.VarS_kl_corrected(k, top + 1, collision_excess(each)) for each in bins]
                truth, near = truth + exact, near + approximate
                own.plot(
                    x,
                    exact,
                    "o" if source is sources[0] else "s",
                    ms=3,
                    color=color,
                    label=f"k = {k}" if source is sources[0] else None,
                )
                own.plot(x, approximate, "+", ms=4, color=color, alpha=0.6)
            who = "full age range" if oldest is None else "ages 0 to 79"
            numbers.append([f"k = {k}, {who}", f"{min(truth):.1f}", f"{max(truth):.1f}", f"{off(near, truth):.1%}"])
        label(own, "κ (nats)", "Var S", "full age range" if oldest is None else "ages 0 to 79")
    words = (
        "The exact variance of the number of singletons by age (dots: areas; squares: groups of Census-Income) against "
        "κ, and the approximation of section 5.3.2 as corrected, with χ (crosses)."
    )
    return Drawn("Figure 5.2: variance of the number of singletons", svg(figure), words, numbers)


def observed(ages: NDArray[np.int64], k: int, groups: int, random: Random, oldest: int) -> Floats:
    """Shares of people in groups of 1, 2, 3 in every one of `groups` groups of k real people, drawn without
    replacement."""
    out = np.empty((groups, 3))
    for row in out:
        sizes = np.bincount(random.choice(ages, k, replace=False), minlength=oldest + 1)
        row[:] = [j * np.count_nonzero(sizes == j) / k for j in (1, 2, 3)]
    return out


def figure_6_1(sources: Sequence[Source], random: Random) -> Drawn:
    figure, axes = canvas(len(sources), 3, 3)
    sizes = range(10, 101, 10)
    numbers = [
        [
            "populations, share",
            "mean of observed less (6.1)",
            "observed less uniform",
            "(6.2) with κ less (6.1)",
            "(6.2) with χ less (6.1)",
        ]
    ]
    for source, line in zip(sources, axes, strict=True):
        whole = source.together().up_to(79)
        bins = whole.bins(79)
        kappa, chi = kl_to_uniform(bins), collision_excess(bins)
        parts = [area.up_to(79) for area in source.areas]
        people = [part.ages.size for part in parts]
        seen = np.array(
            [np.average([within(part, k, random) for part in parts], axis=0, weights=people) for k in sizes]
        )
        for j, own in enumerate(line, start=1):
            exact = np.array([share_in_groups_of(bins, k, j) for k in sizes])
            even = np.array([share_in_groups_of(Bins.uniform(80), k, j) for k in sizes])
            near = [np.array([ours.phi_j_kl(j, k, 80, x) for k in sizes]) for x in (kappa, chi)]
            own.plot(sizes, seen[:, j - 1], "o", ms=4, color=SEEN, label="observed ψ")
            own.plot(sizes, exact, color=EXACT, label="(6.1)")
            own.plot(sizes, near[0], "--", color=KL, label="(6.2) with κ")
            own.plot(sizes, near[1], ":", color=CHI, label="(6.2) with χ")
            own.plot(sizes, even, color=UNIFORM, label="uniform")
            label(own, "people k", f"share in groups of {j}", f"{source.name}: κ = {kappa:.3f}", legend=j == 1)
            gaps = [seen[:, j - 1] - exact, seen[:, j - 1] - even, near[0] - exact, near[1] - exact]
            numbers.append([f"{source.name}, φ_{j}", *(f"{gap.mean():+.4f}" for gap in gaps)])
    words = (
        "The shares of k people who are in groups of one, two and three by age (0 to 79). All people of a table stand "
        "for a municipality, whose ages give κ; its areas (or groups) stand for postal codes: observed is the mean "
        "over 400 groups of k real people of each area, without replacement, areas weighing by their people. Most of "
        "Census-Income's are born in one country, so that there the whole and its largest part hardly differ."
    )
    return Drawn("Figure 6.1: people in groups of one, two, three", svg(figure), words, numbers)


def within(area: Area, k: int, random: Random) -> Floats:
    return np.asarray(observed(area.ages, k, 400, random, 79).mean(axis=0))


def figure_6_2(sources: Sequence[Source], random: Random) -> Drawn:
    figure, axes = canvas(2, 2)
    numbers = [
        [
            "k, populations",
            "φ_1 of all together (6.1)",
            "observed within areas, less that",
            "the same, areas weighing alike",
            "mean distance of (6.2) with κ from (6.1)",
            "with χ",
        ]
    ]
    for own, k in zip(axes.ravel(), (20, 40, 60, 80), strict=True):
        for source in sources:
            areas = [area.up_to(79) for area in source.areas]
            bins = [area.bins(79) for area in areas]
            kappa = [kl_to_uniform(each) for each in bins]
            found = [observed(area.ages, k, 1000, random, 79)[:, 0] for area in areas]
            mean = [float(each.mean()) for each in found]
            bars = [2 * float(each.std(ddof=1)) / math.sqrt(each.size) for each in found]
            exact = [share_in_groups_of(each, k, 1) for each in bins]
            chi = [ours.phi_j_kl(1, k, 80, collision_excess(each)) for each in bins]
            near = [ours.phi_j_kl(1, k, 80, each) for each in kappa]
            first = source is sources[0]
            own.errorbar(
                kappa,
                mean,
                yerr=bars,
                fmt="o" if first else "s",
                ms=3,
                color=SEEN,
                label="observed ψ" if first else None,
            )
            own.plot(kappa, exact, "_", color=EXACT, label="(6.1)" if first else None)
            own.plot(kappa, chi, "+", color=CHI, label="(6.2) with χ" if first else None)
            weights = np.array([area.ages.size for area in areas])
            whole = share_in_groups_of(source.together().up_to(79).bins(79), k, 1)
            bias = float(np.average(mean, weights=weights)) - whole
            even = float(np.mean(mean)) - whole
            far = [f"{off(each, exact):.1%}" for each in (near, chi)]
            numbers.append([f"k = {k}, {source.name}", f"{whole:.4f}", f"{bias:+.4f}", f"{even:+.4f}", *far])
        reach = np.linspace(0, max(kappa), 2)
        own.plot(reach, [ours.phi_j_kl(1, k, 80, each) for each in reach], color=KL, lw=1, label="(6.2) with κ")
        label(own, "κ (nats)", "share of singletons φ_1", f"k = {k}", legend=k == 20)
    words = (
        "The share of k people who are singletons by age (0 to 79) against κ of their own population (dots: areas; "
        "squares: groups of Census-Income). Observed: 1,000 groups of k real people of each population, without "
        "replacement, with two standard errors. The table gives the bias of section 6.2.3: with κ of all populations "
        "together, fewer singletons are seen within populations than predicted, because they are less uniform than "
        "their union. Observed groups lie above (6.1) of their own population: drawn without replacement they are as "
        "if drawn from the people whom the table is a sample of, while κ of n sampled people holds about (N − 1) / "
        "(2n) of chance, 0.03 for 1,300 people in 80 years."
    )
    return Drawn("Figure 6.2: singletons against κ", svg(figure), words, numbers)


def simulated(draw: Callable[[int], Floats], k: int, times: int) -> float:
    """Mean number of singletons in simulated groups of k, by the intervals that `draw` gives."""
    drawn = np.sort(draw(times * k).reshape(times, k), axis=1)
    apart = np.diff(drawn, axis=1) != 0
    edge = np.ones((times, 1), dtype=bool)
    return float((np.hstack([edge, apart]) & np.hstack([apart, edge])).sum() / times)


def figure_6_3(sources: Sequence[Source], random: Random) -> Drawn:
    figure, axes = canvas(1, 3)
    sizes = (5, 10, 20, 30, 40)
    numbers = [["column, Δ; k = 10", "simulated", "exact", "O(Δ)", "O(Δ²)"]]
    ages = sources[-1].together().ages
    steps = {"weight (kg)": (0.5, 1, 2), "birthday (days)": (1, 7, 30), "age (years)": (1, 2, 5)}
    for own, (name, each) in zip(axes[0], steps.items(), strict=True):
        for number, width in enumerate(each):
            color = f"C{number}"
            bins, linear, quadratic, draw = column(name, width, ages, random)
            seen = [simulated(draw, k, 4000) for k in sizes]
            exact = [expected(bins, k) for k in sizes]
            own.plot(sizes, exact, color=color, label=f"Δ = {width:g}")
            own.plot(sizes, seen, "o", ms=3, color=color, mfc="none")
            for k in sizes:
                for marker, call in (("+", linear), ("x", quadratic)):
                    if 0 <= call(k) <= k:
                        own.plot(k, call(k), marker, ms=5, color=color)
            cells = (seen[1], exact[1], linear(10), quadratic(10))
            numbers.append([f"{name}, Δ = {width:g}", *(f"{cell:.2f}" for cell in cells)])
        label(own, "people k", "expected singletons", name)
    words = (
        "Expected singletons by group size k and width Δ: exact (lines), 4,000 simulated groups each (circles), the "
        "expansions to the first (+) and second order (×) in Δ, where they lie between 0 and k at all. Weight is "
        "Normal with the thesis's σ = 5.289 kg and birthdays are uniform over 365 days, drawn from these laws: the "
        f"tables are not public. Age is Census-Income's ({ages.size:,} people), its density being its histogram by "
        f"years."
    )
    return Drawn("Figure 6.3: interval widths", svg(figure), words, numbers)


Answer = tuple[Bins, Callable[[int], float], Callable[[int], float], Callable[[int], Floats]]


def column(name: str, width: float, ages: Any, random: Random) -> Answer:
    """Bins, both expansions by k, and how to draw intervals of so many people."""
    if name.startswith("weight"):
        return (
            widths.normal(0, WEIGHT, width),
            lambda k: ours.ES_normal_linear(WEIGHT, width, k),
            lambda k: ours.ES_normal_quadratic(WEIGHT, width, k),
            lambda many: np.floor(random.normal(0, WEIGHT, many) / width),
        )
    if name.startswith("birthday"):
        return (
            widths.uniform(365, width),
            lambda k: ours.ES_linear(k, width, 1 / 365),
            lambda k: ours.ES_uniform_quadratic(k, 365, width),
            lambda many: np.floor(random.integers(0, 365, many) / width),
        )
    shares = np.bincount(ages) / ages.size
    powers = float((shares**2).sum()), float((shares**3).sum())
    return (
        Bins.from_counts(np.bincount((ages / width).astype(np.int64))),
        lambda k: ours.ES_linear(k, width, powers[0]),
        lambda k: ours.ES_quadratic(k, width, *powers),
        lambda many: np.floor(random.choice(ages, many) / width),
    )


def figure_6_4(_: Sequence[Source], random: Random) -> Drawn:
    figure, axes = canvas(2, 2)
    steps = (0.5, 1, 2, 5, 10, 20)
    grid = [(tall, heavy, bivariate_normal(HEIGHT, WEIGHT, RHO, tall, heavy)) for tall in steps for heavy in steps]
    numbers = [["k", "pairs of widths within its range", "greatest distance of the linear formula there, of k people"]]
    for own, k in zip(axes.ravel(), (5, 10, 20, 40), strict=True):
        exact = [expected(bins, k) for _, _, bins in grid]
        linear = [ours.ES_bivariate_normal_linear(HEIGHT, WEIGHT, RHO, tall, heavy, k) for tall, heavy, _ in grid]
        valid = [
            ours.validity(ours.ES_bivariate_normal_linear, sx=HEIGHT, sy=WEIGHT, rho=RHO, dx=tall, dy=heavy, k=k)
            is None
            for tall, heavy, _ in grid
        ]
        seen = [simulated(pairs(tall, heavy, random), k, 1000) for tall, heavy, _ in grid]
        x = np.arange(1, len(grid) + 1)
        own.plot(x, exact, color=EXACT, lw=1, label="exact")
        own.plot(x, seen, ".", ms=4, color=SEEN, label="simulated")
        for ok, color, name in ((True, KL, "linear, within its range"), (False, UNIFORM, "linear, outside")):
            at = [place for place, flag in enumerate(valid) if flag is ok]
            own.plot(x[at], np.array(linear)[at], "+", color=color, label=name)
        own.set_ylim(-0.05 * k, 1.1 * k)
        label(own, "pair of widths", "expected singletons", f"k = {k}", legend=k == 5)
        worst = max(abs(a - b) for a, b, ok in zip(linear, exact, valid, strict=True) if ok)
        numbers.append([str(k), f"{sum(valid)} of 36", f"{worst:.2f}"])
    words = (
        "Expected singletons by height and weight together, bivariate Normal with the thesis's standard deviations "
        "4.830 cm and 5.289 kg and correlation 0.5028: exact, by 1,000 simulated groups each, and by the linear "
        "formula (6.4) inside and outside the range in which it is used here. Pairs of widths: six heights' (0.5, 1, "
        "2, 5, 10, 20 cm), and for each six weights' (as many kg)."
    )
    return Drawn("Figure 6.4: two correlated numbers", svg(figure), words, numbers)


def pairs(tall: float, heavy: float, random: Random) -> Callable[[int], Floats]:
    def draw(many: int) -> Floats:
        x, y = random.multivariate_normal(
            [0, 0], [[HEIGHT**2, RHO * HEIGHT * WEIGHT], [RHO * HEIGHT * WEIGHT, WEIGHT**2]], many
        ).T
        return np.asarray(np.floor(x / tall) * 100_000 + np.floor(y / heavy))

    return draw


def figure_6_5(_: Sequence[Source], random: Random) -> Drawn:
    figure, axes = canvas(1, 2)
    steps, k = np.array([0.25, 0.5, 1, 2, 3, 4, 5, 7, 10]), 10
    numbers = [["what varies, width", "exact", "exact if independent", "linear (6.4)"]]
    for own, turned in zip(axes[0], (False, True), strict=True):
        both = [(step, 1.0) if turned else (1.0, step) for step in map(float, steps)]
        exact = [expected(bivariate_normal(HEIGHT, WEIGHT, RHO, *each), k) for each in both]
        alone = [expected(bivariate_normal(HEIGHT, WEIGHT, 0, *each), k) for each in both]
        linear = [ours.ES_bivariate_normal_linear(HEIGHT, WEIGHT, RHO, *each, k) for each in both]
        own.plot(steps, exact, color=EXACT, label="exact")
        own.plot(steps, alone, ":", color=EXACT, label="exact if independent")
        own.plot(steps, [simulated(pairs(*each, random), k, 4000) for each in both], ".", color=SEEN, label="simulated")
        own.plot(steps, linear, "+", color=KL, label="linear (6.4)")
        label(
            own,
            "width of height (cm)" if turned else "width of weight (kg)",
            "expected singletons of 10",
            "weight to 1 kg" if turned else "height to 1 cm",
            legend=not turned,
        )
        for at in (2, 6):
            cells = (exact[at], alone[at], linear[at])
            name = "height" if turned else "weight"
            numbers.append([f"{name}, {steps[at]:g}", *(f"{cell:.3f}" for cell in cells)])
    words = (
        "Expected singletons of ten people when one of height and weight is told to one unit and the other's width "
        "varies; laws as in figure 6.4, 4,000 simulated groups each."
    )
    return Drawn("Figure 6.5: one of two widths", svg(figure), words, numbers)


def section_6_5(sources: Sequence[Source], _: Random) -> Drawn:
    numbers = [
        ["table, attributes", "k", "joint law", "independent", "least for these margins", "greatest for these margins"]
    ]
    tables = [(source.name, *each) for source in sources for each in source.joint]
    for name, names, table in tables:
        margins = [table.sum(axis=tuple(o for o in range(table.ndim) if o != at)) for at in range(table.ndim)]
        for k in (100, 1000):
            laws = Bins.from_counts(table), product(map(Bins.from_counts, margins))
            both = [expected(each, k) for each in laws]
            bounds = singletons_bounds([list(margin / table.sum()) for margin in margins], k)
            numbers.append([f"{name}: {', '.join(names)}", f"{k:,}", *(f"{each:.1f}" for each in (*both, *bounds))])
    words = (
        "Section 6.5 leaves open what correlation between categories does. Expected singletons among k people drawn "
        "from the people of a table, by the joint law of the attributes and as if they were independent; and "
        "the least and the greatest that any joint law with the same margins can have, as far as it is bounded here "
        "(the truth always lies between; the ends need not be reached)."
    )
    return Drawn("Section 6.5: correlated categories", "", words, numbers)


Figure = Callable[[Sequence[Source], Random], Drawn]


def in_years(figure: Figure) -> Figure:
    """A figure that is of years of age."""
    return lambda sources, random: figure([each for each in sources if not each.banded], random)


FIGURES: Mapping[str, Figure] = {
    "4.1": lambda sources, random: figure_uniqueness(sources, random, sexes=False),
    "4.2": lambda sources, random: figure_uniqueness(sources, random, sexes=True),
    "4.3": in_years(figure_4_3),
    "4.4": in_years(figure_4_4),
    "5.1": in_years(figure_5_1),
    "5.2": in_years(figure_5_2),
    "6.1": in_years(figure_6_1),
    "6.2": in_years(figure_6_2),
    "6.3": in_years(figure_6_3),
    "6.4": in_years(figure_6_4),
    "6.5": in_years(figure_6_5),
    "section 6.5": section_6_5,
}


SMALL = ("4.1", "4.4", "5.2", "6.3", "section 6.5")
"""The figures of a small run."""


TITLE = "The figures of Koot's thesis on public data"


def page(sources: Sequence[Source], seed: int, figures: Sequence[Drawn]) -> str:
    populations = [
        f"{source.words}: {len(source.areas)} populations, {sum(area.ages.size for area in source.areas):,} people"
        for source in sources
    ]
    said = [
        "M. Koot, Measuring and predicting anonymity (thesis, University of Amsterdam, 2012), drawn again. κ = Σ p "
        "ln(N p) is the Kullback-Leibler distance to the uniform law, in nats; χ = (N Σ p² − 1) / 2 the excess of "
        "collisions, which the thesis's expansions contain where it writes κ. Exact values are sums over all bins, or "
        "Cauchy integrals.",
        f"Random numbers: seed {seed}. Populations:",
    ]
    head = page_blocks(TITLE, [Section("", said, populations)])
    return as_html(TITLE, [*head, *(block for each in figures for block in part(each))])


def part(drawn: Drawn) -> Iterator[PageBlock]:
    """Yield the blocks of a figure: its picture, words and numbers."""
    yield PageBlock(f"## {paragraph_text(drawn.title)}")
    if drawn.picture:
        yield PageBlock(draw=lambda: SvgPicture(drawn.picture, drawn.title))
    yield PageBlock(markdown_paragraph(drawn.words))
    head, *rows = drawn.numbers
    yield PageBlock(markdown_table(text_listing("", head, rows)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="where the other tables are")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--seed", type=int, default=2012)
    parser.add_argument("--only", nargs="*", choices=FIGURES, default=[*FIGURES])
    parser.add_argument("--populations", type=int, help="the first so many of each table")
    parser.add_argument(
        "--groups", type=int, default=Source.groups, help="of people drawn from each population at most"
    )
    given = parse(parser, populations=3, groups=CHUNK, only=SMALL)
    found = [read(given.data) for name, read in ((ACS, acs), (UK_CENSUS, uk_census)) if (given.data / name).is_file()]
    sources = [
        replace(each, areas=each.areas[: given.populations], groups=given.groups) for each in (*found, census_income())
    ]
    figures = []
    for number, (name, draw) in enumerate(FIGURES.items()):
        if name not in given.only:
            continue
        start = time.perf_counter()
        figures.append(draw(sources, np.random.default_rng([given.seed, number])))
        print(f"{figures[-1].title} ({time.perf_counter() - start:.1f} s)")
        for row in figures[-1].numbers:
            print("  " + " | ".join(row))
    text = page(sources, given.seed, figures)
    if given.page:
        given.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
