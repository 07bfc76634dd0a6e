-- What belongs to roles that could use it to act with the rights of whoever installs: the owner of a
-- schema may replace what is in it, the owner of a function or table may change it, and our functions would
-- then run that with the rights of the role that installed them. An owner that has those rights anyway
-- (superusers, and members of the installing role) gains nothing, and is no stranger. A role that the
-- installing one is a member of is: its other members would gain rights.
with role as (
  select oid, quote_ident(rolname) as name from pg_catalog.pg_roles
),
thing as (
  select 'schema ' || n.nspname as name, n.nspowner as owner, 'alter schema ' || n.nspname as change
  from pg_catalog.pg_namespace n
  where n.nspname in ('pgflow', 'pgwf', 'pgmq')
  union all
  select 'function ' || p.oid::pg_catalog.regprocedure, p.proowner,
         'alter function ' || p.oid::pg_catalog.regprocedure
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace and n.nspname in ('pgflow', 'pgwf', 'pgmq')
  union all
  -- Of pgmq only what every queue has in common: queues may belong to anybody.
  select 'table ' || n.nspname || '.' || c.relname, c.relowner, 'alter table ' || n.nspname || '.' || c.relname
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f')
    and (n.nspname in ('pgflow', 'pgwf') or (n.nspname = 'pgmq' and c.relname in ('meta', '__pgmq_migrations')))
)
select problem.what, problem.way_out
from (
  select thing.name || ' belongs to ' || role.name as what,
         thing.change || ' owner to ' || quote_ident(current_user) || ', or install as ' || role.name as way_out
  from thing
  join role on role.oid = thing.owner
  where not pg_catalog.pg_has_role(thing.owner, current_user, 'usage')
  union all
  select 'schema ' || n.nspname || ' lets ' || coalesce(role.name, 'PUBLIC') || ' create objects in it',
         'revoke create on schema ' || n.nspname || ' from ' || coalesce(role.name, 'PUBLIC')
  from pg_catalog.pg_namespace n
  cross join lateral pg_catalog.aclexplode(n.nspacl) acl
  left join role on role.oid = acl.grantee
  where n.nspname in ('pgflow', 'pgwf', 'pgmq') and acl.privilege_type = 'CREATE'
    and (acl.grantee = 0 or not pg_catalog.pg_has_role(acl.grantee, current_user, 'usage'))
) problem
order by problem.what not like 'schema %', problem.what
