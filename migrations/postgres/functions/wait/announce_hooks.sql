-- Tokens of the hooks of attempts that run: one per task, the same one for all its attempts. A row per item, in the order given;
-- null for an attempt that does not have its task.
create or replace function pgflow.announce_hooks(run_ids uuid[], step_slugs text[], task_indexes int[], attempts int[])
returns table (run_id uuid, step_slug text, task_index int, token text)
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
begin
  perform pgflow._check_batch(run_ids, step_slugs, task_indexes, coalesce(cardinality(run_ids), 0), attempts);
  -- While it is locked it is not deleted, so that no hook is left of a run that is gone.
  perform pgflow._mark_waiting(run_ids);
  insert into pgflow.hooks (run_id, step_slug, task_index, token)
  select i.run_id, i.step_slug, i.task_index, pgflow._new_token()
    from unnest(run_ids, step_slugs, task_indexes, attempts) i(run_id, step_slug, task_index, attempt)
   where pgflow.holds_task(i.run_id, i.step_slug, i.task_index, i.attempt)
   order by 1, 2, 3
  on conflict (run_id, step_slug, task_index) do nothing;
  return query
    select i.run_id, i.step_slug, i.task_index, h.token
      from unnest(run_ids, step_slugs, task_indexes, attempts) with ordinality i(run_id, step_slug, task_index, attempt, n)
      left join pgflow.hooks h
        on h.run_id = i.run_id and h.step_slug = i.step_slug and h.task_index = i.task_index
       and pgflow.holds_task(i.run_id, i.step_slug, i.task_index, i.attempt)
     order by i.n;
end;
$$;
