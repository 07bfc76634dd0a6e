-- Everything in our schemas that is no function, as an object with a readable name, the relation it
-- is a part of, and what it is. Built from the catalog's own columns: definitions as text, of
-- constraints or views, may differ between versions of the server. Types get their schema by hand,
-- because format_type goes by the caller's search_path. Not-null constraints are left out: they
-- have rows of their own since Postgres 18 only, and are said with the column.
with relation as (
  select
    c.oid,
    n.nspname || '.' || c.relname as name,
    case
      when c.relkind in ('r', 'p', 'f') then 'table'
      when c.relkind in ('v', 'm') then 'view'
      when c.relkind = 'c' then 'type'
      else 'sequence'
    end || ' ' || n.nspname || '.' || c.relname as object
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname in ('pgflow', 'pgwf')
  where c.relkind in ('r', 'p', 'f', 'v', 'm', 'c', 'S')
    and c.relname not in ('migrations', 'migration_functions', 'migration_relations')
),
part as (
  select
    a.attrelid as relation, 'column' as kind, a.attname as name,
    case
      when n.nspname = 'pg_catalog'
        then replace(pg_catalog.format_type(a.atttypid, a.atttypmod), 'pg_catalog.', '')
      else n.nspname || '.' || t.typname
    end || case when a.attnotnull then ' not null' else '' end as definition
  from pg_catalog.pg_attribute a
  join pg_catalog.pg_type t on t.oid = a.atttypid
  join pg_catalog.pg_namespace n on n.oid = t.typnamespace
  where a.attnum > 0 and not a.attisdropped
  union all
  select
    k.conrelid, 'constraint', k.conname,
    case k.contype
      when 'c' then 'check'
      when 'f' then 'foreign key'
      when 'p' then 'primary key'
      when 'u' then 'unique'
      when 'x' then 'exclude'
      else 'trigger'
    end
  from pg_catalog.pg_constraint k
  where k.contype <> 'n'
  union all
  -- Those of constraints are said with the constraint.
  select i.indrelid, 'index', c.relname, 'index'
  from pg_catalog.pg_index i
  join pg_catalog.pg_class c on c.oid = i.indexrelid
  where not exists (
    select from pg_catalog.pg_constraint k
    where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x')
  )
  union all
  select t.tgrelid, 'trigger', t.tgname, 'trigger'
  from pg_catalog.pg_trigger t
  where not t.tgisinternal
)
select object, null as parent, split_part(object, ' ', 1) as definition
from relation
union all
select part.kind || ' ' || part.name || ' of ' || relation.name, relation.object, part.definition
from part
join relation on relation.oid = part.relation
