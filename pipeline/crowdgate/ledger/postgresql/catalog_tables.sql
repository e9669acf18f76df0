-- One line for each table, column, index, constraint and child of the schema.
SELECT 'table ' || c.relname || ' ' || c.relkind::text || ' ' || c.relpersistence::text || ' ' || c.relrowsecurity
    || ' ' || c.relforcerowsecurity
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'crowdgate' AND c.relkind NOT IN ('i', 't')
UNION ALL
SELECT 'column ' || c.relname || ' ' || a.attnum || ' ' || a.attname || ' '
    || pg_catalog.format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' ' || a.atthasdef || ' '
    || a.attcollation::pg_catalog.regcollation
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'crowdgate' AND c.relkind NOT IN ('i', 't') AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'index ' || pg_catalog.pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid
FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'crowdgate' AND c.relkind <> 't'
UNION ALL
SELECT 'constraint ' || c.relname || ' ' || o.conname || ' ' || pg_catalog.pg_get_constraintdef(o.oid)
FROM pg_catalog.pg_constraint o JOIN pg_catalog.pg_class c ON c.oid = o.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'crowdgate' AND o.contype IN ('p', 'u', 'f', 'c', 'x')
UNION ALL
SELECT 'child ' || i.inhrelid::pg_catalog.regclass || ' ' || i.inhparent::pg_catalog.regclass
FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhparent
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'crowdgate'
