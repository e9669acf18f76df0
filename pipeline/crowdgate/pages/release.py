"""The page of one run: a published release, or a withheld one. All of it is public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate import manifest, report
from crowdgate.attachments import ATTACHMENTS
from crowdgate.audit.audits import AUDITS
from crowdgate.audit.common.record_names import record_file
from crowdgate.contracts.csv_file import MOST_BYTES
from crowdgate.errors import ConfigurationError, LedgerRefused, Problem
from crowdgate.forecast.singling_out_curve import curve_of_release
from crowdgate.history.ended_run import EndedRun, of_entry, of_manifest, of_result, of_tombstone
from crowdgate.kinds import KINDS
from crowdgate.ledger.values import State
from crowdgate.number_text import decimal, whole
from crowdgate.pages import four_questions
from crowdgate.pages.criteria import criteria
from crowdgate.pages.gates import gate_rows, margins, withholding_gates
from crowdgate.planning.open_ledger import ledger_at, ledger_for_reading
from crowdgate.planning.published_places import released_folder
from crowdgate.publish.tombstone import has_tombstone, read_tombstone
from crowdgate.report.page_files import write_as
from crowdgate.report.pictures import draw_all, picture_values
from crowdgate.signing.keys import public_keys
from crowdgate.system import permissions
from crowdgate.system.regular_files import read_plain
from crowdgate.verification.release import VerifiedRelease
from crowdgate.verification.steps import Verification

if TYPE_CHECKING:
    from crowdgate.kind.picture import Picture
    from crowdgate.kind.run import Result
    from crowdgate.ledger.ledger import Entry, Ledger
    from crowdgate.manifest import Manifest
    from crowdgate.pages.private_pictures import PrivatePictures

TEMPLATE = "report/pages/release.md.j2"
MOST_NAMED = 12
"""The greatest number of files that are named; of more only the number is shown."""


@dataclass(frozen=True, eq=False)
class ReleasePage:
    """A run (`told`) with the earlier runs of its policy (itself last), the pictures of its kind of release, and the
    audits published with it, in sentences.

    `origin` states who vouches for it, `private` is the part for the custodian.
    """

    told: EndedRun
    past: tuple[EndedRun, ...]
    drawn: tuple[Picture, ...] = ()
    audits: tuple[str, ...] = ()
    origin: str = "this run made it"
    private: PrivatePictures | None = None
    everything: tuple[Picture, ...] = field(init=False)

    def __post_init__(self) -> None:
        said = self.told.said
        curve = () if said is None else (curve_of_release(said),)
        object.__setattr__(self, "everything", (*margins(self.past), *curve, *self.drawn))

    @property
    def title(self) -> str:
        """The title of the page: the run's id and its outcome."""
        return f"{self.told.release_id}: {self.told.outcome}"

    def markdown(self) -> str:
        """Return the page as Markdown."""
        return report.markdown(TEMPLATE, _values(self))

    def write(self, path: Path) -> None:
        """Write a new file: Markdown if its name ends in .md, HTML if in .html; for its owner only, if it is private.

        Raises as `write_as`.
        """
        kept = () if self.private is None else self.private.pictures
        access = permissions.PAGE if self.private is None else self.private.access
        write_as(path, self.title, self.markdown, lambda: draw_all([*self.everything, *kept]), access)


def page_of(folder: Path, keys: Sequence[Path] = ()) -> ReleasePage:
    """Return the page of a published release by its files alone; with `keys` (files of public keys) one must have
    signed it.

    Raises VerificationFailed for a release that does not verify, ConfigurationError for a wrong key.
    """
    trusted = tuple(key for path in keys for key in public_keys(path))
    found = Verification(folder, KINDS, ATTACHMENTS, trusted)
    told = of_manifest(found.run())
    return _verified_page(found, told, (told,))


def page_after(result: Result) -> ReleasePage:
    """Return the page of a run that has just ended here, without the pictures that need its files."""
    told = of_result(result)
    return ReleasePage(told, (told,))


