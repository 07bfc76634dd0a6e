-- Locks jobs that an operator may change without a lease, with all that their end may concern, and returns their ids: ready
-- ones, also if they have to wait for their key or have expired, and those in concern. A lease that ran out counts as none,
-- and is counted; the key stays its own until the caller has lined it up.
create or replace function pgflow._unheld_jobs(p_ids text[], p_worker text) returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  perform pgflow._lock_jobs(p_ids);
  perform pgflow._count_lapses(p_ids, p_worker);
  return array(
    select j.id from pgflow.jobs j
     where j.id = any (p_ids)
       and (j.state in ('ready', 'parked', 'concern') or (j.state = 'sleeping' and j.wake_at <= v_now)
            or (j.state = 'expired' and j.waits = 0 and coalesce(j.wake_at <= v_now, true))));
end;
$$;
