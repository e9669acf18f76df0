"""Heads: the last line of a ledger, kept in files outside of it.

A ledger that lacks the line of a head is an older copy, was cut off, or was computed anew. Besides the line a head
states each population's total charge, which populations are frozen, the charges that have not ended, and how many
releases of each paid series were charged. So a restoration knows what an older copy lacks. A head is a file of
canonical JSON. With a signing key it is a DSSE envelope. Where keys are trusted, only heads that one of them signed
count.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from crowdgate.accounting.renyi import Divergences
from crowdgate.errors import CrowdgateError, EnvironmentFault
from crowdgate.ledger.filters import MOST_ORDERS, OrderedCost, parse_lifetime, parse_vector
from crowdgate.ledger.journal_rules import JournalState
from crowdgate.ledger.schema import COLUMNS, DIVERGENCES, ENTRIES, FILTERS, FREEZES, SERIES, TOTALS
from crowdgate.ledger.series import SeriesRequest, SeriesSlot
from crowdgate.ledger.transitions import ChargeRow
from crowdgate.ledger.values import Spend, State, amount
from crowdgate.limits import LARGEST_ENVELOPE, MOST_SERIES
from crowdgate.signing.canonical import Digest, SignedModel, canonical, parse_canonical
from crowdgate.signing.dsse import envelope_contents, open_envelope, seal
from crowdgate.signing.keys import PublicKey, SigningKey
from crowdgate.system import permissions
from crowdgate.system.atomic_file import replace_file
from crowdgate.system.regular_files import read_plain

PAYLOAD_TYPE = "application/vnd.crowdgate.ledger-head+json"
_STATE = COLUMNS[ENTRIES].index("state")
SUPERSEDED = "line-superseded"
"""Event: a restoration replaced a line, whose number is the subject and whose digest is the commitment."""
Place = tuple[int, str]
"""The number and the digest of a journal line."""
_Text = Annotated[str, Field(min_length=1, max_length=300)]
_Amount = Annotated[str, Field(pattern=r"^[0-9]{1,300}/[1-9][0-9]{0,299}$")]


class FilterTotal(SignedModel):
    """The total of a population's filter, or what it counts of a charge: Renyi divergences at its orders, and then the
    cut mass."""

    orders: Annotated[tuple[Annotated[int, Field(ge=2, le=1000)], ...], Field(strict=False, max_length=MOST_ORDERS)]
    amounts: Annotated[tuple[_Amount, ...], Field(strict=False, min_length=2, max_length=MOST_ORDERS + 1)]

    @property
    def cost(self) -> OrderedCost:
        """The amounts as divergences with their orders."""
        *amounts, cut = map(amount, self.amounts)
        return OrderedCost(self.orders, Divergences(tuple(amounts), cut))


class _StatedCost(SignedModel):
    """A privacy cost of a population; with a filter also what the filter counts, in `renyi`."""

    population: _Text
    epsilon: _Amount
    delta: _Amount
    renyi: FilterTotal | None = None

    @model_serializer(mode="wrap")
    def _without_none(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the fields, without that of a filter if there is none: heads before filters keep their bytes."""
        stated: dict[str, Any] = handler(self)
        return {name: value for name, value in stated.items() if value is not None}

    @property
    def spend(self) -> Spend:
        """The epsilon and delta of this cost."""
        return Spend(amount(self.epsilon), amount(self.delta))

    @property
    def counted(self) -> OrderedCost | None:
        """The Renyi divergences of this cost; None if none are stated."""
        return None if self.renyi is None else self.renyi.cost


class PopulationTotal(_StatedCost):
    """The total charge of a population, and whether it is frozen."""

    frozen: bool


class OpenCharge(_StatedCost):
    """A charge whose run has not ended: a lease, a run that reads, or one that crashed."""

    release: _Text


class SeriesTotal(_StatedCost):
    """A series that the release `payer` was charged for, by the digest of its policy and that of the law of its
    releases; `taken` of its `releases` were charged, the first included."""

    payer: _Text
    policy: _Text
    releases: Annotated[int, Field(ge=2, le=MOST_SERIES)]
    law: Annotated[str, Field(min_length=1, max_length=64)]
    taken: Annotated[int, Field(ge=1, le=MOST_SERIES)]

    @property
    def request(self) -> SeriesRequest:
        """The series as it was requested."""
        return SeriesRequest(self.releases, self.spend, self.law)


