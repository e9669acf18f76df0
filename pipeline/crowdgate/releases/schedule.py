"""The entry of a policy in a schedule of Prefect's: a deployment that is bound to the policy and to its files."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

from crowdgate.planning.plan import bundle_of

FLOW = "crowdgate_flows.release.release"
FROM_SCHEDULES = ".."
"""The working copy as seen from its folder `schedules`, where deployments are made."""
UNBOUND = "0" * 64
"""The digest of bundled schedules until `crowdgate init` writes that of the policy's files."""
_BOUND = re.compile(rf'(?<=policy: )(?P<policy>\S+)(?P<between>.*\n +policy_digest: "){UNBOUND}')


def schedule_entry(policy: Path, cron: str, timezone: str | None, pool: str) -> str:
    """Return the entry of a policy for the end of `schedules/prefect.yaml` of its working copy, as YAML.

    `timezone` is that of `cron`, by default that of the policy's calendar, or UTC. The digest is that of the policy's
    files now. Raises ConfigurationError for files that can't be read.
    """
    bundle = bundle_of(policy)
    stated, calendar = bundle.policy.metadata, bundle.policy.spec.calendar
    zone = timezone or ("UTC" if calendar is None else calendar.timezone)
    entry: dict[str, Any] = {
        "name": stated.name,
        "entrypoint": FLOW,
        "parameters": {
            "working_copy": FROM_SCHEDULES,
            "policy": policy.resolve().relative_to(bundle.root).as_posix(),
            "policy_digest": bundle.digest,
        },
        "schedules": [{"cron": cron, "timezone": zone}],
        "concurrency_limit": 1,
        "work_pool": {"name": pool, "job_variables": {"env": {"DO_NOT_TRACK": "1"}}},
    }
    return indent(yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=1000), "  ")


def bind_schedules(root: Path) -> None:
    """Write into the schedules of a new working copy the digests of the policies that they name."""
    for file in (root / "schedules").glob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        file.write_text(_BOUND.sub(lambda found: _bound(root, found), text), encoding="utf-8")


def _bound(root: Path, found: re.Match[str]) -> str:
    return f"{found['policy']}{found['between']}{bundle_of(root / found['policy']).digest}"
