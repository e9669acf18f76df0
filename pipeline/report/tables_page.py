"""The README of a release of tables: for the people who use the numbers."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from pipeline.gate import Verdict
from pipeline.report.markdown import cell, gates_section


def tables_page(
    *,
    title: str,
    description: str,
    owner: str,
    release_id: str,
    tables: Sequence[tuple[str, str, int]],
    formats: Sequence[str],
    noise: str,
    beta: Fraction,
    relative: Fraction,
    suppress: bool,
    raw: bool,
    workload: Sequence[str],
    guarantee: Iterable[str],
    verdicts: Iterable[Verdict],
) -> str:
    """Markdown: what the files hold, how the numbers were made, what their intervals mean, what is not protected."""
    ends = " and ".join(f"`.{name}`" for name in formats)
    lines = [
        f"# {title}",
        "",
        *([description, ""] if description else []),
        f"Release {release_id}. Responsible: {owner}.",
        "",
        "## Files",
        "",
        f"- One file for each table below, as {ends}: a line for every cell, empty or not.",
        *([_RAW_FILES] if raw else []),
        "- `tables.csv`: which file holds which table, its number of cells and the standard error of its noise.",
        "- `dictionary.csv`: every column at every level with all its values. `levels.csv`: which value of a level",
        "  belongs to which value of a coarser one.",
        "- `manifest.json`: what was done, with which guarantee, and the digests of these files.",
        "",
        "| file | table | cells |",
        "|---|---|---|",
        *(f"| {cell(file)} | {cell(table)} | {cells} |" for file, table, cells in tables),
        "",
        "## What was done",
        "",
        _DONE.format(noise=noise),
        *([_SAMPLED.format(beta=f"{float(beta):g}")] if beta != 1 else []),
        "",
        *workload,
        "",
        "## How to use the numbers",
        "",
        _USE.format(relative=f"{float(relative):g}"),
        *([_SUPPRESSED] if suppress else []),
        "",
        _BEFORE if beta == 1 else _BEFORE_SAMPLED,
        "",
        "## What is promised",
        "",
        *guarantee,
        "",
        _NOT,
        "",
        *gates_section(verdicts),
    ]
    return "\n".join(lines)


_RAW_FILES = (
    "- Names that end in `-raw`: the same tables as the noise left them, which do not agree and can be negative."
)

_DONE = """\
The table was counted at public levels, and an independent whole number of discrete {noise} noise was added to every
count and every sum before anything else was done. Counts were then made consistent: weighted least squares over all
tables that share margins or are levels of each other, no cell below 0, rounded so that all tables have the same total
and a table adds up to the finest other one that is a margin of it. Tables that only overlap agree before rounding, and
can differ by rounding after it. Sums and means are as drawn: a mean is a noisy sum over a noisy count, and is left
empty where that count is below 1. Quantiles are the bins of a level that hold them. No number is exact: there are no
invariants, not even the total."""

_SAMPLED = """\
Before that every person was kept with probability {beta}, independently, by secret coins. Numbers are scaled to all
persons: whole numbers of the sample divided by that probability."""

_USE = """\
- `value` estimates the number for the whole source table; `standard_error` says how far the noise typically moves it.
- `lower` and `upper` are a 95 % interval. `trustworthy` is true where the standard error is at most {relative} of the
  value. A cell that is not trustworthy may be 0 or several times as large in truth.
- Zero does not mean that nobody is there, and a positive number does not mean that somebody is.
- Many small cells add up: take the published table at a coarser level instead of adding cells, its noise is smaller.
- For quantiles, `lower` and `upper` are the bins that the noise alone makes plausible; a quantile is known to its bin
  at best."""

_SUPPRESSED = "- Numbers that are not trustworthy were left empty, by the noisy values alone."

_BEFORE = """\
Before consistency an interval covers the true number exactly as often as the law of the noise says, at least 95 % of
the time: such are the intervals of raw tables and of sums. After consistency and rounding, as in the other tables of
counts, intervals are 1.96 standard errors of the least-squares estimate: approximate, and too optimistic for cells that
would be below 0. Those of means and quantiles are approximate as well."""

_BEFORE_SAMPLED = """\
The intervals include the sampling, whose part is estimated, so all of them are approximate; after consistency and
rounding they are also too optimistic for cells that would be below 0."""

_NOT = """\
Not promised: that nothing can be learnt about groups (what is true of most persons of a cell is a fact about the cell,
whether or not a given person took part); protection of several related persons at once beyond the factor that their
number brings; protection against other releases of the same people that were made outside this ledger."""
