-- Refuses a batch whose arrays do not belong together.
create or replace function pgflow._check_batch(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  results int,
  attempts int[]
) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if (pgflow._length(run_ids), cardinality(run_ids), cardinality(run_ids), cardinality(run_ids))
     is distinct from (pgflow._length(step_slugs), pgflow._length(task_indexes), results, pgflow._length(attempts)) then
    raise exception 'Arrays must have one length: % run_ids, % step_slugs, % task_indexes, % results, % attempts',
      cardinality(run_ids), cardinality(step_slugs), cardinality(task_indexes), results, cardinality(attempts)
      using errcode = 'array_subscript_error';
  end if;
end;
$$;
