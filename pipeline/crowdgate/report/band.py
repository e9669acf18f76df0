"""The band at the top of a page, as Markdown and as HTML."""

import html
from collections.abc import Iterator
from fractions import Fraction

from crowdgate.kind.band import Band, BudgetShares
from crowdgate.number_text import Rounding, decimal
from crowdgate.report import paragraph_text

LEGEND = (("before", "spent before"), ("this", "this release"), ("left", "left after it"))
"""The parts of the bar of a budget, in order, with their names."""
NEARLY_ALL = Fraction(999, 1000)
"""The share of a budget above which three digits would round up to all of it."""
ALREADY = (("before", "spent"), ("left", "left"))
"""The parts of the bar where nothing is charged."""


def band_markdown(band: Band) -> str:
    """Return a band as Markdown: the title, then the outcome, the facts, and the next step."""
    facts = [f"- {paragraph_text(name)}: {paragraph_text(text)}" for name, text in _all_facts(band)]
    head = [f"**{paragraph_text(band.outcome)}.**"] if band.outcome else []
    parts = [f"# {paragraph_text(band.title)}", *head]
    return "\n\n".join([*parts, *([paragraph_text(band.subtitle)] if band.subtitle else []), "\n".join(facts)]).rstrip()


def band_html(band: Band) -> str:
    """Return a band as HTML, with the bar of its budget."""
    outcome = f'<p class="outcome" data-fact="outcome">{html.escape(band.outcome)}</p>\n' if band.outcome else ""
    subtitle = f'<p class="subtitle">{html.escape(band.subtitle)}</p>\n' if band.subtitle else ""
    step = (
        f'<p class="next" data-fact="next"><strong>Next step:</strong> {html.escape(band.next)}</p>\n'
        if band.next
        else ""
    )
    return (
        f'<div class="band {band.tone}">\n{outcome}<h1>{html.escape(band.title)}</h1>\n{subtitle}{step}'
        f"{_budget(band)}{_facts(band)}</div>\n"
    )


def _all_facts(band: Band) -> Iterator[tuple[str, str]]:
    yield from (("Next step", band.next),) if band.next else ()
    yield from (("Privacy cost", band.cost),) if band.cost else ()
    yield from (("Budget left", band.left),) if band.left else ()
    yield from band.facts


def _budget(band: Band) -> str:
    cost, left = _named("cost", "Privacy cost", band.cost), _named("left", "Budget left", band.left)
    bar = "" if band.shares is None else _bar(band.shares)
    return f'<div class="budget">\n{cost}{left}{bar}</div>\n' if cost or left or bar else ""


def _named(fact: str, name: str, text: str) -> str:
    """Return a text of the band as a paragraph after its name; empty without a text."""
    return f'<p data-fact="{fact}"><strong>{name}:</strong> {html.escape(text)}</p>\n' if text else ""


def _bar(shares: BudgetShares) -> str:
    """Return the bar of a budget: spent before, this release, left."""
    legend = LEGEND if shares.this else ALREADY
    texts = {name: f"{words} {_percent(getattr(shares, name), name)}" for name, words in legend}
    told = ", ".join(texts.values())
    parts, at = [], 0.0
    for name, _ in legend:
        width = 100 * float(min(1, getattr(shares, name)))
        parts.append(f'<rect class="{name}" x="{at:.2f}" y="0" width="{width:.2f}" height="10"/>')
        at += width
    names = "".join(f'<li class="{name}">{text}</li>' for name, text in texts.items())
    amount = f"{shares.amount[:1].upper()}{shares.amount[1:]}"
    alt = html.escape(f"Lifetime budget of {shares.amount}: {told}.")
    return (
        f'<svg class="bar" role="img" aria-label="{alt}" viewBox="0 0 100 10" preserveAspectRatio="none">'
        f'{"".join(parts)}</svg>\n<ul class="legend"><li>{html.escape(amount)}:</li>{names}</ul>\n'
    )


def _percent(share: Fraction, name: str) -> str:
    """Return a share of the budget: what is left rounded down, what is spent rounded up, but not to all of it."""
    if NEARLY_ALL < share < 1 and name != "left":
        return f"more than {decimal(100 * NEARLY_ALL)} %"
    return f"{decimal(100 * share, 3, Rounding.DOWN if name == 'left' else Rounding.UP)} %"


def _facts(band: Band) -> str:
    if not band.facts:
        return ""
    items = "".join(
        f'<div><dt>{html.escape(name)}</dt><dd data-fact="{html.escape(name.lower())}">{html.escape(text)}</dd></div>'
        for name, text in band.facts
    )
    return f'<dl class="facts">{items}</dl>\n'
