"""Findings outside of a ledger which it may lack: the sources of a restoration.

A manifest, an entry of a KL repository, a head and an attested position state privacy costs. Of a private record, a
claim or staged files only the id is known. Its cost is then that of the same policy version, in the ledger or in the
policy's file. Otherwise it is unknown, and the population is frozen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate import manifest
from crowdgate.errors import ConfigurationError, CrowdgateError, LedgerRefused
from crowdgate.ledger.contents import charges
from crowdgate.ledger.filters import OrderedCost, largest_counted, parse_lifetime, parse_vector
from crowdgate.ledger.heads import HeadStatement, Place
from crowdgate.ledger.position import read_position
from crowdgate.ledger.restoration import UNKNOWN_DIGEST, FoundCharge, OutsideFindings
from crowdgate.ledger.schema import (
    CONTRACTS,
    DIVERGENCES,
    ENTRIES,
    FILTERS,
    KEYS,
    LEDGERS,
    POPULATIONS,
    SERIES,
    select,
)
from crowdgate.ledger.series import SeriesRequest, SeriesSlot
from crowdgate.ledger.store import Store
from crowdgate.ledger.stores import kind_of
from crowdgate.ledger.transitions import ChargeRow
from crowdgate.ledger.values import ZERO, Budget, Spend, State, amount, label
from crowdgate.limits import LARGEST_MANIFEST
from crowdgate.planning.anchors import UNREADABLE, KnownRelease, releases_at
from crowdgate.planning.budget_values import budget_of
from crowdgate.planning.catalogue import NAME as CATALOGUE
from crowdgate.planning.outside_state import GONE, OutsideState
from crowdgate.planning.paid_series import series_request
from crowdgate.planning.plan import bundle_of, plan_release
from crowdgate.planning.private_traces import FOUND, name_digest, release_id_of, unknown_private_files
from crowdgate.planning.published_places import homes_of, policies_of
from crowdgate.publish.destination_claims import claimed_releases
from crowdgate.publish.file_names import STAGING
from crowdgate.publish.tombstone import NAMES as TOMBSTONES
from crowdgate.publish.tombstone import read_tombstone
from crowdgate.system.regular_files import read_plain

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.policy.files import Bundle

_WITHDRAWN_BEFORE = "withdrawn before the restoration"


def findings(ledger: Ledger, root: Path, more: Sequence[FoundCharge], whole: bool = True) -> OutsideFindings:
    """Return everything that is known outside of a ledger which the working copy `root` uses. `more` is known of the
    ledger that it replaces; unless that is the `whole`, or a head states all totals, every population is frozen.
    """
    outside = OutsideState(root)
    roots = outside.destinations(ledger)
    releases = [each for place in roots for each in releases_at(place, ledger)]
    lost = set(ledger.missing_lines(each.line for each in releases))
    heads = [head for _, head in outside.heads(ledger, roots)]
    behind = set(ledger.missing_lines(head.place for head in heads))
    newer = [head for head in heads if not ledger.holds(*head.place)]
    stated = [*_released(ledger, root, releases), *_attested(ledger)]
    stated += [each for head in newer for each in (*_series(head), *_open_charges(head))]
    sources = _Sources(ledger, root, more, stated)
    traces = list(_traces(ledger))
    traces += _open_traces(ledger, roots, complete=not (lost or behind or traces))
    gone = list(outside.gone(ledger))
    return OutsideFindings(
        charges=(*sources.stated, *(sources.charge(*each) for each in traces)),
        heads=newer,
        places=tuple(lost),
        budgets=sources.budgets,
        files=tuple(_unknown_files(ledger)),
        gone=tuple((GONE, place) for place in gone),
        frozen={
            **dict(_of_gone(ledger, gone)),
            **_all_frozen(ledger, sources.stated, _unknown_charges(heads, lost, whole)),
        },
    )


def _unknown_charges(heads: Sequence[HeadStatement], lost: Iterable[Place], whole: bool) -> str | None:
    """Return why the ledger may have made charges that nothing states; None if a head states its totals."""
    if not (whole or heads):
        return "rows of the replaced ledger can't be read"
    newest = max((head.line for head in heads), default=0)
    beyond = max((number for number, _ in lost), default=0)
    return f"line {beyond} is lost, and no head of it or a later line states all charges" if beyond > newest else None


def charges_of_rows(url: str, ledger_id: str, origin: str) -> tuple[list[FoundCharge], bool]:
    """Return the charges that the tables of a ledger hold, as far as they can be read, and whether all can be.

    The ledger may be damaged or edited. A file that states another id holds none.
    """
    try:
        store = kind_of(url).opened(url, 10, True)
        with store.transaction(writing=False) as database:
            if [each for each, *_ in database.rows(select(LEDGERS))] not in ([], [ledger_id]):
                return [], True
            numbers = [number for (number,) in database.rows(f"SELECT number FROM {ENTRIES}")]
    except CrowdgateError:
        return [], False
    rows = [_row(store, ENTRIES, number) for number in numbers]
    read = [row for row in rows if row is not None]
    vectors = [row for number in numbers if (row := _row(store, DIVERGENCES, number)) is not None]
    slots = [row for number in numbers if (row := _row(store, SERIES, number)) is not None]
    populations = {row[3] for row in read} if vectors else ()
    filters = [row for each in populations if (row := _row(store, FILTERS, each)) is not None]
    return list(_charges(read, origin, _counted(vectors, filters), slots)), len(read) == len(rows)


def _row(store: Store, table: str, key: object) -> Sequence[Any] | None:
    """Return a row of a table, read in a transaction of its own; None if there is none, or if it can't be read."""
    try:
        with store.transaction(writing=False) as database:
            return next(iter(database.rows(select(table, f"WHERE {KEYS[table]} = ?"), key)), None)
    except CrowdgateError:
        return None


