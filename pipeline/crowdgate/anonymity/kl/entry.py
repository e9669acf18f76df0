"""One entry: figures on one set of attributes of one population, and their basis.

Impossible figures are refused wherever an entry is made or read (misinformation, section 7.4). For a table of N bins
with probabilities p_i the entry states KL = sum p_i ln(N p_i) and the collision quantity (N sum p_i^2 - 1) / 2:

- 0 <= KL <= ln N, and 0 <= collision quantity <= (N - 1) / 2: both are least for uniform bins, and greatest if one
  bin has everybody.
- KL lies between the least and the greatest that the collision quantity allows (`risk.kl_ranges`).
- For a public table with n counted rows, both are at least those of n rows that are spread as evenly as possible:
  with n < N rows KL is at least ln(N / n).

Intervals must meet the second rule in three pairs: the lower ends, the values and the upper ends. Nothing is lost by
that: if the true figures are inside, KL's lower end may be raised to the least that the other's lower end allows, and
so on, until the rule is met (`risk.kl_sums.consistent`). The third rule is for exact figures only: otherwise the number
of rows is noisy, or a bound, and a release's figures are those of a model.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise
from math import isfinite, log, prod
from shlex import quote
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from crowdgate.anonymity.kl.signed_statement import DatedStatement, read_signed
from crowdgate.errors import VerificationFailed
from crowdgate.limits import LARGEST_ENTRY, LEAST_POPULATION, MOST_BINS, MOST_PEOPLE, MOST_ROWS_EACH
from crowdgate.manifest.values import Exact
from crowdgate.risk.kl_ranges import greatest_collision, least_kl, least_of_rows, most_kl
from crowdgate.signing.canonical import Digest, SignedModel, canonical
from crowdgate.signing.dsse import seal
from crowdgate.signing.keys import PublicKey, SigningKey
from crowdgate.signing.statement import LedgerPlace

PAYLOAD_TYPE = "application/vnd.crowdgate.kl-entry.v1+json"
NEAR = 1e-9
"""Relative tolerance of an inequality, times 1 + the limit: figures are floats."""


def _one_line(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("printable characters, without spaces at the beginning or end")
    return text


Text = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_one_line)]
Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_one_line)]
Figure = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Bins = Annotated[int, Field(ge=1, le=MOST_BINS)]


class AttributeFields(SignedModel):
    """An attribute of an entry, the level at which it is counted, and the number of values of this level."""

    name: Name
    level: Name
    values: Bins


def _check_names(items: "tuple[AttributeFields | Restriction, ...]") -> "tuple[AttributeFields | Restriction, ...]":
    names = [item.name for item in items]
    if sorted(set(names)) != names:
        raise ValueError("names in their order, each once")
    return items


class Vocabulary(SignedModel):
    """The attributes of an entry, and the contract (id and version) that defines them and their levels."""

    contract: Name
    version: Name
    attributes: Annotated[
        tuple[AttributeFields, ...], Field(min_length=1, max_length=100, strict=False), AfterValidator(_check_names)
    ]


class Restriction(SignedModel):
    """Restriction to people with this value of an attribute at a level."""

    name: Name
    level: Name
    value: Text


class PopulationFields(SignedModel):
    """The population: its description, the id of its budget, and restrictions to some of its people."""

    words: Text
    id: Name
    restrictions: Annotated[tuple[Restriction, ...], Field(max_length=20, strict=False), AfterValidator(_check_names)]


class PeopleFields(SignedModel):
    """Number of rows: an upper bound that is public, or a count in a public table, or a count with charged noise. A
    person has at most `rows_each` of them."""

    rows: Annotated[int, Field(ge=1, le=MOST_PEOPLE * MOST_ROWS_EACH)]
    rows_each: Annotated[int, Field(alias="rowsEach", ge=1, le=MOST_ROWS_EACH)]
    known: Literal["bound", "counted", "charged"]


class SourceFields(SignedModel):
    """The holder's statements about the data: the share of the population that they cover, and the share of their cells
    that is wrong."""

    coverage: Share
    error: Share


class FigureInterval(SignedModel):
    """A figure with an interval. For a counted public table both interval ends are the figure, for a release they are
    the range of a model.

    With charged noise they are confidence limits, one-sided 95 % over all draws: the upper limits of KL and of the
    collision quantity jointly, and the lower ones. That includes withheld draws: for a population near the smallest one
    that is published, the limits of published entries hold less often (`risk.kl_sums`).
    """

    value: Figure
    low: Figure
    high: Figure


class RowLimits(SignedModel):
    """Limits of the number of rows: equal for a counted table, confidence limits with charged noise."""

    low: Annotated[int, Field(ge=1, le=MOST_PEOPLE * MOST_ROWS_EACH)]
    high: Annotated[int, Field(ge=1, le=MOST_PEOPLE * MOST_ROWS_EACH)]


class CurvePointFields(SignedModel):
    """The expected share of unique people among those who take part, if everybody does with probability `rate`."""

    rate: Exact
    share: FigureInterval


class CurveFields(SignedModel):
    """Points of the curve of the share of unique people by group size, from the largest rate to the smallest.

    With charged noise the limits of the rows, KL, the collision quantity and all points hold jointly, with probability
    95 % over all draws (`risk.kl_curve`).
    """

    rows: RowLimits
    points: Annotated[tuple[CurvePointFields, ...], Field(min_length=1, max_length=20, strict=False)]


class PublicTable(SignedModel):
    """A public table: the digest of its file, or of the list of its files' digests."""

    kind: Literal["public"]
    digest: Digest


