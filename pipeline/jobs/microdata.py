"""A release of microdata: rows at levels, sampled, with the classes of fewer than k rows left out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline import manifest
from pipeline.candidate import Candidate, Confidential
from pipeline.histogram import Histogram, Records, scan
from pipeline.io.release_files import WRITERS, write_dictionary, write_estimates
from pipeline.jobs.plan import Plan
from pipeline.jobs.run import Coins, Judged, Reserved, Run, Sources
from pipeline.jobs.utility import utility
from pipeline.measures.estimates import Estimate, estimates, largest
from pipeline.mechanisms import SafeK
from pipeline.report.release_page import release_page

VIEW = "release"


def columns(safe: SafeK) -> Iterable[str]:
    """What is read: the class key."""
    return safe.levels


def count(safe: SafeK, batches: Iterable[Records], _: Coins) -> Mapping[str, Histogram]:
    """The table at the released levels, or at the finest candidates."""
    return scan(batches, {VIEW: safe.view})


def protect(reserved: Reserved, views: Mapping[str, Histogram], coins: Coins, sources: Sources) -> Candidate:
    """Choose the levels if they are open, sample with fresh coins, suppress."""
    safe = _safe(reserved.run.plan)
    protected = safe.protect(views[VIEW], safe.thinning(coins(0)), sources.select)
    static = replace(reserved.static, levels=protected.levels)
    return Candidate(static, protected.output, Confidential(protected.full, protected.sample), sources.noise)


def _safe(plan: Plan) -> SafeK:
    assert isinstance(plan.mechanism, SafeK)
    return plan.mechanism


def _candidate(judged: Judged) -> Candidate:
    assert isinstance(judged.candidate, Candidate)
    return judged.candidate


def writers(run: Run, judged: Judged) -> dict[str, Callable[[Path], None]]:
    """The published files."""
    levels, output = judged.candidate.static.levels, _candidate(judged).output
    spec, contract = run.plan.bundle.policy.spec, run.plan.bundle.contract
    attributes = [(contract.by_name[name], level) for name, level in levels.items()]
    found = estimates(output, levels, _safe(run.plan).beta, levels)
    page = _page(run, judged, largest(found))
    data = {f"data.{name}": _writer(WRITERS[name], output, levels) for name in spec.publish.formats}
    return {
        **data,
        "dictionary.csv": lambda path: write_dictionary(attributes, path),
        "estimates.csv": lambda path: write_estimates(found, path),
        "README.md": lambda path: _write_text(path, page),
    }


def _writer(write: Any, output: Histogram, levels: Any) -> Callable[[Path], None]:
    return lambda path: write(output, levels, path)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _page(run: Run, judged: Judged, examples: Sequence[Estimate]) -> str:
    plan, policy = run.plan, run.plan.bundle.policy
    return release_page(
        title=policy.metadata.name,
        description=policy.metadata.description,
        owner=policy.metadata.owner,
        release_id=run.id,
        levels=judged.candidate.static.levels,
        choice=choice_lines(plan),
        beta=_safe(plan).beta,
        k=_safe(plan).k,
        rows=_safe(plan).rows,
        inherited=_safe(plan).inherited,
        guarantee=guarantee_lines(plan),
        verdicts=judged.verdicts,
        formats=policy.spec.publish.formats,
        examples=examples,
    )


def guarantee_lines(plan: Plan) -> list[str]:
    """The guarantee in words: total, parts, and the form for users who take the number of people as known."""
    return manifest.guarantee_words(plan.guarantee, _safe(plan).beta, _safe(plan).rows)


def choice_lines(plan: Plan) -> list[str]:
    """Which levels are chosen from data and at what price, in words; nothing when all are fixed."""
    choice = _safe(plan).choice
    return [] if choice is None else [choice.words()]


def mechanism(plan: Plan, candidate: Candidate) -> dict[str, Any]:
    """What the manifest says of the mechanism, with the released levels."""
    return _safe(plan).parameters(candidate.static.levels)


def data(candidate: Candidate) -> dict[str, Any]:
    """What the manifest says of the files: columns, rows, classes."""
    levels, output = candidate.static.levels, candidate.output
    columns = [{"name": name, "level": level.name, "values": len(level)} for name, level in levels.items()]
    return {"columns": columns, "rows": output.rows, "classes": len(output)}


def private(plan: Plan, candidate: Candidate, _: Mapping[str, Histogram]) -> dict[str, Any]:
    """What the curator may know: rows, and what the release is worth."""
    confidential = candidate.confidential
    rows = {"table": confidential.full.rows, "sample": confidential.sample.rows}
    return {"rows": rows, "utility": _utility(candidate, _safe(plan))}


def _utility(candidate: Candidate, safe: SafeK) -> dict[str, Any]:
    """Figures for the curator; a fault in them must not decide how a release ends, which everybody sees."""
    try:
        return utility(candidate, safe)
    except Exception as fault:
        return {"fault": type(fault).__name__}
