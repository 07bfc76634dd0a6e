-- The last event of runs that have just completed.
create or replace function pgflow._record_run_completed(run_ids uuid[]) returns void
language sql
set search_path = ''
set enable_seqscan = off
as $$
  select pgflow._record_events(
    'run:completed', array_agg(r.run_id), array_agg(null::text),
    array_agg(jsonb_build_object('flow_slug', r.flow_slug, 'status', r.status,
                                 'output', r.output, 'completed_at', r.completed_at))
  )
  from pgflow.runs r where r.run_id = any (run_ids)
$$;
