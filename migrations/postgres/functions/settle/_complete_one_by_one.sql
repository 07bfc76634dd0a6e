-- Completes tasks in sorted order, each as if alone: for batches in which an output breaks its run,
-- so that what comes before and after it in the batch is treated accordingly. Returns what
-- _complete_work does.
create or replace function pgflow._complete_one_by_one(
  p_run_ids uuid[],
  p_step_slugs text[],
  p_task_indexes int[],
  p_outputs jsonb[],
  p_attempts int[],
  out items int[],
  out flow_slugs text[],
  out message_ids bigint[]
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_item record;
  v_done record;
begin
  for v_item in
    select * from unnest(p_run_ids, p_step_slugs, p_task_indexes, p_outputs, p_attempts)
      with ordinality i(run_id, step_slug, task_index, output, attempt, n)
     order by i.run_id, i.step_slug, i.task_index, i.n
  loop
    if exists (select from pgflow._type_violations(array[v_item.run_id], array[v_item.step_slug], array[v_item.output])) then
      select * into v_done from pgflow._fail_type_violation(
        v_item.run_id, v_item.step_slug, v_item.task_index, v_item.output, v_item.attempt);
    else
      select cardinality(c.items) > 0 as applied, c.flow_slugs, c.message_ids into v_done
        from pgflow._complete_work(
          array[v_item.run_id], array[v_item.step_slug], array[v_item.task_index],
          array[v_item.output], array[v_item.attempt], true) c;
    end if;
    if v_done.applied then
      items := items || v_item.n::int;
    end if;
    flow_slugs := flow_slugs || v_done.flow_slugs;
    message_ids := message_ids || v_done.message_ids;
  end loop;
end;
$$;
