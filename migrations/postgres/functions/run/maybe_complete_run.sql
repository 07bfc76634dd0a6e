-- Completes a run that has no steps left.
create or replace function pgflow.maybe_complete_run(run_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  update pgflow.runs r
     set status = 'completed', completed_at = greatest(now(), r.started_at),
         output = pgflow._run_output(r.run_id, r.flow_slug)
   where r.run_id = maybe_complete_run.run_id and r.remaining_steps = 0 and r.status = 'started';
  if found then
    perform pgflow._record_events(array[maybe_complete_run.run_id], array['run:completed']);
  end if;
end;
$$;
