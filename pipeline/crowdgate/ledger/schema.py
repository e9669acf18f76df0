"""What a ledger holds: values, and the tables that keep them.

Ids, digests, amounts, states and salted commitments only. No count, no value and no clock time of a run is ever stored,
so that showing a ledger to anyone tells nothing about a table. Amounts are exact text "p/q", never binary floats.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    RowMapping,
    String,
    Table,
    Text,
    select,
)

from crowdgate.limits import MOST_PEOPLE

FORMAT = 1
RELATIONS = ("add-remove",)
MOST_DIGITS = 300


class State(StrEnum):
    """Where a release stands. RESERVED is what a crash leaves; every state but VOID is charged."""

    RESERVED = "reserved"
    COMMITTED = "committed"
    PUBLISHED = "published"
    WITHHELD = "withheld"
    VOID = "void"


@dataclass(frozen=True)
class Spend:
    """An exact amount of privacy loss: epsilon >= 0 and delta >= 0, added up by basic composition."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not isinstance(value, Fraction) or value < 0:
                raise ValueError(f"{name} must be a Fraction of at least 0")

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(self.epsilon + other.epsilon, self.delta + other.delta)

    def __str__(self) -> str:
        return f"epsilon {_shown(self.epsilon)} and delta {_shown(self.delta)}"

    def within(self, other: "Spend") -> bool:
        """Neither part is more than the other's; equal is within."""
        return self.epsilon <= other.epsilon and self.delta <= other.delta

    def least(self, other: "Spend") -> "Spend":
        """The smaller epsilon with the smaller delta."""
        return Spend(min(self.epsilon, other.epsilon), min(self.delta, other.delta))

    def left_of(self, cap: "Spend") -> "Spend":
        """What remains of `cap` once this is spent, part by part, never below 0."""
        return Spend(max(Fraction(0), cap.epsilon - self.epsilon), max(Fraction(0), cap.delta - self.delta))


