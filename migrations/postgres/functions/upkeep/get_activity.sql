-- What became of the newest runs that began in a window, by the minute of their start; one more row, without a minute,
-- has the first start that was looked at, and how long completed runs took, in seconds. `flow_slugs` are names: all
-- versions of each. 20,000 runs at most, so that it costs the same however many there are.
create or replace function pgflow.get_activity(
  flow_slugs text[],
  within interval,
  max_runs int default 20000
) returns table (
  minute timestamptz, started bigint, completed bigint, failed bigint, cancelled bigint,
  first_at timestamptz, p50 float8, p95 float8
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  -- Once: the index cannot be asked for what may change from row to row.
  v_since timestamptz := clock_timestamp() - get_activity.within;
  v_max int := least(greatest(get_activity.max_runs, 0), 20000);
begin
  return query
    with newest as materialized (
      select r.started_at, r.status, r.took
        from pgflow.flows f
        cross join lateral (
          select r.started_at, r.status, extract(epoch from r.completed_at - r.started_at)::float8 as took
            from pgflow.runs r
           where r.flow_slug = f.flow_slug and r.started_at >= v_since
           order by r.started_at desc limit v_max
        ) r
       where get_activity.flow_slugs is null or f.flow_slug = any (get_activity.flow_slugs)
          or exists (
            select from pgflow.flow_versions v
             where v.flow_slug = f.flow_slug and v.flow_name = any (get_activity.flow_slugs))
       order by r.started_at desc limit v_max
    )
    select date_trunc('minute', n.started_at), count(*),
           count(*) filter (where n.status = 'completed'), count(*) filter (where n.status = 'failed'),
           count(*) filter (where n.status = 'cancelled'), min(n.started_at),
           (percentile_disc(array[0.5, 0.95]) within group (order by n.took))[1],
           (percentile_disc(array[0.5, 0.95]) within group (order by n.took))[2]
      from newest n
     group by grouping sets ((date_trunc('minute', n.started_at)), ())
     order by 1 nulls first;
end;
$$;
