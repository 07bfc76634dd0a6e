-- Refuses a batch of results whose arrays do not belong together, or with an output past the limits.
create or replace function pgflow._check_results(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  outputs jsonb[],
  attempts int[]
) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pgflow._check_batch(run_ids, step_slugs, task_indexes, cardinality(outputs), attempts);
  -- Only what could be past a limit, as _check_payload says.
  perform pgflow._check_payload(o.output, format('the output of task %s of step %s', o.task_index, o.step_slug))
    from pgflow.limits l
    cross join lateral unnest(outputs, step_slugs, task_indexes) o(output, step_slug, task_index)
   where pg_column_size(o.output) >= least(800, l.max_payload_bytes / 9217) or pg_column_compression(o.output) is not null;
end;
$$;
