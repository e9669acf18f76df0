"""The most careful forger: pages are rewritten as the maker would write them for the forged manifest."""

from pathlib import Path

from crowdgate import manifest
from crowdgate.attachments import ATTACHMENTS
from crowdgate.errors import VerificationFailed
from crowdgate.formats import FORMATS
from crowdgate.kind.attachment import Context
from crowdgate.kinds import KINDS
from tests.forgery.forgery import reseal


def careful(folder: Path) -> None:
    """Make pages and manifest fit the change, as far as the maker's own functions can still read it."""
    reseal(folder)
    if any(path.is_symlink() or not path.is_file() for path in folder.iterdir()):
        return
    try:
        _write_pages(folder)
    except (VerificationFailed, ValueError, KeyError, TypeError, OSError, RecursionError, ArithmeticError, IndexError):
        return
    reseal(folder)


def _write_pages(folder: Path) -> None:
    sealed = (folder / manifest.NAME).read_bytes()
    kind = KINDS[manifest.kind_in(sealed)]
    said = manifest.parsed(kind.manifest_class(), sealed)
    page = kind.page(said, kind.read(folder, said, {name: FORMATS[name] for name in said.formats}))
    for name, each in ATTACHMENTS.items():
        made = None if each.closing else each.make(Context(manifest=said, page=page))
        if made is not None and (folder / name).is_file():
            (folder / name).write_bytes(made)
