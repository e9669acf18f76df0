"""Errors of PostgreSQL as errors of Crowdgate, told apart by their SQLSTATE. No message quotes a statement, a value, a
password or a connection string."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from crowdgate.errors import CrowdgateError, EnvironmentFault, LedgerRefused
from crowdgate.ledger.store import DAMAGED, SerializationConflict

NO_LEDGER = "`crowdgate ledger create NAME` makes one"
_CONFLICTS = ("40001", "40P01")
_MACHINE = {
    "55P03": "is locked by another run; try again",
    "25006": "is read-only, such as a standby, and a run must write it. Name the primary server",
    "25P03": "ended a transaction that was idle for too long; nothing was recorded. Run the command again",
    "42501": "refuses this user a right that the command needs. {rights}",
    "53100": "can't be written: the disk is full",
    "53300": "has too many connections; try again",
    "28": "refuses this user or its password",
    "53": "lacks memory or another resource",
    "57": "was stopped, or ended this connection; try again when it runs",
    "58": "reports an error of its disk or system",
    "08": "can't be reached",
    "40": "rolled the change back; nothing was recorded. Run the command again",
}
"""Texts of messages about the database, by SQLSTATE or by its first two characters, its class."""
USING = "Grant it crowdgate_spend, or crowdgate_read to read"
MAKING = "Name a user who owns the database and may create roles"
MIGRATING = "Grant it crowdgate_admin"
_ABSENT = ("3D000", "3F000", "42P01")


@contextmanager
def translated(name: str, rights: str = USING) -> Iterator[None]:
    """Translate errors of PostgreSQL, and of invalid values in the tables, while the block runs. `name` is the
    database's in messages, `rights` what a user without them needs.
    """
    try:
        yield
    except CrowdgateError:
        raise
    except psycopg.Error as error:
        raise _fault(name, error, rights) from None
    except (ValueError, ZeroDivisionError):
        raise LedgerRefused(f"{name} {DAMAGED}") from None


def _fault(name: str, error: psycopg.Error, rights: str) -> CrowdgateError:
    state = error.sqlstate or _state_of_connection(error)
    if state in _CONFLICTS:
        return SerializationConflict(f"the ledger in {name} was changed by another run at the same moment; try again")
    if state in _ABSENT:
        return LedgerRefused(f"no ledger in {name}; {NO_LEDGER}")
    said = _MACHINE.get(state) or _MACHINE.get(state[:2])
    return (
        LedgerRefused(f"{name} {DAMAGED}")
        if said is None
        else EnvironmentFault(f"the ledger: {name} {said.format(rights=rights)}")
    )


def _state_of_connection(error: psycopg.Error) -> str:
    """Return the SQLSTATE of an error that the driver raised itself: of a refused or broken connection. libpq gives the
    server's refusals of a new connection as text only.
    """
    said = str(error)
    if "authentication failed" in said or "no password supplied" in said or "no pg_hba.conf entry" in said:
        return "28000"
    if "database" in said and "does not exist" in said:
        return "3D000"
    if "role" in said and ("does not exist" in said or "not permitted to log in" in said):
        return "28000"
    if "permission denied for database" in said:
        return "42501"
    if "too many" in said:
        return "53300"
    return "08006" if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else ""
