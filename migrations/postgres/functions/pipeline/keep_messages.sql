-- Keeps what claims have to know of messages besides their jobs, which the caller has just submitted or settled.
create or replace function pgflow.keep_messages(jobs text[], batch_keys text[], resources jsonb[]) returns void
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
  insert into pgflow.job_messages (job, batch_key, resources, need, priority, seq)
  select distinct on (i.job) i.job, i.batch_key, i.resources, j.need, j.priority, j.seq
    from unnest(keep_messages.jobs, batch_keys, keep_messages.resources) i(job, batch_key, resources)
    join pgflow.jobs j on j.id = i.job order by i.job
  on conflict (job) do update
    set batch_key = excluded.batch_key, resources = excluded.resources, not_before = null,
        need = excluded.need, priority = excluded.priority, seq = excluded.seq;
end;
$$;
