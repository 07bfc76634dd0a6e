-- What happened to a job, in order, after the entry `after`.
create or replace function pgflow.read_job_trace(id text, after bigint default 0, max_entries int default 1000)
returns table (trace_id bigint, at timestamptz, kind text, need text, worker text, token text, detail jsonb)
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
  return query
    select t.trace_id, t.at, t.kind, t.need, t.worker, t.token::text, t.detail
      from (
        select t.* from pgflow.job_trace t where t.job = read_job_trace.id
        union all
        -- Its submission has the number of its place.
        select t.trace_id, j.created_at, t.token, coalesce(t.kind, 'submitted'), read_job_trace.id, t.need, t.worker, t.detail
          from (
            select j.seq, j.created_at from pgflow.jobs j where j.id = read_job_trace.id
            union all
            select a.seq, a.created_at from pgflow.job_archive a where a.id = read_job_trace.id
          ) j
          join pgflow.job_trace t on t.trace_id = j.seq
      ) t
     where t.trace_id > read_job_trace.after
     order by t.trace_id limit read_job_trace.max_entries;
end;
$$;
