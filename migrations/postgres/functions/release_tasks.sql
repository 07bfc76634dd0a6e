-- Hands tasks back unused, as a worker does that stops: queued again, visible at once, and the
-- attempt does not count against the task's budget. Its number is never used again, though, so that
-- a late result of the released attempt stays fenced. One outcome per item, as complete_tasks.
create or replace function pgflow.release_tasks(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  attempts int[]
) returns table (run_id uuid, step_slug text, task_index int, outcome text)
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
  v_released record;
begin
  perform pgflow._check_batch(run_ids, step_slugs, task_indexes, cardinality(run_ids), attempts);
  with item as (
    select distinct on (i.run_id, i.step_slug, i.task_index) i.*
      from unnest(run_ids, step_slugs, task_indexes, attempts)
        with ordinality i(run_id, step_slug, task_index, attempt, n)
     order by i.run_id, i.step_slug, i.task_index, i.n
  ), released as (
    update pgflow.step_tasks t
       set status = 'queued', started_at = null, lease_until = null, refunded_count = t.refunded_count + 1
      from item i
     where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index
       and t.status = 'started' and t.attempts_count = i.attempt
       and (select r.status from pgflow.runs r where r.run_id = i.run_id) = 'started'
       and (
         select s.status from pgflow.step_states s where s.run_id = i.run_id and s.step_slug = i.step_slug
       ) = 'started'
    returning i.n, t.flow_slug, t.message_id
  )
  select array_agg(r.n::int) as items, array_agg(r.flow_slug) as flows, array_agg(r.message_id) as ids
    into v_released from released r;
  perform pgflow._move_messages(
    v_released.flows, v_released.ids, array_fill(0, array[coalesce(cardinality(v_released.ids), 0)]), null, null);
  return query select * from pgflow._outcomes(run_ids, step_slugs, task_indexes, attempts, v_released.items);
end;
$$;
