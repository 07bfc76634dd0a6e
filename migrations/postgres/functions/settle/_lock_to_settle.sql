-- Locks what a batch of both completions and failures may change, each kind of row in one sorted
-- round: map steps, runs, running tasks. Otherwise the second half would go back in the order. Returns
-- what _lock_tasks does.
create or replace function pgflow._lock_to_settle(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  attempts int[]
) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform from (
      select distinct k.run_id, k.step_slug from unnest(run_ids, step_slugs) k(run_id, step_slug) order by 1, 2
    ) k
    -- One by one in that order, however few there were when this was planned.
    cross join lateral (
      select from pgflow.step_states s join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
       where s.run_id = k.run_id and s.step_slug = k.step_slug and s.status <> 'created' and d.step_type = 'map'
         for no key update of s
    ) s;
  perform from pgflow.runs r where r.run_id = any (run_ids) order by r.run_id for no key update;
  return pgflow._lock_tasks(run_ids, step_slugs, task_indexes, attempts);
end;
$$;
