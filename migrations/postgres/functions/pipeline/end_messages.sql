-- After attempts at messages were settled: those leases hold nothing any more, nothing is kept of what is over, and a message that failed
-- keeps its key waiting until a moment (microseconds since 1970). Returns how many holds there were.
create or replace function pgflow.end_messages(tokens text[], jobs text[], deferred text[] default null, until bigint[] default null)
returns bigint
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
  v_dropped bigint;
begin
  delete from pgflow.permit_holds h using unnest(tokens) i(token) where h.token = pgflow._token(i.token);
  get diagnostics v_dropped = row_count;
  delete from pgflow.job_messages m where m.job = any (end_messages.jobs);
  insert into pgflow.job_messages (job, not_before)
  select distinct on (i.job) i.job, 'epoch'::timestamptz + i.until * interval '1 microsecond'
    from unnest(deferred, end_messages.until) i(job, until)
    join pgflow.jobs j on j.id = i.job order by i.job
  on conflict (job) do update set not_before = excluded.not_before;
  return v_dropped;
end;
$$;
