-- What nobody else may come to do: takes back jobs whose lease ran out, also of needs that nobody polls; puts sleepers
-- whose moment has come in line; ends jobs that expired, crashed in their last attempt, or were cancelled while
-- somebody had them; looks again at keys; reports rings, and jobs in concern. Of each no more than `max_jobs`: call it again while it returns that many. Returns
-- how many leases had run out, how many jobs are in concern because of that, how many crashed or were cancelled and how many
-- expired, and how many woke.
create or replace function pgflow.sweep_jobs(worker text default null, max_jobs int default 1000)
returns table (lapsed int, concerns int, ended int, expired int, woken int)
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
  v_worker text := coalesce(sweep_jobs.worker, 'sweep');
  v_ended record;
  v_back record;
begin
  if coalesce(sweep_jobs.max_jobs, 0) < 1 then
    raise exception 'At least one job must be asked for, not %', coalesce(sweep_jobs.max_jobs::text, 'null')
      using errcode = 'invalid_parameter_value';
  end if;
  -- First what may wait for others; all the rest passes over what somebody holds.
  perform pgflow._wake_again(sweep_jobs.max_jobs, v_worker);
  select * into v_ended from pgflow._end_due(v_now, sweep_jobs.max_jobs, v_worker, array['crashed', 'cancelled']);
  select * into v_back
    from pgflow._return_lapsed(v_now, pgflow._lapsed_jobs(v_now, pgflow._needs_in('leased'), sweep_jobs.max_jobs), v_worker);
  select cardinality(e.ids) into expired from pgflow._end_due(v_now, sweep_jobs.max_jobs, v_worker, array['expired']) e;
  woken := pgflow._wake_sleepers(v_now, pgflow._due_sleepers(v_now, pgflow._needs_in('sleeping'), sweep_jobs.max_jobs));
  perform pgflow._look_again(sweep_jobs.max_jobs);
  perform pgflow._report_rings(v_worker);
  perform pgflow._report_concerns();
  lapsed := v_ended.lapsed + v_back.lapsed;
  concerns := v_back.concerns;
  ended := cardinality(v_ended.ids);
  return next;
end;
$$;
