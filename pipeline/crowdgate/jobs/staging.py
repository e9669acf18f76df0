"""What is written of a release of any kind: its files, the manifest, and the curator's private record."""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from crowdgate import manifest, report
from crowdgate.contracts.contract import Contract
from crowdgate.formats import FORMATS
from crowdgate.kind.kind import Writer
from crowdgate.kind.run import Counted, Judged, Run

README = "README.md"


def writers(run: Run, judged: Judged) -> dict[str, Writer]:
    """The published files: what the kind makes in the policy's formats, and the README."""
    bundle, protected = run.plan.bundle, judged.protected
    formats = {name: FORMATS[name] for name in bundle.policy.spec.publish.formats}
    page = readme(run, judged)
    return {**protected.files(bundle.contract, formats), README: lambda path: _write(page, path)}


def readme(run: Run, judged: Judged) -> str:
    """The README of a release, for the people who use it."""
    page, policy = judged.protected.page(), run.plan.bundle.policy
    values = {
        "title": policy.metadata.name,
        "description": policy.metadata.description,
        "owner": policy.metadata.owner,
        "release_id": run.id,
        "formats": policy.spec.publish.formats,
        "guarantee": run.plan.promise(),
        "verdicts": [found for found in judged.verdicts if found.public],
    }
    return report.markdown(page.template, {**values, **page.values})


def _write(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def seal(run: Run, judged: Judged, files: Mapping[str, str]) -> bytes:
    """The manifest, from the digests of the files."""
    plan, metadata = run.plan, run.plan.bundle.policy.metadata
    contract: Contract = plan.bundle.contract
    return manifest.canonical(
        manifest.statement(
            release={"id": run.id, "policy": metadata.name, "version": metadata.version, "slot": run.slot},
            policy_digest=plan.bundle.digest,
            contract={"id": contract.id, "version": contract.version, "population": contract.population},
            mechanism=judged.protected.mechanism(),
            guarantee=plan.guarantee,
            guarantee_words=" ".join(plan.promise()),
            verdicts=judged.verdicts,
            data=judged.protected.data(),
            files=files,
            key="injected" if judged.injected else "operating system",
            software={"crowdgate": version("crowdgate")},
        )
    )


def private(outcome: str, found: Counted, judged: Judged) -> dict[str, Any]:
    """The private record."""
    return {
        "outcome": outcome,
        "verdicts": [manifest.verdict_json(each) for each in judged.verdicts],
        "rules": [{"rule": rule.name, "kind": rule.kind, "passed": rule.passed} for rule in found.rules],
        "facts": found.facts,
        **{name: _figures(make) for name, make in judged.protected.private(found.views).items()},
    }


def _figures(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Figures for the curator; a fault in them must not decide how a release ends, which everybody sees."""
    try:
        return make()
    except Exception as fault:
        return {"fault": type(fault).__name__}
