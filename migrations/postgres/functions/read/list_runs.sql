-- Runs without their payloads, the newest first. `flow_slugs` are names: all versions of each. To go on
-- after a page, give started_at and run_id of its last row as started_before and before_run.
--
-- Reads, per flow, the index on its runs' start backwards (the settings leave the planner no other way): a page
-- costs the same however many runs there are. Statuses that few runs have are read from what only such runs have: an
-- index of those that failed or were cancelled, messages of those that go on.
create or replace function pgflow.list_runs(
  flow_slugs text[] default null,
  statuses text[] default null,
  started_before timestamptz default null,
  before_run uuid default null,
  qty int default 50,
  started_since timestamptz default null
) returns table (
  run_id uuid, flow_slug text, status text, started_at timestamptz, ended_at timestamptz, remaining_steps int
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  v_qty int := least(greatest(coalesce(list_runs.qty, 50), 0), 1000);
  v_since timestamptz := coalesce(list_runs.started_since, '-infinity');
  v_before timestamptz := coalesce(list_runs.started_before, 'infinity');
begin
  if list_runs.statuses is not null and not 'completed' = any (list_runs.statuses) then
    return query
      select r.run_id, r.flow_slug, r.status, r.started_at, r.ended_at, r.remaining_steps
        from pgflow.flows f
        cross join lateral (
          (select r.run_id, r.flow_slug, r.status, r.started_at, r.failed_at as ended_at, r.remaining_steps
             from pgflow.runs r
            where 'failed' = any (list_runs.statuses) and r.failed_at is not null
              and r.flow_slug = f.flow_slug and r.started_at <= v_before and r.started_at >= v_since
              and (list_runs.started_before is null or r.started_at < v_before or r.run_id < list_runs.before_run)
            order by r.started_at desc, r.run_id desc limit v_qty)
          union all
          (select r.run_id, r.flow_slug, r.status, r.started_at, r.cancelled_at as ended_at, r.remaining_steps
             from pgflow.runs r
            where 'cancelled' = any (list_runs.statuses) and r.cancelled_at is not null
              and r.flow_slug = f.flow_slug and r.started_at <= v_before and r.started_at >= v_since
              and (list_runs.started_before is null or r.started_at < v_before or r.run_id < list_runs.before_run)
            order by r.started_at desc, r.run_id desc limit v_qty)
          union all
          (select r.run_id, r.flow_slug, r.status, r.started_at, null::timestamptz as ended_at, r.remaining_steps
             from pgflow._open_runs(f.flow_slug, v_since, v_before, list_runs.before_run, v_qty) o(run_id)
             join pgflow.runs r on r.run_id = o.run_id
            where 'started' = any (list_runs.statuses) and r.status = 'started'
              and r.started_at <= v_before and r.started_at >= v_since
              and (list_runs.started_before is null or r.started_at < v_before or r.run_id < list_runs.before_run)
            order by r.started_at desc, r.run_id desc limit v_qty)
        ) r
       where list_runs.flow_slugs is null or f.flow_slug = any (list_runs.flow_slugs)
          or exists (
            select from pgflow.flow_versions v
             where v.flow_slug = f.flow_slug and v.flow_name = any (list_runs.flow_slugs))
       order by r.started_at desc, r.run_id desc limit v_qty;
    return;
  end if;
  return query
    select r.run_id, r.flow_slug, r.status, r.started_at, r.ended_at, r.remaining_steps
      from pgflow.flows f
      cross join lateral (
        select r.run_id, r.flow_slug, r.status, r.started_at, r.remaining_steps,
               coalesce(r.completed_at, r.failed_at, r.cancelled_at) as ended_at
          from pgflow.runs r
         where r.flow_slug = f.flow_slug and r.started_at <= v_before and r.started_at >= v_since
           and (list_runs.started_before is null or r.started_at < v_before or r.run_id < list_runs.before_run)
           and (list_runs.statuses is null or r.status = any (list_runs.statuses))
         order by r.started_at desc, r.run_id desc limit v_qty
      ) r
     where list_runs.flow_slugs is null or f.flow_slug = any (list_runs.flow_slugs)
        or exists (
          select from pgflow.flow_versions v
           where v.flow_slug = f.flow_slug and v.flow_name = any (list_runs.flow_slugs))
     order by r.started_at desc, r.run_id desc limit v_qty;
end;
$$;
