-- How far each step of a run is, in step order, without inputs and outputs: what a progress bar needs.
-- `attempts` are those of all tasks of the step together; null for maps of more than 1,000 tasks, where
-- counting would cost more than the answer is worth.
create or replace function pgflow.get_run_progress(run_id uuid)
returns table (
  step_slug text, step_type text, status text, initial_tasks int, remaining_tasks int, attempts bigint,
  error_message text, skip_reason text, started_at timestamptz, ended_at timestamptz
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
begin
  return query
    select s.step_slug, d.step_type, s.status, s.initial_tasks, s.remaining_tasks,
           case when coalesce(s.initial_tasks, 0) <= 1000 then coalesce((
             select sum(t.attempts_count) from pgflow.step_tasks t
              where t.run_id = s.run_id and t.step_slug = s.step_slug), 0) end,
           s.error_message, s.skip_reason, s.started_at, coalesce(s.completed_at, s.failed_at, s.skipped_at)
      from pgflow.step_states s
      join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
     where s.run_id = get_run_progress.run_id
     order by d.step_index;
end;
$$;
