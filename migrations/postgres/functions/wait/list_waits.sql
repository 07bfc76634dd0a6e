-- Tasks that wait, the oldest first: of a run, of a token, or all. To go on after a page, give what its last row says as after_…. Of
-- children the first hundred are named. A token that was announced is a secret: who may not signal does not see it.
create or replace function pgflow.list_waits(
  of_run uuid default null,
  of_token text default null,
  after_since timestamptz default null,
  after_run uuid default null,
  after_step text default null,
  after_index int default null,
  qty int default 50
) returns table (
  run_id uuid, step_slug text, task_index int, attempt int, kind text, token text, children text[], since timestamptz, until timestamptz
)
language plpgsql stable security definer
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
  v_qty int := least(greatest(coalesce(qty, 50), 0), 1000);
  v_since timestamptz := coalesce(after_since, '-infinity');
  v_shows boolean := pgflow._may_signal();
begin
  return query
    with found as (
      -- Each by an index of its own, and only one of them is read.
      (select w.* from pgflow.waits w
        where of_run is null and of_token is null and w.since >= v_since
          and (after_since is null or (w.since, w.run_id, w.step_slug, w.task_index) > (after_since, after_run, after_step, after_index))
        order by w.since, w.run_id, w.step_slug, w.task_index limit v_qty)
      union all
      (select w.* from pgflow.waits w
        where w.run_id = of_run and (of_token is null or w.token = of_token) and w.since >= v_since
          and (after_since is null or (w.since, w.run_id, w.step_slug, w.task_index) > (after_since, after_run, after_step, after_index))
        order by w.since, w.step_slug, w.task_index limit v_qty)
      union all
      (select w.* from pgflow.waits w
        where of_run is null and w.token = of_token
          and (after_since is null or (w.since, w.run_id, w.step_slug, w.task_index) > (after_since, after_run, after_step, after_index))
        limit v_qty)
    )
    select w.run_id, w.step_slug, w.task_index, w.attempt, w.kind,
           case when v_shows or not starts_with(w.token, 'hk_') then w.token end,
           case when w.kind in ('runs', 'jobs') then array(
             select a.child from pgflow.awaited a
              where a.run_id = w.run_id and a.step_slug = w.step_slug and a.task_index = w.task_index and a.attempt = w.attempt
              order by a.place limit 100) end,
           w.since, w.until
      from found w
     order by w.since, w.run_id, w.step_slug, w.task_index;
end;
$$;
