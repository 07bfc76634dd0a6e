-- Ends the steps of a flow's stalled tasks that were taken back too often: no run waits for ever.
-- Returns their runs, whose dead messages the caller archives.
create or replace function pgflow._end_stalled(flow_slug text, grace int) returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_key record;
  v_error text;
  v_ended uuid[] := '{}';
begin
  for v_key in
    select k.* from pgflow._stalled_tasks(_end_stalled.flow_slug, _end_stalled.grace) k
     where k.requeued_count >= pgflow._max_requeues() or k.error is not null order by k.run_id, k.step_slug, k.task_index
  loop
    perform from pgflow.step_states s
      join pgflow.runs r on r.run_id = s.run_id
      join pgflow.step_tasks t
        on t.run_id = s.run_id and t.step_slug = s.step_slug and t.task_index = v_key.task_index
     where s.run_id = v_key.run_id and s.step_slug = v_key.step_slug
       and s.status = 'started' and r.status = 'started' and t.attempts_count = v_key.attempts_count
       and case when v_key.error is not null then t.status = 'queued' and t.permanently_stalled_at is not null
             else t.status = 'started' and t.requeued_count >= pgflow._max_requeues() and (t.lease_until is null or t.lease_until < clock_timestamp()) end
       for no key update skip locked;
    continue when not found;
    v_error := coalesce(v_key.error, format(
      'stalled: task %s was lost by its worker %s times', v_key.task_index, v_key.requeued_count + 1));
    update pgflow.step_tasks t set permanently_stalled_at = now(), error_message = v_error
     where t.run_id = v_key.run_id and t.step_slug = v_key.step_slug and t.task_index = v_key.task_index;
    perform pgflow._exhaust_step(v_key.run_id, v_key.step_slug, v_error);
    v_ended := v_ended || v_key.run_id;
  end loop;
  return v_ended;
end;
$$;
