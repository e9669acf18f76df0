-- No line of the journal and no signature is ever changed, and no row of any table is ever deleted, whoever asks.
CREATE FUNCTION crowdgate.refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: % on % is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END
$$;

DO $$
DECLARE
    named text;
BEGIN
    FOREACH named IN ARRAY ARRAY['journal', 'signatures', 'migrations', 'ledger', 'populations', 'freezes', 'contracts',
                                 'entries', 'totals', 'filters', 'divergences', 'series'] LOOP
        EXECUTE format('CREATE TRIGGER no_delete BEFORE DELETE ON crowdgate.%I
            FOR EACH ROW EXECUTE FUNCTION crowdgate.refuse_change()', named);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON crowdgate.%I
            FOR EACH STATEMENT EXECUTE FUNCTION crowdgate.refuse_change()', named);
    END LOOP;
    FOREACH named IN ARRAY ARRAY['journal', 'signatures', 'migrations'] LOOP
        EXECUTE format('CREATE TRIGGER no_update BEFORE UPDATE ON crowdgate.%I
            FOR EACH ROW EXECUTE FUNCTION crowdgate.refuse_change()', named);
    END LOOP;
END
$$;
