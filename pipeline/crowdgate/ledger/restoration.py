"""Bookings of a restoration: what is known outside of an older copy of a ledger, and the copy lacks, becomes spent.

Every booking is a line of the journal with its origin. A found charge is read, so it is never given back. What a head
states in total above all bookings is one charge more. A population whose cost can't be known is frozen. Lines that are
named outside and that the copy lacks are noted as superseded, and each population as accessed, since accesses may be
lost as well. A second restoration from the same state books nothing.

A series that a head states as paid is paid in the copy too, and a found release of it takes a slot. Slots cost nothing,
so no total tells that the copy lacks them. Hence each slot that a head states as charged above those that are known is
booked as well: without it the series would make more releases than were paid.

In Renyi divergences a finding without a vector, such as an open charge of an earlier version's head, is booked with the
divergences of any release of its cost, which bound its privacy loss but may be below its own vector at an order. So at
each order, and in cut mass, the excess of a head's total above all bookings is booked as well: the total never falls
below any head's.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from crowdgate.accounting.renyi import Divergences
from crowdgate.errors import LedgerRefused
from crowdgate.ledger import contents
from crowdgate.ledger.access_log import ACCESSES_LOST
from crowdgate.ledger.conversion import convert_again
from crowdgate.ledger.filters import OrderedCost, excess, is_zero, largest_counted, on_grid, vector_text, zero
from crowdgate.ledger.heads import SUPERSEDED, HeadStatement, Place, PopulationTotal, SeriesTotal
from crowdgate.ledger.journal_rules import JournalState
from crowdgate.ledger.journal_writer import JournalWriter
from crowdgate.ledger.reservations import count_divergences, register, unknown_law
from crowdgate.ledger.schema import ENTRIES, FREEZES, POPULATIONS, SERIES, SINCE, TOTALS
from crowdgate.ledger.series import SeriesRequest, SeriesSlot
from crowdgate.ledger.transitions import RESTORED, WITHDRAWN
from crowdgate.ledger.values import ZERO, Budget, Entry, Spend, State, amounts

UNKNOWN_DIGEST = "unknown"
"""The policy digest of a booked charge of which no policy file is known."""
_REASON = 1000


@dataclass(frozen=True)
class FoundCharge:
    """A release that is known outside of a ledger, with the origin of this knowledge in words.

    `certain` states that the privacy cost is not below the true one. A release with a `manifest_digest` is published
    at `destination`. A release that was `withdrawn` states why. `counted` are its Renyi divergences, if they are known;
    otherwise a filter counts those of any release of this privacy cost. One that paid for a `series` states its cost.
    """

    release_id: str
    origin: str
    population: str
    spend: Spend
    certain: bool = True
    policy_digest: str = UNKNOWN_DIGEST
    manifest_digest: str | None = None
    destination: str | None = None
    sample: str | None = None
    withdrawn: str | None = None
    counted: OrderedCost | None = None
    series: SeriesRequest | None = None


@dataclass(frozen=True)
class OutsideFindings:
    """Everything that is known outside of a ledger and that it may lack.

    `heads` and `places` are heads and lines that the journal lacks. `budgets` are those of the working copy's policies,
    by population. `files` holds the events that make private files of audits known, `gone` destinations that are gone.
    """

    charges: Sequence[FoundCharge] = ()
    heads: Sequence[HeadStatement] = ()
    places: Sequence[Place] = ()
    budgets: Mapping[str, Budget] = field(default_factory=dict)
    files: Sequence[tuple[str, str, str]] = ()
    gone: Sequence[tuple[str, str]] = ()
    frozen: Mapping[str, str] = field(default_factory=dict)


def book(pen: JournalWriter, found: OutsideFindings) -> list[str]:
    """Book in one transaction what a ledger lacks, and return a sentence for each booking.

    Raises LedgerRefused for a population of which neither the ledger nor a policy knows the budget.
    """
    charges = _merged(found.charges)
    said = _note_lost_lines(pen, found, charges)  # first: what is booked may be of a policy that was changed after them
    said += _book_conversions(pen, found, lost=bool(said))  # before the charges, which a filter then counts
    said += [text for each in charges for text in _book_charge(pen, found, each)]
    said += [text for each in charges for text in _book_withdrawal(pen, each)]
    said += [text for head in found.heads for text in _book_slots(pen, found, head)]
    said += [text for head in found.heads for text in _book_totals(pen, found, head)]
    said += [text for population, why in _to_freeze(found) for text in _freeze(pen, population, why)]
    for event, subject, commitment in found.files:
        pen.line(event, subject, commitment)
    for event, place in found.gone:
        pen.line(event, place)
        said.append(f"the destination {place} is gone for good")
    return said


def _merged(charges: Iterable[FoundCharge]) -> list[FoundCharge]:
    """Return one finding for each release: the largest cost, and whatever any of its findings states. Those that paid
    for a series come first."""
    merged: dict[str, FoundCharge] = {}
    for each in charges:
        one = merged.get(each.release_id)
        merged[each.release_id] = each if one is None else _joined(one, each)
    return sorted(merged.values(), key=lambda each: (each.series is None, each.release_id))


def _joined(one: FoundCharge, other: FoundCharge) -> FoundCharge:
    certain = [each for each in (one, other) if each.certain] or [one, other]
    paying = [each for each in certain if each.series is not None] or certain
    stated = next((each for each in (one, other) if each.manifest_digest), one)
    digests = [each.policy_digest for each in (one, other) if each.policy_digest != UNKNOWN_DIGEST]
    return replace(
        stated,
        origin=f"{one.origin}; {other.origin}",
        population=certain[0].population,
        spend=_largest(each.spend for each in paying),
        certain=one.certain or other.certain,
        policy_digest=digests[0] if digests else UNKNOWN_DIGEST,
        sample=one.sample or other.sample,
        withdrawn=one.withdrawn or other.withdrawn,
        counted=_largest_counted(paying),
        series=paying[0].series,
    )


def _largest_counted(found: Sequence[FoundCharge]) -> OrderedCost | None:
    """Return the largest divergences of the findings that state the largest cost; None if none of them knows any."""
    spend = _largest(each.spend for each in found)
    return largest_counted(each.counted for each in found if each.spend == spend)


def _largest(spends: Iterable[Spend]) -> Spend:
    found = list(spends)
    return Spend(max(each.epsilon for each in found), max(each.delta for each in found))


def _book_conversions(pen: JournalWriter, found: OutsideFindings, lost: bool) -> list[str]:
    """Convert each budget that a head states in Renyi divergences, or, if lines are `lost`, a policy's file, and that
    the copy adds up: a conversion that is repeated later would open a filter in which nothing is spent.
    """
    stated = {total.population for head in found.heads for total in head.totals if total.renyi is not None}
    stated |= {name for name, budget in found.budgets.items() if lost and budget.lifetime is not None}
    said = []
    for population in sorted(stated):
        budget = contents.budget(pen.held, population) or found.budgets.get(population)
        if budget is not None and budget.lifetime is None:
            _register(pen, found, population)
            convert_again(pen, population, found.budgets.get(population), "restored: the copy lacks the conversion")
            said.append(f"{population} is converted to Renyi divergences, as before")
    return said


def _book_charge(pen: JournalWriter, found: OutsideFindings, each: FoundCharge) -> Iterator[str]:
    entry = contents.live_entry(pen.held, each.release_id)
    if entry is None:
        yield _charge(pen, found, each)
        return
    values = _lacking_outcome(entry, each)
    if values:
        pen.line(RESTORED, each.release_id, None, [pen.put(ENTRIES, number=entry.number, **values)], reason=_why(each))
        yield f"{each.release_id}: its reading is booked ({each.origin})"
    if contents.slot_of(pen.held, entry.number) is not None:
        return  # its series was paid, whatever one release costs
    rest, more = _excess(each.spend, entry.spend), _excess_counted(pen, entry, each)
    if rest == ZERO and (more is None or is_zero(more.divergences)):
        return
    name = _difference_id(each, more)
    if contents.live_entry(pen.held, name) is None:
        yield _charge(pen, found, replace(each, release_id=name, spend=rest, manifest_digest=None, counted=more))


def _excess_counted(pen: JournalWriter, entry: Entry, each: FoundCharge) -> OrderedCost | None:
    """Return the divergences of a finding above those of its charge in the ledger; None if they can't be compared."""
    budget, known = contents.budget(pen.held, entry.population), contents.divergences_of(pen.held, entry.number)
    if budget is None or budget.lifetime is None or known is None or each.counted is None:
        return None
    return _more(budget.lifetime.filter.orders, each.counted, known)


