-- Puts the failed steps of a run back to where they were: started, or, if a condition failed them
-- before they had tasks, created. Their event says how many tasks are still to do.
create or replace function pgflow._reopen_steps(run_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_events text[];
  v_details jsonb[];
begin
  with reopened as (
    update pgflow.step_states s
       set status = case when s.remaining_tasks is null then 'created' else 'started' end,
           failed_at = null, error_message = null
      from pgflow.steps d
     where s.run_id = _reopen_steps.run_id and s.status = 'failed'
       and d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
    returning s.step_slug, s.status, s.remaining_tasks, d.step_index
  )
  select array_agg('step:started ' || o.step_slug order by o.step_index),
         array_agg(jsonb_build_object('remaining_tasks', o.remaining_tasks) order by o.step_index)
    into v_events, v_details
    from reopened o where o.status = 'started';
  perform pgflow._record_events(
    array_fill(_reopen_steps.run_id, array[1 + coalesce(cardinality(v_events), 0)]),
    array['run:retried'] || v_events,
    array[jsonb_build_object('retried_at', now())] || v_details);
end;
$$;
