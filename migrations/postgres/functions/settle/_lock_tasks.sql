-- Locks those of these tasks that run, in the order that everybody keeps, and says per item which attempt
-- may be settled: the one that runs, if none is named or that very one, else 0, which no attempt is.
--
-- Without this, an item that names no attempt would also mean a task that is claimed while the locks are
-- waited for. That one is not locked, and its lock would come out of order. A queued task is left alone:
-- who claims it holds its message, which comes last.
create or replace function pgflow._lock_tasks(run_ids uuid[], step_slugs text[], task_indexes int[], attempts int[])
returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return (
    with locked as materialized (
      select i.n, t.attempts_count
        from (
          select * from unnest(run_ids, step_slugs, task_indexes, attempts)
            with ordinality i(run_id, step_slug, task_index, attempt, n)
           order by i.run_id, i.step_slug, i.task_index
        ) i
        -- One by one in that order, however few there were when this was planned.
        cross join lateral (
          select t.attempts_count from pgflow.step_tasks t
           where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index
             and t.status = 'started' and (i.attempt is null or i.attempt = t.attempts_count)
             for no key update
        ) t
    )
    select array_agg(coalesce(l.attempts_count, 0) order by i.n)
      from generate_series(1, cardinality(run_ids)) i(n)
      left join locked l on l.n = i.n
  );
end;
$$;
