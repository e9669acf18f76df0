"""Deployments of policies in a schedule of Prefect's, each bound to its policy and to the policy's files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import yaml

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.planning.plan import bundle_of

if TYPE_CHECKING:
    from crowdgate.policy.files import Bundle

FLOW = "crowdgate_flows.release.release"
TOGETHER_FLOW = "crowdgate_flows.releases.releases"
CHECK_FLOW = "crowdgate_flows.check.check"
AUDIT_FLOW = "crowdgate_flows.audit.audit"
LEDGER_FLOW = "crowdgate_flows.ledger_check.ledger_check"
FROM_SCHEDULES = ".."
"""The working copy as seen from its folder `schedules`, where deployments are made."""
CRONS = {
    "day": "0 6 * * *",
    "week": "0 6 * * 1",
    "month": "0 6 1 * *",
    "quarter": "0 6 1 1,4,7,10 *",
    "half-year": "0 6 1 1,7 *",
    "year": "0 6 1 1 *",
}
"""The first morning of each period of a calendar, by the period."""
HEAD = """\
# In this folder:  prefect deploy --all
# Each deployment is bound to its policy's files as they were. After a change, review it and write this file anew.
# One run at a time for each population, whose runs draw on one budget. Set the limits of the work queues once:
#   prefect work-pool create {pool} --type process
"""
UNBOUND = "0" * 64
"""The digest of bundled schedules until `crowdgate init` writes that of the policy's files."""


@dataclass(frozen=True)
class OtherTimes:
    """The times (cron) of deployments beside those of releases; None for those that are not deployed.

    `check` and `audit` are deployed for each policy, `ledger` once for the working copy.
    """

    check: str | None = None
    audit: str | None = None
    ledger: str | None = None


_BOUND = re.compile(rf'(?<=policy: )(?P<policy>\S+)(?P<between>.*\n +policy_digest: "){UNBOUND}')


def schedule_entry(policy: Path, cron: str, timezone: str | None, pool: str) -> str:
    """Return the entry of a policy for the end of `schedules/prefect.yaml` of its working copy, as YAML.

    `timezone` is that of `cron`, by default that of the policy's calendar, or UTC. The digest is that of the policy's
    files now. Raises ConfigurationError for files that can't be read.
    """
    return _text([_entry(bundle_of(policy), policy, cron, timezone, pool)])


def deployments_file(
    policies: Sequence[Path],
    cron: str | None,
    timezone: str | None,
    pool: str,
    *,
    together: str | None = None,
    others: OtherTimes | None = None,
) -> str:
    """Return a whole file `schedules/prefect.yaml` with one deployment for each policy, or one of this name for all of
    them `together`, and with the `others`.

    Without `cron` each policy runs at six on the first day of each period of its calendar. Policies of one population
    share a work queue, whose limit of one run the head of the file says how to set. Raises ConfigurationError for files
    that can't be read, a policy without a calendar if no `cron` is given, two policies of one name, and policies
    together whose times differ.
    """
    bundles = {policy: bundle_of(policy) for policy in policies}
    names = [each.policy.metadata.name for each in bundles.values()]
    for policy, name in zip(bundles, names, strict=True):
        if names.count(name) > 1:
            raise _wrong(str(policy), f"the name {name!r} of another policy as well", "one policy of each name")
    entries = [_entry(each, policy, cron or _cron(each, policy), timezone, pool) for policy, each in bundles.items()]
    releases = entries if together is None else [_together(together, entries)]
    further = _others(entries, others or OtherTimes(), pool)
    queues = sorted({each.contract.population for each in bundles.values()})
    limits = "".join(f"#   prefect work-queue create {name} --pool {pool} --limit 1\n" for name in queues)
    return f"{HEAD.format(pool=pool)}{limits}name: crowdgate\ndeployments:\n{_text([*releases, *further])}"


