-- The runs in which one of these failures is the last: no attempt is left, or none would help.
create or replace function pgflow._exhausted_runs(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  attempts int[],
  fatal boolean[]
) returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return (
    select array_agg(distinct t.run_id)
      from unnest(run_ids, step_slugs, task_indexes, attempts, fatal)
        i(run_id, step_slug, task_index, attempt, is_fatal)
      cross join lateral (
        select * from pgflow.step_tasks t
         where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index offset 0
      ) t
      join pgflow.steps d on d.flow_slug = t.flow_slug and d.step_slug = t.step_slug
      join pgflow.flows f on f.flow_slug = t.flow_slug
     where t.status = 'started' and (i.attempt is null or i.attempt = t.attempts_count)
       and (i.is_fatal
            or t.attempts_count - t.refunded_count >= coalesce(d.opt_max_attempts, f.opt_max_attempts))
  );
end;
$$;
