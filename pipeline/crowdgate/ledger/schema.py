"""The tables of a ledger.

Ids, digests, amounts, states, salted commitments, and who wrote a line when. No count and no value of a table is ever
stored. Every row of every table but `journal` and `signatures` stands in a line of the journal as well.
"""

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
    literal_column,
    select,
)

from crowdgate.ledger.values import ZERO, Budget, Entry, Spend, State, amount

FORMAT = 2

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
    Column("holder", String(300)),
    Column("since", String(20)),
)
CHARGED = entries.c.state != literal_column(f"'{State.VOID.value}'")
"""Literally, so that the indexes below serve it."""

# The database itself refuses a second live entry of an id.
Index(
    "one_live_entry",
    entries.c.release_id,
    unique=True,
    sqlite_where=CHARGED,
    postgresql_where=CHARGED,
)
# One sample serves one release, for life.
Index(
    "one_live_sample",
    entries.c.population,
    entries.c.sample,
    unique=True,
    sqlite_where=CHARGED,
    postgresql_where=CHARGED,
)
totals = Table(
    "totals",
    metadata,
    Column("population", ForeignKey("populations.population"), primary_key=True),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
)
freezes = Table(
    "freezes",
    metadata,
    Column("population", String(300), primary_key=True),
    Column("frozen", Boolean, nullable=False),
)
signatures = Table(
    "signatures",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("signature", String(128), nullable=False),
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
        "number",
        "holder",
        "since",
    )
    return Entry(spend=_spend_of(row), state=State(row["state"]), **{name: row[name] for name in same})


def _spend_of(row: RowMapping) -> Spend:
    return Spend(amount(row["epsilon"]), amount(row["delta"]))


def registered_budget(connection: Connection, population: str) -> Budget | None:
    """The budget of a population, or None."""
    found = connection.execute(select(populations).where(populations.c.population == population)).mappings()
    row = found.one_or_none()
    return None if row is None else budget_of(row)


def population_of(connection: Connection, contract: str) -> str | None:
    """The population that a contract is bound to, or None."""
    found = connection.execute(select(contracts.c.population).where(contracts.c.contract == contract))
    return found.scalar_one_or_none()


def total(connection: Connection, population: str) -> Spend:
    """What is charged to a population, as the running total has it."""
    row = connection.execute(select(totals).where(totals.c.population == population)).mappings().one_or_none()
    return ZERO if row is None else _spend_of(row)


def is_frozen(connection: Connection, population: str) -> bool:
    """Whether nothing may be charged to a population, nor read of it."""
    found = connection.execute(select(freezes.c.frozen).where(freezes.c.population == population))
    return bool(found.scalar_one_or_none())


def release_using_sample(connection: Connection, population: str, sample: str) -> str | None:
    """The release that used up an inherited sample, or None."""
    used = (entries.c.population == population, entries.c.sample == sample, CHARGED)
    return connection.execute(select(entries.c.release_id).where(*used)).scalar_one_or_none()


def live_entry(connection: Connection, release_id: str) -> Entry | None:
    """The entry of this id that is not void, or None."""
    alive = select(entries).where(entries.c.release_id == release_id, CHARGED)
    row = connection.execute(alive).mappings().one_or_none()
    return None if row is None else entry_of(row)