ZERO = Spend(Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Budget:
    """What a population may lose in its lifetime.

    `people` is a public bound on everyone who is ever in its inputs. `unit` is "row" or "person:NAME", where NAME is
    the person column; `relation` is the neighbouring relation.
    """

    population: str
    cap: Spend
    people: int
    unit: str
    relation: str

    def __post_init__(self) -> None:
        label("population", self.population)
        label("unit", self.unit)
        bound(self.people)
        if self.unit != "row" and not (self.unit.startswith("person:") and len(self.unit) > len("person:")):
            raise ValueError("unit must be 'row' or 'person:NAME'")
        if self.relation not in RELATIONS:
            raise ValueError(f"relation must be one of {', '.join(RELATIONS)}")


@dataclass(frozen=True)
class Entry:
    """One release as the ledger remembers it. `reading`: data may have been read, so it can't be void any more.

    `sample` names the inherited sample that it used up, if any.
    """

    release_id: str
    policy_digest: str
    population: str
    spend: Spend
    state: State
    manifest_digest: str | None
    destination: str | None
    private_commitment: str | None
    reading: bool = False
    sample: str | None = None


def label(name: str, text: str, most: int = 300) -> str:
    """`text` if it is one printable line without blank ends. Raises ValueError that calls it `name`."""
    if not isinstance(text, str) or not 1 <= len(text) <= most or not text.isprintable() or text != text.strip():
        raise ValueError(f"{name} must be 1 to {most} printable characters without blank ends")
    return text


def bound(people: int) -> int:
    """`people` if it can bound a population. Raises ValueError."""
    if isinstance(people, bool) or not isinstance(people, int) or not 1 <= people <= MOST_PEOPLE:
        raise ValueError(f"people must be a whole number from 1 to {MOST_PEOPLE}")
    return people


def optional(name: str, text: str | None) -> str | None:
    """None, or what `label` says of `text`."""
    return None if text is None else label(name, text)


def place(text: str | None) -> str | None:
    """A destination as its file system spells it, or None. Raises ValueError for what no database can keep."""
    if text is None:
        return None
    whole = text.encode(errors="replace").decode() == text and "\0" not in text
    if not whole or not 1 <= len(text) <= 4096:
        raise ValueError("destination must be a path of 1 to 4096 characters of Unicode text")
    return text


def amounts(spend: Spend) -> dict[str, str]:
    """The columns that keep `spend`, as exact text "p/q". Raises ValueError for more than 300 digits."""
    values = {"epsilon": spend.epsilon, "delta": spend.delta}
    for name, value in values.items():
        if max(value.numerator, value.denominator) >= 10**MOST_DIGITS:
            raise ValueError(f"{name} must have at most {MOST_DIGITS} digits above and below the fraction line")
    return {name: f"{value.numerator}/{value.denominator}" for name, value in values.items()}


def budget_row(budget: Budget) -> dict[str, Any]:
    """The row of `populations` that registers `budget`."""
    rest = {"people": budget.people, "unit": budget.unit, "relation": budget.relation}
    return {"population": budget.population, **amounts(budget.cap), **rest}


def _shown(value: Fraction) -> str:
    """Decimal where that is exact, p/q where it is short, otherwise 17 digits and the word "about"."""
    decimal = f"{float(value):.15g}"
    if Fraction(decimal) == value:
        return decimal
    short = max(value.numerator, value.denominator) < 10**24
    return f"{value.numerator}/{value.denominator}" if short else f"about {float(value):.17g}"


metadata = MetaData()

ledgers = Table(
    "ledger",
    metadata,
    Column("id", String(60), primary_key=True),
    Column("format", Integer, nullable=False),
)
populations = Table(
    "populations",
    metadata,
    Column("population", String(300), primary_key=True),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("people", BigInteger, nullable=False),
    Column("unit", Text, nullable=False),
    Column("relation", Text, nullable=False),
)
contracts = Table(
    "contracts",
    metadata,
    Column("contract", String(300), primary_key=True),
    Column("population", ForeignKey("populations.population"), nullable=False),
)
entries = Table(
    "entries",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("release_id", String(300), nullable=False),
    Column("policy_digest", Text, nullable=False),
    Column("population", ForeignKey("populations.population"), nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("reading", Boolean, nullable=False),
    Column("manifest_digest", Text),
    Column("destination", Text),
    Column("private_commitment", Text),
    Column("sample", String(300)),
)
# The database itself refuses a second live entry of an id.
Index(
    "one_live_entry",
    entries.c.release_id,
    unique=True,
    sqlite_where=entries.c.state != State.VOID.value,
    postgresql_where=entries.c.state != State.VOID.value,
)
# One sample serves one release, for life.
Index(
    "one_live_sample",
    entries.c.population,
    entries.c.sample,
    unique=True,
    sqlite_where=entries.c.state != State.VOID.value,
    postgresql_where=entries.c.state != State.VOID.value,
)
journal = Table(
    "journal",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("event", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("commitment", Text),
    Column("detail", Text),
    Column("digest", Text, nullable=False),
)


def budget_of(row: RowMapping) -> Budget:
    """A row of `populations`. Raises ValueError or ZeroDivisionError if it was damaged."""
    return Budget(row["population"], _spend_of(row), row["people"], row["unit"], row["relation"])


def entry_of(row: RowMapping) -> Entry:
    """A row of `entries`. Raises ValueError or ZeroDivisionError if it was damaged."""
    same = (
        "release_id",
        "policy_digest",
        "population",
        "manifest_digest",
        "destination",
        "private_commitment",
        "reading",
        "sample",
    )
    return Entry(spend=_spend_of(row), state=State(row["state"]), **{name: row[name] for name in same})


def _spend_of(row: RowMapping) -> Spend:
    return Spend(Fraction(row["epsilon"]), Fraction(row["delta"]))


def registered(connection: Connection, population: str) -> Budget | None:
    """The budget of a population, or None."""
    found = connection.execute(select(populations).where(populations.c.population == population)).mappings()
    row = found.one_or_none()
    return None if row is None else budget_of(row)


def population_of(connection: Connection, contract: str) -> str | None:
    """The population that a contract is bound to, or None."""
    found = connection.execute(select(contracts.c.population).where(contracts.c.contract == contract))
    return found.scalar_one_or_none()


def spent(connection: Connection, population: str) -> Spend:
    """The sum of all that is charged to a population."""
    charged = select(entries).where(entries.c.population == population, entries.c.state != State.VOID.value)
    spends = (entry_of(row).spend for row in connection.execute(charged).mappings())
    return sum(spends, start=ZERO)


def user_of(connection: Connection, population: str, sample: str) -> str | None:
    """The release that used up an inherited sample, or None."""
    used = (entries.c.population == population, entries.c.sample == sample, entries.c.state != State.VOID.value)
    return connection.execute(select(entries.c.release_id).where(*used)).scalar_one_or_none()


def live(connection: Connection, release_id: str) -> Entry | None:
    """The entry of this id that is not void, or None."""
    alive = select(entries).where(entries.c.release_id == release_id, entries.c.state != State.VOID.value)
    row = connection.execute(alive).mappings().one_or_none()
    return None if row is None else entry_of(row)
