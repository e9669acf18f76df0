"""What is written of a release: the files for everybody, the manifest, and the curator's private record."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipeline import manifest
from pipeline.contract import Contract
from pipeline.histogram import Histogram
from pipeline.io.release_files import WRITERS, write_dictionary
from pipeline.jobs.plan import Plan
from pipeline.jobs.run import Counted, Judged, Run
from pipeline.report.release_page import release_page


def writers(run: Run, judged: Judged) -> dict[str, Callable[[Path], None]]:
    levels, output = run.plan.mechanism.levels, judged.candidate.output
    spec, contract = run.plan.bundle.policy.spec, run.plan.bundle.contract
    attributes = [(contract.by_name[name], level) for name, level in levels.items()]
    page = _page(run, judged)
    data = {f"data.{name}": _writer(WRITERS[name], output, levels) for name in spec.publish.formats}
    return {
        **data,
        "dictionary.csv": lambda path: write_dictionary(attributes, path),
        "README.md": lambda path: _write_text(path, page),
    }


def _writer(write: Any, output: Histogram, levels: Any) -> Callable[[Path], None]:
    return lambda path: write(output, levels, path)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _page(run: Run, judged: Judged) -> str:
    plan, policy = run.plan, run.plan.bundle.policy
    return release_page(
        title=policy.metadata.name,
        description=policy.metadata.description,
        owner=policy.metadata.owner,
        release_id=run.id,
        attribution="",
        levels=plan.mechanism.levels,
        beta=plan.mechanism.beta,
        k=plan.mechanism.k,
        guarantee=guarantee_lines(plan),
        verdicts=judged.verdicts,
        formats=policy.spec.publish.formats,
    )


def guarantee_lines(plan: Plan) -> list[str]:
    """The guarantee in words: total, parts, and the form for users who take the number of people as known."""
    return manifest.guarantee_words(plan.guarantee, plan.mechanism.beta)


def seal(run: Run, judged: Judged, files: Any) -> bytes:
    plan, policy, output = run.plan, run.plan.bundle.policy, judged.candidate.output
    contract: Contract = plan.bundle.contract
    metadata = policy.metadata
    return manifest.canonical(
        manifest.statement(
            release={"id": run.id, "policy": metadata.name, "version": metadata.version, "slot": run.slot},
            policy_digest=plan.bundle.digest,
            contract={"id": contract.id, "version": contract.version, "population": contract.population},
            mechanism=plan.mechanism.parameters(),
            guarantee=plan.guarantee,
            guarantee_words=" ".join(guarantee_lines(plan)),
            verdicts=judged.verdicts,
            columns=[
                {"name": name, "level": level.name, "values": len(level)}
                for name, level in plan.mechanism.levels.items()
            ],
            rows=output.rows,
            classes=len(output),
            files=files,
            key="injected" if judged.injected else "operating system",
            software={"crowdgate": version("crowdgate")},
        )
    )


def private(outcome: str, counted: Counted, judged: Judged) -> dict[str, Any]:
    confidential = judged.candidate.confidential
    return {
        "outcome": outcome,
        "verdicts": [manifest.verdict_json(found) for found in judged.verdicts],
        "rules": [{"rule": rule.name, "kind": rule.kind, "passed": rule.passed} for rule in counted.rules],
        "facts": counted.facts,
        "rows": {"table": confidential.full.rows, "sample": confidential.sample.rows},
    }
