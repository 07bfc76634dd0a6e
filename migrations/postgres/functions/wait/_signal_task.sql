-- Delivers a signal to a task that waits for it, or keeps it for one that may come to wait; see signal. Without a token, any hook that the
-- task waits for is meant. No row if the task waits for no such token any more, and somebody else may.
create or replace function pgflow._signal_task(
  p_run uuid, p_step text, p_index int, p_token text, p_payload jsonb, p_resume text, p_buffer_for interval
) returns table (outcome text, run_id uuid, step_slug text, task_index int, path text, message text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  -- Those that were announced stand for their tasks.
  v_name text := case when not starts_with(p_token, 'hk_') then p_token end;
  v_wait pgflow.waits;
  v_why jsonb;
  v_is_same boolean;
begin
  perform pgflow._lock_to_settle(array[p_run], array[p_step], array[p_index], array[0]);
  delete from pgflow.signals s
   where s.run_id = p_run and s.step_slug = p_step and s.task_index = p_index and s.resume_id = p_resume
     and s.expires_at <= clock_timestamp();
  select coalesce(s.digest = pgflow._digest(p_payload), true) into v_is_same
    from pgflow.signals s
   where s.run_id = p_run and s.step_slug = p_step and s.task_index = p_index and s.resume_id = p_resume
     and s.token is not distinct from v_name;
  if found then
    return query select case when v_is_same then 'duplicate' else 'conflict' end, null::uuid, null::text, null::int, null::text, null::text;
    return;
  end if;
  select w.* into v_wait from pgflow.waits w
   where w.run_id = p_run and w.step_slug = p_step and w.task_index = p_index and w.kind = 'hook'
     and (p_token is null or w.token = p_token);
  if not found then
    return query
      select k, null::uuid, null::text, null::int, null::text, null::text
        from pgflow._keep_signal(p_run, p_step, p_index, p_payload, p_resume, p_buffer_for) k where v_name is null;
    return;
  end if;
  v_why := pgflow._why_rejected(v_wait, p_payload);
  if v_why is not null then
    return query select 'rejected', p_run, p_step, p_index, v_why ->> 'path', v_why ->> 'message';
    return;
  end if;
  insert into pgflow.signals (run_id, step_slug, task_index, token, resume_id, digest)
  select p_run, p_step, p_index, v_name, p_resume, pgflow._digest(p_payload) where p_resume is not null;
  perform pgflow._meet_wait(p_run, p_step, p_index, p_payload, 'step:signalled');
  perform pgflow._archive_dead_messages(array[p_run]);
  return query select 'delivered', p_run, p_step, p_index, null::text, null::text;
end;
$$;
