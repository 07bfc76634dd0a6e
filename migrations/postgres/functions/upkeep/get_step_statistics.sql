-- How the steps of a version did in its newest runs that began in a window: how they ended, and how long those took
-- that were completed, in seconds. A thousand runs at most, so that it costs the same however many there are.
create or replace function pgflow.get_step_statistics(flow_slug text, within interval, max_runs int default 1000)
returns table (
  step_slug text, completed bigint, failed bigint, skipped bigint, p50 float8, p95 float8
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
  v_since timestamptz := clock_timestamp() - get_step_statistics.within;
begin
  return query
    with newest as materialized (
      select r.run_id from pgflow.runs r
       where r.flow_slug = get_step_statistics.flow_slug
         and r.started_at >= v_since
       order by r.started_at desc limit least(greatest(get_step_statistics.max_runs, 0), 1000)
    ), ended as materialized (
      select s.step_slug,
             count(*) filter (where s.status = 'completed') as completed,
             count(*) filter (where s.status = 'failed') as failed,
             count(*) filter (where s.status = 'skipped') as skipped,
             percentile_disc(array[0.5, 0.95]) within group (
               order by extract(epoch from s.completed_at - s.started_at)::float8) as took
        from newest n cross join lateral (
          select * from pgflow.step_states s where s.run_id = n.run_id) s
       group by s.step_slug
    )
    select d.step_slug, coalesce(e.completed, 0), coalesce(e.failed, 0), coalesce(e.skipped, 0), e.took[1], e.took[2]
      from pgflow.steps d left join ended e on e.step_slug = d.step_slug
     where d.flow_slug = get_step_statistics.flow_slug
     order by d.step_index;
end;
$$;
