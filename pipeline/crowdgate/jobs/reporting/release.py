"""The page of one run: a published release, or a withheld one. All of it is public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate import manifest, report
from crowdgate.accounting.numbers import decimal
from crowdgate.attachments import ATTACHMENTS
from crowdgate.audit.readings import READINGS
from crowdgate.contracts.csv_file import MOST_BYTES
from crowdgate.errors import ConfigurationError, LedgerRefused, Problem
from crowdgate.files import read_plain
from crowdgate.jobs.ledgers import ledger_at, ledger_read
from crowdgate.jobs.reporting import questions
from crowdgate.jobs.reporting.aspects import criteria
from crowdgate.jobs.reporting.curves import of_release
from crowdgate.jobs.reporting.gates import failed, gate_rows, margins
from crowdgate.jobs.reporting.told import Told, of_entry, of_manifest, of_result
from crowdgate.jobs.verify import Verified
from crowdgate.kinds import KINDS
from crowdgate.ledger.values import State
from crowdgate.report.pictures import draw_all, pictured
from crowdgate.report.written import write_as
from crowdgate.signing.keys import public_keys
from crowdgate.verification.verify import Verification

if TYPE_CHECKING:
    from crowdgate.jobs.reporting.private import Private
    from crowdgate.kind.picture import Picture
    from crowdgate.kind.run import Result
    from crowdgate.ledger.ledger import Entry, Ledger
    from crowdgate.manifest import Manifest

TEMPLATE = "report/pages/release.md.j2"
MOST_NAMED = 12
"""Files that are named; of more the number."""


@dataclass(frozen=True, eq=False)
class Page:
    """A run with the runs of its policy before it (itself last), the pictures of its kind, and the audits that are
    published with it; `origin` says who vouches for it, `private` what its record tells the curator."""

    told: Told
    past: tuple[Told, ...]
    drawn: tuple[Picture, ...] = ()
    audits: tuple[str, ...] = ()
    origin: str = "this run made it"
    private: Private | None = None
    everything: tuple[Picture, ...] = field(init=False)

    def __post_init__(self) -> None:
        said = self.told.said
        curve = () if said is None else (of_release(said),)
        object.__setattr__(self, "everything", (*margins(self.past), *curve, *self.drawn))

    @property
    def title(self) -> str:
        """What the page is of."""
        return f"{self.told.release_id}: {self.told.outcome}"

    def markdown(self) -> str:
        """The page as Markdown."""
        return report.markdown(TEMPLATE, _values(self))

    def write(self, path: Path) -> None:
        """Write a new file: Markdown if its name ends in .md, HTML if in .html; for its owner only, if it is private.
        Raises as `write_as`."""
        kept = () if self.private is None else self.private.pictures
        access = {} if self.private is None else {"access": self.private.access}
        write_as(path, self.title, self.markdown(), lambda: draw_all([*self.everything, *kept]), **access)


def page_of(folder: Path, keys: Sequence[Path] = ()) -> Page:
    """The page of a published release by its files alone; with `keys` (files of public keys) one must have signed it.
    Raises VerificationFailed for one that does not hold what it claims, ConfigurationError for a wrong key."""
    trusted = tuple(key for path in keys for key in public_keys(path))
    found = Verification(folder, KINDS, ATTACHMENTS, trusted)
    told = of_manifest(found.run())
    return _verified(found, told, (told,))


def page_after(result: Result) -> Page:
    """The page of a run that has just ended here, without the pictures that files are read for."""
    told = of_result(result)
    return Page(told, (told,))


def page_in(ledger: Ledger, root: Path, release_id: str) -> Page:
    """The page of a run that the ledger of the working copy `root` knows, with the runs of its policy up to it.

    Raises LedgerRefused for one that it does not know, VerificationFailed for files that are not what it committed to.
    """
    entry = ledger.entry(release_id)
    if entry is None:
        raise LedgerRefused(f"{release_id} is not in the ledger {ledger.id}; `crowdgate ledger show` lists what is")
    past = tuple(of_entry(ledger, root, each) for each in _before(ledger, entry))
    if entry.state is not State.PUBLISHED or entry.destination is None:
        return Page(past[-1], past)
    found = Verification(root / entry.destination, KINDS, ATTACHMENTS, ledger=ledger)
    found.run()
    return _verified(found, past[-1], past)


def _verified(found: Verification, told: Told, past: tuple[Told, ...]) -> Page:
    """The page of a release that holds what it claims."""
    by = Verified(found.said, found.signed, bool(found.trusted), None if found.ledger is None else found.ledger.id)
    return Page(told, past, tuple(found.held.pictures(found.said)), _audits(found.folder, found.said), by.origin)


def with_private(release_id: str, to: Path | None, ledger: str | None) -> Page:
    """The same of an id, with what its private record tells; the look is recorded first. It is written to a file for
    its owner alone, so there must be one. Raises ConfigurationError without, and as `page_in` and `open_record`."""
    if to is None:
        expected = "a file for its owner alone, since what it tells is confidential"
        raise ConfigurationError(Problem("command line", None, "--page", "missing", expected, "--page private.html"))
    from crowdgate.jobs.reporting.private import private

    opened = ledger_at(Path.cwd(), ledger)
    opened.attest()
    page = page_in(opened, Path.cwd(), release_id)
    return replace(page, private=private(opened, release_id))


def asked_for(release: str, ledger: str | None, keys: Sequence[Path] = ()) -> Page:
    """The page of a release's folder, or of an id that the ledger knows. Raises ConfigurationError for neither."""
    folder = Path(release)
    if (folder / manifest.NAME).is_file():
        return page_of(folder, keys)
    if release.count("/") != 2 or folder.exists():
        expected = "a release's folder, or POLICY/VERSION/SLOT as `crowdgate ledger show` lists it"
        raise ConfigurationError(Problem("command line", None, "RELEASE", "no release", expected))
    opened = ledger_read(Path.cwd(), ledger)
    opened.attest()
    return page_in(opened, Path.cwd(), release)


