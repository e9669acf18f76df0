"""Publish an entry: of a public table, of a published release, or of a confidential table through charged noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from pathlib import Path

from pydantic import ValidationError

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.extras import RELEASE, need
from crowdgate.jobs.destinations import EXPECTED, ledger_file, taken
from crowdgate.jobs.kl import charged, shelf
from crowdgate.jobs.kl.figures import of_public_table, of_release
from crowdgate.jobs.kl.subject import Subject, subject_of
from crowdgate.jobs.ledgers import ledger_at
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import Budget, Spend
from crowdgate.noise import CountNoise, discrete_laplace
from crowdgate.policy.files import budget_of_contract, working_copy
from crowdgate.policy.policy import PrivacyBudget
from crowdgate.policy.values import exact_number
from crowdgate.publish.probe import probe
from crowdgate.repository.entry import Basis, Ends, Entry, PeopleSaid, PopulationSaid, SourceSaid, digest_of, written
from crowdgate.risk.kl_sums import Drawn, Interval
from crowdgate.settings import configured_key
from crowdgate.signing.keys import PublicKey, SigningKey, public_keys
from crowdgate.sources import open_source

Announce = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """What is asked of `publish`: exactly one of `public`, `release` and `epsilon` says what the figures rest on.

    `words` name the population, `coverage` and `error` are what the holder says of the data, `slot` is the day (and
    minute) of the entry, `keys` are files of public keys of the repository's other holders.
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


@dataclass(frozen=True)
class Published:
    """How it ended: the digest of the entry (None: withheld), and where it lies."""

    digest: str | None
    folder: Path
    entry: Entry | None
    before: bool = False


@dataclass(frozen=True, eq=False)
class _Ready:
    """What is checked before anything is counted."""

    asked: Asked
    subject: Subject
    home: Path
    key: SigningKey
    trusted: tuple[PublicKey, ...]
    folder: Path
    today: date
    template: Callable[..., Entry]

    @property
    def day(self) -> date:
        return date.fromisoformat(self.asked.slot[:10])


def publish(
    asked: Asked, today: date, noise: CountNoise = discrete_laplace, announce: Announce | None = None
) -> Published:
    """Publish one entry, dated by its slot, which is not after `today`.

    Raises ConfigurationError for what can't be asked, FileFault where a table can't be read, LedgerRefused where the
    budget does not allow it or the slot was used, VerificationFailed for a repository or a release that does not hold.
    """
    ready = _prepared(asked, today)
    if asked.epsilon is not None:
        need(RELEASE, "--epsilon")
        return _charged(ready, exact_epsilon(asked.epsilon), noise, announce)
    if asked.release is not None:
        budget = budget_of_contract(asked.contract, ready.subject.contract)[0]
        told = of_release(ready.subject, asked.contract, asked.release, budget.spec.people)
    else:
        told = of_public_table(ready.subject)
    people = PeopleSaid(
        rows=told.rows,
        rows_each=ready.subject.contract.unit.rows,
        known="counted" if asked.release is None else "bound",
    )
    entry = ready.template(people, told.kl, told.collision, told.basis)
    envelope = written(entry, ready.key)
    there = shelf.complete(ready.folder, digest_of(envelope))
    digest = shelf.place(ready.folder, envelope, ready.day, ready.key, ready.trusted, today)
    return Published(digest, ready.folder, entry, before=there)


def exact_epsilon(text: str) -> Fraction:
    """An epsilon above 0. Raises ConfigurationError."""
    try:
        number = exact_number(text)
    except ValueError:
        number = Fraction(0)
    if not 0 < number <= 1000:
        raise _problem("--epsilon", f"{text!r}", "a number above 0 and at most 1000, such as 0.1")
    return number


def _prepared(asked: Asked, today: date) -> _Ready:
    bases = [asked.public, asked.release is not None, asked.epsilon is not None]
    if sum(bases) != 1:
        found = "no basis" if not any(bases) else "more than one basis"
        expected = "exactly one of --public (the contract says that the table is), --from RELEASE_DIR and --epsilon E"
        raise _problem("--public, --from, --epsilon", found, f"{expected}; figures of confidential data cost epsilon")
    if date.fromisoformat(asked.slot[:10]) > today:
        raise _problem("--as-of", f"{asked.slot} is in the future", f"at most {today.isoformat()}")
    subject = subject_of(asked.contract, asked.attributes, asked.where)
    home = working_copy(asked.contract)
    key = configured_key(home)
    trusted = (key.public, *(each for path in asked.keys for each in public_keys(path)))
    template = _template(asked, subject)
    folder = shelf.folder_of(_place(asked, home))
    return _Ready(asked, subject, home, key, trusted, folder, today, template)


