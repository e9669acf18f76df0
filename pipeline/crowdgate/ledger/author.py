"""The author of a ledger line, as the machine names them."""

import getpass
import socket

MOST = 100


def author() -> str:
    """Return the author of the current command, user and machine, in one printable line."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = "somebody"
    said = f"{user}@{socket.gethostname()}"
    return "".join(letter for letter in said if letter.isprintable())[:MOST].strip() or "somebody"