_Counted = Callable[[ChargeRow], OrderedCost | None]


def _counted(vectors: Iterable[Sequence[Any]], filters: Iterable[Sequence[Any]]) -> _Counted:
    """Return a function of a charge: its Renyi divergences by rows of the ledger, None if they hold none."""
    orders, amounts = {row[0]: row[1] for row in filters}, {row[0]: row[1] for row in vectors}

    def found(charge: ChargeRow) -> OrderedCost | None:
        try:
            kept = parse_lifetime(orders[charge.population]).filter
            return OrderedCost(kept.orders, parse_vector(amounts[charge.number]))
        except (KeyError, ValueError, TypeError, AttributeError, ZeroDivisionError):
            return None

    return found


def remove_lost_position(ledger: Ledger) -> None:
    """Remove the attested position of a ledger that lacks its line."""
    position = read_position(ledger.path, ledger.id, ledger.trusted)
    ledger.ignore_position()
    if position is not None and not ledger.holds(position.stated.number, position.stated.digest):
        position.path.unlink(missing_ok=True)


def _charges(
    rows: Iterable[Sequence[Any]], origin: str, counted: _Counted, slots: Iterable[Sequence[Any]]
) -> Iterator[FoundCharge]:
    """Yield the charges in rows of a ledger; `slots` are its rows of series."""
    paid = {slot.number: slot for slot in (SeriesSlot(*cells) for cells in slots) if slot.pays}
    for cells in rows:
        try:
            row = ChargeRow(*cells)
            spend = Spend(amount(row.epsilon), amount(row.delta))
            label("release id", row.release_id), label("population", row.population)
            series = _paid_series(paid.get(row.number), spend)
        except (ValueError, TypeError, ZeroDivisionError):
            continue
        if row.state != State.VOID:
            published = row.state in (State.COMMITTED, State.PUBLISHED, State.WITHDRAWN)
            ended = (row.manifest_digest, row.destination) if published else (None, None)
            yield FoundCharge(
                row.release_id, origin, row.population, spend, True, row.policy_digest, *ended, sample=row.sample,
                withdrawn=_WITHDRAWN_BEFORE if row.state == State.WITHDRAWN else None, counted=counted(row),
                series=series,
            )  # fmt: skip


def _paid_series(slot: SeriesSlot | None, spend: Spend) -> SeriesRequest | None:
    """Return the series that a charge of this cost paid for; None without one. Raises ValueError or TypeError for a
    damaged row."""
    if slot is None:
        return None
    series = SeriesRequest(slot.releases, spend, slot.law)
    series.check()
    return series


