-- One line for each object of the schema that acts: triggers, functions, rules and policies.
SELECT 'trigger ' || c.relname || ' ' || t.tgname || ' ' || t.tgenabled::text || ' ' || t.tgtype || ' ' || p.proname
    || ' ' || f.nspname
FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
JOIN pg_catalog.pg_namespace f ON f.oid = p.pronamespace
WHERE n.nspname = 'crowdgate' AND NOT t.tgisinternal
UNION ALL
SELECT 'disabled ' || c.relname FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'crowdgate' AND t.tgisinternal AND t.tgenabled <> 'O'
UNION ALL
SELECT 'function ' || p.proname || ' ' || p.prosecdef || ' '
    || pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(p.prosrc, 'UTF8')), 'hex')
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'crowdgate'
UNION ALL
SELECT 'rule ' || c.relname || ' ' || r.rulename
FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'crowdgate'
UNION ALL
SELECT 'policy ' || c.relname || ' ' || p.polname || ' ' || p.polcmd::text || ' ' || p.polpermissive
FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'crowdgate'
