-- After attempts at messages were settled: those leases hold nothing any more, nothing is kept of what is over, and a message that failed
-- keeps its key waiting until a moment (microseconds since 1970). Returns of which resources something was held.
create or replace function pgflow.end_messages(tokens text[], jobs text[], deferred text[] default null, until bigint[] default null)
returns text[]
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
  v_tokens uuid[] := array(select pgflow._token(t) from unnest(tokens) t);
  v_freed text[];
begin
  -- In one order: others may end, or forget, some of the same.
  perform from pgflow.permit_holds h where h.token = any (v_tokens) order by h.token, h.resource for update;
  perform from pgflow.job_messages m where m.job = any (end_messages.jobs) order by m.job for update;
  with gone as (
    delete from pgflow.permit_holds h where h.token = any (v_tokens) returning h.resource
  )
  select array_agg(distinct g.resource) into v_freed from gone g;
  delete from pgflow.job_messages m where m.job = any (end_messages.jobs);
  insert into pgflow.job_messages (job, not_before)
  select distinct on (i.job) i.job, 'epoch'::timestamptz + i.until * interval '1 microsecond'
    from unnest(deferred, end_messages.until) i(job, until)
    join pgflow.jobs j on j.id = i.job order by i.job
  on conflict (job) do update set not_before = excluded.not_before;
  return coalesce(v_freed, '{}');
end;
$$;
