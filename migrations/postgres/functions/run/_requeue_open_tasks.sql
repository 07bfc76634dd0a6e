-- Queues the open tasks of a run's started steps with new messages: those they had were archived when
-- the run failed. A failed or stalled task gets a fresh budget of attempts; one that was running or
-- waiting when the run failed gets that attempt back.
create or replace function pgflow._requeue_open_tasks(run_id uuid) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_open record;
begin
  select min(t.flow_slug) as flow, array_agg(t.step_slug) as steps, array_agg(t.task_index) as indexes,
         array_agg(jsonb_build_object('flow_slug', t.flow_slug, 'run_id', _requeue_open_tasks.run_id,
                                      'step_slug', t.step_slug, 'task_index', t.task_index)) as messages
    into v_open
    from (
      select t.flow_slug, t.step_slug, t.task_index
        from pgflow.step_tasks t
        join pgflow.step_states s on s.run_id = t.run_id and s.step_slug = t.step_slug
       where t.run_id = _requeue_open_tasks.run_id and s.status = 'started' and t.status <> 'completed'
       order by t.step_slug, t.task_index
         for no key update of t
    ) t;
  if v_open.steps is null then
    return;
  end if;
  update pgflow.step_tasks t
     set status = 'queued', message_id = m.message_id, output = null,
         started_at = null, failed_at = null, permanently_stalled_at = null, lease_until = null, last_worker_id = null,
         requeued_count = case when was.over then 0 else t.requeued_count end,
         refunded_count = case when was.over then t.attempts_count
                               when t.status in ('started', 'waiting') then t.refunded_count + 1
                               else t.refunded_count end
    from rows from (
      unnest(v_open.steps), unnest(v_open.indexes),
      -- Those behind the first sixteen stand where a wide map's do: see _spawn_map_tasks.
      unnest(array(select pgmq.send_batch(v_open.flow, v_open.messages[:pgflow._bulk_from()]))
             || array(select pgmq.send_batch(v_open.flow, v_open.messages[pgflow._bulk_from() + 1:], null::jsonb[],
                                             clock_timestamp() - pgflow._bulk_lane())
                       where cardinality(v_open.messages) > pgflow._bulk_from()))
    ) m(step_slug, task_index, message_id)
    join pgflow.step_tasks k
      on k.run_id = _requeue_open_tasks.run_id and k.step_slug = m.step_slug and k.task_index = m.task_index
    cross join lateral (select k.status = 'failed' or k.permanently_stalled_at is not null as over) was
   where t.run_id = k.run_id and t.step_slug = k.step_slug and t.task_index = k.task_index;
end;
$$;