def _more(orders: tuple[int, ...], stated: OrderedCost, known: Divergences) -> OrderedCost | None:
    there = stated.at(orders)
    return None if there is None else OrderedCost(orders, excess(there, known))


def _book_withdrawal(pen: JournalWriter, each: FoundCharge) -> Iterator[str]:
    entry = contents.live_entry(pen.held, each.release_id)
    if each.withdrawn is not None and entry is not None and entry.state is State.PUBLISHED:
        row = pen.put(ENTRIES, number=entry.number, state=State.WITHDRAWN.value)
        pen.line(WITHDRAWN, each.release_id, None, [row], reason=each.withdrawn)
        yield f"{each.release_id} is withdrawn: {each.withdrawn}"


def _difference_id(each: FoundCharge, more: OrderedCost | None) -> str:
    stated = str(each.spend) if more is None else f"{each.spend} {vector_text(more.divergences)}"
    return f"unattributed/{_short(each.release_id)}/{_short(stated)}"


def _lacking_outcome(entry: Entry, each: FoundCharge) -> dict[str, object]:
    """Return the columns of a charge that change: its reading has begun, or it is published."""
    if entry.state is not State.RESERVED:
        return {}
    if each.manifest_digest is not None:
        outcome = {"manifest_digest": each.manifest_digest, "destination": each.destination}
        return {"reading": True, "state": State.PUBLISHED.value, **outcome}
    return {} if entry.reading else {"reading": True}


