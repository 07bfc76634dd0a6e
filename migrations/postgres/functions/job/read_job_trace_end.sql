-- The last entries of what happened to a job, in order.
create or replace function pgflow.read_job_trace_end(id text, max_entries int default 1000)
returns table (trace_id bigint, at timestamptz, kind text, need text, worker text, token text, detail jsonb)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_after bigint := (
    select t.trace_id from pgflow.job_trace t where t.job = read_job_trace_end.id
     order by t.trace_id desc offset read_job_trace_end.max_entries limit 1);
begin
  -- Its submission, which is not among those that bear its name, may be one too many.
  return query
    select f.*
      from (select e.*
              from pgflow.read_job_trace(read_job_trace_end.id, coalesce(v_after, 0), read_job_trace_end.max_entries + 1) e
             order by e.trace_id desc limit read_job_trace_end.max_entries) f
     order by f.trace_id;
end;
$$;