def page_in(ledger: Ledger, root: Path, release_id: str) -> ReleasePage:
    """Return the page of a run that the ledger of the working copy `root` knows, with the runs of its policy up to it.

    Raises LedgerRefused for an unknown run, VerificationFailed for files that the ledger did not commit to.
    """
    entry = ledger.entry(release_id)
    if entry is None:
        raise LedgerRefused(f"{release_id} is not in the ledger {ledger.id}; `crowdgate ledger show` lists what is")
    past = tuple(of_entry(ledger, root, each) for each in _before(ledger, entry))
    if entry.state is not State.PUBLISHED or entry.destination is None:
        return ReleasePage(past[-1], past)
    found = Verification(released_folder(ledger, root, entry.destination), KINDS, ATTACHMENTS, ledger=ledger)
    found.run()
    return _verified_page(found, past[-1], past)


def _verified_page(found: Verification, told: EndedRun, past: tuple[EndedRun, ...]) -> ReleasePage:
    """Return the page of a release that a verification accepted, with the pictures of its kind and its audits."""
    by = VerifiedRelease(
        found.manifest, found.signed, bool(found.trusted), None if found.ledger is None else found.ledger.id
    )
    pictures = tuple(found.kind.pictures(found.manifest, found.contents))
    return ReleasePage(told, past, pictures, _audits(found.folder, found.manifest), by.origin)


def private_page(release_id: str, to: Path | None, ledger: str | None) -> ReleasePage:
    """Return the page of a run, by its id, with its private record, after recording the access.

    The page is written to a file for its owner only, so `to` is required. Raises ConfigurationError without it, and as
    `page_in` and `open_record`.
    """
    if to is None:
        expected = "a file for its owner only, since the private record is confidential"
        raise ConfigurationError(Problem("command line", None, "--page", "missing", expected, "--page private.html"))
    from crowdgate.pages.private_pictures import private_pictures

    opened = ledger_at(Path.cwd(), ledger)
    opened.attest()
    page = page_in(opened, Path.cwd(), release_id)
    return replace(page, private=private_pictures(opened, release_id))


def requested_page(release: str, ledger: str | None, keys: Sequence[Path] = ()) -> ReleasePage:
    """Return the page of a release's folder, or of an id that the ledger knows.

    Raises ConfigurationError for neither.
    """
    folder = Path(release)
    if has_tombstone(folder):
        told = of_tombstone(read_tombstone(folder, [key for path in keys for key in public_keys(path)]))
        return ReleasePage(told, (told,))
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


def _values(page: ReleasePage) -> dict[str, object]:
    told, verdicts = page.told, page.told.verdicts or ()
    return {
        "told": told,
        "origin": page.origin,
        "title": page.title,
        "epsilon": decimal(told.epsilon),
        "delta": decimal(told.delta),
        "stopped": list(withholding_gates(verdicts)),
        "waived": [each.gate for each in verdicts if each.waived],
        "gates": gate_rows(verdicts),
        "margins": _picture_values(margins(page.past)),
        "past": page.past[:-1],
        "criteria": criteria(verdicts) if told.said is not None else [],
        "audits": page.audits,
        "pictures": _picture_values(page.drawn),
        "secrets": four_questions.secrets(told),
        **({} if told.said is None else _published_values(told, told.said)),
        "private": page.private,
    }


def _published_values(told: EndedRun, said: Manifest) -> dict[str, object]:
    """Return the values of the page template that only a published release has, by name."""
    facts = said.facts
    return {
        "said": said,
        "serves": KINDS[said.mechanism.kind].serves,
        "spent": {"epsilon": decimal(facts.spent.epsilon), "delta": decimal(facts.spent.delta)},
        "budget": {"epsilon": decimal(facts.budget.epsilon), "delta": decimal(facts.budget.delta)},
        "people": whole(facts.people),
        "estimand": [] if said.estimand is None else said.estimand.words(),
        "plain": said.guarantee.plain or (),
        "words": said.guarantee.words,
        "informed": manifest.INFORMED if facts.informed else None,
        "columns": four_questions.columns(said),
        "likely": four_questions.attacker_guesses(told, said),
        "failing": four_questions.expected_failures(said),
        "curve": picture_values(curve_of_release(said)),
        "files": _files(said),
    }


def _files(said: Manifest) -> str:
    names = sorted(said.files)
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} files, which its manifest lists"


def _picture_values(pictures: Sequence[Picture]) -> list[dict[str, object]]:
    return [picture_values(each) for each in pictures]
