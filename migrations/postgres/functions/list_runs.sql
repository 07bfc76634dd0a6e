-- Runs without their payloads, the newest first. `flow_slugs` are names: all versions of each. To go on
-- after a page, give started_at and run_id of its last row as started_before and before_run.
--
-- Reads, per flow, the index on its runs' start backwards (the settings leave the planner no other way):
-- a page costs the same however many runs there are. A filter on statuses reads on until it has
-- found enough.
create or replace function pgflow.list_runs(
  flow_slugs text[] default null,
  statuses text[] default null,
  started_before timestamptz default null,
  before_run uuid default null,
  qty int default 50
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
begin
  return query
    select r.run_id, r.flow_slug, r.status, r.started_at, r.ended_at, r.remaining_steps
      from pgflow.flows f
      cross join lateral (
        select r.run_id, r.flow_slug, r.status, r.started_at, r.remaining_steps,
               coalesce(r.completed_at, r.failed_at, r.cancelled_at) as ended_at
          from pgflow.runs r
         where r.flow_slug = f.flow_slug and r.started_at <= coalesce(list_runs.started_before, 'infinity')
           and (list_runs.started_before is null or r.started_at < list_runs.started_before
                or r.run_id < list_runs.before_run)
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
