-- What nobody else may come to do: takes back jobs whose lease ran out, also of needs that nobody polls; puts sleepers
-- whose moment has come in line; ends jobs that expired, crashed in their last attempt, or were cancelled while
-- somebody had them; looks again at keys; reports rings. Of each no more than `max_jobs`: call it again while it returns that many.
create or replace function pgflow.sweep_jobs(worker text default null, max_jobs int default 1000)
returns table (lapsed int, woken int, ended int, in_concern int)
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
  v_now timestamptz := clock_timestamp();
begin
  if coalesce(sweep_jobs.max_jobs, 0) < 1 then
    raise exception 'At least one job must be asked for, not %', coalesce(sweep_jobs.max_jobs::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  -- First what may wait for others; all the rest passes over what somebody holds.
  perform pgflow._wake_again(sweep_jobs.max_jobs, coalesce(sweep_jobs.worker, 'sweep'));
  ended := cardinality(pgflow._end_due(
    v_now, sweep_jobs.max_jobs, coalesce(sweep_jobs.worker, 'sweep'), array['expired', 'crashed', 'cancelled']));
  lapsed := pgflow._return_lapsed(v_now, sweep_jobs.max_jobs, coalesce(sweep_jobs.worker, 'sweep'));
  woken := pgflow._wake_sleepers(v_now, sweep_jobs.max_jobs);
  perform pgflow._look_again(sweep_jobs.max_jobs);
  perform pgflow._report_rings(coalesce(sweep_jobs.worker, 'sweep'));
  in_concern := (select count(*) from (select from pgflow.jobs j where j.state = 'concern' limit 10000) c);
  return next;
end;
$$;
