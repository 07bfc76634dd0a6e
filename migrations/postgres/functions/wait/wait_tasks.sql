-- Ends attempts by waiting: a settle, with an outcome per item, as complete_tasks gives them. Its task has no lease and no
-- message until what it waits for completes it, or fails the attempt. A wait is an object:
--   {"on": "hook", "token": "…", "schema": {…}}    a signal whose payload fits the schema, if there is one
--   {"on": "sleep", "for": 1000}                   microseconds, or a moment: {"on": "sleep", "at": microseconds since 1970}
--   {"on": "runs", "children": [{"flow": "…", "input": …, "versions": [1], "interface": "…"}]}
--   {"on": "jobs", "children": [{"need": "…", "payload": …, …}]}   as settle_job takes them
-- and, of all but sleeps, "timeout" in seconds; of children "each" (the output is an array of theirs, else there is one child),
-- "outcomes" (how they end is the output, also if that is not well), "schema" (what the output has to fit, or the attempt fails) and
-- "detached" (they go on if nobody waits any more).
--
-- Children are started in this transaction, or else the attempt fails. What has happened before counts: then the task is completed
-- at once. Locks are those of complete_tasks, with tokens before all of them and jobs before messages.
create or replace function pgflow.wait_tasks(run_ids uuid[], step_slugs text[], task_indexes int[], attempts int[], waits jsonb[])
returns table (run_id uuid, step_slug text, task_index int, outcome text)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  v_attempts int[];
  v_item record;
  v_error text;
  v_opened int[] := '{}';
  v_failed int[] := '{}';
  v_errors text[] := '{}';
  v_applied int[];
  v_over record;
begin
  perform pgflow._check_batch(run_ids, step_slugs, task_indexes, cardinality(waits), attempts);
  perform pgflow._check_waits(waits);
  perform pgflow._lock_tokens(array(select w ->> 'token' from unnest(waits) w where w ->> 'on' = 'hook'));
  v_attempts := pgflow._lock_to_wait(run_ids, step_slugs, task_indexes, attempts, waits);
  for v_item in
    select distinct on (i.run_id, i.step_slug, i.task_index) i.*
      from unnest(run_ids, step_slugs, task_indexes, v_attempts, waits) with ordinality i(run_id, step_slug, task_index, attempt, wait, n)
     where pgflow.holds_task(i.run_id, i.step_slug, i.task_index, i.attempt)
     order by i.run_id, i.step_slug, i.task_index, i.n
  loop
    v_error := pgflow._open_wait(v_item.run_id, v_item.step_slug, v_item.task_index, v_item.attempt, v_item.wait);
    if v_error is null then
      v_opened := v_opened || v_item.n::int;
    else
      v_failed := v_failed || v_item.n::int;
      v_errors := v_errors || v_error;
    end if;
  end loop;
  select array_agg(t.flow_slug) as flows, array_agg(t.message_id) as ids into v_over
    from unnest(v_opened) o(n)
    join pgflow.step_tasks t
      on t.run_id = run_ids[o.n] and t.step_slug = step_slugs[o.n] and t.task_index = task_indexes[o.n];
  perform pgflow._meet_at_once(run_ids[o.n], step_slugs[o.n], task_indexes[o.n]) from unnest(v_opened) o(n);
  v_applied := pgflow._fail_to_wait(
    array(select run_ids[n] from unnest(v_failed) n), array(select step_slugs[n] from unnest(v_failed) n),
    array(select task_indexes[n] from unnest(v_failed) n), array(select attempts[n] from unnest(v_failed) n), v_errors,
    array(select distinct run_ids[n] from unnest(v_opened) n), v_over.flows, v_over.ids);
  return query select * from pgflow._outcomes(
    run_ids, step_slugs, task_indexes, attempts, v_opened || array(select v_failed[a] from unnest(v_applied) a));
end;
$$;
