-- Every function of our schemas, and a hash of all that makes it do what it does. Built from the
-- catalog's own columns rather than pg_get_functiondef, whose text may differ between versions of
-- the server and with the caller's search_path. Without the form of prune_data_older_than that
-- installations may replace with one of their own.
select
  case n.nspname when 'pgflow' then '' else n.nspname || '.' end || p.proname || '(' || coalesce(args.types, '') || ')' as signature,
  encode(sha256(convert_to(jsonb_build_array(
    l.lanname, p.prokind, p.prosrc, pg_get_function_sqlbody(p.oid),
    p.provolatile, p.proparallel, p.prosecdef, p.proisstrict, p.proleakproof,
    p.proconfig, p.proargnames, p.proargmodes, pg_get_expr(p.proargdefaults, 0),
    p.proretset, result.typname
  )::text, 'UTF8')), 'hex') as fingerprint
from pg_catalog.pg_proc p
join pg_catalog.pg_namespace n on n.oid = p.pronamespace and n.nspname in ('pgflow', 'pgwf')
join pg_catalog.pg_language l on l.oid = p.prolang
join pg_catalog.pg_type result on result.oid = p.prorettype
cross join lateral (
  select string_agg(t.typname, ', ' order by arg.position) as types
  from unnest(p.proargtypes::oid[]) with ordinality arg (type, position)
  join pg_catalog.pg_type t on t.oid = arg.type
) args
where not (p.proname = 'prune_data_older_than' and p.pronargs = 1)
