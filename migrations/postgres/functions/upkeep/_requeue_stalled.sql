-- Puts the stalled tasks of a flow that may be tried again back into the queue; returns their
-- messages, which the caller makes visible.
create or replace function pgflow._requeue_stalled(flow_slug text, grace int) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_messages bigint[];
begin
  with stalled as materialized (
    select t.run_id, t.step_slug, t.task_index
      from pgflow._stalled_tasks(_requeue_stalled.flow_slug, _requeue_stalled.grace) k
      join pgflow.step_tasks t
        on t.run_id = k.run_id and t.step_slug = k.step_slug and t.task_index = k.task_index
      -- A step that this very sweep has ended keeps its other tasks as they are.
      join pgflow.step_states s on s.run_id = k.run_id and s.step_slug = k.step_slug and s.status = 'started'
      join pgflow.runs r on r.run_id = k.run_id and r.status = 'started'
     -- Looked at again under the lock: another attempt may have begun since.
     where k.requeued_count < pgflow._max_requeues() and t.status = 'started' and t.attempts_count = k.attempts_count
       and (t.lease_until is null or t.lease_until < clock_timestamp())
     order by t.run_id, t.step_slug, t.task_index
       for no key update of t skip locked
  ), requeued as (
    update pgflow.step_tasks t
       set status = 'queued', started_at = null, last_worker_id = null, lease_until = null,
           requeued_count = t.requeued_count + 1, last_requeued_at = now()
      from stalled k
     where t.run_id = k.run_id and t.step_slug = k.step_slug and t.task_index = k.task_index
    returning t.message_id
  )
  select array_agg(q.message_id) into v_messages from requeued q;
  return v_messages;
end;
$$;
