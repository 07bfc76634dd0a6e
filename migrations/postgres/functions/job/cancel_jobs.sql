-- Cancels jobs: those that nobody works on end at once, the others when their lease does, unless they are finished first.
-- Per item: cancelled (now), asked (somebody works on it), ended (it was over, as `ended_as` says) or unknown.
create or replace function pgflow.cancel_jobs(ids text[], reason text default null, worker text default null)
returns table (id text, outcome text, ended_as text)
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
  v_over text[];
begin
  perform pgflow._check_job_batch(cancel_jobs.ids, null);
  perform pgflow._lock_jobs(cancel_jobs.ids);
  perform pgflow._count_lapses(cancel_jobs.ids, cancel_jobs.worker);
  perform pgflow._request_cancel(cancel_jobs.ids, coalesce(cancel_jobs.worker, 'client'), cancel_jobs.reason, true);
  v_over := array(
    select i.id from unnest(cancel_jobs.ids) with ordinality i(id, n)
     where (select j.state from pgflow.jobs j where j.id = i.id) = 'cancelled' group by i.id order by min(i.n));
  perform pgflow._end_jobs(v_over, array_fill('cancelled'::text, array[cardinality(v_over)]), null, null, cancel_jobs.worker);
  return query
    select i.id,
           case when i.id = any (v_over) and i.time = 1 then 'cancelled'
             when a.id is not null then 'ended'
             when (select true from pgflow.jobs j where j.id = i.id) then 'asked'
             else 'unknown' end,
           case when i.id <> all (v_over) or i.time > 1 then a.outcome end
      from (select i.*, row_number() over (partition by i.id order by i.n) as time
              from unnest(cancel_jobs.ids) with ordinality i(id, n)) i
      left join lateral (select a.id, a.outcome from pgflow.job_archive a where a.id = i.id offset 0) a on true
     order by i.n;
end;
$$;