class PublishedRelease(SignedModel):
    """Post-processing of a published release: its id, and the digest of its manifest."""

    kind: Literal["release"]
    release: Text
    manifest: Digest


class ChargedNoise(SignedModel):
    """A confidential table with noise: its privacy cost, and the ledger's line that charged the population for it."""

    kind: Literal["charged"]
    release: Text
    epsilon: Exact
    charge: LedgerPlace


Basis = Annotated[PublicTable | PublishedRelease | ChargedNoise, Field(discriminator="kind")]


class KlEntry(DatedStatement):
    """One entry. `bins` is N, the product of the attributes' numbers of values; KL is in nats."""

    words: ClassVar[str] = "entry"
    type: Literal["urn:crowdgate:kl-entry:v1"]
    vocabulary: Vocabulary
    population: PopulationFields
    people: PeopleFields
    source: SourceFields
    kl: FigureInterval
    collision: FigureInterval
    bins: Bins
    basis: Basis
    curve: Annotated[CurveFields | None, Field(exclude_if=lambda curve: curve is None)] = None

    @model_validator(mode="after")
    def _possible(self) -> "KlEntry":
        for fault in _faults(self):
            raise ValueError(fault)
        return self


def _faults(entry: KlEntry) -> Iterator[str]:
    """Yield, in words, each reason why an entry is impossible."""
    bins = entry.bins
    if bins != prod(each.values for each in entry.vocabulary.attributes):
        yield "bins must be the product of the attributes' numbers of values"
    if {each.name for each in entry.population.restrictions} & {each.name for each in entry.vocabulary.attributes}:
        yield "an attribute is asked and restricted to one value at once"
    for name, ends, most, words in (
        ("kl", entry.kl, log(bins), "ln of the number of bins"),
        ("collision", entry.collision, greatest_collision(bins), "half the number of bins but one"),
    ):
        if not all(map(isfinite, (ends.low, ends.value, ends.high))) or not ends.low <= ends.value <= ends.high:
            yield f"{name} must have its ends in order: low, value, high"
            return
        if _exceeds(ends.high, most):
            yield f"{name} must be at most {words}, {most:.6g}"
            return
    for name in ("low", "value", "high"):
        kl, collision = getattr(entry.kl, name), getattr(entry.collision, name)
        least, most = least_kl(collision, bins), most_kl(collision, bins)
        if _exceeds(kl, most) or _exceeds(least, kl):
            yield f"kl.{name} must be from {least:.6g} to {most:.6g}, with that collision.{name} in so many bins"
    yield from _basis_faults(entry)
    if entry.curve is not None:
        yield from _curve_faults(entry, entry.curve)


