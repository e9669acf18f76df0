"""Writes of objects in which other runs may interfere: put once, or replaced on condition that no other run has."""

from crowdgate.errors import EnvironmentFault
from crowdgate.limits import LARGEST_ENVELOPE
from crowdgate.publish.object_store import ObjectStore, StoredObject, TooLarge

ATTEMPTS = 20


def put_or_read(store: ObjectStore, name: str, data: bytes, most: int) -> StoredObject | None:
    """Put an object on condition that none has its name; return None, or the one that has. Raises EnvironmentFault for
    one that comes and goes, as TooLarge for one of more than `most` bytes.
    """
    for _ in range(ATTEMPTS):
        if store.put_new(name, data):
            return None
        there = store.read(name, most)
        if there is not None:  # S3 also refuses a put while another request on the name is under way
            return there
    raise busy_fault(store, name)


def put_same(store: ObjectStore, name: str, data: bytes) -> None:
    """Put an object, or check that the one that is there has the same bytes."""
    try:
        there = put_or_read(store, name, data, len(data))
    except TooLarge:
        same = False
    else:
        same = there is None or there.data == data
    if not same:
        raise EnvironmentFault(
            f"{store.address}/{name} exists already and is not replaced: it is of another release. Use a new slot"
        )


def replace_object(store: ObjectStore, name: str, data: bytes) -> None:
    """Put an object in place of the one that is there. Raises EnvironmentFault if other runs keep writing it."""
    for _ in range(ATTEMPTS):
        there = store.read(name, LARGEST_ENVELOPE)
        if there is not None and there.data == data:
            return
        if store.replace(name, data, None if there is None else there.tag):
            return
    raise busy_fault(store, name)


def busy_fault(store: ObjectStore, name: str) -> EnvironmentFault:
    """Return the error about an object that other runs keep writing."""
    return EnvironmentFault(f"{store.address}/{name}: other runs keep writing it. Run the command again")
