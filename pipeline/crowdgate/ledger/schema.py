"""The tables of a ledger.

They hold ids, digests, amounts, states, salted commitments, and the author and time of each line, never a count or a
value of a source table. Every row of every table except `journal` and `signatures` is in a line of the journal as well.

Format 3 adds restored charges, and two tables for budgets that are counted in Renyi divergences: `filters` holds the
orders, shares, caps and totals of a population, `divergences` the divergences of a charge. The texts in both are those
of the module `filters`. Format 4 adds one, `series`, that holds the charges of releases that were declared as a series
(the module `series`).
Approvals and holds need no table: they are recorded events whose commitment is the digest of a signed file. Ledgers of
formats 2 and 3 are used unchanged; they lack these tables.
"""

FORMAT = 4
USABLE = (2, 3, FORMAT)
"""Formats of ledgers that are used without an upgrade."""

LEDGERS, POPULATIONS, CONTRACTS, ENTRIES = "ledger", "populations", "contracts", "entries"
TOTALS, FREEZES, SIGNATURES, JOURNAL = "totals", "freezes", "signatures", "journal"
FILTERS, DIVERGENCES, SERIES = "filters", "divergences", "series"

COLUMNS = {
    LEDGERS: ("id", "format"),
    POPULATIONS: ("population", "epsilon", "delta", "people", "unit", "relation"),
    CONTRACTS: ("contract", "population"),
    ENTRIES: (
        "number",
        "release_id",
        "policy_digest",
        "population",
        "epsilon",
        "delta",
        "state",
        "reading",
        "manifest_digest",
        "destination",
        "private_commitment",
        "sample",
        "holder",
        "since",
    ),
    TOTALS: ("population", "epsilon", "delta"),
    FREEZES: ("population", "frozen"),
    FILTERS: ("population", "caps", "spent"),
    DIVERGENCES: ("number", "amounts"),
    SERIES: ("number", "payer", "releases", "law"),
}
"""The columns of each table whose rows are in the journal."""
KEYS = {
    LEDGERS: "id",
    POPULATIONS: "population",
    CONTRACTS: "contract",
    ENTRIES: "number",
    TOTALS: "population",
    FREEZES: "population",
    FILTERS: "population",
    DIVERGENCES: "number",
    SERIES: "number",
}
"""The key column of each table."""
LINE = ("number", "event", "subject", "commitment", "detail", "digest")
"""The columns of `journal`."""

# The indexes refuse a second live entry of an id, and let one sample serve only one release.
STATEMENTS = {
    LEDGERS: """
        CREATE TABLE ledger (
            id VARCHAR(60) NOT NULL,
            format INTEGER NOT NULL,
            PRIMARY KEY (id)
        )""",
    POPULATIONS: """
        CREATE TABLE populations (
            population VARCHAR(300) NOT NULL,
            epsilon TEXT NOT NULL,
            delta TEXT NOT NULL,
            people BIGINT NOT NULL,
            unit TEXT NOT NULL,
            relation TEXT NOT NULL,
            PRIMARY KEY (population)
        )""",
    FREEZES: """
        CREATE TABLE freezes (
            population VARCHAR(300) NOT NULL,
            frozen BOOLEAN NOT NULL,
            PRIMARY KEY (population)
        )""",
    SIGNATURES: """
        CREATE TABLE signatures (
            number INTEGER NOT NULL,
            "key" VARCHAR(64) NOT NULL,
            signature VARCHAR(128) NOT NULL,
            PRIMARY KEY (number, "key")
        )""",
    JOURNAL: """
        CREATE TABLE journal (
            number INTEGER NOT NULL,
            event TEXT NOT NULL,
            subject TEXT NOT NULL,
            commitment TEXT,
            detail TEXT,
            digest TEXT NOT NULL,
            PRIMARY KEY (number)
        )""",
    CONTRACTS: """
        CREATE TABLE contracts (
            contract VARCHAR(300) NOT NULL,
            population VARCHAR(300) NOT NULL,
            PRIMARY KEY (contract),
            FOREIGN KEY(population) REFERENCES populations (population)
        )""",
    ENTRIES: """
        CREATE TABLE entries (
            number INTEGER NOT NULL,
            release_id VARCHAR(300) NOT NULL,
            policy_digest TEXT NOT NULL,
            population VARCHAR(300) NOT NULL,
            epsilon TEXT NOT NULL,
            delta TEXT NOT NULL,
            state VARCHAR(20) NOT NULL,
            reading BOOLEAN NOT NULL,
            manifest_digest TEXT,
            destination TEXT,
            private_commitment TEXT,
            sample VARCHAR(300),
            holder VARCHAR(300),
            since VARCHAR(20),
            PRIMARY KEY (number),
            FOREIGN KEY(population) REFERENCES populations (population)
        )""",
    "one_live_entry": "CREATE UNIQUE INDEX one_live_entry ON entries (release_id) WHERE state != 'void'",
    "one_live_sample": "CREATE UNIQUE INDEX one_live_sample ON entries (population, sample) WHERE state != 'void'",
    TOTALS: """
        CREATE TABLE totals (
            population VARCHAR(300) NOT NULL,
            epsilon TEXT NOT NULL,
            delta TEXT NOT NULL,
            PRIMARY KEY (population),
            FOREIGN KEY(population) REFERENCES populations (population)
        )""",
    FILTERS: """
        CREATE TABLE filters (
            population VARCHAR(300) NOT NULL,
            caps TEXT NOT NULL,
            spent TEXT NOT NULL,
            PRIMARY KEY (population),
            FOREIGN KEY(population) REFERENCES populations (population)
        )""",
    DIVERGENCES: """
        CREATE TABLE divergences (
            number INTEGER NOT NULL,
            amounts TEXT NOT NULL,
            PRIMARY KEY (number),
            FOREIGN KEY(number) REFERENCES entries (number)
        )""",
    SERIES: """
        CREATE TABLE series (
            number INTEGER NOT NULL,
            payer INTEGER NOT NULL,
            releases INTEGER NOT NULL,
            law VARCHAR(64) NOT NULL,
            PRIMARY KEY (number),
            FOREIGN KEY(number) REFERENCES entries (number),
            FOREIGN KEY(payer) REFERENCES entries (number)
        )""",
}
"""The statements that create each table and index, in an executable order."""
INDEXES = ("one_live_entry", "one_live_sample")
"""The indexes in `STATEMENTS`: each has one entry for each charge that is not void."""
SINCE = {FILTERS: 3, DIVERGENCES: 3, SERIES: 4}
"""The format from which a table exists; the other tables exist since format 2."""


def statements(form: int) -> dict[str, str]:
    """Return the statements that create the tables and indexes of a ledger of format 2 or later, by name."""
    return {name: text for name, text in STATEMENTS.items() if form >= SINCE.get(name, 1)}


def tables(form: int) -> tuple[str, ...]:
    """Return the names of the tables whose rows are in the journal, of a ledger of format 2 or
    later."""
    return tuple(name for name in KEYS if form >= SINCE.get(name, 1))


def select(table: str, rest: str = "") -> str:
    """Return the SQL statement that reads the journaled columns of a table; `rest`, such as a WHERE clause, restricts
    its rows.
    """
    return f"SELECT {', '.join(COLUMNS[table])} FROM {table} {rest}"
