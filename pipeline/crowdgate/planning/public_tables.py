"""Whether a table is public: what all contracts of a working copy say of its files, by whatever name they are called.

One contract must call the whole of it public, and none may describe any of it without doing so. A copy of a file is
another file, of which nobody has said anything.
"""

from collections.abc import Iterable
from pathlib import Path

from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError
from crowdgate.policy.files import KnownNames, contracts, working_copy


def contracts_in_working_copy(contract: Contract, known: KnownNames) -> list[Contract]:
    """A contract, and all that can be read of its working copy."""
    try:
        root = working_copy(contract.files[0])
    except ConfigurationError:
        return [contract]
    return [contract, *contracts(root, known)]


def public_table(path: Path, among: Iterable[Contract]) -> Contract | str:
    """The contract that calls the table in a file or folder public; or why it is not public, in words."""
    files, speak = _files(path), contracts_describing(path, among)
    for each in speak:
        if not each.public:
            return f"contract {each.id} does not say that it is public"
    return next((each for each in speak if files <= _files(each.server.path)), "no contract speaks of this table")


def why_private(contract: Contract, known: KnownNames) -> str | None:
    """Why a contract's table is not public, in words; None where it is: the contract says so, and of a file no other
    contract says otherwise."""
    if not contract.public:
        return f"contract {contract.id} does not say that it is public"
    if "path" not in contract.server.settings:
        return None
    found = public_table(contract.server.path, contracts_in_working_copy(contract, known))
    return found if isinstance(found, str) else None


def contracts_describing(path: Path, among: Iterable[Contract]) -> list[Contract]:
    """The contracts that describe some of the files of a table."""
    files = _files(path)
    return [each for each in among if "path" in each.server.settings and files & _files(each.server.path)]


def _files(path: Path) -> set[object]:
    """The file, or the folder with what lies in it: a file of two names is one."""
    return {_identity(each) for each in (path, *(path.iterdir() if path.is_dir() else ()))}


def _identity(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return path.resolve()
    return found.st_dev, found.st_ino
