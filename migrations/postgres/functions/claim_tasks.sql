-- Takes up to `qty` tasks from several queues in one round trip, without waiting.
create or replace function pgflow.claim_tasks(queue_names text[], qty int, worker_id uuid default null)
returns setof pgflow.step_task_record
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_queue text;
  v_left int := coalesce(claim_tasks.qty, 0);
  v_got int;
begin
  -- In random order, so that a full queue does not starve those named after it.
  for v_queue in select q from unnest(claim_tasks.queue_names) q order by random() loop
    exit when v_left <= 0;
    -- What could not be started now (its task was locked, or its worker is lost) is seen again in 5 s.
    return query select * from pgflow._claim_queue(v_queue, 5, v_left, claim_tasks.worker_id);
    get diagnostics v_got = row_count;
    v_left := v_left - v_got;
  end loop;
end;
$$;
