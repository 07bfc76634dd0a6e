-- Ends runs before they are done, for a reason each; those that have ended stay as they are. All of them are locked before the first
-- message is.
create or replace function pgflow._cancel_runs(run_ids uuid[], reasons text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_runs uuid[];
  v_details jsonb[];
begin
  perform from pgflow.runs r where r.run_id = any (run_ids) order by r.run_id for no key update;
  with cancelled as (
    update pgflow.runs r
       set status = 'cancelled', cancelled_at = greatest(now(), r.started_at),
           cancel_reason = left(c.reason, pgflow._max_error_length())
      from unnest(run_ids, reasons) c(run_id, reason)
     where r.run_id = c.run_id and r.status = 'started'
    returning r.run_id, r.cancel_reason
  )
  select array_agg(c.run_id), array_agg(jsonb_build_object('reason', c.cancel_reason)) into v_runs, v_details from cancelled c;
  if v_runs is not null then
    perform pgflow._record_events(v_runs, array_fill('run:cancelled'::text, array[cardinality(v_runs)]), v_details);
    perform pgflow._archive_dead_messages(v_runs);
  end if;
end;
$$;
