-- Jobs that wait for themselves, or stand between two such rings. What waits for nothing is taken away, and then what waits for nothing
-- else, until the rest is rings and who waits for them; then the same from the other side. Each edge is looked at once a side.
create or replace function pgflow._jobs_in_rings() returns text[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_names text[] := array(
    select e.waiter from pgflow.job_edges e where e.kind = 'job' union select e.dependency from pgflow.job_edges e where e.kind = 'job');
  v_waiters int[];
  v_dependencies int[];
  v_left int[];
begin
  with node as (
    select n.name, n.number::int from unnest(v_names) with ordinality n(name, number)
  )
  select array_agg(w.number), array_agg(d.number) into v_waiters, v_dependencies
    from pgflow.job_edges e join node w on w.name = e.waiter join node d on d.name = e.dependency
   where e.kind = 'job';
  v_left := pgflow._peel_edges(v_waiters, v_dependencies, cardinality(v_names));
  if v_left = '{}' then
    return '{}';
  end if;
  select array_agg(e.waiter), array_agg(e.dependency) into v_waiters, v_dependencies
    from unnest(v_waiters, v_dependencies) e(waiter, dependency)
    join unnest(v_left) w on w = e.waiter join unnest(v_left) d on d = e.dependency;
  return array(
    select v_names[l] from unnest(v_left) l
    intersect
    select v_names[l] from unnest(pgflow._peel_edges(v_dependencies, v_waiters, cardinality(v_names))) l);
end;
$$;