def _charge(pen: JournalWriter, found: OutsideFindings, each: FoundCharge, payer: int | None = None) -> str:
    """Charge a finding, as a slot of the series that the charge `payer` paid for if there is one; return a sentence."""
    _register(pen, found, each.population)
    published = each.manifest_digest is not None
    sample = None if (each.population, each.sample) in pen.held.samples else each.sample
    number = pen.held.last + 1
    slot = _slot(pen, each) if payer is None else _next_slot(pen, payer)
    each = each if slot is None or slot.pays else replace(each, spend=ZERO, counted=None)
    entry = pen.put(
        ENTRIES,
        number=number,
        release_id=each.release_id,
        policy_digest=each.policy_digest,
        population=each.population,
        **amounts(each.spend),
        state=(State.PUBLISHED if published else State.RESERVED).value,
        reading=True,
        manifest_digest=each.manifest_digest,
        destination=each.destination if published else None,
        sample=sample,
        since=pen.at,
    )
    total = contents.spent(pen.held, each.population) + each.spend
    rows = [entry, pen.put(TOTALS, population=each.population, **amounts(total))]
    rows += count_divergences(pen, each.population, number, _vector(pen, each))
    rows += [] if slot is None else [pen.put(SERIES, **slot.row())]
    pen.line(RESTORED, each.release_id, None, rows, reason=_why(each))
    return f"{each.release_id}: {_cost_text(each, slot)} of {each.population} is booked as spent ({each.origin})"


def _cost_text(each: FoundCharge, slot: SeriesSlot | None) -> str:
    if slot is not None and not slot.pays:
        return "a slot of a paid series"
    return "Renyi divergences" if each.spend == ZERO else str(each.spend)


def _slot(pen: JournalWriter, each: FoundCharge) -> SeriesSlot | None:
    """Return the slot of a found release that paid for a series, or whose series is known as paid; None for any other
    release. A slot of a paid series costs nothing more."""
    if each.series is not None and pen.held.form >= SINCE[SERIES]:
        return SeriesSlot(pen.held.last + 1, pen.held.last + 1, each.series.releases, each.series.law)
    payer = contents.series_payer(pen.held, each.release_id.rpartition("/")[0], each.policy_digest)
    if payer is None or payer.lease or payer.population != each.population:
        return None
    return _next_slot(pen, payer.number)


def _next_slot(pen: JournalWriter, payer: int) -> SeriesSlot | None:
    """Return the next slot of a series; None if none is left."""
    known = contents.slot_of(pen.held, payer)
    room = known is not None and contents.slots_taken(pen.held, payer) < known.releases
    return replace(known, number=pen.held.last + 1) if known is not None and room else None


def _vector(pen: JournalWriter, each: FoundCharge) -> Divergences | None:
    """Return the divergences that the filter of the population counts for a finding; None without a filter."""
    budget = contents.budget(pen.held, each.population)
    if budget is None or budget.lifetime is None:
        return None
    if each.spend == ZERO and each.counted is None:
        return zero(budget.lifetime)
    known = None if each.counted is None else each.counted.at(budget.lifetime.filter.orders)
    return unknown_law(each.spend, budget.lifetime) if known is None else on_grid(known)


def _why(each: FoundCharge) -> str:
    printable = "".join(letter for letter in each.origin if letter.isprintable())
    return printable[:_REASON].strip() or "found"


def _register(pen: JournalWriter, found: OutsideFindings, population: str) -> None:
    if contents.budget(pen.held, population) is not None:
        return
    if population not in found.budgets:
        said = f"the copy does not know the population {population}, and no policy here names its budget"
        raise LedgerRefused(f"{said}; restore in the working copy that released it, or give a later copy")
    register(pen, found.budgets[population])


