-- Locks what waits may change, as _lock_to_settle does, together with runs that jobs are to wait for, which are submitted with them:
-- later would be out of order. Notes that the runs are known to waits. Returns what _lock_tasks does.
create or replace function pgflow._lock_to_wait(
  run_ids uuid[], step_slugs text[], task_indexes int[], attempts int[], waits jsonb[]
) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_more uuid[] := array(
    select distinct (a ->> 'id')::uuid
      from unnest(waits) w,
           jsonb_array_elements(case when w ->> 'on' = 'jobs' then w -> 'children' else '[]' end) j,
           jsonb_array_elements(case when jsonb_typeof(j -> 'after') = 'array' then j -> 'after' else '[]' end) a
     where a ->> 'kind' = 'run' and a ->> 'id' ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$');
  v_attempts int[];
begin
  v_attempts := pgflow._lock_to_settle(
    run_ids || v_more, step_slugs || array_fill(null::text, array[cardinality(v_more)]),
    task_indexes || array_fill(0, array[cardinality(v_more)]), attempts || array_fill(0, array[cardinality(v_more)]));
  perform pgflow._mark_waiting(run_ids);
  return v_attempts[: cardinality(run_ids)];
end;
$$;
