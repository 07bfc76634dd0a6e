-- Deletes up to `max_jobs` jobs that were archived before `retention` ago, with their traces, and returns how many: a short
-- transaction, to be called until it returns less. From then on their ids may be used again. Waits for nobody.
create or replace function pgflow.prune_jobs(retention interval, max_jobs int default 1000) returns bigint
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
  v_ids text[];
  v_places bigint[];
begin
  perform pgflow._check_retention(prune_jobs.retention);
  if coalesce(prune_jobs.max_jobs, 0) < 1 then
    raise exception 'At least one job must be asked for, not %', coalesce(prune_jobs.max_jobs::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  with old as materialized (
    select a.id from pgflow.job_archive a
     where a.archived_at < now() - prune_jobs.retention
       -- What it put out is still to be read by a wait.
       and not exists (select from pgflow.awaited w where w.child = a.id and w.kind = 'job' and w.abandoned is null)
     order by a.archived_at limit prune_jobs.max_jobs for update skip locked
  ), gone as (
    delete from pgflow.job_archive a using old o where a.id = o.id
    returning a.id, a.seq
  )
  select array_agg(g.id), array_agg(g.seq) into v_ids, v_places from gone g;
  perform pgflow._forget_jobs(v_ids, v_places);
  -- Entries about sweeps are of no job that could be pruned.
  delete from pgflow.job_trace t
   where t.ctid = any (array(
     select s.ctid from pgflow.job_trace s
      where s.job = 'pgwf.archive_cancelled_jobs' and s.kind = 'swept' and s.at < now() - prune_jobs.retention
      limit prune_jobs.max_jobs for update skip locked));
  return coalesce(cardinality(v_ids), 0);
end;
$$;