def _book_slots(pen: JournalWriter, found: OutsideFindings, head: HeadStatement) -> Iterator[str]:
    """Book each slot of a paid series that a head states as charged above those that are known."""
    for each in head.series:
        payer = contents.live_entry(pen.held, each.payer)
        lacking = 0 if payer is None else lacking_slots(pen.held, each)
        for at in range(1, lacking + 1):
            assert payer is not None, "nothing lacks of a series that nobody paid"
            name = f"{each.payer.rpartition('/')[0]}/unattributed-{head.line}-{head.digest[:8]}-{at}"
            origin = f"the head of line {head.line} states {each.taken} charged releases of its series"
            slot = FoundCharge(name, origin, payer.population, ZERO, policy_digest=payer.policy_digest)
            yield _charge(pen, found, slot, payer.number)


def lacking_slots(held: JournalState, stated: SeriesTotal) -> int:
    """Return how many charged slots of a series a head states above those that a ledger knows; 0 if the ledger knows no
    such series: then none of its releases is free."""
    payer = held.charged.get(stated.payer)
    known = None if payer is None else contents.slot_of(held, payer)
    if payer is None or known is None or not known.pays:
        return 0
    return max(0, min(stated.taken, known.releases) - contents.slots_taken(held, payer))


def _book_totals(pen: JournalWriter, found: OutsideFindings, head: HeadStatement) -> Iterator[str]:
    """Book what a head states in total above all charges of each population, and the freezes that it states."""
    for total in head.totals:
        rest = _excess(total.spend, contents.spent(pen.held, total.population))
        more = _excess_in_total(pen, found, total)
        if rest != ZERO or not (more is None or is_zero(more.divergences)):
            name = f"unattributed/{_short(total.population)}/{head.line}-{head.digest[:8]}"
            origin = f"the head of line {head.line} states it in total"
            yield _charge(pen, found, FoundCharge(name, origin, total.population, rest, counted=more))
        if total.frozen:
            yield from _freeze(pen, total.population, f"the head of line {head.line} states that it is frozen")


def _excess_in_total(pen: JournalWriter, found: OutsideFindings, total: PopulationTotal) -> OrderedCost | None:
    """Return the divergences that a head states in total above those of all charges. None if it states none, or at
    other orders: then those of the excess in epsilon and delta are counted."""
    budget = contents.budget(pen.held, total.population) or found.budgets.get(total.population)
    if budget is None or budget.lifetime is None or total.renyi is None:
        return None
    known = contents.divergences(pen.held, total.population) or zero(budget.lifetime)
    return _more(budget.lifetime.filter.orders, total.renyi.cost, known)


def _excess(stated: Spend, known: Spend) -> Spend:
    none = Fraction(0)
    return Spend(max(none, stated.epsilon - known.epsilon), max(none, stated.delta - known.delta))


def _to_freeze(found: OutsideFindings) -> Iterator[tuple[str, str]]:
    yield from found.frozen.items()
    for each in _merged(found.charges):
        if not each.certain:
            yield each.population, f"the privacy cost of {each.release_id} is unknown"


def _freeze(pen: JournalWriter, population: str, why: str) -> Iterator[str]:
    known = contents.budget(pen.held, population) is not None
    if known and not contents.is_frozen(pen.held, population):
        row = pen.put(FREEZES, population=population, frozen=True)
        pen.line("population.frozen", population, None, [row], reason=f"restored: {why}"[:_REASON])
        yield f"{population} is frozen: {why}"


def _note_lost_lines(pen: JournalWriter, found: OutsideFindings, charges: Sequence[FoundCharge]) -> list[str]:
    """Note each line that the journal lacks as superseded; if lines or `charges` are lost, note that accesses of every
    population may be lost.
    """
    places = [*(head.place for head in found.heads), *found.places]
    noted = set(pen.held.recorded.get(SUPERSEDED, ()))
    lost = sorted({(str(number), digest) for number, digest in places} - noted)
    for number, digest in lost:
        pen.line(SUPERSEDED, number, digest)
    unknown = [each for each in charges if contents.live_entry(pen.held, each.release_id) is None]
    if not lost and not unknown:
        return []
    totals = (total.population for head in found.heads for total in head.totals)
    for population in sorted({*map(str, pen.held.rows[POPULATIONS]), *(each.population for each in charges), *totals}):
        pen.line(ACCESSES_LOST, population)
    return [f"{len(lost)} lines that are named outside are lost; each population counts as accessed"]


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
