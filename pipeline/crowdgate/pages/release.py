"""The page of a run that is named by its folder or its id: verified first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate import manifest
from crowdgate.attachments import ATTACHMENTS
from crowdgate.audit.audits import AUDITS
from crowdgate.audit.common.record_names import record_file
from crowdgate.contracts.csv_file import MOST_BYTES
from crowdgate.errors import ConfigurationError, LedgerRefused, Problem
from crowdgate.history.ended_run import of_entry, of_manifest, of_result, of_staged, of_tombstone
from crowdgate.kinds import KINDS
from crowdgate.ledger.transitions import RESTORED
from crowdgate.ledger.values import State
from crowdgate.pages.run_report import run_report
from crowdgate.planning.open_ledger import ledger_at, ledger_for_reading
from crowdgate.planning.published_places import is_staged, released_folder, staged_or_moved_folder
from crowdgate.publish.tombstone import has_tombstone, read_tombstone
from crowdgate.signing.keys import public_keys
from crowdgate.system import permissions
from crowdgate.system.regular_files import read_plain
from crowdgate.verification.release import VerifiedRelease
from crowdgate.verification.steps import Verification

if TYPE_CHECKING:
    from crowdgate.history.ended_run import EndedRun
    from crowdgate.kind.run import Result
    from crowdgate.ledger.ledger import Entry, Ledger
    from crowdgate.manifest import Manifest
    from crowdgate.report.report import Report


def page_of(folder: Path, keys: Sequence[Path] = ()) -> Report:
    """Return the page of a published release by its files alone; with `keys` (files of public keys) one must have
    signed it.

    Raises VerificationFailed for a release that does not verify, ConfigurationError for a wrong key.
    """
    trusted = tuple(key for path in keys for key in public_keys(path))
    found = Verification(folder, KINDS, ATTACHMENTS, trusted)
    said = found.run()
    told = of_staged(said, Path.cwd()) if is_staged(folder) else of_manifest(said)
    return _verified_page(found, [told])


def page_after(result: Result) -> Report:
    """Return the page of a run that has just ended here, without the pictures that need its files."""
    return run_report([of_result(result)])


def page_in(ledger: Ledger, root: Path, release_id: str) -> Report:
    """Return the page of a run that the ledger of the working copy `root` knows, with the runs of its policy up to it.

    Raises LedgerRefused for an unknown run, VerificationFailed for files that the ledger did not commit to.
    """
    entry = ledger.entry(release_id)
    if entry is None:
        raise LedgerRefused(f"{release_id} is not in the ledger {ledger.id}; `crowdgate ledger show` lists what is")
    past = [of_entry(ledger, root, each) for each in _before(ledger, entry)]
    if entry.state not in (State.PUBLISHED, State.COMMITTED) or entry.destination is None or past[-1].said is None:
        return run_report(past)
    folder = (
        released_folder(ledger, root, entry.destination)
        if entry.state is State.PUBLISHED
        else staged_or_moved_folder(ledger, root, release_id, entry.destination)
    )
    found = Verification(folder, KINDS, ATTACHMENTS, ledger=ledger)
    found.run()
    return _verified_page(found, past, root)


def _verified_page(found: Verification, past: Sequence[EndedRun], root: Path | None = None) -> Report:
    """Return the page of a release that a verification accepted, with the pictures of its kind and its audits."""
    by = VerifiedRelease(
        found.manifest, found.signed, bool(found.trusted), None if found.ledger is None else found.ledger.id
    )
    pictures = found.kind.pictures(found.manifest, found.contents)
    last = replace(past[-1], later_approvals=None if root is None else _later_approvals(found, root))
    return run_report([*past[:-1], last], pictures, _audits(found.folder, found.manifest), by.origin)


def _later_approvals(found: Verification, root: Path) -> tuple[str, ...] | None:
    """Return the approvers before publication; None without the journal lines of the run, which a ledger lost that
    restored it."""
    ledger, release_id = found.ledger, found.manifest.release.id
    if ledger is None or ledger.place(release_id).event == RESTORED:
        return None
    from crowdgate.planning.later_approvals import later_approvers

    return later_approvers(ledger, root, release_id)


def private_page(release_id: str, to: Path | None, ledger: str | None) -> Report:
    """Return the page of a run, by its id, with its private record, after recording the access.

    The page is written to a file for its owner only, so `to` is required. Raises ConfigurationError without it, and as
    `page_in` and `open_record`.
    """
    if to is None:
        expected = "a file for its owner only, since the private record is confidential"
        raise ConfigurationError(Problem("command line", None, "--page", "missing", expected, "--page private.html"))
    from crowdgate.pages.private_pictures import private_section

    opened = ledger_at(Path.cwd(), ledger)
    opened.attest()
    page = page_in(opened, Path.cwd(), release_id)
    private = private_section(opened, release_id)
    return replace(page, sections=lambda: [*page.sections(), private], access=permissions.PRIVATE_PAGE)


def requested_page(release: str, ledger: str | None, keys: Sequence[Path] = ()) -> Report:
    """Return the page of a release's folder, or of an id that the ledger knows.

    Raises ConfigurationError for neither.
    """
    folder = Path(release)
    if has_tombstone(folder):
        return run_report([of_tombstone(read_tombstone(folder, [key for path in keys for key in public_keys(path)]))])
    if (folder / manifest.NAME).is_file():
        return page_of(folder, keys)
    if release.count("/") != 2 or folder.exists():
        expected = "a release's folder, or POLICY/VERSION/SLOT as `crowdgate ledger show` lists it"
        raise ConfigurationError(Problem("command line", None, "RELEASE", "this is not a release", expected))
    opened = ledger_for_reading(Path.cwd(), ledger)
    opened.attest()
    return page_in(opened, Path.cwd(), release)


def _before(ledger: Ledger, entry: Entry) -> list[Entry]:
    """Return the runs of one policy name up to this run, in the order of the ledger, without void ones."""
    name = entry.release_id.partition("/")[0]
    own = [each for each in ledger.entries() if each.release_id.partition("/")[0] == name]
    until = next(at for at, each in enumerate(own, start=1) if each.release_id == entry.release_id)
    return [each for each in own[:until] if each.state is not State.VOID or each.release_id == entry.release_id]


def _audits(folder: Path, said: Manifest) -> tuple[str, ...]:
    """Return a sentence for each audit that is published in a release's folder."""
    told = []
    for question in AUDITS:
        file = record_file(question)
        if file in said.files:
            record, found = AUDITS[question].read(read_plain(folder / file, MOST_BYTES))
            told.append(f"An audit of {question} of {record.made} ended in {found.outcome} ({file}).")
    return tuple(told)