def _place(asked: Asked, home: Path) -> str:
    """Where the repository is: a URL, or a folder that is nobody else's."""
    if "://" in asked.to:
        return asked.to
    found = taken(home, home / asked.to, ledger_file(home, asked.ledger)) if asked.to else "no folder"
    if found is not None:
        raise _problem("--to", found, EXPECTED)
    return str(home / asked.to)


def _template(asked: Asked, subject: Subject) -> Callable[..., Entry]:
    """An entry but for its figures, their basis and the number of people; what a person wrote is checked here."""
    try:
        said = {
            "type": "urn:crowdgate:kl-entry:v1",
            "vocabulary": subject.vocabulary(),
            "population": PopulationSaid(
                words=asked.words, id=subject.contract.population, restrictions=subject.restrictions()
            ),
            "source": SourceSaid(coverage=_share("--coverage", asked.coverage), error=_share("--error", asked.error)),
            "bins": subject.view.cells,
            "date": asked.slot[:10],
        }
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise _problem("--words", "not usable", str(first["msg"]).removeprefix("Value error, ")) from None

    def entry(people: PeopleSaid, kl: Interval, collision: Interval, basis: Basis) -> Entry:
        figures = {"kl": _ends(kl), "collision": _ends(collision)}
        return Entry.model_validate({**said, **figures, "people": people, "basis": basis})

    return entry


def _ends(interval: Interval) -> Ends:
    return Ends(value=interval.value, low=interval.low, high=interval.high)


def _share(option: str, text: str) -> float:
    try:
        number = exact_number(text)
    except ValueError:
        number = Fraction(-1)
    if not 0 <= number <= 1:
        raise _problem(option, f"{text!r}", "a share from 0 to 1, such as 0.98")
    return float(number)


def _charged(ready: _Ready, epsilon: Fraction, noise: CountNoise, announce: Announce | None) -> Published:
    run = _run(ready, epsilon)
    before = run.ledger.entry(run.id)
    if before is not None and not before.lease:
        return _shown(charged.ended_before(run, before, ready.key, ready.trusted, ready.today))
    made: list[Entry] = []

    def write(figures: Drawn, rows_each: int, basis: Basis) -> bytes:
        people = PeopleSaid(rows=int(figures.rows.value), rows_each=rows_each, known="charged")
        made.append(ready.template(people, figures.kl, figures.collision, basis))
        return written(made[0], ready.key)

    shelf.check_folder(ready.folder, ready.trusted, ready.today)
    charged.sweep(run)
    probe(ready.folder, run.staged)
    charge, grid = charged.reserve(run)
    if announce is not None:
        announce(run.id)
    digest = charged.conclude(run, charge, grid, draw_key(), noise, write)
    if digest is None:
        return Published(None, ready.folder, None)
    charged.publish_staged(run, digest, ready.key, ready.trusted, ready.today)
    return Published(digest, ready.folder, made[0])


def _run(ready: _Ready, epsilon: Fraction) -> charged.Run:
    asked, subject = ready.asked, ready.subject
    stated, document = budget_of_contract(asked.contract, subject.contract)
    budget = _budget(stated)
    charged.check_charge(subject, budget)
    ledger = ledger_at(ready.home, asked.ledger, stated.spec.ledger)
    ledger.check(subject.contract.id, budget)
    words = "\n".join((asked.words, asked.coverage, asked.error))
    digest = charged.request_digest(subject, epsilon, (*subject.contract.files, document.path), words)
    name = f"kl/{subject.contract.id}/{asked.slot}"
    source = open_source(subject.contract, subject.counted.names)
    return charged.Run(subject, epsilon, budget, ledger, name, digest, source, ready.folder, ready.home, ready.day)


def _budget(stated: PrivacyBudget) -> Budget:
    spec = stated.spec
    return Budget(stated.metadata.name, Spend(spec.epsilon, spec.delta), spec.people, spec.unit, spec.relation)


def _shown(ended: charged.Ended) -> Published:
    return Published(ended.digest, ended.folder, None, ended.before)


def _problem(option: str, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, option, found, expected))
