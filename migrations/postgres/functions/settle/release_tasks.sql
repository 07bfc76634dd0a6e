-- Hands tasks back unused, as a worker does that stops: visible at once, and without a reason.
create or replace function pgflow.release_tasks(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  attempts int[]
) returns table (run_id uuid, step_slug text, task_index int, outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select * from pgflow.yield_tasks(run_ids, step_slugs, task_indexes, attempts);
end;
$$;
