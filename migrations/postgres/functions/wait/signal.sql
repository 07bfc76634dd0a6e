-- Tells whoever waits for a token what has happened: the payload becomes the output of that task, and its run goes on. Outcomes:
--   delivered  with the task
--   duplicate  it was delivered, or is kept: one with this resume id
--   conflict   one with this resume id and another payload was delivered, or is kept
--   buffered   nobody waits yet: it is kept, for so long
--   rejected   it is not what is waited for, at this path of the payload; the wait stays open
--   gone       nobody waits, and nobody will
-- Of any number of signals with the same resume id, one is delivered.
create or replace function pgflow.signal(
  token text, payload jsonb, resume_id text default null, buffer_for interval default interval '7 days'
) returns table (outcome text, run_id uuid, step_slug text, task_index int, path text, message text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  v_task record;
  v_is_same boolean;
begin
  if not pgflow._is_token(signal.token) then
    raise exception 'A token has 1 to 200 printable bytes' using errcode = 'invalid_parameter_value';
  end if;
  perform pgflow._check_signal(signal.payload, signal.resume_id, signal.buffer_for);
  perform pgflow._lock_tokens(array[signal.token]);
  -- One that was kept for too long was never delivered, whoever may come to sweep it.
  delete from pgflow.signals s
   where s.token = signal.token and s.resume_id = signal.resume_id and s.expires_at <= clock_timestamp();
  loop
    select coalesce(s.digest = pgflow._digest(signal.payload), true) into v_is_same
      from pgflow.signals s where s.token = signal.token and s.resume_id = signal.resume_id;
    if found then
      return query select case when v_is_same then 'duplicate' else 'conflict' end, null::uuid, null::text, null::int, null::text, null::text;
      return;
    end if;
    if starts_with(signal.token, 'hk_') then
      select h.run_id, h.step_slug, h.task_index into v_task from pgflow.hooks h where h.token = signal.token;
    else
      select w.run_id, w.step_slug, w.task_index into v_task from pgflow.waits w where w.token = signal.token;
    end if;
    exit when v_task.run_id is null;
    return query
      select * from pgflow._signal_task(
        v_task.run_id, v_task.step_slug, v_task.task_index, signal.token, signal.payload, signal.resume_id, signal.buffer_for);
    if found then
      return;
    end if;
    -- It waits no longer; somebody else may.
  end loop;
  if starts_with(signal.token, 'hk_') then
    return query select 'gone', null::uuid, null::text, null::int, null::text, null::text;
    return;
  end if;
  perform pgflow._check_kept(signal.token, null, null, null);
  insert into pgflow.signals (expires_at, token, resume_id, payload, digest)
  values (clock_timestamp() + signal.buffer_for, signal.token, signal.resume_id, signal.payload,
          case when signal.resume_id is not null then pgflow._digest(signal.payload) end);
  return query select 'buffered', null::uuid, null::text, null::int, null::text, null::text;
end;
$$;