def _together(name: str, entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one deployment for the policies of several. Its queue is theirs, if they have one population."""
    first, *rest = entries
    if any(each["schedules"] != first["schedules"] for each in rest):
        raise _wrong("--together", "policies whose calendars have other times", "--cron and --timezone for all of them")
    bound = [{key: each["parameters"][key] for key in ("policy", "policy_digest")} for each in entries]
    queues = {each["work_pool"]["work_queue_name"] for each in entries}
    pool = {key: value for key, value in first["work_pool"].items() if key != "work_queue_name" or len(queues) == 1}
    return first | {
        "name": name,
        "description": f"{len(entries)} policies for one slot, in one run. The worst of their ends is that of the run.",
        "tags": sorted({tag for each in entries for tag in each["tags"]}),
        "entrypoint": TOGETHER_FLOW,
        "parameters": {"working_copy": FROM_SCHEDULES, "policies": bound},
        "work_pool": pool,
    }


def _others(entries: Sequence[dict[str, Any]], times: OtherTimes, pool: str) -> Iterator[dict[str, Any]]:
    """Yield the deployments that release nothing. They charge nothing, so they wait in no population's queue."""
    flows = (("check", CHECK_FLOW, times.check), ("audit", AUDIT_FLOW, times.audit))
    for each in entries:
        for word, flow, cron in flows:
            if cron is not None:
                stated = {key: each["parameters"][key] for key in ("working_copy", "policy")}
                said = f"The {word} of the policy {each['name']}, which releases nothing."
                tags = ["crowdgate", word, each["tags"][-1]]
                yield _plain_entry(f"{each['name']}-{word}", said, tags, flow, stated, cron, pool)
    if times.ledger is not None:
        said = "The ledger against its journal, its keys and what is kept outside. It changes nothing."
        own = {"working_copy": FROM_SCHEDULES}
        yield _plain_entry("ledger-check", said, ["crowdgate", "ledger"], LEDGER_FLOW, own, times.ledger, pool)


def _plain_entry(
    name: str, description: str, tags: Sequence[str], flow: str, stated: dict[str, Any], cron: str, pool: str
) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "tags": [*tags],
        "entrypoint": flow,
        "parameters": stated,
        "schedules": [{"cron": cron, "timezone": "UTC"}],
        "concurrency_limit": 1,
        "work_pool": {"name": pool, "job_variables": {"env": {"DO_NOT_TRACK": "1"}}},
    }


def _entry(bundle: Bundle, policy: Path, cron: str, timezone: str | None, pool: str) -> dict[str, Any]:
    stated, calendar, population = bundle.policy.metadata, bundle.policy.spec.calendar, bundle.contract.population
    zone = timezone or ("UTC" if calendar is None else calendar.timezone)
    return {
        "name": stated.name,
        "description": _description(bundle),
        "tags": ["crowdgate", bundle.policy.spec.mechanism.kind, population],
        "entrypoint": FLOW,
        "parameters": {
            "working_copy": FROM_SCHEDULES,
            "policy": policy.resolve().relative_to(bundle.root).as_posix(),
            "policy_digest": bundle.digest,
        },
        "schedules": [{"cron": cron, "timezone": zone}],
        "concurrency_limit": 1,
        "work_pool": {
            "name": pool,
            "work_queue_name": population,
            "job_variables": {"env": {"DO_NOT_TRACK": "1"}},
        },
    }


def _description(bundle: Bundle) -> str:
    """Return what a deployment releases, who answers for it and which budget pays, in sentences."""
    stated = bundle.policy.metadata
    said = f"{stated.description.strip().rstrip('.')}. " if stated.description else ""
    paid = f"The lifetime budget of {bundle.contract.population} pays; crowdgate plan says what is left of it."
    return f"{said}Owner: {stated.owner}. {paid}"


def _cron(bundle: Bundle, policy: Path) -> str:
    calendar = bundle.policy.spec.calendar
    if calendar is None:
        raise _wrong("--cron", f"no time, and {policy} has no calendar", "--cron, or spec.calendar in each policy")
    return CRONS[calendar.every]


def _wrong(where: str, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, where, found, expected))


def _text(entries: Sequence[dict[str, Any]]) -> str:
    return indent(yaml.safe_dump([*entries], sort_keys=False, allow_unicode=True, width=1000), "  ")


def bind_schedules(root: Path) -> None:
    """Write into the schedules of a new working copy the digests of the policies that they name."""
    for file in (root / "schedules").glob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        file.write_text(_BOUND.sub(lambda found: _bound(root, found), text), encoding="utf-8")


def _bound(root: Path, found: re.Match[str]) -> str:
    return f"{found['policy']}{found['between']}{bundle_of(root / found['policy']).digest}"
