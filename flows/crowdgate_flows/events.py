"""Events of a run as events of Prefect, beside the channels that crowdgate.toml names.

Their names are `crowdgate.KIND`, their resource is the policy, and their payload is the event as every channel has it.
"""

from contextlib import suppress

from prefect.events import emit_event
from prefect.exceptions import MissingContextError
from prefect.logging import get_run_logger

from crowdgate.errors import CrowdgateError
from crowdgate.kind.run import Request
from crowdgate.operations.event import Event, EventKind, new_event
from crowdgate.operations.observed_run import report_end, run_channels
from crowdgate.operations.run_events import RunEnd
from crowdgate.settings import EventChannels

RESOURCE = "crowdgate.policy"


def emit_end(request: Request | None, run: str, end: RunEnd) -> None:
    """Deliver the events of a run that ended. Raises nothing: the run has ended, whatever becomes of its events.

    Without a request, the parameters were refused: nothing that they name is read for an event.
    """
    if request is None:
        code = end.code if isinstance(end, CrowdgateError) else None
        with suppress(Exception):
            _emit(new_event(EventKind.REFUSED, run=run, code=code))
    else:
        report_end(request, run, end, _channels(request), _warn, _emit)


def _channels(request: Request) -> EventChannels:
    """Return the channels of a request; none if the settings are invalid, which refused the run itself."""
    try:
        return run_channels(request)
    except CrowdgateError:
        return EventChannels()


def _emit(event: Event) -> None:
    name = event.policy or "unknown"
    resource = {"prefect.resource.id": f"{RESOURCE}.{name}", "prefect.resource.name": name}
    emit_event(event=f"crowdgate.{event.kind}", resource=resource, payload=event.to_json())


def _warn(text: str) -> None:
    with suppress(MissingContextError):
        get_run_logger().warning(text)
