"""What is written of a release of any kind: the manifest, and the curator's private record."""

from importlib.metadata import version
from typing import Any

from pipeline import manifest
from pipeline.contract import Contract
from pipeline.jobs.kinds import kind_of
from pipeline.jobs.plan import Plan
from pipeline.jobs.run import Counted, Judged, Run


def guarantee_lines(plan: Plan) -> list[str]:
    """The guarantee in words: total, parts, and the form for users who take the number of people as known."""
    return kind_of(plan).guarantee(plan)


def choice_lines(plan: Plan) -> list[str]:
    """What else a person should know of the plan, in words: which levels are chosen, or what the tables hold."""
    return kind_of(plan).choice(plan)


def seal(run: Run, judged: Judged, files: Any) -> bytes:
    """The manifest, from the digests of the files."""
    plan, policy, kind = run.plan, run.plan.bundle.policy, kind_of(run.plan)
    contract: Contract = plan.bundle.contract
    metadata = policy.metadata
    return manifest.canonical(
        manifest.statement(
            release={"id": run.id, "policy": metadata.name, "version": metadata.version, "slot": run.slot},
            policy_digest=plan.bundle.digest,
            contract={"id": contract.id, "version": contract.version, "population": contract.population},
            mechanism=kind.mechanism(plan, judged.candidate),
            guarantee=plan.guarantee,
            guarantee_words=" ".join(kind.guarantee(plan)),
            verdicts=judged.verdicts,
            data=kind.data(judged.candidate),
            files=files,
            key="injected" if judged.injected else "operating system",
            software={"crowdgate": version("crowdgate")},
        )
    )


def private(outcome: str, plan: Plan, counted: Counted, judged: Judged) -> dict[str, Any]:
    """The private record."""
    return {
        "outcome": outcome,
        "verdicts": [manifest.verdict_json(found) for found in judged.verdicts],
        "rules": [{"rule": rule.name, "kind": rule.kind, "passed": rule.passed} for rule in counted.rules],
        "facts": counted.facts,
        **kind_of(plan).private(plan, judged.candidate, counted.views),
    }
