-- Takes up to `qty` tasks from several queues in one round trip, without waiting. Of a step that is
-- named with a quota (flow, step and quota at the same position) no more than that is taken; other
-- steps fill up the rest. What all queues give together is bounded in bytes, as what one of them gives.
create or replace function pgflow.claim_tasks(
  queue_names text[],
  qty int,
  worker_id uuid default null,
  limited_flows text[] default null,
  limited_steps text[] default null,
  limited_quotas int[] default null
) returns setof pgflow.step_task_record
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_queue record;
  v_left int := coalesce(claim_tasks.qty, 0);
  v_got record;
  v_taken bigint := 0;
  v_queues int;
  v_is_many boolean := cardinality(queue_names) > pgflow._queues_at_once();
begin
  perform pgflow._check_quotas(limited_flows, limited_steps, limited_quotas);
  loop
    v_queues := pgflow._queues_at_once();
    -- In random order, so that a full queue does not starve those named after it.
    for v_queue in
      select q.name, l.steps, l.quotas
        from (select distinct n as name from unnest(claim_tasks.queue_names) n) q
        left join lateral (
          select array_agg(l.step) as steps, array_agg(l.quota) as quotas
            from unnest(limited_flows, limited_steps, limited_quotas) l(flow, step, quota)
           where l.flow = q.name and l.quota is not null
        ) l on limited_flows is not null
       order by random()
    loop
      exit when v_left <= 0 or v_queues = 0 or v_taken >= pgflow._claim_bytes();
      continue when v_is_many and not pgflow._peek_queue(v_queue.name, 'visible');
      continue when not pgflow._use_queue(v_queue.name);
      -- What could not be started now (its task was locked, or its worker is lost) is seen again in 5 s.
      if cardinality(queue_names) = 1 then
        select * into v_got from pgflow._claim_queue(
          v_queue.name, 5, v_left, claim_tasks.worker_id, v_queue.steps, v_queue.quotas, v_taken);
      else
        select * into v_got from pgflow._claim_among(
          v_queue.name, v_left, claim_tasks.worker_id, v_queue.steps, v_queue.quotas, v_taken);
      end if;
      return query select t.* from unnest(v_got.tasks) t;
      v_left := case when v_got.is_full then 0 else v_left - coalesce(cardinality(v_got.tasks), 0) end;
      if v_left > 0 then
        v_taken := v_taken + coalesce(v_got.bytes, (select sum(octet_length(t.input::text)) from unnest(v_got.tasks) t), 0);
      end if;
      v_queues := v_queues - 1;
    end loop;
    -- Where there is room left, what waits for a moment that has come is work too. Who has quotas asks again.
    exit when v_left <= 0 or not pgflow._wake_due(queue_names) or limited_flows is not null;
  end loop;
end;
$$;
