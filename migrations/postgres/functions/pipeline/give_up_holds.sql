-- After workers said of attempts at tasks that they are over, and nothing came of it because their step or run had ended before: they hold
-- nothing any more. What goes on keeps what it has. Returns of which resources something was held.
create or replace function pgflow.give_up_holds(run_ids uuid[], step_slugs text[], task_indexes int[], attempts int[]) returns text[]
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set join_collapse_limit = 1
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_freed text[];
begin
  -- Who forgets one of them frees it, too.
  with gone as materialized (
    select h.resource, h.run_id, h.step_slug, h.task_index
      from unnest(give_up_holds.run_ids, step_slugs, task_indexes, attempts) i(run_id, step_slug, task_index, attempt)
      join pgflow.task_holds h
        on h.run_id = i.run_id and h.step_slug = i.step_slug and h.task_index = i.task_index and h.attempt = i.attempt
     where not exists (
       select from pgflow.runs r
         join pgflow.step_states s on s.run_id = r.run_id and s.step_slug = h.step_slug
        where r.run_id = h.run_id and r.status = 'started' and s.status = 'started')
       for update of h skip locked
  ), freed as (
    delete from pgflow.task_holds h using gone g
     where h.resource = g.resource and h.run_id = g.run_id and h.step_slug = g.step_slug and h.task_index = g.task_index
    returning h.resource
  )
  select array_agg(distinct f.resource) into v_freed from freed f;
  return coalesce(v_freed, '{}');
end;
$$;
