-- Notes that attempts at tasks hold units of resources, whose permits the caller has locked, and forgets holds of attempts that are
-- over. Who has no attempt holds nothing.
create or replace function pgflow.hold_for_tasks(
  resources text[], run_ids uuid[], step_slugs text[], task_indexes int[], attempts int[], units int[], fences bigint[]
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
begin
  -- Who gives one of them up deletes it.
  with kept as materialized (
    select k.resource, k.run_id, k.step_slug, k.task_index from pgflow._holds_of_tasks(hold_for_tasks.resources) k
  ), gone as materialized (
    select h.resource, h.run_id, h.step_slug, h.task_index from pgflow.task_holds h
     where h.resource = any (hold_for_tasks.resources)
       and (h.resource, h.run_id, h.step_slug, h.task_index) not in (
         select k.resource, k.run_id, k.step_slug, k.task_index from kept k)
       for update skip locked
  )
  delete from pgflow.task_holds h using gone g
   where h.resource = g.resource and h.run_id = g.run_id and h.step_slug = g.step_slug and h.task_index = g.task_index;
  insert into pgflow.task_holds (resource, run_id, step_slug, task_index, attempt, units, fence)
  select i.resource, t.run_id, t.step_slug, t.task_index, t.attempts_count, i.units, i.fence
    from unnest(hold_for_tasks.resources, run_ids, step_slugs, task_indexes, attempts, hold_for_tasks.units, fences)
           i(resource, run_id, step_slug, task_index, attempt, units, fence)
    join pgflow.step_tasks t
      on t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index
     and t.status = 'started' and t.attempts_count = i.attempt;
end;
$$;
