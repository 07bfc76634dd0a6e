-- Fails one attempt in a run that is locked because an attempt in it was the last one.
-- Returns whether the failure took effect on the run.
create or replace function pgflow._fail_task_row(
  run_id uuid,
  step_slug text,
  task_index int,
  error_message text,
  attempt int
) returns boolean
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  v_run_lives boolean;
  v_task pgflow.step_tasks;
begin
  select r.status = 'started' into v_run_lives from pgflow.runs r where r.run_id = _fail_task_row.run_id;
  update pgflow.step_tasks t
     set status = case when v_run_lives and t.attempts_count < coalesce(d.opt_max_attempts, f.opt_max_attempts)
                       then 'queued' else 'failed' end,
         failed_at = case when v_run_lives and t.attempts_count < coalesce(d.opt_max_attempts, f.opt_max_attempts)
                          then null else greatest(now(), t.started_at) end,
         started_at = case when v_run_lives and t.attempts_count < coalesce(d.opt_max_attempts, f.opt_max_attempts)
                           then null else t.started_at end,
         lease_until = null,
         error_message = _fail_task_row.error_message
    from pgflow.step_states s, pgflow.steps d, pgflow.flows f
   where t.run_id = _fail_task_row.run_id and t.step_slug = _fail_task_row.step_slug
     and t.task_index = _fail_task_row.task_index and t.status = 'started'
     and (_fail_task_row.attempt is null or t.attempts_count = _fail_task_row.attempt)
     and s.run_id = t.run_id and s.step_slug = t.step_slug and (s.status = 'started' or not v_run_lives)
     and d.flow_slug = t.flow_slug and d.step_slug = t.step_slug and f.flow_slug = t.flow_slug
  returning t.* into v_task;
  if v_task.status = 'failed' and v_run_lives then
    perform pgflow._exhaust_step(_fail_task_row.run_id, _fail_task_row.step_slug, _fail_task_row.error_message);
  end if;
  return v_run_lives and v_task.status is not null;
end;
$$;
