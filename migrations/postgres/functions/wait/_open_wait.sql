-- Lets a task wait: its row, that of the wait, its children, the event. The caller holds step, run and task, and archives the message.
-- Returns why it cannot wait, if it cannot; then nothing has changed.
create or replace function pgflow._open_wait(run_id uuid, step_slug text, task_index int, attempt int, wait jsonb) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_wait pgflow.waits;
  v_error text;
begin
  if starts_with(wait ->> 'token', 'hk_') and not exists (
    select from pgflow.hooks h
     where h.token = wait ->> 'token' and h.run_id = _open_wait.run_id and h.step_slug = _open_wait.step_slug
       and h.task_index = _open_wait.task_index
  ) then
    return pgflow._who_has_token(wait ->> 'token');
  end if;
  v_wait.until := case when wait ->> 'on' = 'sleep'
    then coalesce(pgflow._moment(wait -> 'at'), v_now + (wait ->> 'for')::bigint * interval '1 microsecond')
    else v_now + (wait ->> 'timeout')::bigint * interval '1 second' end;
  insert into pgflow.waits (
    run_id, step_slug, task_index, attempt, flow_slug, since, until, kind, token, schema, outcomes, is_detached, each)
  select t.run_id, t.step_slug, t.task_index, t.attempts_count, t.flow_slug, v_now, v_wait.until, wait ->> 'on',
         wait ->> 'token', nullif(wait -> 'schema', 'null'), coalesce((wait ->> 'outcomes')::boolean, false),
         coalesce((wait ->> 'detached')::boolean, false), coalesce((wait ->> 'each')::boolean, false)
    from pgflow.step_tasks t
   where t.run_id = _open_wait.run_id and t.step_slug = _open_wait.step_slug and t.task_index = _open_wait.task_index
  on conflict (token) do nothing
  returning * into v_wait;
  if not found then
    return pgflow._who_has_token(wait ->> 'token');
  end if;
  if v_wait.kind in ('runs', 'jobs') then
    v_error := pgflow._start_children(v_wait, wait -> 'children');
    if v_error is not null then
      delete from pgflow.waits w
       where w.run_id = v_wait.run_id and w.step_slug = v_wait.step_slug and w.task_index = v_wait.task_index;
      return v_error;
    end if;
  end if;
  update pgflow.step_tasks t set status = 'waiting', lease_until = null
   where t.run_id = v_wait.run_id and t.step_slug = v_wait.step_slug and t.task_index = v_wait.task_index;
  perform pgflow._log_waits(
    array[v_wait.run_id], array[v_wait.step_slug], array[v_wait.task_index], array['step:waiting'],
    array[jsonb_build_object('on', v_wait.kind, 'until', (extract(epoch from v_wait.until) * 1000000)::bigint)]);
  return null;
end;
$$;
