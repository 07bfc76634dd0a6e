-- Ends the steps of stalled tasks that were taken back too often. No run waits for ever.
create or replace function pgflow._end_stalled(flow_slug text, grace int) returns void
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_key record;
  v_message bigint;
  v_error text;
begin
  for v_key in
    select k.* from pgflow._stalled_tasks(_end_stalled.flow_slug, _end_stalled.grace) k
     where k.requeued_count >= 3 order by k.run_id, k.step_slug, k.task_index
  loop
    -- Step, run, task: the order of complete_tasks. A task settled meanwhile is left alone.
    perform from pgflow.step_states s
      where s.run_id = v_key.run_id and s.step_slug = v_key.step_slug and s.status = 'started' for no key update;
    continue when not found;
    perform from pgflow.runs r where r.run_id = v_key.run_id and r.status = 'started' for no key update;
    continue when not found;
    v_error := format('stalled: task %s was lost by its worker %s times', v_key.task_index, v_key.requeued_count + 1);
    update pgflow.step_tasks t
       set permanently_stalled_at = now(), error_message = v_error
     where t.run_id = v_key.run_id and t.step_slug = v_key.step_slug and t.task_index = v_key.task_index
       and t.status = 'started' and t.requeued_count >= 3 and t.permanently_stalled_at is null
       and (t.lease_until is null or t.lease_until < clock_timestamp())
    returning t.message_id into v_message;
    continue when not found;
    perform pgflow._exhaust_step(v_key.run_id, v_key.step_slug, v_error);
    perform pgflow._archive_messages(
      array_agg(m.flow_slug), array_agg(m.message_id))
      from (select _end_stalled.flow_slug, v_message as message_id
            union select * from pgflow._dead_messages(array[v_key.run_id])) m;
  end loop;
end;
$$;
