"""Check that a table is public, by all contracts of a working copy that describe its files, under any name.

One contract must state that the whole of it is public, and none may describe any of it without stating that. A contract
that can't be read may state anything about its table, and about any table if its own is unknown. A copy of a file is
another file, without any statement.
"""

from collections.abc import Iterable
from pathlib import Path

from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError
from crowdgate.policy.files import KnownNames, contracts, unreadable_contracts, working_copy

UNREADABLE = "contract file {file} can't be read, and may describe the same table; correct or remove it"


def contracts_in_working_copy(contract: Contract, known: KnownNames) -> list[Contract]:
    """Return a contract, followed by all other readable contracts of its working copy."""
    try:
        root = working_copy(contract.files[0])
    except ConfigurationError:
        return [contract]
    return [contract, *contracts(root, known, but=contract.files[0])]


def public_table(path: Path, contract: Contract, known: KnownNames) -> Contract | str:
    """Return the contract, of the working copy of `contract`, that states that the table in a file or folder is public,
    or in words why it is not."""
    files, speak = _files(path), contracts_describing(path, contracts_in_working_copy(contract, known))
    for each in speak:
        if not each.public:
            return f"contract {each.id} does not say that it is public"
    found = next((each for each in speak if each.is_in_files and files <= _files(each.server.path)), None)
    if found is None:
        return next((_elsewhere(each) for each in speak if not each.is_in_files), "no contract describes this table")
    return unreadable_statement(path, contract, known) or found


def why_private(contract: Contract, known: KnownNames) -> str | None:
    """Return the reason why a contract's table is not public, in words.

    Return None if the contract states that it is public, and no other contract describes its file otherwise.
    """
    if not contract.public:
        return f"contract {contract.id} does not say that it is public"
    if not contract.is_in_files:
        return _elsewhere(contract)
    found = public_table(contract.server.path, contract, known)
    return found if isinstance(found, str) else None


def _elsewhere(contract: Contract) -> str:
    """Return in words that a contract's table is where the statements of all contracts about it can't be compared."""
    place = "in a database" if contract.database is not None else "in a store of objects"
    return f"contract {contract.id} describes a table {place}; only one in files of this machine can be shown public"


def unreadable_statement(path: Path, contract: Contract, known: KnownNames) -> str | None:
    """Return in words which unreadable contract, of the working copy of `contract`, may describe the table at `path`;
    None if there is none."""
    try:
        root = working_copy(contract.files[0])
    except ConfigurationError:
        return None
    for file, rest in unreadable_contracts(root, known, contract.files[0]):
        if rest is None or contracts_describing(path, [rest]):
            return UNREADABLE.format(file=file.relative_to(root))
    return None


def contracts_describing(path: Path, among: Iterable[Contract]) -> list[Contract]:
    """Return the contracts among `among` whose tables, or the databases of these, share at least one file with the
    table at `path`."""
    files = _files(path)
    return [each for each in among if each.server.file is not None and files & _files(each.server.file)]


def _files(path: Path) -> set[object]:
    """Return the identities of a file, or of a folder and all files below it; names of one file have one identity."""
    return {_identity(each) for each in (path, *(path.rglob("*") if path.is_dir() else ()))}


def _identity(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return path.resolve()
    return found.st_dev, found.st_ino
