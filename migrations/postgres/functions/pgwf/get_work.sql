-- Leases jobs that need what the worker can do, the oldest first. If there are none and notifications are on, the session
-- listens for them from its commit on.
create or replace function pgwf.get_work(
  p_worker_id text,
  p_worker_caps text[],
  p_lease_seconds integer default 60,
  p_limit_jobs integer default 1
) returns table (
  job_id text, lease_id text, next_need text, singleton_key text, wait_for text[], payload jsonb, available_at timestamptz,
  lease_expires_at timestamptz
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
declare
  v_cap text;
begin
  if coalesce(cardinality(p_worker_caps), 0) = 0 then
    raise exception 'worker_caps cannot be empty';
  end if;
  if coalesce(p_lease_seconds, 0) <= 0 then
    raise exception 'lease_seconds must be positive';
  end if;
  if coalesce(p_limit_jobs, 0) <= 0 then
    raise exception 'limit_jobs must be positive';
  end if;
  perform pgwf._refuse_null(p_worker_id, 'worker_id', 'jobs_trace');
  return query
    select j.id, j.token::text, j.need, j.key, '{}'::text[], j.payload, coalesce(j.wake_at, j.created_at), j.lease_until
      from pgflow._claim_jobs(p_worker_id, p_worker_caps, p_lease_seconds, p_limit_jobs, jsonb_build_object(
        'caps', p_worker_caps, 'seconds', p_lease_seconds, 'limit', p_limit_jobs)) j;
  if not found and (select s.notify from pgflow.job_settings s) then
    foreach v_cap in array p_worker_caps loop
      exit when v_cap is null;
      execute format('listen %I', left('pgwf.need.' || v_cap, 63));
    end loop;
  end if;
end;
$$;
