-- Says that attempts failed, and why: after its delay (milliseconds) a job is in line again, at its old place. A job
-- that has no attempts left, or whose failure is fatal, ends as failed; one that was to be cancelled ends as that.
create or replace function pgflow.fail_jobs(
  ids text[],
  tokens text[],
  errors text[],
  delays bigint[] default null,
  fatal boolean[] default null,
  worker text default null
) returns table (id text, outcome text)
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
  perform pgflow._check_job_batch(fail_jobs.ids, array[coalesce(pgflow._length(errors), -1), pgflow._length(fatal)]);
  return query
    select s.id, s.outcome
      from pgflow.settle_jobs(
        fail_jobs.ids, tokens,
        array(select case when f.fatal then 'fatal' else 'failed' end
                from unnest(fail_jobs.ids, fail_jobs.fatal) with ordinality f(id, fatal, n) order by f.n),
        errors => fail_jobs.errors, delays => fail_jobs.delays, worker => fail_jobs.worker) s;
end;
$$;
