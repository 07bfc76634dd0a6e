-- Hands tasks back unused: queued again, visible after a delay each, and the attempt does not count
-- against the task's budget. Its number is never used again, though, so that a late result of the
-- attempt stays fenced. With a reason, the task says what it waits for, and resume_tasks finds it. One
-- outcome per item, as complete_tasks.
create or replace function pgflow.yield_tasks(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  attempts int[],
  delays int[] default null,
  reasons text[] default null
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
  perform pgflow._check_verdicts(cardinality(run_ids), delays, null);
  if cardinality(reasons) <> cardinality(run_ids) then
    raise exception 'Arrays must have one length: % run_ids, % reasons', cardinality(run_ids), cardinality(reasons)
      using errcode = 'array_subscript_error';
  end if;
  with item as (
    select distinct on (i.run_id, i.step_slug, i.task_index) i.*
      from unnest(run_ids, step_slugs, task_indexes, attempts, delays, reasons)
        with ordinality i(run_id, step_slug, task_index, attempt, delay, reason, n)
     order by i.run_id, i.step_slug, i.task_index, i.n
  ), released as (
    update pgflow.step_tasks t
       set status = 'queued', started_at = null, lease_until = null, refunded_count = t.refunded_count + 1,
           yielded_attempt = case when i.reason is null then t.yielded_attempt else t.attempts_count end,
           yield_reason = coalesce(left(i.reason, pgflow._max_error_length()), t.yield_reason)
      from item i
     where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index
       and t.status = 'started' and t.attempts_count = i.attempt
       and (select r.status from pgflow.runs r where r.run_id = i.run_id) = 'started'
       and (
         select s.status from pgflow.step_states s where s.run_id = i.run_id and s.step_slug = i.step_slug
       ) = 'started'
    returning i.n, t.flow_slug, t.message_id, coalesce(i.delay, 0) as delay
  )
  select array_agg(r.n::int) as items, array_agg(r.flow_slug) as flows, array_agg(r.message_id) as ids,
         array_agg(r.delay) as delays
    into v_released from released r;
  perform pgflow._move_messages(v_released.flows, v_released.ids, v_released.delays, null, null);
  return query select * from pgflow._outcomes(run_ids, step_slugs, task_indexes, attempts, v_released.items);
end;
$$;