class HeadStatement(SignedModel):
    """The statement of a head: the last line of a journal with its digest and day, and the charges up to it."""

    format: Literal[1]
    ledger: _Text
    line: Annotated[int, Field(ge=1, le=2**53)]
    digest: Digest
    date: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    totals: Annotated[tuple[PopulationTotal, ...], Field(strict=False)]
    open: Annotated[tuple[OpenCharge, ...], Field(strict=False)]
    series: Annotated[tuple[SeriesTotal, ...], Field(strict=False)] = ()

    @model_serializer(mode="wrap")
    def _without_none(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the fields, without series if there are none: heads before series keep their bytes."""
        stated: dict[str, Any] = handler(self)
        return stated if stated["series"] else {name: stated[name] for name in stated if name != "series"}

    @property
    def place(self) -> Place:
        """The line that the head names."""
        return self.line, self.digest


def head_file(folder: Path, ledger_id: str) -> Path:
    """Return the path of a ledger's head in a folder that keeps heads."""
    return folder / f"{ledger_id}.head"


def head_of(ledger_id: str, place: Place, day: str, held: JournalState) -> HeadStatement:
    """Return the head of a ledger whose last line is `place`, written on `day`, with the state `held` after it."""
    return HeadStatement(
        format=1,
        ledger=ledger_id,
        line=place[0],
        digest=place[1],
        date=day,
        totals=tuple(_totals(held)),
        open=tuple(_open_charges(held)),
        series=tuple(_series_totals(held)),
    )


def _totals(held: JournalState) -> Iterator[PopulationTotal]:
    for population, epsilon, delta in held.rows[TOTALS].values():
        frozen = bool(held.rows[FREEZES].get(population, (population, False))[1])
        kept = held.rows[FILTERS].get(population)
        counted = None if kept is None else _filter_total(held, population, kept[2])
        yield PopulationTotal(population=population, epsilon=epsilon, delta=delta, frozen=frozen, renyi=counted)


def _filter_total(held: JournalState, population: str, vector: str) -> FilterTotal:
    total, caps = parse_vector(vector), held.rows[FILTERS][population][1]
    amounts = (f"{each.numerator}/{each.denominator}" for each in (*total.amounts, total.cut))
    return FilterTotal(orders=parse_lifetime(caps).filter.orders, amounts=tuple(amounts))


def _open_charges(held: JournalState) -> Iterator[OpenCharge]:
    for cells in held.charges_where("state = 'reserved'"):
        if cells[_STATE] == State.RESERVED:
            row = ChargeRow(*cells)
            yield OpenCharge(release=row.release_id, **_cost_of(held, row))


def _series_totals(held: JournalState) -> Iterator[SeriesTotal]:
    if not held.rows[SERIES]:
        return
    live = set(held.charged.values())
    found = [slot for slot in (SeriesSlot(*cells) for cells in held.rows[SERIES].values()) if slot.number in live]
    taken = Counter(slot.payer for slot in found)
    for slot in found:
        if slot.pays:
            row = ChargeRow(*held.rows[ENTRIES][slot.number])
            yield SeriesTotal(
                payer=row.release_id, policy=row.policy_digest, releases=slot.releases, law=slot.law,
                taken=taken[slot.number], **_cost_of(held, row),
            )  # fmt: skip


def _cost_of(held: JournalState, row: ChargeRow) -> dict[str, Any]:
    """Return the fields of a charge's cost."""
    counted = held.rows[DIVERGENCES].get(row.number)
    renyi = None if counted is None else _filter_total(held, row.population, counted[1])
    return {"population": row.population, "epsilon": row.epsilon, "delta": row.delta, "renyi": renyi}


def head_bytes(head: HeadStatement, signer: SigningKey | None) -> bytes:
    """Return the bytes of a head's file, signed if a key signs here."""
    payload = canonical(head)
    return payload if signer is None else seal(PAYLOAD_TYPE, payload, [signer])


def read_head(path: Path, ledger_id: str, trusted: Sequence[PublicKey], required: bool = False) -> HeadStatement | None:
    """Return the head of a ledger in a file; None if there is none, or none that a trusted key signed.

    Raises EnvironmentFault if a file is there that can't be read, and if a `required` one, in a folder that a person
    configured, holds no head at all: it may be all that reveals an older copy.
    """
    try:
        data = read_plain(path, LARGEST_ENVELOPE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise EnvironmentFault(f"{path}: the head of the ledger can't be read there: {error.strerror}") from None
    if required and _parsed(data, ()) is None:
        said = f"{path}: this is no head of a ledger: it is damaged. Nothing was read or charged"
        raise EnvironmentFault(f"{said}. Compare the ledger with another copy or head, then remove this file")
    head = _parsed(data, trusted)
    return head if head is not None and head.ledger == ledger_id else None


def _parsed(data: bytes, trusted: Sequence[PublicKey]) -> HeadStatement | None:
    try:
        return parse_canonical(_payload(data, trusted), HeadStatement)
    except (ValueError, CrowdgateError, RecursionError):
        return None


def _payload(data: bytes, trusted: Sequence[PublicKey]) -> bytes:
    if trusted:
        opened = open_envelope(data, trusted)
        kind, payload = opened.payload_type, opened.payload
    else:
        kind, payload = (PAYLOAD_TYPE, data) if b'"payloadType"' not in data else envelope_contents(data)
    if kind != PAYLOAD_TYPE:
        raise ValueError("no head of a ledger")
    return payload


def write_head(path: Path, data: bytes) -> None:
    """Write the file of a head atomically, in an existing folder. The caller holds the lock of the
    ledger's folder, under which all processes that use the ledger write its heads. Raises OSError."""
    replace_file(path, f".{path.name}.part", data, permissions.LEDGER)
