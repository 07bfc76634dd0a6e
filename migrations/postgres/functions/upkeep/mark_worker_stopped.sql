-- Says that a worker is gone, so that it can be replaced at once.
create or replace function pgflow.mark_worker_stopped(worker_id uuid) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update pgflow.workers w set stopped_at = clock_timestamp()
   where w.worker_id = mark_worker_stopped.worker_id
$$;
