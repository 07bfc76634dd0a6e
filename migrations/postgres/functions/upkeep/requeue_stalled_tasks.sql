-- Takes back tasks whose worker is gone: started longer ago than their timeout plus `grace`
-- seconds, without a heartbeat that still counts. Returns how many were put back into the queue.
-- A task that was taken back three times ends its step as if its attempts were used up.
--
-- Any process may call this at any time. It waits for nobody: what somebody else holds a lock on is
-- being worked on, and the next call sees what became of it. Where many flows have such tasks, a call takes back those
-- of some of them: see _stalled_flows.
create or replace function pgflow.requeue_stalled_tasks(grace int default 30) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  return (select s.requeued from pgflow._sweep(requeue_stalled_tasks.grace) s);
end;
$$;
