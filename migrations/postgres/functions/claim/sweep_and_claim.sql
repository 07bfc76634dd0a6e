-- An idle worker's round trip: takes back tasks of workers that are gone, as requeue_stalled_tasks does,
-- then claims, as claim_tasks does, in one transaction. Also notes that the worker is there.
-- The first row says how many tasks were taken back, and nothing else; each of the others is a claimed task or, without a step, a
-- run that ended because its task was lost too often.
--
-- It cannot deadlock, for the reason why settle_and_claim cannot: the claim comes last and waits for nobody.
create or replace function pgflow.sweep_and_claim(
  grace int,
  queue_names text[],
  qty int,
  worker_id uuid default null,
  limited_flows text[] default null,
  limited_steps text[] default null,
  limited_quotas int[] default null
) returns table (
  requeued int, flow_slug text, run_id uuid, step_slug text, task_index int, attempt int, input jsonb, msg_id bigint,
  timeout int
)
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
  v_swept record;
begin
  update pgflow.workers w set last_heartbeat_at = clock_timestamp() where w.worker_id = sweep_and_claim.worker_id;
  select * into v_swept from pgflow._sweep(sweep_and_claim.grace);
  return query
    select v_swept.requeued, null::text, null::uuid, null::text, null::int, null::int, null::jsonb, null::bigint, null::int
    union all
    select null::int, e.flow_slug, e.run_id, null::text, null::int, null::int, to_jsonb(e.error), null::bigint, null::int
      from pgflow.ended_runs(v_swept.ended) e where e.status = 'failed';
  return query
    select null::int, c.flow_slug, c.run_id, c.step_slug, c.task_index, c.attempt, c.input, c.msg_id, c.timeout
      from pgflow.claim_tasks(queue_names, qty, sweep_and_claim.worker_id, limited_flows, limited_steps, limited_quotas) c;
end;
$$;
