-- Everything that makes up the schemas `pgflow` and `pgmq`, one line per thing, the same on every version of
-- the server and without its object ids.
with ours as (
  select oid, nspname from pg_catalog.pg_namespace where nspname in ('pgflow', 'pgmq')
),
lines (line) as (
  select format('schema %s owner=%s acl=%s', n.nspname, pg_get_userbyid(n.nspowner), n.nspacl)
  from ours join pg_catalog.pg_namespace n using (oid)
  union all
  select format('relation %s.%s kind=%s options=%s owner=%s acl=%s persistence=%s', o.nspname, c.relname,
    c.relkind, c.reloptions, pg_get_userbyid(c.relowner), c.relacl, c.relpersistence)
  from ours o join pg_catalog.pg_class c on c.relnamespace = o.oid
  union all
  select format('column %s.%s.%s %s position=%s notnull=%s default=%s acl=%s', o.nspname, c.relname,
    a.attname, format_type(a.atttypid, a.atttypmod), a.attnum, a.attnotnull,
    pg_get_expr(d.adbin, d.adrelid), a.attacl)
  from ours o
  join pg_catalog.pg_class c on c.relnamespace = o.oid
  join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_catalog.pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  union all
  select format('constraint %s.%s.%s %s', o.nspname, k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
  from ours o join pg_catalog.pg_constraint k on k.connamespace = o.oid
  union all
  select format('index %s', pg_get_indexdef(i.indexrelid))
  from ours o join pg_catalog.pg_class c on c.relnamespace = o.oid
  join pg_catalog.pg_index i on i.indexrelid = c.oid
  union all
  select format('trigger %s', pg_get_triggerdef(t.oid))
  from ours o join pg_catalog.pg_class c on c.relnamespace = o.oid
  join pg_catalog.pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal
  union all
  select format('function %s owner=%s acl=%s %s', p.oid::regprocedure, pg_get_userbyid(p.proowner), p.proacl,
    case when p.prokind in ('f', 'p') then pg_get_functiondef(p.oid) end)
  from ours o join pg_catalog.pg_proc p on p.pronamespace = o.oid
  union all
  select format('type %s kind=%s acl=%s', t.oid::regtype, t.typtype, t.typacl)
  from ours o join pg_catalog.pg_type t on t.typnamespace = o.oid
  union all
  select format('default acl %s %s %s', o.nspname, a.defaclobjtype, a.defaclacl)
  from ours o join pg_catalog.pg_default_acl a on a.defaclnamespace = o.oid
)
select line from lines order by line collate "C"
