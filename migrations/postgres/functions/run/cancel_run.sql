-- Ends a run before it is done. Queued tasks never start; running ones learn of it at their next
-- heartbeat. A run that has ended stays as it is.
create or replace function pgflow.cancel_run(run_id uuid, reason text default null) returns setof pgflow.runs
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
  v_run pgflow.runs;
begin
  update pgflow.runs r
     set status = 'cancelled', cancelled_at = greatest(now(), r.started_at),
         cancel_reason = left(cancel_run.reason, pgflow._max_error_length())
   where r.run_id = cancel_run.run_id and r.status = 'started'
  returning r.* into v_run;
  if found then
    perform pgflow._record_events(
      array[v_run.run_id], array['run:cancelled'],
      array[jsonb_build_object('reason', v_run.cancel_reason)]
    );
    perform pgflow._archive_dead_messages(array[v_run.run_id]);
  end if;
  return query select r.* from pgflow.runs r where r.run_id = cancel_run.run_id;
end;
$$;
