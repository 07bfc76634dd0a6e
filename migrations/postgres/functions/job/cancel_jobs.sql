-- Cancels jobs: those that nobody works on end at once, the others when their lease does, unless they are finished first.
-- Per item: applied, already_settled (it is over, or was asked for before) or unknown.
create or replace function pgflow.cancel_jobs(ids text[], reason text default null, worker text default null)
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
declare
  v_asked text[];
begin
  perform pgflow._check_job_batch(cancel_jobs.ids, null);
  perform pgflow._lock_jobs(cancel_jobs.ids);
  v_asked := pgflow._request_cancel(cancel_jobs.ids, coalesce(cancel_jobs.worker, 'client'), cancel_jobs.reason);
  perform pgflow._end_jobs(array_agg(j.id), array_agg('cancelled'::text), null, null, cancel_jobs.worker)
     from pgflow.jobs j where j.id = any (v_asked) and j.state = 'cancelled';
  return query
    select i.id, case
        when i.id = any (v_asked) then 'applied'
        when exists (select from pgflow.jobs j where j.id = i.id) or exists (select from pgflow.job_archive a where a.id = i.id)
          then 'already_settled'
        else 'unknown' end
      from unnest(cancel_jobs.ids) with ordinality i(id, n) order by i.n;
end;
$$;
