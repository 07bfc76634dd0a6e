-- Locks what failing these tasks may change, in the order of complete_tasks: map steps, the runs of
-- tasks that have no attempt left, the running tasks. Returns these runs, and what _lock_tasks does.
create or replace function pgflow._lock_steps_to_fail(
  p_run_ids uuid[],
  p_step_slugs text[],
  p_task_indexes int[],
  p_attempts int[],
  p_fatal boolean[],
  out exhausted uuid[],
  out attempts int[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform from (
      select distinct k.run_id, k.step_slug from unnest(p_run_ids, p_step_slugs) k(run_id, step_slug) order by 1, 2
    ) k
    cross join lateral (
      select from pgflow.step_states s join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
       where s.run_id = k.run_id and s.step_slug = k.step_slug and s.status <> 'created' and d.step_type = 'map'
         for no key update of s
    ) s;

  exhausted := pgflow._exhausted_runs(p_run_ids, p_step_slugs, p_task_indexes, p_attempts, p_fatal);
  perform from pgflow.runs r where r.run_id = any (exhausted) order by r.run_id for no key update;

  attempts := pgflow._lock_tasks(p_run_ids, p_step_slugs, p_task_indexes, p_attempts);
end;
$$;
