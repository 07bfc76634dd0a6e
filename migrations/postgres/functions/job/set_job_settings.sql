-- Changes what all jobs of the database have in common: whether they are traced, whether pgwf's channels are notified, and
-- how many leases may run out in a row before a job is set aside. Null leaves a setting as it is. A new
-- threshold counts at once, also for jobs that are aside, or should be; for one that somebody has, when it comes back.
create or replace function pgflow.set_job_settings(
  trace boolean default null,
  notify boolean default null,
  crash_threshold int default null
) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
begin
  if set_job_settings.crash_threshold <= 0 then
    raise exception 'The threshold of % is not above 0', set_job_settings.crash_threshold
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_threshold');
  end if;
  update pgflow.job_settings s
     set traced_since = case when set_job_settings.trace and not s.trace then clock_timestamp() else s.traced_since end,
         trace = coalesce(set_job_settings.trace, s.trace), notify = coalesce(set_job_settings.notify, s.notify),
         crash_threshold = coalesce(set_job_settings.crash_threshold, s.crash_threshold);
  if set_job_settings.crash_threshold is not null then
    perform pgflow._judge_streaks(set_job_settings.crash_threshold);
  end if;
end;
$$;
