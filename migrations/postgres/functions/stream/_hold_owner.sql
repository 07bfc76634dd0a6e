-- Whether an attempt may write the stream of its task: null, or what is wrong. Until the transaction ends, neither the task nor
-- its run changes, so that what readers take for an abandoned stream does not grow. In the order of all locks: run, task.
create or replace function pgflow._hold_owner(run_id uuid, step_slug text, task_index int, attempt int) returns text
language plpgsql
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
  v_status text;
begin
  select r.status into v_status from pgflow.runs r where r.run_id = _hold_owner.run_id for share;
  if not exists (
    select from pgflow.step_states s where s.run_id = _hold_owner.run_id and s.step_slug = _hold_owner.step_slug
  ) then
    return 'unknown_task';
  end if;
  if v_status <> 'started' then
    return 'superseded';
  end if;
  perform from pgflow.step_tasks t
    where t.run_id = _hold_owner.run_id and t.step_slug = _hold_owner.step_slug and t.task_index = _hold_owner.task_index
      and t.attempts_count = _hold_owner.attempt and t.status = 'started'
    for share;
  if not found then
    return 'superseded';
  end if;
  -- Whoever ends a step has its run.
  perform from pgflow.step_states s
    where s.run_id = _hold_owner.run_id and s.step_slug = _hold_owner.step_slug and s.status = 'started';
  return case when found then null else 'superseded' end;
end;
$$;
