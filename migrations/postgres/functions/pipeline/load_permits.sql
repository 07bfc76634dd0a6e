-- Permits by kind and name, as far as they are there. With `locks` they are the caller's until its transaction ends: locked in one
-- order, or, if it does not `wait`, only those that nobody has, and only those are returned. How far a queue is is never locked:
-- whoever pushes reads it, and whoever claims moves it on.
create or replace function pgflow.load_permits(kinds text[], names text[], locks boolean default false, waits boolean default true)
returns table (kind text, name text, state jsonb)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  v_kinds text[] := load_permits.kinds;
  v_names text[] := load_permits.names;
begin
  if locks and waits then
    perform from unnest(kinds, names) k(kind, name) join pgflow.permits p on p.kind = k.kind and p.name = k.name
      where p.kind <> 'round' order by p.kind, p.name for no key update of p;
  elsif locks then
    select array_agg(l.kind), array_agg(l.name) into v_kinds, v_names
      from (
        select p.kind, p.name from unnest(kinds, names) k(kind, name) join pgflow.permits p on p.kind = k.kind and p.name = k.name
         order by p.kind, p.name for no key update of p skip locked
      ) l;
  end if;
  return query
    select p.kind, p.name, p.state
      from (select distinct k.* from unnest(v_kinds, v_names) k(kind, name)) k join pgflow.permits p on p.kind = k.kind and p.name = k.name;
end;
$$;
