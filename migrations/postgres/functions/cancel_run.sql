-- Ends a run before it is done. Queued tasks never start; running ones learn of it at their next
-- heartbeat. A run that has ended stays as it is.
create or replace function pgflow.cancel_run(run_id uuid, reason text default null) returns setof pgflow.runs
language plpgsql security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_run pgflow.runs;
begin
  update pgflow.runs r
     set status = 'cancelled', cancelled_at = now(), cancel_reason = cancel_run.reason
   where r.run_id = cancel_run.run_id and r.status = 'started'
  returning r.* into v_run;
  if found then
    perform pgflow._record_events(
      'run:cancelled', array[v_run.run_id], array[null::text],
      array[jsonb_build_object('flow_slug', v_run.flow_slug, 'status', v_run.status,
                               'reason', v_run.cancel_reason, 'cancelled_at', v_run.cancelled_at)]
    );
    perform pgflow._archive_dead_messages(array[v_run.run_id]);
  end if;
  return query select r.* from pgflow.runs r where r.run_id = cancel_run.run_id;
end;
$$;
