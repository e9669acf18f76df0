"""Names of flow runs, by which operators find them in Prefect's lists: what a run is about, and its day."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from prefect.runtime import flow_run

LONGEST = 60
"""The greatest number of characters of the part before the day."""


def run_name() -> str:
    """Return the name of the current flow run: its policy, or the number of its policies, and its slot, or without one
    the day (UTC) for which it was scheduled: `census_income 2030-01-01`."""
    stated: Mapping[str, Any] = flow_run.parameters or {}
    return f"{_about(stated)[:LONGEST]} {stated.get('as_of') or scheduled().astimezone(UTC).date().isoformat()}"


def scheduled() -> datetime:
    """Return the moment for which the current run was scheduled."""
    moment: datetime | None = flow_run.scheduled_start_time
    return moment or datetime.now(UTC)


def _about(stated: Mapping[str, Any]) -> str:
    if stated.get("policies"):
        return f"{len(stated['policies'])} policies"
    if stated.get("policy"):
        return PurePath(stated["policy"]).stem
    return str(flow_run.flow_name)
