"""Query and list a repository: the entries on some attributes of a population, with conflicting ones side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import log
from pathlib import Path
from typing import Any

from crowdgate.anonymity.kl.entry import Basis, FigureInterval, KlEntry, PublicTable
from crowdgate.anonymity.kl.matching import MatchingEntries, RepositoryQuestion, match_entries
from crowdgate.anonymity.kl.reading import Repository, SignedEntry, read_repository
from crowdgate.anonymity.kl.subject import split_options
from crowdgate.anonymity.kl.unique_share import unique_share_range
from crowdgate.contracts.contract import Contract
from crowdgate.errors import ConfigurationError, Problem, expected_names, nearest
from crowdgate.hierarchy import EXACT
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.number_text import BOUND, LEAST, PEOPLE, Rounding, Value, decimal, exact_text
from crowdgate.planning.bundle import KNOWN
from crowdgate.policy.files import contracts
from crowdgate.signing.keys import public_keys

GROUP_SIZES = (10, 100, 1000)
"""Sizes of groups for which an answer bounds the number of unique people."""
UNIQUE_COLUMNS = (
    ListingColumn("entry", "entry"),
    ListingColumn("people", "people", PEOPLE),
    ListingColumn("low", "from", LEAST, "unknown"),
    ListingColumn("high", "to", BOUND, "unknown"),
)
Values = Mapping[tuple[str, str], int]
"""Number of values of a level, by attribute and level."""


def open_repository(place: str, keys: Sequence[Path], today: date) -> Repository:
    """Return the repository in a folder or at a URL. Every entry must be signed by one of these keys."""
    return read_repository(place, [each for path in keys for each in public_keys(path)], today)


@dataclass(frozen=True)
class QueryAnswer:
    """A question to a repository with the entries that answer it."""

    question: RepositoryQuestion
    found: MatchingEntries

    def to_json(self) -> dict[str, Any]:
        """Return the question, the outcome and the matching entries as an object of JSON."""
        found = self.found
        return {
            "outcome": found.outcome,
            "exact": [entry_json(each) for each in found.exact],
            "more_specific": [entry_json(each) for each in found.more],
            "less_specific": [entry_json(each) for each in found.less],
            "conflicts": [[one.digest, other.digest] for one, other in found.conflicts],
            "unique": [dict(row) for row in self.unique_people().rows],
        }

    def unique_people(self) -> Listing:
        """Return the bounds on the expected number of unique people in groups, over all tables that fit each exact
        entry."""
        rows = tuple(_unique_row(each, people) for each in self.found.exact for people in GROUP_SIZES)
        return Listing("unique", "expected unique people, over all tables that fit an entry", UNIQUE_COLUMNS, rows)


def query(
    repository: Repository,
    home: Path,
    contract: str,
    attributes: Sequence[str],
    population: str | None = None,
    where: Sequence[str] = (),
) -> QueryAnswer:
    """Return the repository's entries on these attributes (`NAME` or `NAME=LEVEL`), of people with these values.

    The number of values of a level, and the level of a value, come from the contract if the working copy has it,
    otherwise from the repository's entries. Raises ConfigurationError for unknown attributes, levels and values.
    """
    own = next((each for each in contracts(home, KNOWN) if each.id == contract), None)
    entries = [each.entry for each in repository.entries if each.entry.vocabulary.contract == contract]
    known = _values_of_contract(own) if own is not None else _values_of_entries(entries)
    if not known:
        ids = sorted({each.entry.vocabulary.contract for each in repository.entries})
        found = f"neither the repository nor the working copy knows a contract {contract!r}"
        raise _option_error("--contract", found, f"one of {', '.join(ids)}", nearest(contract, ids))
    asked = {
        name: _level_size(known, name, level or EXACT)
        for name, _, level in (each.partition("=") for each in split_options(attributes))
    }
    if not asked:
        raise _option_error("--of", "no attribute is named", "ATTRIBUTE or ATTRIBUTE=LEVEL, with commas between", None)
    only = dict(_restriction(own, entries, each) for each in where)
    question = RepositoryQuestion(contract, asked, population, only)
    return QueryAnswer(question, match_entries(question, repository.entries))


def _unique_row(each: SignedEntry, people: int) -> Mapping[str, Value]:
    share = unique_share_range(each.entry, people)
    low, high = (None, None) if isinstance(share, str) else (people * share.low, people * share.high)
    return {"entry": each.digest[:12], "people": people, "low": low, "high": high}


def _values_of_contract(contract: Contract) -> Values:
    return {
        (each.name, level.name): len(level)
        for each in contract.attributes
        if each.hierarchy is not None
        for level in each.hierarchy.levels
    }


def _values_of_entries(entries: Sequence[KlEntry]) -> Values:
    return {(each.name, each.level): each.values for entry in entries for each in entry.vocabulary.attributes}


def _level_size(known: Values, name: str, level: str) -> int:
    if (name, level) in known:
        return known[name, level]
    names = sorted({each for each, _ in known})
    if name not in names:
        raise _option_error(
            "--of",
            f"{name!r} is not an attribute of any entry",
            expected_names(names, name, "an attribute", "the contract"),
            nearest(name, names),
        )
    levels = [own for each, own in known if each == name]
    raise _option_error(
        "--of", f"{name!r} has no level {level!r}", f"one of {', '.join(levels)}", nearest(level, levels)
    )


def _restriction(contract: Contract | None, entries: Sequence[KlEntry], word: str) -> tuple[str, tuple[str, str]]:
    name, equals, value = word.partition("=")
    attribute = None if contract is None else contract.by_name.get(name)
    levels = attribute.hierarchy.levels if attribute is not None and attribute.hierarchy is not None else ()
    found = [level.name for level in levels if value in level.labels] or [
        each.level
        for entry in entries
        for each in entry.population.restrictions
        if (each.name, each.value) == (name, value)
    ]
    if not equals or not found:
        raise _option_error("--where", f"{word!r}", "ATTRIBUTE=VALUE, of the contract or of some entry", None)
    return name, (found[0], value)


def entry_json(each: SignedEntry) -> dict[str, Any]:
    """Return an entry as an object of JSON, with its digest and the ids of the keys that signed it."""
    return {"digest": each.digest, "signed_by": list(each.signers), **each.entry.model_dump(mode="json", by_alias=True)}


TITLES = (
    "entry",
    "contract",
    "attributes",
    "people",
    "KL",
    "KL range",
    "collision",
    "collision range",
    "ln N",
    "covers",
    "errors",
    "date",
    "basis",
)
MEANING = (
    "KL: distance to the uniform law in nats, from 0 (all N values alike) to ln N (one value for all); "
    "collision: (N sum p^2 - 1)/2; no range: exact; covers, errors: shares, as the holder states them"
)
"""Meaning of the columns of TITLES."""


def entry_row(each: SignedEntry) -> list[Value]:
    """Return an entry as a row of a table under TITLES."""
    entry = each.entry
    return [
        each.digest[:12],
        f"{entry.vocabulary.contract} {entry.vocabulary.version}",
        attributes_text(entry),
        population_text(entry),
        *_figure_cells(entry.kl, entry.basis),
        *_figure_cells(entry.collision, entry.basis),
        log(entry.bins),
        entry.source.coverage,
        entry.source.error,
        entry.date,
        basis_text(entry),
    ]


def _figure_cells(ends: FigureInterval, basis: Basis) -> tuple[float, str]:
    """Return a figure and its range, rounded outwards. The range is empty for public tables, whose figures are
    exact."""
    low, high = decimal(ends.low, 4, Rounding.DOWN), decimal(ends.high, 4)
    return ends.value, "" if isinstance(basis, PublicTable) else f"{low} to {high}"


def attributes_text(entry: KlEntry) -> str:
    """Return the attributes of an entry with their levels, as text."""
    return ", ".join(f"{each.name}={each.level}" for each in entry.vocabulary.attributes)


def population_text(entry: KlEntry) -> str:
    """Return the id of an entry's population with its restrictions, as text."""
    only = "".join(f", {each.name}={each.value}" for each in entry.population.restrictions)
    return f"{entry.population.id}{only}"


def basis_text(entry: KlEntry) -> str:
    """Return the basis of an entry's figures (public table, release, or noise) as text."""
    basis = entry.basis
    if basis.kind == "public":
        return "public table"
    if basis.kind == "release":
        return f"release {basis.release}"
    return f"noise, epsilon {exact_text(basis.epsilon)}"


def _option_error(option: str, found: str, expected: str, instead: str | None) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, option, found, expected, instead))
