"""Contents of a ledger as values, read from the state of its journal."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, starmap

from crowdgate.accounting.renyi import Divergences
from crowdgate.ledger.filters import parse_lifetime, parse_vector
from crowdgate.ledger.journal_rules import Cells, JournalState
from crowdgate.ledger.lazy_mapping import LazyMapping
from crowdgate.ledger.schema import CONTRACTS, DIVERGENCES, ENTRIES, FILTERS, FREEZES, POPULATIONS, SERIES, TOTALS
from crowdgate.ledger.series import SeriesSlot, slots
from crowdgate.ledger.transitions import ChargeRow
from crowdgate.ledger.values import ZERO, Budget, Entry, Spend, State, amount

_VOID = State.VOID.value


def budget(held: JournalState, population: str) -> Budget | None:
    """Return the registered budget of a population; None if none is registered."""
    row = held.rows[POPULATIONS].get(population)
    return None if row is None else _budget(held, row)


def budgets(held: JournalState) -> list[Budget]:
    """Return the registered budgets of all populations, sorted by population."""
    return [_budget(held, row) for _, row in sorted(held.rows[POPULATIONS].items(), key=lambda item: str(item[0]))]


def population_of(held: JournalState, contract: str) -> str | None:
    """Return the population that a contract is bound to; None for a contract that is not bound."""
    row = held.rows[CONTRACTS].get(contract)
    return None if row is None else str(row[1])


def spent(held: JournalState, population: str) -> Spend:
    """Return the total privacy cost (epsilon and delta) charged to a population."""
    row = held.rows[TOTALS].get(population)
    if row is None:
        return ZERO
    _, epsilon, delta = row
    return Spend(amount(epsilon), amount(delta))


def divergences(held: JournalState, population: str) -> Divergences | None:
    """Return the total of a population in Renyi divergences; None if it has no filter."""
    row = held.rows[FILTERS].get(population)
    return None if row is None else parse_vector(row[2])


def divergences_of(held: JournalState, number: int) -> Divergences | None:
    """Return the Renyi divergences of a charge; None for a charge that no filter counts."""
    row = held.rows[DIVERGENCES].get(number)
    return None if row is None else parse_vector(row[1])


def slot_of(held: JournalState, number: int) -> SeriesSlot | None:
    """Return the place of a charge in its series; None for a charge of no series."""
    row = held.rows[SERIES].get(number)
    return None if row is None else SeriesSlot(*row)


def series_payer(held: JournalState, version: str, policy_digest: str) -> Entry | None:
    """Return the charge that pays for the series of a policy version with this digest; None if none does."""
    for cells in held.rows[SERIES].values():
        slot = SeriesSlot(*cells)
        row = ChargeRow(*held.rows[ENTRIES][slot.number]) if slot.pays else None
        if row is not None and (row.release_id.rpartition("/")[0], row.policy_digest) == (version, policy_digest):
            entry = _entry(row)
            if entry.state is not State.VOID:
                return entry
    return None


def slots_taken(held: JournalState, payer: int) -> int:
    """Return the number of slots of a series that are charged and not void."""
    return sum(1 for _ in slots(held.rows, held.charged, payer))


def is_frozen(held: JournalState, population: str) -> bool:
    """Return whether a population is frozen: nothing may be charged to it or read of it."""
    row = held.rows[FREEZES].get(population)
    return row is not None and bool(row[1])


def live_entry(held: JournalState, release_id: str) -> Entry | None:
    """Return the ledger's entry of a release id, unless it is void; None if there is no such entry."""
    number = held.charged.get(release_id)
    return None if number is None else _entry(held.rows[ENTRIES][number])


def charge(held: JournalState, number: int) -> Entry:
    """Return the charge with this number. Raises KeyError if there is none."""
    return _entry(held.rows[ENTRIES][number])


def charges(held: JournalState) -> Mapping[str, ChargeRow]:
    """Return the charge of each release that is not void, by release id; of one state the same object."""
    if held.charge_rows is None:
        held.charge_rows = LazyMapping(
            lambda name: ChargeRow(*held.rows[ENTRIES][held.charged[name]]) if name in held.charged else None,
            lambda: {
                row.release_id: row for row in starmap(ChargeRow, held.rows[ENTRIES].values()) if row.state != _VOID
            },
        )
    return held.charge_rows


def destinations(held: JournalState) -> Iterator[tuple[str, str, str]]:
    """Yield release id, destination and state of each charge that has a destination."""
    rows = held.rows[ENTRIES]
    changed = rows.changed if held.image is not None and isinstance(rows, LazyMapping) else rows
    for number, *place in held.image.destinations() if held.image is not None else ():
        if number not in changed:
            yield place[0], place[1], place[2]
    for row in starmap(ChargeRow, filter(None, changed.values())):
        if row.destination:
            yield row.release_id, row.destination, row.state


def entries(held: JournalState, name: str | None = None) -> list[Entry]:
    """Return the entries of all charges ever made, including void ones, in order; with `name`, those whose release ids
    begin with NAME/.
    """
    rows = held.rows[ENTRIES].values()
    own = rows if name is None else [row for row in rows if row[1].startswith(f"{name}/")]
    return sorted(map(_entry, own), key=lambda entry: entry.number)


def last_entries(
    held: JournalState, name: str | None, most: int, accept: Callable[[Entry], bool], population: str | None = None
) -> list[Entry]:
    """Return the last charges, at most `most`, of releases of the policy `name` and of the `population` (None: of any)
    that `accept` accepts, in order.
    """
    newest = _newest_charges(held, name, population)
    if name is not None:
        newest = (row for row in newest if row[1].partition("/")[0] == name)
    if population is not None:
        newest = (row for row in newest if row[3] == population)
    return list(islice(filter(accept, map(_entry, newest)), most))[::-1]


def _newest_charges(held: JournalState, name: str | None, population: str | None) -> Iterator[Cells]:
    """Yield charges, the newest first, among them all of this policy and population."""
    where: dict[str, str] = {} if population is None else {"population = ?": population}
    if name is not None:  # "0" follows "/"; the signs keep SQLite from sorting all charges of the policy
        where |= {"+release_id >= ?": name, "+release_id < ?": f"{name}0"}
    return held.charges_where(" AND ".join(where) or "true", *where.values(), newest=True)


def _budget(held: JournalState, row: Cells) -> Budget:
    population, epsilon, delta, people, unit, relation = row
    kept = held.rows[FILTERS].get(population)
    lifetime = None if kept is None else parse_lifetime(kept[1])
    return Budget(population, Spend(amount(epsilon), amount(delta)), people, unit, relation, lifetime)


def _entry(row: Cells) -> Entry:
    said = ChargeRow(*row)._asdict()
    spend = Spend(amount(said.pop("epsilon")), amount(said.pop("delta")))
    return Entry(spend=spend, state=State(said.pop("state")), **said)
