-- Three roles without a login, which people's and services' own users are granted:
--   crowdgate_read   shows and verifies the ledger
--   crowdgate_spend  also releases: it adds lines and changes state, and can't change or delete a line
--   crowdgate_admin  owns the tables: it migrates them
DO $$
DECLARE
    named text;
BEGIN
    FOREACH named IN ARRAY ARRAY['crowdgate_read', 'crowdgate_spend', 'crowdgate_admin'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = named) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', named);
        END IF;
    END LOOP;
    IF NOT pg_has_role(current_user, 'crowdgate_admin', 'MEMBER') THEN
        EXECUTE format('GRANT crowdgate_admin TO %I', current_user);
    END IF;
    EXECUTE format('GRANT CREATE ON DATABASE %I TO crowdgate_admin', current_database());
END
$$;

GRANT USAGE ON SCHEMA crowdgate TO crowdgate_read, crowdgate_spend;
GRANT SELECT ON ALL TABLES IN SCHEMA crowdgate TO crowdgate_read, crowdgate_spend;
GRANT INSERT ON crowdgate.journal, crowdgate.signatures TO crowdgate_spend;
GRANT INSERT, UPDATE ON crowdgate.populations, crowdgate.freezes, crowdgate.contracts, crowdgate.entries,
    crowdgate.totals, crowdgate.filters, crowdgate.divergences, crowdgate.series TO crowdgate_spend;

DO $$
DECLARE
    named text;
BEGIN
    FOR named IN SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = 'crowdgate' LOOP
        EXECUTE format('ALTER TABLE crowdgate.%I OWNER TO crowdgate_admin', named);
    END LOOP;
    ALTER FUNCTION crowdgate.refuse_change() OWNER TO crowdgate_admin;
    ALTER SCHEMA crowdgate OWNER TO crowdgate_admin;
END
$$;
