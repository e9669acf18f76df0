-- The tables of a ledger of format 4, as in ledger/schema.py. Texts sort by code point, as replays compare them.
CREATE SCHEMA crowdgate;
CREATE TABLE crowdgate.migrations (
    number INTEGER PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL
);
CREATE TABLE crowdgate.ledger (
    id VARCHAR(60) COLLATE "C" PRIMARY KEY,
    format INTEGER NOT NULL
);
CREATE TABLE crowdgate.populations (
    population VARCHAR(300) COLLATE "C" PRIMARY KEY,
    epsilon TEXT COLLATE "C" NOT NULL,
    delta TEXT COLLATE "C" NOT NULL,
    people BIGINT NOT NULL,
    unit TEXT COLLATE "C" NOT NULL,
    relation TEXT COLLATE "C" NOT NULL
);
CREATE TABLE crowdgate.freezes (
    population VARCHAR(300) COLLATE "C" PRIMARY KEY,
    frozen BOOLEAN NOT NULL
);
CREATE TABLE crowdgate.signatures (
    number INTEGER NOT NULL,
    key VARCHAR(64) COLLATE "C" NOT NULL,
    signature VARCHAR(128) COLLATE "C" NOT NULL,
    PRIMARY KEY (number, key)
);
CREATE TABLE crowdgate.journal (
    number INTEGER PRIMARY KEY,
    event TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    commitment TEXT COLLATE "C",
    detail TEXT COLLATE "C",
    digest TEXT COLLATE "C" NOT NULL
);
CREATE TABLE crowdgate.contracts (
    contract VARCHAR(300) COLLATE "C" PRIMARY KEY,
    population VARCHAR(300) COLLATE "C" NOT NULL REFERENCES crowdgate.populations
);
CREATE TABLE crowdgate.entries (
    number INTEGER PRIMARY KEY,
    release_id VARCHAR(300) COLLATE "C" NOT NULL,
    policy_digest TEXT COLLATE "C" NOT NULL,
    population VARCHAR(300) COLLATE "C" NOT NULL REFERENCES crowdgate.populations,
    epsilon TEXT COLLATE "C" NOT NULL,
    delta TEXT COLLATE "C" NOT NULL,
    state VARCHAR(20) COLLATE "C" NOT NULL,
    reading BOOLEAN NOT NULL,
    manifest_digest TEXT COLLATE "C",
    destination TEXT COLLATE "C",
    private_commitment TEXT COLLATE "C",
    sample VARCHAR(300) COLLATE "C",
    holder VARCHAR(300) COLLATE "C",
    since VARCHAR(20) COLLATE "C"
);
CREATE UNIQUE INDEX one_live_entry ON crowdgate.entries (release_id) WHERE state <> 'void';
CREATE UNIQUE INDEX one_live_sample ON crowdgate.entries (population, sample) WHERE state <> 'void';
CREATE TABLE crowdgate.totals (
    population VARCHAR(300) COLLATE "C" PRIMARY KEY REFERENCES crowdgate.populations,
    epsilon TEXT COLLATE "C" NOT NULL,
    delta TEXT COLLATE "C" NOT NULL
);
CREATE TABLE crowdgate.filters (
    population VARCHAR(300) COLLATE "C" PRIMARY KEY REFERENCES crowdgate.populations,
    caps TEXT COLLATE "C" NOT NULL,
    spent TEXT COLLATE "C" NOT NULL
);
CREATE TABLE crowdgate.divergences (
    number INTEGER PRIMARY KEY REFERENCES crowdgate.entries,
    amounts TEXT COLLATE "C" NOT NULL
);
CREATE TABLE crowdgate.series (
    number INTEGER PRIMARY KEY REFERENCES crowdgate.entries,
    payer INTEGER NOT NULL REFERENCES crowdgate.entries,
    releases INTEGER NOT NULL,
    law VARCHAR(64) COLLATE "C" NOT NULL
);
