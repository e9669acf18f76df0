"""The README of a release: for the people who use the data."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from pipeline.gate import Verdict
from pipeline.hierarchy import Level


def release_page(
    *,
    title: str,
    description: str,
    owner: str,
    release_id: str,
    attribution: str,
    levels: Mapping[str, Level],
    beta: Fraction,
    k: int,
    guarantee: Iterable[str],
    verdicts: Iterable[Verdict],
    formats: Iterable[str],
) -> str:
    """Markdown: what the files hold, how to use them, what suppression biases, what is and is not protected."""
    weight = float(1 / beta)
    numbers: dict[str, Any] = {"beta": f"{float(beta):g}", "k": k, "weight": f"{weight:g}"}
    lines = [
        f"# {title}",
        "",
        *([description, ""] if description else []),
        f"Release {release_id}. Responsible: {owner}.{attribution}",
        "",
        "## Files",
        "",
        *(
            f"- `data.{name}`: one line per person in the release, in sorted order; the order means nothing."
            for name in formats
        ),
        "- `dictionary.csv`: every column with every value it may hold, whether or not it occurs.",
        "- `manifest.json`: what was done, with which guarantee, and the digests of these files.",
        "",
        "## Columns",
        "",
        "| column | level | values |",
        "|---|---|---|",
        *(f"| {_cell(name)} | {_cell(level.name)} | {len(level)} |" for name, level in levels.items()),
        "",
        "## What was done",
        "",
        _DONE.format(**numbers),
        "",
        "## How to use it",
        "",
        _USE.format(**numbers, error=f"{float(1 - beta):g}"),
        "",
        "## What is promised",
        "",
        *guarantee,
        "",
        _NOT,
        "",
        "## Gates",
        "",
        "| gate | outcome | measured |",
        "|---|---|---|",
        *(f"| {_cell(found.gate)} | {found.outcome} | {_cell(found.reason)} |" for found in verdicts if found.public),
        "",
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Text for a Markdown table: column names may hold bars and line ends."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())


_DONE = """\
Every person of the source table was kept with probability {beta}, independently, by secret coins. The values were
replaced by the levels above, which were fixed before the data were seen. Persons whose combination of all values was
shared by fewer than {k} persons of the sample were then left out. Neither the size of the sample nor the number of
those left out is published: the guarantee depends on that."""

_USE = """\
- Each row stands for {weight} persons. Estimate the number of persons in a cell that counts c rows as {weight} c.
- Its standard error from sampling is sqrt(c x {error}) / {beta}, if the cell's classes are all published.
- Suppression biases: combinations with fewer than {k} sampled persons are missing, so rare values are underestimated,
  totals are too small, and small groups may be absent although they exist. A missing combination does not mean that
  nobody has it. Shares among the published rows lean towards common combinations.
- Several releases of the same people hold samples of their own: their estimates may be averaged."""

_NOT = """\
Not promised: that nothing can be learnt about groups (a value that most persons of a class share is a fact about the
class, whether or not a given person took part); protection of several related persons at once beyond the factor that
their number brings; protection against other releases of the same people that were made outside this ledger."""
