"""A run whose end is delivered as events, whatever the end is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from crowdgate.errors import CrowdgateError
from crowdgate.kind.run import Request, Result
from crowdgate.operations.channels import deliver
from crowdgate.operations.event import Event
from crowdgate.operations.metrics import write_metrics
from crowdgate.operations.run_events import RunEnd, run_events
from crowdgate.policy.files import working_copy
from crowdgate.releases.dry_run import DryRun
from crowdgate.settings import EventChannels, event_channels

R = TypeVar("R", Result, DryRun | None)
Report = Callable[[str], None]
"""A callback with a sentence about an event or about metrics that could not be delivered."""

Further = Callable[[Event], None]
"""A channel beside those of crowdgate.toml."""


def observed_run(request: Request, run: str, work: Callable[[], R], report: Report) -> R:
    """Return the result of `work`, the run of a request, after its end was delivered. `run` is its id (UUID).

    Settings of channels that are invalid refuse the run before it begins. Raises what `work` raises.
    """
    channels = run_channels(request)
    if channels == EventChannels():
        return work()
    end: RunEnd | None = CrowdgateError()  # a fault, unless something else is known
    try:
        found = end = work()
    except CrowdgateError as error:
        end = error
        raise
    finally:
        if end is not None:  # the policy states no dry-run, so the release itself follows
            report_end(request, run, end, channels, report)
    return found


def run_channels(request: Request) -> EventChannels:
    """Return the channels of the working copy of a request; none if the policy is in no working copy, which the run
    itself reports. Raises ConfigurationError for invalid settings.
    """
    try:
        root = working_copy(request.policy)
    except CrowdgateError:
        return EventChannels()
    return event_channels(root)


def report_end(
    request: Request, run: str, end: RunEnd, channels: EventChannels, report: Report, further: Further | None = None
) -> None:
    """Deliver the events of a run's end, also to a `further` channel, and write the metrics anew. Raises nothing."""
    try:
        events = run_events(request, run, end)
        if further is not None:
            for event in events:
                further(event)
        for said in deliver(events, channels):
            report(said)
        if channels.metrics is not None:
            write_metrics(working_copy(request.policy), request.ledger, Path(channels.metrics))
    except Exception as error:  # the run has ended: only its report failed
        report(f"the events or metrics of this run are not complete ({type(error).__name__})")
