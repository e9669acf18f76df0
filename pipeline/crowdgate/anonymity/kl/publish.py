"""Publish an entry: of a public table, of a published release, or of a confidential table with charged noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from math import ceil, floor
from pathlib import Path

from pydantic import ValidationError

from crowdgate.anonymity.kl import charged_run, repository_folder
from crowdgate.anonymity.kl.entry import (
    Basis,
    CurveFields,
    CurvePointFields,
    FigureInterval,
    KlEntry,
    PeopleFields,
    PopulationFields,
    RowLimits,
    SourceFields,
    digest_of,
    signed_entry,
)
from crowdgate.anonymity.kl.figures import figures_of_release, figures_of_table
from crowdgate.anonymity.kl.subject import EntrySubject, read_entry_subject
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.interval import Interval
from crowdgate.ledger.key import draw_key
from crowdgate.noise import CountNoise, discrete_laplace
from crowdgate.planning.budget_values import stated_budget
from crowdgate.planning.destinations import EXPECTED, destination_conflict, ledger_file
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.policy.files import budget_of_contract, working_copy
from crowdgate.policy.values import exact_number
from crowdgate.publish.trial_publication import probe
from crowdgate.risk.kl_curve import UniqueSharePoint
from crowdgate.risk.kl_sums import NoisyFigures
from crowdgate.settings import configured_key
from crowdgate.signing.keys import PublicKey, SigningKey, public_keys
from crowdgate.sources import open_source
from crowdgate.system.extras import RELEASE, need

Announce = Callable[[str], None]


@dataclass(frozen=True)
class PublicationRequest:
    """Request to publish. Exactly one of `public`, `release` and `epsilon` is the basis of the figures.

    `words` describe the population, `coverage` and `error` are the holder's statements about the data, `slot` is the
    day (and minute) of the entry, `keys` are files of public keys of the repository's other holders.
    `curve` adds points of the curve of unique people by group size.
    """

    contract: Path
    attributes: Sequence[str]
    to: str
    words: str
    coverage: str
    error: str
    slot: str
    where: Sequence[str] = ()
    public: bool = False
    release: Path | None = None
    epsilon: str | None = None
    ledger: str | None = None
    keys: Sequence[Path] = field(default_factory=tuple)
    curve: bool = False


@dataclass(frozen=True)
class PublicationResult:
    """Result of publishing: the digest of the entry (None: withheld), and the folder."""

    digest: str | None
    folder: Path
    entry: KlEntry | None
    before: bool = False


@dataclass(frozen=True, eq=False)
class _PreparedPublication:
    """A request to publish an entry, with all that is read and checked before anything is counted or charged."""

    asked: PublicationRequest
    subject: EntrySubject
    home: Path
    key: SigningKey
    trusted: tuple[PublicKey, ...]
    folder: Path
    today: date
    template: Callable[..., KlEntry]

    @property
    def day(self) -> date:
        return date.fromisoformat(self.asked.slot[:10])


def publish(
    asked: PublicationRequest, today: date, noise: CountNoise = discrete_laplace, announce: Announce | None = None
) -> PublicationResult:
    """Publish one entry, dated by its slot, which is not after `today`.

    Raises ConfigurationError for an impossible request, FileFault where a table can't be read, LedgerRefused where the
    budget does not allow it or the slot was used. Raises VerificationFailed for a repository or a release that fails
    verification.
    """
    ready = _prepare(asked, today)
    if asked.epsilon is not None:
        need(RELEASE, "--epsilon")
        return _publish_charged(ready, exact_epsilon(asked.epsilon), noise, announce)
    if asked.release is not None:
        budget = budget_of_contract(asked.contract, ready.subject.contract)[0]
        told = figures_of_release(ready.subject, asked.contract, asked.release, budget.spec.people)
    else:
        told = figures_of_table(ready.subject, asked.curve)
    people = PeopleFields(
        rows=told.rows,
        rows_each=ready.subject.contract.unit.rows,
        known="counted" if asked.release is None else "bound",
    )
    curve = _curve_fields(Interval(told.rows, told.rows, told.rows), told.curve)
    entry = ready.template(people, told.kl, told.collision, told.basis, curve)
    envelope = signed_entry(entry, ready.key)
    there = repository_folder.is_stored(ready.folder, digest_of(envelope))
    digest = repository_folder.add_entry(ready.folder, envelope, ready.day, ready.key, ready.trusted, today)
    return PublicationResult(digest, ready.folder, entry, before=there)


def exact_epsilon(text: str) -> Fraction:
    """Return the epsilon that a text states exactly, above 0 and at most 1000. Raises ConfigurationError for any other
    text."""
    try:
        number = exact_number(text)
    except ValueError:
        number = Fraction(0)
    if not 0 < number <= 1000:
        raise _option_error("--epsilon", f"{text!r}", "a number above 0 and at most 1000, such as 0.1")
    return number


def _prepare(asked: PublicationRequest, today: date) -> _PreparedPublication:
    bases = [asked.public, asked.release is not None, asked.epsilon is not None]
    if sum(bases) != 1:
        found = "no basis" if not any(bases) else "more than one basis"
        expected = "exactly one of --public (the contract says that the table is), --from RELEASE_DIR and --epsilon E"
        raise _option_error(
            "--public, --from, --epsilon", found, f"{expected}; figures of confidential data cost epsilon"
        )
    if asked.curve and asked.release is not None:
        found = "a curve of a release, whose counts are those of a model"
        raise _option_error("--curve", found, "--public or --epsilon E, or no --curve")
    if date.fromisoformat(asked.slot[:10]) > today:
        raise _option_error("--as-of", f"{asked.slot} is in the future", f"at most {today.isoformat()}")
    subject = read_entry_subject(asked.contract, asked.attributes, asked.where)
    home = working_copy(asked.contract)
    key = configured_key(home)
    trusted = (key.public, *(each for path in asked.keys for each in public_keys(path)))
    template = _entry_template(asked, subject)
    folder = repository_folder.make_repository_folder(_repository_place(asked, home))
    return _PreparedPublication(asked, subject, home, key, trusted, folder, today, template)


def _repository_place(asked: PublicationRequest, home: Path) -> str:
    """Return the place of the repository: a URL, or a folder that has no other use."""
    if "://" in asked.to:
        return asked.to
    found = destination_conflict(home, home / asked.to, ledger_file(home, asked.ledger)) if asked.to else "no folder"
    if found is not None:
        raise _option_error("--to", found, EXPECTED)
    return str(home / asked.to)


def _entry_template(asked: PublicationRequest, subject: EntrySubject) -> Callable[..., KlEntry]:
    """Return a function that completes an entry with its figures, their basis and the number of people. The user's
    texts are checked here."""
    try:
        said = {
            "type": "urn:crowdgate:kl-entry:v1",
            "vocabulary": subject.vocabulary(),
            "population": PopulationFields(
                words=asked.words, id=subject.contract.population, restrictions=subject.restrictions()
            ),
            "source": SourceFields(
                coverage=_share_option("--coverage", asked.coverage), error=_share_option("--error", asked.error)
            ),
            "bins": subject.view.cells,
            "date": asked.slot[:10],
        }
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise _option_error("--words", "not usable", str(first["msg"]).removeprefix("Value error, ")) from None

    def entry(
        people: PeopleFields, kl: Interval, collision: Interval, basis: Basis, curve: CurveFields | None
    ) -> KlEntry:
        figures = {"kl": _figure_interval(kl), "collision": _figure_interval(collision)}
        return KlEntry.model_validate({**said, **figures, "people": people, "basis": basis, "curve": curve})

    return entry


def _curve_fields(rows: Interval, points: Sequence[UniqueSharePoint]) -> CurveFields | None:
    if not points:
        return None
    shares = tuple(CurvePointFields(rate=each.rate, share=_figure_interval(each.share)) for each in points)
    return CurveFields(rows=RowLimits(low=floor(rows.low), high=ceil(rows.high)), points=shares)


def _figure_interval(interval: Interval) -> FigureInterval:
    return FigureInterval(value=interval.value, low=interval.low, high=interval.high)


def _share_option(option: str, text: str) -> float:
    try:
        number = exact_number(text)
    except ValueError:
        number = Fraction(-1)
    if not 0 <= number <= 1:
        raise _option_error(option, f"{text!r}", "a share from 0 to 1, such as 0.98")
    return float(number)


def _publish_charged(
    ready: _PreparedPublication, epsilon: Fraction, noise: CountNoise, announce: Announce | None
) -> PublicationResult:
    run = _charged_run(ready, epsilon)
    before = run.ledger.entry(run.id)
    if before is not None and not before.lease:
        return _publication_result(charged_run.resume_run(run, before, ready.key, ready.trusted, ready.today))
    made: list[KlEntry] = []

    def write(figures: NoisyFigures, points: Sequence[UniqueSharePoint], rows_each: int, basis: Basis) -> bytes:
        people = PeopleFields(rows=int(figures.rows.value), rows_each=rows_each, known="charged")
        curve = _curve_fields(figures.rows, points)
        made.append(ready.template(people, figures.kl, figures.collision, basis, curve))
        return signed_entry(made[0], ready.key)

    repository_folder.check_folder(ready.folder, ready.trusted, ready.today)
    charged_run.remove_leftovers(run)
    probe(ready.folder, run.staged)
    charge, grid = charged_run.reserve(run)
    if announce is not None:
        announce(run.id)
    digest = charged_run.conclude(run, charge, grid, draw_key(), noise, write)
    if digest is None:
        return PublicationResult(None, ready.folder, None)
    charged_run.publish_staged(run, digest, ready.key, ready.trusted, ready.today)
    return PublicationResult(digest, ready.folder, made[0])


def _charged_run(ready: _PreparedPublication, epsilon: Fraction) -> charged_run.ChargedRun:
    asked, subject = ready.asked, ready.subject
    stated, document = budget_of_contract(asked.contract, subject.contract)
    budget = stated_budget(stated)
    charged_run.check_charge(subject, budget)
    ledger = ledger_at(ready.home, asked.ledger, stated.spec.ledger)
    ledger.admit([ready.folder])
    ledger.check(subject.contract.id, budget)
    words = "\n".join((asked.words, asked.coverage, asked.error))
    digest = charged_run.request_digest(subject, epsilon, (*subject.contract.files, document.path), words, asked.curve)
    name = f"kl/{subject.contract.id}/{asked.slot}"
    source = open_source(subject.contract, subject.counted.names)
    return charged_run.ChargedRun(
        subject, epsilon, budget, ledger, name, digest, source, ready.folder, ready.home, ready.day, asked.curve
    )


def _publication_result(ended: charged_run.ChargedRunResult) -> PublicationResult:
    return PublicationResult(ended.digest, ended.folder, None, ended.before)


def _option_error(option: str, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, option, found, expected))
