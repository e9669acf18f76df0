"""The table of rules as HTML: each rule in words, with a bar of its figure against its limit."""

import html
from collections.abc import Iterable

from crowdgate.kind.rule_row import RuleBar, RuleRow

_SHAPE = 'aria-hidden="true" viewBox="0 0 100 10" preserveAspectRatio="none"'
HEADS = ("Outcome", "Rule", "Figure and limit", "Decided on", "Effect")


def rules_html(rows: Iterable[RuleRow]) -> str:
    """Return rules as a table of HTML, whose rows are cards where the page is narrow."""
    head = "".join(f'<th scope="col">{each}</th>' for each in HEADS)
    body = "".join(map(_row, rows))
    return f'<table class="rules"><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>\n'


def _row(row: RuleRow) -> str:
    notes = "".join(f'<span class="note">{html.escape(each)}</span>' for each in row.notes)
    label = f"{html.escape(row.label)} <code>{html.escape(row.code)}</code>{notes}"
    bar = "" if row.bar is None else _bar(row.bar, row.state)
    cells = (
        f'<td class="{row.state}" data-label="Outcome">{html.escape(row.outcome)}</td>'
        f'<th scope="row" data-label="Rule">{label}</th>'
        f'<td data-label="Figure and limit">{html.escape(row.figure)}{bar}</td>'
        f'<td data-label="Decided on">{html.escape(row.reads)}</td>'
        f'<td data-label="Effect">{html.escape(row.effect)}</td>'
    )
    return f"<tr>{cells}</tr>\n"


def _bar(bar: RuleBar, state: str) -> str:
    """Return a bar of the figure, with a line at its limit; the text beside it states both."""
    parts = (("room", 0.0, 100.0, 2), ("figure", 0.0, 100 * bar.figure, 2), ("limit", 100 * bar.limit - 0.4, 0.8, 0))
    drawn = "".join(
        f'<rect class="{name}" x="{left:.2f}" y="{top}" width="{width:.2f}" height="{10 - 2 * top}"/>'
        for name, left, width, top in parts
    )
    return f'<svg class="measure {state}" {_SHAPE}>{drawn}</svg>'
