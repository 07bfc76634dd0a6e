-- Hands leases back unused: the jobs are in line again, at their old place, and nothing is counted. One that was to be
-- cancelled ends as that. Per item: applied, cancelled, already_settled, fenced or unknown.
create or replace function pgflow.release_jobs(ids text[], tokens text[], worker text default null)
returns table (id text, outcome text)
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
  perform pgflow._check_job_batch(release_jobs.ids, null);
  return query
    select s.id, s.outcome
      from pgflow.settle_jobs(
        release_jobs.ids, tokens, array_fill('released'::text, array[cardinality(release_jobs.ids)]), worker => release_jobs.worker) s;
end;
$$;
