"""A policy's outlook as one HTML page: the guarantee, its price, and the trade-off as a table and a chart."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jinja2

from pipeline.errors import ConfigurationError, Problem


def plan_page(title: str, guarantee: Iterable[str], outlook: Mapping[str, Any]) -> str:
    """A page without links or scripts. `outlook` is the object that `crowdgate plan --json` prints.

    Raises ConfigurationError when the extra that draws charts is not installed.
    """
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(_TEMPLATE)
    return template.render(title=title, guarantee=list(guarantee), outlook=outlook, chart=_chart(outlook["trade_offs"]))


def _chart(rows: Sequence[Mapping[str, Any]]) -> str:
    """Least k by sampling rate, a line per epsilon: whole for the exact bound, dashed for Theorem 5."""
    figure, axes = _figure()
    for number, epsilon in enumerate(sorted({row["epsilon"] for row in rows})):
        line = [row for row in rows if row["epsilon"] == epsilon]
        known = [row for row in line if row["theorem5"] is not None]
        colour = f"C{number}"
        axes.plot([r["beta"] for r in line], [r["exact"] for r in line], color=colour, marker=".", label=f"{epsilon:g}")
        axes.plot([r["beta"] for r in known], [r["theorem5"] for r in known], color=colour, linestyle="--")
    axes.set_yscale("log")
    axes.set_xlabel("sampling rate beta")
    axes.set_ylabel("least class size k")
    axes.legend(title="epsilon")
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


_TEMPLATE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Plan of {{ title }}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0 } td, th { padding: .2rem .8rem; border-bottom: 1px solid #ccc }
td.n, th.n { text-align: right } caption { text-align: left; font-weight: bold } svg { max-width: 100%; height: auto }
</style></head><body>
<h1>Plan of {{ title }}</h1>
{% for line in guarantee %}<p>{{ line }}</p>
{% endfor %}
<p>Mechanism {{ outlook.mechanism.kind }}: sampling rate {{ outlook.mechanism.beta }}, classes below
{{ outlook.mechanism.k }} are suppressed. The exact delta at this k is {{ "%.3g"|format(outlook.exact_delta) }}. The
least k is {{ outlook.least_k.exact }}; Theorem 5 of Li, Qardaji and Su (2012) asks for
{{ outlook.least_k.theorem5 if outlook.least_k.theorem5 is not none else "a larger epsilon" }}.</p>
<h2>Singling out</h2>
<p>People times delta is {{ "%.3g"|format(outlook.people_times_delta) }}: where it is near 1, the bound on singling out
says nothing, whatever epsilon is. The budget allows {{ outlook.releases_in_budget }} such releases for life.</p>
<table><caption>Success of predicate singling out at weight 1e-9</caption>
<tr><th class="n">after release</th><th class="n">at most</th></tr>
{% for bound in outlook.pso_bound_after_release %}<tr><td class="n">{{ loop.index }}</td>
<td class="n">{{ "%.3g"|format(bound) }}</td></tr>
{% endfor %}</table>
<h2>Trade-off</h2>
<p>The least k at this delta. Whole lines: exact. Dashed: Theorem 5, which needs epsilon of at least -ln(1 - beta).</p>
{{ chart|safe }}
<table><tr><th class="n">epsilon</th><th class="n">beta</th><th class="n">exact k</th>
<th class="n">Theorem 5</th></tr>
{% for row in outlook.trade_offs %}<tr><td class="n">{{ "%g"|format(row.epsilon) }}</td>
<td class="n">{{ "%g"|format(row.beta) }}</td><td class="n">{{ row.exact }}</td>
<td class="n">{{ row.theorem5 if row.theorem5 is not none else "none" }}</td></tr>
{% endfor %}</table>
<h2>How much stays</h2>
{% if outlook.expected_kept_share %}
<p>Expected from the contract's public margins, as if attributes were independent; related attributes keep more.</p>
<table><tr><th>levels</th><th class="n">classes</th><th class="n">kept share</th></tr>
{% macro row(kept, name) %}<tr><td>{{ name }}{% for attribute, level in kept.levels.items() %}
{{ attribute }}: {{ level }}{{ "," if not loop.last }}{% endfor %}</td><td class="n">{{ kept.classes }}</td>
<td class="n">{{ "%.3f"|format(kept.share) }}</td></tr>{% endmacro %}
{{ row(outlook.expected_kept_share, "As planned: ") }}
{% if outlook.recommended %}{{ row(outlook.recommended, "Recommended: ") }}{% endif %}
{% for kept in outlook.one_level_away %}{{ row(kept, "") }}
{% endfor %}</table>
{% else %}<p>The contract has no public margins for all released attributes, so nothing is expected.</p>{% endif %}
</body></html>
"""
