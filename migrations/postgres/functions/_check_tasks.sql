-- Tasks: what foreign keys would say, and what their status implies.
create or replace function pgflow._check_tasks() returns table (invariant text, run_id uuid, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'task_orphan', t.run_id, format('task %s of %s has no step', t.task_index, t.step_slug)
    from pgflow.step_tasks t
   where not exists (
     select from pgflow.step_states s
      where s.run_id = t.run_id and s.step_slug = t.step_slug and s.flow_slug = t.flow_slug)
  union all
  select 'task_worker', t.run_id, format('task %s of %s names a worker that is not there', t.task_index, t.step_slug)
    from pgflow.step_tasks t
   where t.last_worker_id is not null
     and not exists (select from pgflow.workers w where w.worker_id = t.last_worker_id)
  union all
  select 'task_attempts', t.run_id, format('task %s of %s is %s without an attempt', t.task_index, t.step_slug, t.status)
    from pgflow.step_tasks t
   where t.status <> 'queued' and t.attempts_count = 0
  union all
  select 'task_refunds', t.run_id, format('task %s of %s: %s of %s attempts were handed back', t.task_index, t.step_slug,
                                          t.refunded_count, t.attempts_count)
    from pgflow.step_tasks t
   where t.refunded_count < 0
      or t.refunded_count > t.attempts_count - case when t.status = 'queued' then 0 else 1 end
  union all
  select 'task_times', t.run_id, format('task %s of %s: times do not fit status %s', t.task_index, t.step_slug, t.status)
    from pgflow.step_tasks t
   where (t.status = 'completed') <> (t.completed_at is not null)
      or (t.status = 'failed') <> (t.failed_at is not null)
      or (t.status = 'started' and t.started_at is null)
      or (t.status = 'queued' and t.started_at is not null)
$$;
