"""What is written of a release: the files for everybody, the manifest, and the curator's private record."""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipeline import manifest
from pipeline.contract import Contract
from pipeline.histogram import Histogram
from pipeline.io.release_files import WRITERS, write_dictionary, write_estimates
from pipeline.jobs.plan import Plan
from pipeline.jobs.run import Counted, Judged, Run
from pipeline.jobs.utility import utility
from pipeline.measures.estimates import Estimate, estimates, largest
from pipeline.mechanisms import SafeK
from pipeline.report.release_page import release_page


def writers(run: Run, judged: Judged) -> dict[str, Callable[[Path], None]]:
    levels, output = judged.candidate.static.levels, judged.candidate.output
    spec, contract = run.plan.bundle.policy.spec, run.plan.bundle.contract
    attributes = [(contract.by_name[name], level) for name, level in levels.items()]
    found = estimates(output, levels, run.plan.mechanism.beta, levels)
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
        attribution="",
        levels=judged.candidate.static.levels,
        choice=choice_lines(plan),
        beta=plan.mechanism.beta,
        k=plan.mechanism.k,
        guarantee=guarantee_lines(plan),
        verdicts=judged.verdicts,
        formats=policy.spec.publish.formats,
        examples=examples,
    )


def guarantee_lines(plan: Plan) -> list[str]:
    """The guarantee in words: total, parts, and the form for users who take the number of people as known."""
    return manifest.guarantee_words(plan.guarantee, plan.mechanism.beta, plan.mechanism.rows)


def choice_lines(plan: Plan) -> list[str]:
    """Which levels are chosen from data and at what price, in words; nothing when all are fixed."""
    choice = plan.mechanism.choice
    return [] if choice is None else [choice.words()]


def seal(run: Run, judged: Judged, files: Any) -> bytes:
    plan, policy, output = run.plan, run.plan.bundle.policy, judged.candidate.output
    contract: Contract = plan.bundle.contract
    metadata = policy.metadata
    return manifest.canonical(
        manifest.statement(
            release={"id": run.id, "policy": metadata.name, "version": metadata.version, "slot": run.slot},
            policy_digest=plan.bundle.digest,
            contract={"id": contract.id, "version": contract.version, "population": contract.population},
            mechanism=plan.mechanism.parameters(judged.candidate.static.levels),
            guarantee=plan.guarantee,
            guarantee_words=" ".join(guarantee_lines(plan)),
            verdicts=judged.verdicts,
            columns=[
                {"name": name, "level": level.name, "values": len(level)}
                for name, level in judged.candidate.static.levels.items()
            ],
            rows=output.rows,
            classes=len(output),
            files=files,
            key="injected" if judged.injected else "operating system",
            software={"crowdgate": version("crowdgate")},
        )
    )


def private(outcome: str, counted: Counted, judged: Judged, mechanism: SafeK) -> dict[str, Any]:
    confidential = judged.candidate.confidential
    return {
        "outcome": outcome,
        "verdicts": [manifest.verdict_json(found) for found in judged.verdicts],
        "rules": [{"rule": rule.name, "kind": rule.kind, "passed": rule.passed} for rule in counted.rules],
        "facts": counted.facts,
        "rows": {"table": confidential.full.rows, "sample": confidential.sample.rows},
        "utility": _utility(judged, mechanism),
    }


def _utility(judged: Judged, mechanism: SafeK) -> dict[str, Any]:
    """Figures for the curator; a fault in them must not decide how a release ends, which everybody sees."""
    try:
        return utility(judged.candidate, mechanism)
    except Exception as fault:
        return {"fault": type(fault).__name__}