def _before(ledger: Ledger, entry: Entry) -> list[Entry]:
    """The runs of the policy's name up to this one, in the order of the ledger."""
    name = entry.release_id.partition("/")[0]
    own = [each for each in ledger.entries() if each.release_id.partition("/")[0] == name]
    until = next(at for at, each in enumerate(own, start=1) if each.release_id == entry.release_id)
    return [each for each in own[:until] if each.state is not State.VOID or each.release_id == entry.release_id]


def _audits(folder: Path, said: Manifest) -> tuple[str, ...]:
    """The audits that are published with a release, in sentences."""
    told = []
    for reading in READINGS.values():
        if reading.file in said.files:
            record, found = reading.read(read_plain(folder / reading.file, MOST_BYTES))
            told.append(f"An audit of {reading.question} of {record.made} ended in {found.outcome} ({reading.file}).")
    return tuple(told)


def _values(page: Page) -> dict[str, object]:
    told, verdicts = page.told, page.told.verdicts or ()
    return {
        "told": told,
        "origin": page.origin,
        "title": page.title,
        "epsilon": decimal(told.epsilon),
        "delta": decimal(told.delta),
        "stopped": list(failed(verdicts)),
        "waived": [each.gate for each in verdicts if each.waived],
        "gates": gate_rows(verdicts),
        "margins": _shown(margins(page.past)),
        "past": page.past[:-1],
        "criteria": criteria(verdicts) if told.said is not None else [],
        "audits": page.audits,
        "pictures": _shown(page.drawn),
        "secrets": questions.secrets(told),
        **({} if told.said is None else _published(told, told.said)),
        "private": page.private,
    }


def _published(told: Told, said: Manifest) -> dict[str, object]:
    """What is told of a published release only."""
    facts = said.facts
    return {
        "said": said,
        "serves": KINDS[said.mechanism.kind].serves,
        "spent": {"epsilon": decimal(facts.spent.epsilon), "delta": decimal(facts.spent.delta)},
        "budget": {"epsilon": decimal(facts.budget.epsilon), "delta": decimal(facts.budget.delta)},
        "people": f"{facts.people:,}",
        "estimand": [] if said.estimand is None else said.estimand.words(),
        "plain": said.guarantee.plain or (),
        "words": said.guarantee.words,
        "informed": manifest.INFORMED if facts.informed else None,
        "columns": questions.columns(said),
        "likely": questions.likely(told, said),
        "failing": questions.failing(said),
        "curve": pictured(of_release(said)),
        "files": _files(said),
    }


def _files(said: Manifest) -> str:
    names = sorted(said.files)
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} files, which its manifest lists"


def _shown(pictures: Sequence[Picture]) -> list[dict[str, object]]:
    return [pictured(each) for each in pictures]
