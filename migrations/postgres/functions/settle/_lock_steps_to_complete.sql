-- Locks what completing these tasks may change: map steps, whose tasks share a counter, then the
-- runs of steps that may end. A single step always ends, and its run's lock covers it. Map steps that
-- are over are locked too: a retry of the run may be about to open them again.
-- Returns whether a step must put out an array because a map step waits for it.
create or replace function pgflow._lock_steps_to_complete(p_run_ids uuid[], p_step_slugs text[]) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_runs uuid[];
  v_feeds_map boolean;
begin
  with wanted as materialized (
    select k.run_id, k.step_slug, k.items, d.step_type = 'map' as is_map, d.feeds_map
      from (
        select k.run_id, k.step_slug, count(*) as items
          from unnest(p_run_ids, p_step_slugs) k(run_id, step_slug) group by 1, 2
      ) k
      cross join lateral (select r.flow_slug from pgflow.runs r where r.run_id = k.run_id offset 0) r
      join pgflow.steps d on d.flow_slug = r.flow_slug and d.step_slug = k.step_slug
     order by k.run_id, k.step_slug
  ), locked as materialized (
    select s.run_id, s.remaining_tasks <= w.items as may_end
      from wanted w
      cross join lateral (
        select s.run_id, s.remaining_tasks from pgflow.step_states s
         where s.run_id = w.run_id and s.step_slug = w.step_slug and s.status <> 'created'
           for no key update
      ) s
     where w.is_map
  )
  select
    array(
      select w.run_id from wanted w where not w.is_map
      union
      select l.run_id from locked l where l.may_end
    ),
    coalesce((select bool_or(w.feeds_map) from wanted w), false)
  into v_runs, v_feeds_map;

  perform from pgflow.runs r
    where r.run_id = any (v_runs) order by r.run_id for no key update;
  return v_feeds_map;
end;
$$;
