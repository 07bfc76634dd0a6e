-- Fails one attempt in a run that is locked because an attempt in it was the last one.
-- Returns whether the failure took effect on the run.
create or replace function pgflow._fail_task_row(
  run_id uuid,
  step_slug text,
  task_index int,
  error_message text,
  attempt int,
  is_fatal boolean
) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_run_status text;
  v_task pgflow.step_tasks;
begin
  select r.status into v_run_status from pgflow.runs r where r.run_id = _fail_task_row.run_id;
  update pgflow.step_tasks t
     set status = case when plan.retries then 'queued' else 'failed' end,
         failed_at = case when plan.retries then null else greatest(now(), t.started_at) end,
         started_at = case when plan.retries then null else t.started_at end,
         lease_until = null,
         error_message = _fail_task_row.error_message
    from pgflow.step_states s
    join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
    join pgflow.flows f on f.flow_slug = s.flow_slug
    join pgflow.step_tasks k
      on k.run_id = s.run_id and k.step_slug = s.step_slug and k.task_index = _fail_task_row.task_index
    cross join lateral (
      select v_run_status = 'started' and not _fail_task_row.is_fatal
         and k.attempts_count - k.refunded_count < coalesce(d.opt_max_attempts, f.opt_max_attempts) as retries
    ) plan
   where s.run_id = _fail_task_row.run_id and s.step_slug = _fail_task_row.step_slug
     and t.run_id = k.run_id and t.step_slug = k.step_slug and t.task_index = k.task_index
     and t.status = 'started' and (_fail_task_row.attempt is null or t.attempts_count = _fail_task_row.attempt)
     and (v_run_status in ('failed', 'cancelled') or (v_run_status = 'started' and s.status = 'started'))
  returning t.* into v_task;
  if v_task.status = 'failed' and v_run_status = 'started' then
    perform pgflow._exhaust_step(_fail_task_row.run_id, _fail_task_row.step_slug, _fail_task_row.error_message);
  end if;
  return v_run_status = 'started' and v_task.status is not null;
end;
$$;
