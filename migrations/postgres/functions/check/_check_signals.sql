-- Hooks and signals: they belong to tasks that are there, and none is kept that somebody waits for.
create or replace function pgflow._check_signals() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query
  select 'hook_task', h.run_id, format('a hook of task %s of %s, which was never begun', h.task_index, h.step_slug)
    from pgflow.hooks h
   where not exists (
     select from pgflow.step_tasks t
      where t.run_id = h.run_id and t.step_slug = h.step_slug and t.task_index = h.task_index and t.attempts_count > 0)
  union all
  select 'hook_token', h.run_id, format('the hook of task %s of %s can be guessed', h.task_index, h.step_slug)
    from pgflow.hooks h where h.token !~ '^hk_[A-Za-z0-9_-]{43}$'
  union all
  select 'signal_task', s.run_id, format('signal %s is for task %s of %s, which is not there', s.id, s.task_index, s.step_slug)
    from pgflow.signals s
   where s.run_id is not null
     and not exists (select from pgflow.step_states p where p.run_id = s.run_id and p.step_slug = s.step_slug)
  union all
  select 'signal_delivered', s.run_id, format('signal %s was delivered to task %s of %s, which did not wait', s.id, s.task_index, s.step_slug)
    from pgflow.signals s
    join pgflow.runs r on r.run_id = s.run_id and r.record_events
   where s.payload is null and not exists (
     select from pgflow._event_words() e
      where e.run_id = s.run_id and e.step_slug = s.step_slug and e.event_type = 'step:signalled'
        and e.detail ->> 'task_index' = s.task_index::text)
  union all
  select 'signal_kept', coalesce(s.run_id, w.run_id), format('signal %s is kept, but task %s of %s waits', s.id, w.task_index, w.step_slug)
    from pgflow.signals s
    join pgflow.waits w on w.kind = 'hook' and (w.token = s.token or
      s.token is null and w.run_id = s.run_id and w.step_slug = s.step_slug and w.task_index = s.task_index)
   where s.payload is not null and s.expires_at > w.since
  union all
  select 'signal_times', s.run_id, format('signal %s was sent in the future', s.id)
    from pgflow.signals s where s.sent_at > clock_timestamp() + interval '1 day' or s.expires_at < s.sent_at;
end;
$$;