def _attested(ledger: Ledger) -> Iterator[FoundCharge]:
    """Yield the charges of the attested position, whose state a trusted key signed, unless the ledger has its line."""
    position = read_position(ledger.path, ledger.id, ledger.trusted)
    if position is None or ledger.holds(position.stated.number, position.stated.digest):
        return
    rows = position.rows()
    if rows:
        counted = _counted(rows.get(DIVERGENCES, ()), rows.get(FILTERS, ()))
        origin = f"the attested position {position.path.name}"
        yield from _charges(rows[ENTRIES], origin, counted, rows.get(SERIES, ()))


def _series(head: HeadStatement) -> Iterator[FoundCharge]:
    """Yield the charges that paid for the series of a head."""
    for each in head.series:
        yield FoundCharge(
            each.payer, f"the head of line {head.line} states that it paid for a series", each.population, each.spend,
            True, each.policy, counted=each.counted, series=each.request,
        )  # fmt: skip


def _open_charges(head: HeadStatement) -> Iterator[FoundCharge]:
    """Yield the charges of a head that have not ended; those of a version with a series are of its policy digest."""
    digests = {(each.payer.rpartition("/")[0], each.population): each.policy for each in head.series}
    for each in head.open:
        origin = f"the head of line {head.line} names it as not ended"
        digest = digests.get((each.release.rpartition("/")[0], each.population), UNKNOWN_DIGEST)
        yield FoundCharge(each.release, origin, each.population, each.spend, True, digest, counted=each.counted)


def _released(ledger: Ledger, root: Path, releases: Sequence[KnownRelease]) -> Iterator[FoundCharge]:
    for each in releases:
        if each.path.name != CATALOGUE:
            try:
                yield _released_charge(ledger, root, each)
            except UNREADABLE:
                continue


def _released_charge(ledger: Ledger, root: Path, each: KnownRelease) -> FoundCharge:
    if each.spend is not None:
        contract = each.release_id.split("/")[1]
        population = ledger.state().rows[CONTRACTS].get(contract, (contract, None))[1] or _population_of(root, contract)
        return FoundCharge(
            each.release_id, str(each.path), population, each.spend, True, UNKNOWN_DIGEST, each.digest,
            _destination(root, each.path),
        )  # fmt: skip
    if each.path.name in TOMBSTONES:
        said = read_tombstone(each.path.parent, ledger.trusted).predicate
        spend = Spend(Fraction(said.epsilon), Fraction(said.delta))
        return FoundCharge(
            each.release_id, str(each.path), said.population, spend, True, said.policy_digest, each.digest,
            _destination(root, each.path.parent), withdrawn=said.reason,
        )  # fmt: skip
    data = read_plain(each.path.parent / manifest.NAME, LARGEST_MANIFEST)
    if hashlib.sha256(data).hexdigest() != each.digest:
        raise ValueError("another manifest than the signed one")
    stated = json.loads(data)
    spend = Spend(*(Fraction(stated["guarantee"][name]) for name in ("epsilon", "delta")))
    return FoundCharge(
        each.release_id, str(each.path), stated["contract"]["population"], spend, True, stated["policyDigest"],
        each.digest, _destination(root, each.path.parent),
    )  # fmt: skip


def _destination(root: Path, path: Path) -> str:
    """Return a path as the ledger states it: relative to the working copy if it lies inside."""
    home = root.resolve()
    return path.relative_to(home).as_posix() if path.is_relative_to(home) else str(path)


def _population_of(root: Path, contract: str) -> str:
    for bundle in _bundles([root]):
        if bundle.contract.id == contract:
            return bundle.contract.population
    raise ValueError("no policy here has this contract")


