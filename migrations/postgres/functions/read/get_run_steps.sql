-- The steps of a run in step order. With `outputs`, also what each put out, unless that takes more than 64 KiB
-- where it is stored: then `is_large`, and get_step_outputs reads it piece by piece. `is_leaf`: no other
-- step of the run depends on it. Of a started step also what its tasks are doing: see _step_work.
create or replace function pgflow.get_run_steps(run_id uuid, outputs boolean default false)
returns table (
  step_slug text, step_type text, status text, remaining_deps int, initial_tasks int, remaining_tasks int,
  error_message text, skip_reason text, is_leaf boolean, output jsonb, is_large boolean,
  attempts int, running int, worker_id uuid, last_error text, yield_reason text, next_at timestamptz
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
begin
  return query
    select s.step_slug, d.step_type, s.status, s.remaining_deps, s.initial_tasks, s.remaining_tasks,
           s.error_message, s.skip_reason,
           not exists (
             select from pgflow.deps e
               join pgflow.step_states n on n.run_id = s.run_id and n.step_slug = e.step_slug
              where e.flow_slug = s.flow_slug and e.dep_slug = s.step_slug
           ),
           case when get_run_steps.outputs and not size.is_large then s.output end, size.is_large,
           work.attempts, work.running, work.worker_id, work.last_error, work.yield_reason, work.next_at
      from pgflow.step_states s
      join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
      cross join lateral (select coalesce(pg_column_size(s.output), 0) > 65536 as is_large) size
      left join pgflow.runs r on r.run_id = s.run_id and r.status = 'started' and s.status = 'started'
      left join lateral pgflow._step_work(r.run_id, s.flow_slug, s.step_slug, s.initial_tasks) work on true
     where s.run_id = get_run_steps.run_id
     order by d.step_index;
end;
$$;
