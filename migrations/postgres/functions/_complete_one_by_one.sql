-- Completes tasks in sorted order, each as if alone: for batches in which an output breaks its run,
-- so that what comes before and after it in the batch is treated accordingly.
create or replace function pgflow._complete_one_by_one(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  outputs jsonb[],
  attempts int[]
) returns table (run_id uuid, step_slug text, task_index int, outcome text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_outcomes text[] := array_fill(null::text, array[cardinality(run_ids)]);
  v_item record;
begin
  for v_item in
    select * from unnest(run_ids, step_slugs, task_indexes, outputs, attempts)
      with ordinality i(run_id, step_slug, task_index, output, attempt, n)
     order by i.run_id, i.step_slug, i.task_index, i.n
  loop
    if cardinality(run_ids) = 1
       or exists (select from pgflow._type_violations(array[v_item.run_id], array[v_item.step_slug], array[v_item.output])) then
      v_outcomes[v_item.n] := pgflow._fail_type_violation(
        v_item.run_id, v_item.step_slug, v_item.task_index, v_item.output, v_item.attempt);
    else
      v_outcomes[v_item.n] := (
        select c.outcome from pgflow.complete_tasks(
          array[v_item.run_id], array[v_item.step_slug], array[v_item.task_index],
          array[v_item.output], array[v_item.attempt]) c
      );
    end if;
  end loop;
  return query select * from unnest(run_ids, step_slugs, task_indexes, v_outcomes);
end;
$$;
