-- Deletes workers not heard of since a point in time. None goes as long as somebody holds one of the
-- tasks that name them, and none that is just being heard of.
create or replace function pgflow._prune_workers(cutoff timestamptz) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1ms'
as $$
declare
  v_deleted bigint;
begin
  delete from pgflow.workers w
   where w.worker_id in (
     select o.worker_id from pgflow.workers o where o.last_heartbeat_at < _prune_workers.cutoff
       for update skip locked);
  get diagnostics v_deleted = row_count;
  return v_deleted;
exception when lock_not_available then
  return 0;
end;
$$;
