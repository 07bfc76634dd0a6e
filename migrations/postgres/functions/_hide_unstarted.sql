-- Hides messages that were read but started no task, for the reader's own time.
create or replace function pgflow._hide_unstarted(queue_name text, msg_ids bigint[], bodies jsonb[], reservation int)
returns void
language sql
set search_path = ''
set enable_seqscan = off
as $$
  select pgflow.set_vt_batch(_hide_unstarted.queue_name, array_agg(m.msg_id), array_agg(_hide_unstarted.reservation))
    from pgflow._tasks_of_messages(msg_ids, bodies) m
    left join pgflow.step_tasks t
      on t.run_id = m.run_id and t.step_slug = m.step_slug and t.task_index = m.task_index
     and t.message_id = m.msg_id and t.status = 'started' and t.started_at = now()
   where t.run_id is null
$$;
