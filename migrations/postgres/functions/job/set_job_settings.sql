-- Changes what all jobs of the database have in common: whether they are traced, whether pgwf's channels are notified, and
-- how many leases may run out in a row before a job is set aside. Null leaves a setting as it is. A new
-- threshold counts at once, also for jobs that are aside, or should be.
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
declare
  v_keys text[];
begin
  if set_job_settings.crash_threshold <= 0 then
    raise exception 'The threshold of % is not above 0', set_job_settings.crash_threshold
      using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_threshold');
  end if;
  update pgflow.job_settings s
     set trace = coalesce(set_job_settings.trace, s.trace), notify = coalesce(set_job_settings.notify, s.notify),
         crash_threshold = coalesce(set_job_settings.crash_threshold, s.crash_threshold);
  if set_job_settings.crash_threshold is not null then
    perform from pgflow.jobs j
      where j.state in ('ready', 'parked', 'concern') and (j.state = 'concern') <> (j.streak > set_job_settings.crash_threshold)
      order by j.id for no key update;
    with changed as (
      update pgflow.jobs j
         set state = case when j.streak > set_job_settings.crash_threshold then 'concern' when j.key is not null then 'parked' else 'ready' end,
             wake_at = greatest(j.wake_at, clock_timestamp())
       where j.state in ('ready', 'parked', 'concern') and (j.state = 'concern') <> (j.streak > set_job_settings.crash_threshold)
      returning j.key
    )
    select array_agg(c.key) filter (where c.key is not null) into v_keys from changed c;
    perform pgflow._line_up(v_keys, array_fill(0, array[coalesce(cardinality(v_keys), 0)]));
  end if;
end;
$$;
