-- Completes a task that has just begun to wait, if what it waits for has happened: a signal was kept for it, its moment has come, or
-- there are no children.
create or replace function pgflow._meet_at_once(run_id uuid, step_slug text, task_index int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_wait pgflow.waits;
  v_output jsonb;
begin
  select w.* into v_wait from pgflow.waits w
   where w.run_id = _meet_at_once.run_id and w.step_slug = _meet_at_once.step_slug and w.task_index = _meet_at_once.task_index;
  v_output := case
    when v_wait.kind = 'hook' then pgflow._take_signal(v_wait)
    when v_wait.kind = 'sleep' and v_wait.until <= clock_timestamp() then 'null' end;
  if v_output is not null then
    perform pgflow._meet_wait(v_wait.run_id, v_wait.step_slug, v_wait.task_index, v_output,
                              case v_wait.kind when 'hook' then 'step:signalled' else 'step:woken' end);
  elsif v_wait.kind in ('runs', 'jobs') and v_wait.open_children = 0 then
    perform pgflow._meet_children(v_wait);
  end if;
end;
$$;
