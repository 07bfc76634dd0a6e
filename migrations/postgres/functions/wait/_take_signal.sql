-- The payload of the first signal that was kept for a hook and fits; null if there is none. Those before it that do not fit are deleted:
-- nobody who could be told is there any more, so the log of the run says it.
create or replace function pgflow._take_signal(wait pgflow.waits) returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_signal pgflow.signals;
  v_why jsonb;
begin
  for v_signal in
    select s.* from pgflow.signals s
     where s.payload is not null and s.expires_at > clock_timestamp()
       and (s.token = wait.token
            or s.run_id = wait.run_id and s.step_slug = wait.step_slug and s.task_index = wait.task_index)
     order by s.id
  loop
    v_why := pgflow._why_rejected(wait, v_signal.payload);
    if v_why is not null then
      perform pgflow._log_waits(
        array[wait.run_id], array[wait.step_slug], array[wait.task_index], array['step:signal_dropped'], array[v_why]);
    end if;
    if v_why is null and v_signal.resume_id is not null then
      update pgflow.signals s
         set payload = null, expires_at = null, run_id = wait.run_id, step_slug = wait.step_slug, task_index = wait.task_index
       where s.id = v_signal.id;
    else
      delete from pgflow.signals s where s.id = v_signal.id;
    end if;
    if v_why is null then
      return v_signal.payload;
    end if;
  end loop;
  return null;
end;
$$;
