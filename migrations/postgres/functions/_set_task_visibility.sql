-- Hides messages for as long as their started tasks may take, plus 2 seconds. `assumed` is what
-- they are hidden for already: only messages of steps with another timeout are written again.
create or replace function pgflow._set_task_visibility(flow_slug text, msg_ids bigint[], bodies jsonb[], assumed int)
returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  perform pgflow.set_vt_batch(_set_task_visibility.flow_slug, array_agg(t.message_id), array_agg(coalesce(d.opt_timeout, f.opt_timeout) + 2))
     from pgflow._tasks_of_messages(_set_task_visibility.msg_ids, _set_task_visibility.bodies) m
     join pgflow.step_tasks t
       on t.run_id = m.run_id and t.step_slug = m.step_slug and t.task_index = m.task_index
      and t.message_id = m.msg_id and t.status = 'started'
     join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
     join pgflow.flows f on f.flow_slug = t.flow_slug
    where coalesce(d.opt_timeout, f.opt_timeout) is distinct from _set_task_visibility.assumed
      -- Only what this transaction started: an older attempt's message keeps its own time.
      and t.started_at = now();
end;
$$;
