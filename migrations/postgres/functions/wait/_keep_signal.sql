-- Keeps a signal for a task that may come to wait for it: 'buffered', or 'gone' if it cannot any more. The caller holds the run.
create or replace function pgflow._keep_signal(
  p_run uuid, p_step text, p_index int, p_payload jsonb, p_resume text, p_buffer_for interval
) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (
    select from pgflow.runs r
      join pgflow.step_states s on s.run_id = r.run_id and s.step_slug = p_step
      left join pgflow.step_tasks t on t.run_id = r.run_id and t.step_slug = p_step and t.task_index = p_index
     where r.run_id = p_run and r.status = 'started'
       and (s.status = 'created' or s.status = 'started' and t.status not in ('completed', 'failed'))
  ) then
    return 'gone';
  end if;
  perform pgflow._check_kept(null, p_run, p_step, p_index);
  perform pgflow._mark_waiting(array[p_run]);
  insert into pgflow.signals (expires_at, run_id, step_slug, task_index, resume_id, payload, digest)
  values (clock_timestamp() + p_buffer_for, p_run, p_step, p_index, p_resume, p_payload,
          case when p_resume is not null then pgflow._digest(p_payload) end);
  return 'buffered';
end;
$$;
