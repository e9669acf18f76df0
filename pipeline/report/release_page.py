"""The README of a release: for the people who use the data."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from pipeline.gate import Verdict
from pipeline.hierarchy import Level
from pipeline.measures.estimates import Estimate
from pipeline.report.markdown import cell, gates_section


def release_page(
    *,
    title: str,
    description: str,
    owner: str,
    release_id: str,
    levels: Mapping[str, Level],
    choice: Sequence[str],
    beta: Fraction,
    rows: int,
    inherited: str | None,
    k: int,
    guarantee: Iterable[str],
    verdicts: Iterable[Verdict],
    formats: Iterable[str],
    examples: Sequence[Estimate],
) -> str:
    """Markdown: what the files hold, how to use them, what suppression biases, what is and is not protected."""
    weight = float(1 / beta)
    numbers: dict[str, Any] = {"beta": f"{float(beta):g}", "k": k, "weight": f"{weight:g}"}
    lines = [
        f"# {title}",
        "",
        *([description, ""] if description else []),
        f"Release {release_id}. Responsible: {owner}.",
        "",
        "## Files",
        "",
        *(
            f"- `data.{name}`: one line per person in the release, in sorted order; the order means nothing."
            for name in formats
        ),
        "- `dictionary.csv`: every column with every value it may hold, whether or not it occurs.",
        "- `estimates.csv`: every published value of every column, with the number of persons that it stands for.",
        "- `manifest.json`: what was done, with which guarantee, and the digests of these files.",
        "",
        "## Columns",
        "",
        "| column | level | values |",
        "|---|---|---|",
        *(f"| {cell(name)} | {cell(level.name)} | {len(level)} |" for name, level in levels.items()),
        "",
        "## What was done",
        "",
        _DONE.format(**numbers, drawn=_drawn(rows, inherited, numbers["beta"]), levels=_CHOSEN if choice else _FIXED),
        *(["", *choice] if choice else []),
        "",
        "## How to use it",
        "",
        _USE.format(**numbers, error=f"{float(1 - beta):g}"),
        "",
        *_worked_example(examples),
        "## What is promised",
        "",
        *guarantee,
        "",
        _NOT,
        "",
        *gates_section(verdicts),
    ]
    return "\n".join(lines)


def _worked_example(examples: Sequence[Estimate]) -> list[str]:
    """The commonest values of this release with what they stand for; nothing when the release is empty."""
    if not examples:
        return []
    return [
        "### With the numbers of this release",
        "",
        _EXAMPLE,
        "",
        "| cell | rows c | persons, estimated | standard error | about 95 % |",
        "|---|---|---|---|---|",
        *map(_example_line, examples),
        "",
        _BIAS,
        "",
    ]


def _example_line(each: Estimate) -> str:
    middle, half = each.persons_hundredths / 100, 1.96 * each.error_hundredths / 100
    place = f"{cell(each.column)} = {cell(each.label)}"
    return f"| {place} | {each.count} | {each.persons} | {each.error} | {middle - half:.0f} to {middle + half:.0f} |"


def _drawn(rows: int, inherited: str | None, beta: str) -> str:
    if inherited is not None:
        return f"The source table is the Bernoulli sample {inherited} of rate {beta}; nothing was sampled again."
    if rows == 1:
        return f"Every person of the source table was kept with probability {beta}, independently, by secret coins."
    return (
        f"Of every person at most {rows} rows were taken, chosen by secret coins, and each of them was kept with"
        f" probability {beta}, independently. A row of the release is such a row, not a person."
    )


_DONE = """\
{drawn} The values were
replaced by the levels above, {levels}.
Persons whose combination of all values was shared by fewer than {k} persons of the sample were then left out. Neither
the size of the sample nor the number of those left out is published: the guarantee depends on that."""

_FIXED = "which were fixed before the data were seen"
_CHOSEN = "some of which were chosen from the data by a private selection"

_USE = """\
- Each row stands for {weight} persons. Estimate the number of persons in a cell that counts c rows as {weight} c.
- Its standard error from sampling is sqrt(c x {error}) / {beta}, if the cell's classes are all published.
- Suppression biases: combinations with fewer than {k} sampled persons are missing, so rare values are underestimated,
  totals are too small, and small groups may be absent although they exist. A missing combination does not mean that
  nobody has it. Shares among the published rows lean towards common combinations.
- Several releases of the same people hold samples of their own: their estimates may be averaged."""

_EXAMPLE = """\
The commonest value of each of the columns with the largest ones, as in `estimates.csv`: c rows estimate c / beta
persons, with standard error sqrt(c (1 - beta)) / beta. The last column is 1.96 standard errors to either side."""

_BIAS = """\
These intervals are about sampling alone. Suppressed rows are missing from every cell, so each estimate is too small by
what was suppressed of it, the estimates of a column add up to fewer persons than the source table has, and the true
number lies above the interval more often than below it. How many rows were suppressed is not published."""

_NOT = """\
Not promised: that nothing can be learnt about groups (a value that most persons of a class share is a fact about the
class, whether or not a given person took part); protection of several related persons at once beyond the factor that
their number brings; protection against other releases of the same people that were made outside this ledger."""