def _traces(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield each release that left a private record, and that the ledger does not know as read, with its origin."""
    for path in unknown_private_files(ledger):
        release_id = release_id_of(ledger, path)
        if release_id is not None:
            yield release_id, f"the private record {path.name}"


def _open_traces(ledger: Ledger, roots: Sequence[Path], complete: bool) -> Iterator[tuple[str, str]]:
    """Yield each release that left a claim or staged files, with its origin. Where the ledger is `complete`, as far as
    heads and releases tell, a lease and a charge that was given back are left as they are.
    """
    held = charges(ledger.state())
    given_back = {each.release_id for each in ledger.entries() if each.state is State.VOID} if complete else set()
    for root in roots:
        for release_id in claimed_releases(root, ledger.id):
            entry = held.get(release_id)
            unknown = entry is None and release_id not in given_back
            if unknown or not (entry is None or entry.reading or complete):
                yield release_id, f"a claim or staged files in {root / STAGING}"


def _unknown_files(ledger: Ledger) -> Iterator[tuple[str, str, str]]:
    for path in unknown_private_files(ledger):
        if release_id_of(ledger, path) is None:
            yield FOUND, "audit or measurement", name_digest(path.name)


def _all_frozen(ledger: Ledger, stated: Sequence[FoundCharge], why: str | None) -> dict[str, str]:
    populations = {*map(str, ledger.state().rows[POPULATIONS]), *(each.population for each in stated)}
    return {} if why is None else dict.fromkeys(sorted(populations), why)


def _of_gone(ledger: Ledger, gone: Sequence[str]) -> Iterator[tuple[str, str]]:
    for each in charges(ledger.state()).values():
        for place in gone:
            if each.destination is not None and each.destination.startswith(f"{place}/"):
                yield each.population, f"its destination {place} is gone, and newer releases may be there"


def _bundles(homes: Sequence[Path]) -> Iterator[Bundle]:
    for home in homes:
        for path in policies_of(home):
            try:
                yield bundle_of(path)
            except CrowdgateError:
                continue


@dataclass(frozen=True)
class _Cost:
    """The privacy cost of releases of a policy version, with their population."""

    population: str
    spend: Spend
    digest: str
    sample: str | None = None
    counted: OrderedCost | None = None


class _Sources:
    """Privacy costs by policy version, from the ledger, from findings that state them, and from policy files."""

    def __init__(
        self, ledger: Ledger, root: Path, edited: Sequence[FoundCharge], signed: Sequence[FoundCharge]
    ) -> None:
        """`edited` are the charges of replaced ledgers, which may be; where keys are trusted, one signed the others."""
        self.stated = (*edited, *signed)
        self.budgets: dict[str, Budget] = {}
        self._costs: dict[str, list[_Cost]] = {}
        self._declared: dict[tuple[str, str], Bundle] = {}
        self._contracts = {name: row[1] for name, row in ledger.state().rows[CONTRACTS].items()}
        rows = ledger.state().rows
        counted = _counted(rows[DIVERGENCES].values(), rows[FILTERS].values())
        for row in charges(ledger.state()).values():
            cost = _Cost(row.population, _spend(row), row.policy_digest, row.sample, counted(row))
            self._add(row.release_id, cost)
        for each in self.stated:
            cost = _Cost(each.population, each.spend, each.policy_digest, each.sample, each.counted)
            self._add(each.release_id, cost)
        for bundle in _bundles(homes_of(ledger, root)):
            self._add_policy(bundle)
        if ledger.trusted:
            self.stated = (*map(self._as_declared, edited), *signed)
        else:
            self.stated = tuple(map(self._at_least_its_version, map(self._as_declared, self.stated)))
        self.stated = tuple(map(self._counted_as_its_version, self.stated))

    def _as_declared(self, each: FoundCharge) -> FoundCharge:
        """Return a charge that paid for a series with at least the cost that a policy here plans for it; without such a
        policy as no series, so that no slot of it is free. For what no key signed: anybody who can write a destination,
        or the folder of the ledger, can state a cheap series there.
        """
        if each.series is None:
            return each
        bundle = self._declared.get((each.release_id.rpartition("/")[0], each.policy_digest))
        planned, counted = (None, None) if bundle is None else _planned_series(bundle)
        if planned is None or (planned.releases, planned.law) != (each.series.releases, each.series.law):
            return replace(each, series=None)
        return replace(each, spend=_larger(each.spend, planned.spend), counted=largest_counted((each.counted, counted)))

    def _at_least_its_version(self, each: FoundCharge) -> FoundCharge:
        """Return a charge with at least the cost of the same policy, version and digest: without keys, anybody who can
        write a destination can lower what a file there states.
        """
        same = [
            cost
            for cost in self._costs.get(each.release_id.rpartition("/")[0], ())
            if cost.digest == each.policy_digest
        ]
        unlike = each.policy_digest == UNKNOWN_DIGEST or each.series is not None
        return each if unlike else replace(each, spend=_most(same))

    def _counted_as_its_version(self, each: FoundCharge) -> FoundCharge:
        """Return a charge with the largest divergences of the same policy, version, digest and cost, if any are
        known."""
        costs = self._costs.get(each.release_id.rpartition("/")[0], ())
        same = [cost.counted for cost in costs if cost.digest == each.policy_digest and cost.spend == each.spend]
        unlike = each.policy_digest == UNKNOWN_DIGEST or each.series is not None
        return each if unlike else replace(each, counted=largest_counted(same))

    def _add(self, release_id: str, cost: _Cost) -> None:
        self._costs.setdefault(release_id.rpartition("/")[0], []).append(cost)

    def _add_policy(self, bundle: Bundle) -> None:
        metadata, privacy = bundle.policy.metadata, bundle.policy.spec.privacy
        sample = None if bundle.contract.sample is None else bundle.contract.sample.name
        population = bundle.contract.population
        self._contracts.setdefault(bundle.contract.id, population)
        self.budgets.setdefault(population, budget_of(bundle))
        cost = _Cost(population, Spend(privacy.epsilon, privacy.delta), bundle.digest, sample)
        self._costs.setdefault(f"{metadata.name}/{metadata.version}", []).append(cost)
        if bundle.policy.spec.series is not None:
            self._declared[f"{metadata.name}/{metadata.version}", bundle.digest] = bundle

    def charge(self, release_id: str, origin: str) -> FoundCharge:
        """Return the charge of a release of which only the id is known. Raises LedgerRefused if no population is
        known.
        """
        version = release_id.rpartition("/")[0]
        own = [] if release_id.startswith("kl/") else self._costs.get(version, [])
        if own:
            digests = {each.digest for each in own} - {UNKNOWN_DIGEST}
            digest = digests.pop() if len(digests) == 1 else UNKNOWN_DIGEST
            found = FoundCharge(release_id, origin, own[0].population, _most(own), True, digest, sample=own[0].sample)
            return self._counted_as_its_version(found)
        near = self._near(release_id)
        if not near:
            said = f"the privacy cost of {release_id} is unknown, and so is its population ({origin})"
            raise LedgerRefused(f"{said}; restore in the working copy that ran it, or give a later copy")
        return FoundCharge(release_id, origin, self._population(release_id, near), _most(near), certain=False)

    def _near(self, release_id: str) -> list[_Cost]:
        """Return the costs of the same policy's other versions; without any, all costs that are known."""
        name = release_id.partition("/")[0]
        own = [cost for version, found in self._costs.items() if version.partition("/")[0] == name for cost in found]
        return own or [cost for found in self._costs.values() for cost in found]

    def _population(self, release_id: str, near: Sequence[_Cost]) -> str:
        named = self._contracts.get(release_id.split("/")[1]) if release_id.startswith("kl/") else None
        return named or near[0].population


def _planned_series(bundle: Bundle) -> tuple[SeriesRequest | None, OrderedCost | None]:
    """Return the series that a policy declares, and its Renyi divergences at the orders of its budget."""
    try:
        plan = plan_release(bundle)
    except ConfigurationError:
        return None, None
    series, lifetime = series_request(plan.series), budget_of(bundle).lifetime
    if series is None or lifetime is None:
        return series, None
    return series, OrderedCost(lifetime.filter.orders, plan.divergences(lifetime.filter).times(series.releases))


def _larger(one: Spend, other: Spend) -> Spend:
    return Spend(max(one.epsilon, other.epsilon), max(one.delta, other.delta))


def _most(costs: Sequence[_Cost]) -> Spend:
    found = [each.spend for each in costs] or [ZERO]
    return Spend(max(each.epsilon for each in found), max(each.delta for each in found))


def _spend(row: ChargeRow) -> Spend:
    return Spend(amount(row.epsilon), amount(row.delta))
