-- Skips or fails the ready steps of a run whose conditions do not hold; false if the run failed.
create or replace function pgflow.cascade_resolve_conditions(run_id uuid) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_was_started boolean;
  v_lives boolean;
begin
  select r.status = 'started' into v_was_started from pgflow.runs r
   where r.run_id = cascade_resolve_conditions.run_id;
  v_lives := pgflow._resolve_conditions(cascade_resolve_conditions.run_id);
  if v_was_started then
    perform pgflow._archive_dead_messages(array[cascade_resolve_conditions.run_id]);
  end if;
  return v_lives;
end;
$$;
