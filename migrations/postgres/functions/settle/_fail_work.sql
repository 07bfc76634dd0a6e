-- Fails the rows of tasks that the caller has locked; `exhausted` are the runs, locked too, in
-- which an attempt was the last one. Returns the positions of the items that took effect.
create or replace function pgflow._fail_work(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  error_messages text[],
  attempts int[],
  fatal boolean[],
  exhausted uuid[]
) returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  -- A failure must always fit.
  v_errors text[] := array(select left(e, pgflow._max_error_length()) from unnest(error_messages) with ordinality m(e, n) order by n);
  v_item record;
  v_applied int[];
begin
  -- Where an attempt was the last one, a step or run ends and changes what the items after it meet.
  for v_item in
    select * from unnest(run_ids, step_slugs, task_indexes, v_errors, attempts, fatal)
      with ordinality i(run_id, step_slug, task_index, error_message, attempt, is_fatal, n)
     where i.run_id = any (exhausted)
     order by i.run_id, i.step_slug, i.task_index, i.n
  loop
    if pgflow._fail_task_row(v_item.run_id, v_item.step_slug, v_item.task_index, v_item.error_message,
                             v_item.attempt, coalesce(v_item.is_fatal, false)) then
      v_applied := v_applied || v_item.n::int;
    end if;
  end loop;
  return v_applied || pgflow._retry_task_rows(
    run_ids, step_slugs, task_indexes, v_errors, attempts, fatal, coalesce(exhausted, '{}'));
end;
$$;