def _basis_faults(entry: KlEntry) -> Iterator[str]:
    known = {"public": "counted", "release": "bound", "charged": "charged"}[entry.basis.kind]
    if entry.people.known != known:
        yield f"the rows of an entry on this basis are {known}"
    exact = entry.kl.low == entry.kl.high and entry.collision.low == entry.collision.high
    if entry.basis.kind == "public" and not exact:
        yield "what a public table holds is exact"
    if entry.basis.kind == "public":
        yield from _row_faults(entry)
    if entry.basis.kind == "charged" and entry.basis.epsilon <= 0:
        yield "confidential figures cost an epsilon above 0"
    if entry.basis.kind == "charged" and entry.people.rows < LEAST_POPULATION * entry.people.rows_each:
        yield f"confidential figures are of a population of at least {LEAST_POPULATION} people"


def _curve_faults(entry: KlEntry, curve: CurveFields) -> Iterator[str]:
    """Yield each reason why a curve is impossible. Noise may contradict itself, exact shares fall as the rate rises."""
    rates, shares, exact = [each.rate for each in curve.points], [each.share for each in curve.points], entry.basis.kind
    if exact == "release":
        yield "an entry of a release has no curve"
    if sorted({*rates}, reverse=True) != rates or not all(0 < rate <= 1 for rate in rates):
        yield "the rates of a curve are above 0 and at most 1, each once, from the largest on"
    if not all(each.low <= each.value <= each.high <= 1 for each in shares) or curve.rows.low > curve.rows.high:
        yield "a curve must have its ends in order, and shares of at most 1"
    if exact == "public" and (
        {curve.rows.low, curve.rows.high} != {entry.people.rows}
        or any(each.low < each.high for each in shares)
        or any(_exceeds(one.value, other.value) for one, other in pairwise(shares))
    ):
        yield "the curve of a public table is exact, and its shares fall as the rate rises"


def _row_faults(entry: KlEntry) -> Iterator[str]:
    rows = entry.people.rows
    for name, ends, least in zip(
        ("kl", "collision"), (entry.kl, entry.collision), least_of_rows(rows, entry.bins), strict=True
    ):
        if _exceeds(least, ends.value):
            yield f"{name} must be at least {least:.6g} with {rows} rows in so many bins"


def _exceeds(value: float, limit: float) -> bool:
    return not value <= limit + NEAR * (1 + limit)


def publish_call_text(entry: KlEntry) -> str:
    """Return, as text, the options of `crowdgate kl publish` from which an entry was made, as far as it records
    them."""
    basis, of = entry.basis, ",".join(f"{each.name}={each.level}" for each in entry.vocabulary.attributes)
    where = "".join(f" --where {quote(f'{each.name}={each.value}')}" for each in entry.population.restrictions)
    slot = basis.release.rpartition("/")[2] if basis.kind == "charged" else entry.date
    on = {"public": "--public", "release": "--from", "charged": "--epsilon"}[basis.kind]
    curve = "" if entry.curve is None else " --curve"
    options = f"--of {quote(of)}{where} {on}{curve} --as-of {slot}"
    return f"with all its options: contract {entry.vocabulary.contract}, {options}"


def signed_entry(entry: KlEntry, key: SigningKey) -> bytes:
    """Return the bytes of an entry's file: the entry, signed with `key`."""
    return seal(PAYLOAD_TYPE, canonical(entry), [key])


def digest_of(envelope: bytes) -> str:
    """Return the digest that names a signed entry: the SHA-256 of its bytes."""
    return hashlib.sha256(envelope).hexdigest()


def read_entry(envelope: bytes, trusted: Sequence[PublicKey], today: date) -> tuple[KlEntry, tuple[str, ...]]:
    """Return the entry in these bytes, and the trusted keys that signed it.

    Raises VerificationFailed for an entry that none of them signed, that is impossible, or that is dated after `today`.
    """
    if len(envelope) > LARGEST_ENTRY:
        raise VerificationFailed(f"larger than {LARGEST_ENTRY >> 10} KiB")
    return read_signed(envelope, trusted, today, PAYLOAD_TYPE, KlEntry)
