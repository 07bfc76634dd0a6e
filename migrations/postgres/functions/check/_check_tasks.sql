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
   where t.attempts_count = 0
     -- A task whose input is too large is never begun: it is marked, and the next sweep ends its step.
     and (t.status <> 'queued' or (t.error_message is not null and t.permanently_stalled_at is null))
  union all
  select 'task_refunds', t.run_id, format('task %s of %s: %s of %s attempts were handed back', t.task_index, t.step_slug,
                                          t.refunded_count, t.attempts_count)
    from pgflow.step_tasks t
   where t.refunded_count < 0
      or t.refunded_count > t.attempts_count - case when t.status = 'queued' then 0 else 1 end
  union all
  select 'task_requeues', t.run_id, format('task %s of %s: taken back %s times', t.task_index, t.step_slug, t.requeued_count)
    from pgflow.step_tasks t
   where t.requeued_count not between 0 and pgflow._max_requeues()
      or (t.requeued_count > 0 and t.last_requeued_at is null)
      or (t.attempts_count = 0 and num_nonnulls(t.last_requeued_at, nullif(t.requeued_count, 0)) > 0)
  union all
  select 'task_stalled', t.run_id, format('task %s of %s is given up, but its step is not', t.task_index, t.step_slug)
    from pgflow.step_tasks t
    join pgflow.step_states s on s.run_id = t.run_id and s.step_slug = t.step_slug
   where t.permanently_stalled_at is not null
     and case when t.status = 'queued' then t.error_message is null or s.status in ('created', 'completed')
           else t.requeued_count < pgflow._max_requeues() or t.status not in ('started', 'failed')
             or s.status in ('created', 'started', 'completed')
         end
  union all
  select 'task_failure', t.run_id, format('task %s of %s has failed, but its step goes on', t.task_index, t.step_slug)
    from pgflow.step_tasks t
    join pgflow.step_states s on s.run_id = t.run_id and s.step_slug = t.step_slug and s.status = 'started'
    join pgflow.runs r on r.run_id = t.run_id and r.status = 'started'
   where t.status = 'failed'
  union all
  select 'task_output', t.run_id, format('task %s of %s has failed with an output', t.task_index, t.step_slug)
    from pgflow.step_tasks t
   where t.status = 'failed' and t.output is not null and t.error_message not like '[TYPE_VIOLATION]%'
  union all
  select 'task_times', t.run_id, format('task %s of %s: times do not fit status %s', t.task_index, t.step_slug, t.status)
    from pgflow.step_tasks t
    join pgflow.runs r on r.run_id = t.run_id
   where (t.status = 'completed') <> (t.completed_at is not null)
      or (t.status = 'failed') <> (t.failed_at is not null)
      or (t.status = 'queued') <> (t.started_at is null)
      or (t.status in ('queued', 'waiting') and t.lease_until is not null)
      or greatest(t.queued_at, t.started_at, t.completed_at, t.failed_at, t.last_requeued_at, t.permanently_stalled_at)
         > clock_timestamp() + interval '1 day'
$$;
