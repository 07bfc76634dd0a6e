-- Locks the steps that tasks belong to, then the runs of those that may end by it.
-- Returns these runs, and whether a step must put out an array because a map step waits for it.
create or replace function pgflow._lock_steps_to_complete(
  p_run_ids uuid[],
  p_step_slugs text[],
  out run_ids uuid[],
  out feeds_map boolean
)
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  with wanted as (
    select k.run_id, k.step_slug, count(*) as items
      from unnest(p_run_ids, p_step_slugs) k(run_id, step_slug)
     group by 1, 2 order by 1, 2
  ), locked as materialized (
    select s.run_id, s.step_slug, s.flow_slug, s.remaining_tasks <= w.items as may_end
      from wanted w
      join pgflow.step_states s on s.run_id = w.run_id and s.step_slug = w.step_slug
     where s.status = 'started'
     order by s.run_id, s.step_slug
       for no key update of s
  )
  select
    array_agg(distinct l.run_id) filter (where l.may_end),
    coalesce(bool_or(exists (
      select from pgflow.deps e
        join pgflow.steps m on m.flow_slug = e.flow_slug and m.step_slug = e.step_slug
       where e.flow_slug = l.flow_slug and e.dep_slug = l.step_slug and m.step_type = 'map'
    )), false)
  into _lock_steps_to_complete.run_ids, _lock_steps_to_complete.feeds_map
  from locked l;

  perform from pgflow.runs r
    where r.run_id = any (_lock_steps_to_complete.run_ids) order by r.run_id for no key update;
end;
$$;
