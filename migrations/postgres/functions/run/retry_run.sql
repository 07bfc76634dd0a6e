-- Takes a failed run up again where it failed. What was completed or skipped stays; failed tasks are
-- queued with a fresh budget of attempts, and so are the tasks that the failure had cut off.
--
-- A step that failed because its condition did not hold, or because it put out too much, is decided again.
-- Unless its definition or the limit has changed that gives the same answer: the run comes back failed.
create or replace function pgflow.retry_run(run_id uuid) returns setof pgflow.runs
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
  v_status text;
  v_whole text[];
  v_ended record;
begin
  -- Map steps are locked before their run: see complete_tasks.
  perform from pgflow.step_states s
    join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
   where s.run_id = retry_run.run_id and s.status in ('started', 'failed') and d.step_type = 'map'
   order by s.step_slug for no key update of s;
  select r.status into v_status from pgflow.runs r where r.run_id = retry_run.run_id for no key update;
  if v_status is null then
    raise exception 'Run not found: %', retry_run.run_id using errcode = 'no_data_found';
  elsif v_status <> 'failed' then
    raise exception 'Run % is %: only a failed run can be retried', retry_run.run_id, v_status
      using errcode = 'object_not_in_prerequisite_state';
  end if;

  update pgflow.runs r set status = 'started', failed_at = null where r.run_id = retry_run.run_id;
  perform pgflow._reopen_steps(retry_run.run_id);
  perform pgflow._requeue_open_tasks(retry_run.run_id);
  v_whole := array(
    select s.step_slug from pgflow.step_states s
     where s.run_id = retry_run.run_id and s.status = 'started' and s.remaining_tasks = 0);
  if cardinality(v_whole) > 0 then
    select * into v_ended from pgflow._count_down_steps(
      array_fill(retry_run.run_id, array[cardinality(v_whole)]), v_whole, 0);
    perform pgflow._finish_fitting(v_ended.run_ids, v_ended.step_slugs);
  end if;
  perform pgflow._advance(array[retry_run.run_id]);
  perform pgflow._archive_dead_messages(array[retry_run.run_id]);
  return query select r.* from pgflow.runs r where r.run_id = retry_run.run_id;
end;
$$;
