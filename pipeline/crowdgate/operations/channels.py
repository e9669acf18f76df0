"""Delivery of events to what crowdgate.toml names. A failure changes the outcome of no run: it is reported."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from crowdgate.errors import CrowdgateError
from crowdgate.operations.event import Event
from crowdgate.operations.openlineage import lineage_events
from crowdgate.operations.post import post_json
from crowdgate.settings import STANDARD_ERROR, EventChannels
from crowdgate.system import permissions
from crowdgate.system.regular_files import is_url

Send = Callable[[Event], str | None]
"""Function that delivers an event and returns None, or the reason why it was not delivered, in a few words."""


def deliver(events: Sequence[Event], channels: EventChannels) -> list[str]:
    """Deliver events to every channel. Return a sentence for each that did not reach a channel. Raises nothing."""
    return [said for setting, send in _senders(channels) for event in events for said in _attempt(setting, send, event)]


def _senders(channels: EventChannels) -> Iterator[tuple[str, Send]]:
    log, webhook, lineage = channels.log, channels.webhook, channels.openlineage
    if log is not None:
        yield "event_log", lambda event: append_line(log, event.to_json())
    if webhook is not None:
        yield "event_webhook", lambda event: post_json(webhook, event.to_json())
    if lineage is not None:
        yield "event_openlineage", lambda event: _lineage(lineage, event)


def _attempt(setting: str, send: Send, event: Event) -> Iterator[str]:
    try:
        trouble = send(event)
    except (OSError, CrowdgateError) as error:
        trouble = getattr(error, "strerror", None) or type(error).__name__
    except Exception as error:  # whatever it is, the run has ended
        trouble = f"a fault in crowdgate itself: {type(error).__name__}"
    if trouble is not None:
        yield f"the event {event.kind} was not delivered to {setting}: {trouble}"


def _lineage(place: str, event: Event) -> str | None:
    send = post_json if is_url(place) else append_line
    sent = (send(place, each) for each in lineage_events(event))
    return next((trouble for trouble in sent if trouble is not None), None)


def append_line(place: str, content: dict[str, Any]) -> str | None:
    """Append one line of JSON to a file in a single write, or print it on standard error. Return None, or the reason
    why the line is incomplete. Raises OSError.
    """
    line = json.dumps(content, ensure_ascii=False) + "\n"
    if place == STANDARD_ERROR:
        print(line, end="", file=sys.stderr, flush=True)
        return None
    handle = permissions.open_file(Path(place), os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK, permissions.EVENT_LOG)
    try:
        whole = os.write(handle, line.encode()) == len(line.encode())
    finally:
        os.close(handle)
    return None if whole else "the line is incomplete"
