-- Takes back tasks whose worker is gone: started longer ago than their timeout plus `grace`
-- seconds, without a heartbeat that still counts. Returns how many were put back into the queue.
-- A task that was taken back three times ends its step as if its attempts were used up.
-- Any process may call this at any time; nobody has to.
create or replace function pgflow.requeue_stalled_tasks(grace int default 30) returns int
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
  v_total int := 0;
begin
  for v_queue in select f.flow_slug from pgflow.flows f order by f.flow_slug loop
    v_total := v_total + pgflow._requeue_stalled(v_queue, requeue_stalled_tasks.grace);
    perform pgflow._end_stalled(v_queue, requeue_stalled_tasks.grace);
  end loop;
  return v_total;
end;
$$;
