"""The end of a run as run events of OpenLineage (https://openlineage.io/spec/2-0-2/OpenLineage.json), as plain JSON.

The specification asks for a START event and a terminal event; both are sent when the run has ended. The table's
contract is the input, the release the output. Both times are the beginning of the day, since no duration of a run may
show.
"""

from typing import Any

from crowdgate.operations.event import FORM, Event, EventKind

PRODUCER = "urn:crowdgate"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
NAMESPACE = "crowdgate"
TYPES = {
    EventKind.PUBLISHED: "COMPLETE",
    EventKind.WITHHELD: "ABORT",
    EventKind.HELD: "ABORT",
    EventKind.WAITING: "ABORT",
    EventKind.DRY_RUN: "ABORT",
    EventKind.REFUSED: "FAIL",
    EventKind.CRASHED: "FAIL",
}
"""The type of the run event for each end of a run. Other events are no ends, and have none."""


def lineage_events(event: Event) -> list[dict[str, Any]]:
    """Return the OpenLineage events of a run's end; none for other events and for a run of no known policy."""
    if event.kind not in TYPES or event.run is None or event.policy is None:
        return []
    return [_run_event(event, event.policy, "START"), _run_event(event, event.policy, TYPES[event.kind])]


def _run_event(event: Event, policy: str, word: str) -> dict[str, Any]:
    published = word == "COMPLETE"
    return {
        "eventType": word,
        "eventTime": f"{event.day}T00:00:00Z",
        "producer": PRODUCER,
        "schemaURL": SCHEMA,
        "run": {
            "runId": event.run,
            "facets": {"crowdgate_event": {"_producer": PRODUCER, "_schemaURL": FORM, **event.to_json()}},
        },
        "job": {"namespace": NAMESPACE, "name": policy},
        "inputs": [_dataset(event.contract)] if event.contract else [],
        "outputs": [_dataset(event.release)] if published and event.release else [],
    }


def _dataset(name: str) -> dict[str, str]:
    return {"namespace": NAMESPACE, "name": name}
