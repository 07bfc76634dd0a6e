-- Steps: every run has each, their times and errors fit, they ran in dependency order.
create or replace function pgflow._check_steps() returns table (invariant text, run_id uuid, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'step_orphan', s.run_id, format('step %s has no run or no definition', s.step_slug)
    from pgflow.step_states s
   where not exists (select from pgflow.runs r where r.run_id = s.run_id and r.flow_slug = s.flow_slug)
      or not exists (
        select from pgflow.steps d where d.flow_slug = s.flow_slug and d.step_slug = s.step_slug)
  union all
  -- A run has the steps that were there when it started, and steps are only ever added at the end.
  select 'step_missing', h.run_id, format('step %s is missing, though later ones are there', d.step_slug)
    from (
      select s.run_id, s.flow_slug, max(d.step_index) as last
        from pgflow.step_states s
        join pgflow.steps d on d.flow_slug = s.flow_slug and d.step_slug = s.step_slug
       group by 1, 2
    ) h
    join pgflow.steps d on d.flow_slug = h.flow_slug and d.step_index < h.last
   where not exists (select from pgflow.step_states s where s.run_id = h.run_id and s.step_slug = d.step_slug)
  union all
  select 'step_deps_counter', s.run_id,
         format('remaining_deps of %s is %s, but %s dependencies are open', s.step_slug, s.remaining_deps, open.deps)
    from pgflow.step_states s
    cross join lateral (
      select count(*) filter (where p.status not in ('completed', 'skipped')) as deps, count(*) as total
        from pgflow.deps e
        join pgflow.step_states p on p.run_id = s.run_id and p.step_slug = e.dep_slug
       where e.flow_slug = s.flow_slug and e.step_slug = s.step_slug
    ) open
   -- One that was skipped with what it depends on no longer counts.
   where s.remaining_deps not between open.deps and case when s.status = 'skipped' then open.total else open.deps end
  union all
  select 'step_ready_but_idle', s.run_id, format('step %s waits for nothing, yet has not started', s.step_slug)
    from pgflow.step_states s
    join pgflow.runs r on r.run_id = s.run_id and r.status = 'started'
   where s.status = 'created' and s.remaining_deps = 0
  union all
  select 'step_times', s.run_id, format('times of %s do not fit status %s', s.step_slug, s.status)
    from pgflow.step_states s
    join pgflow.runs r on r.run_id = s.run_id
   where (s.status = 'completed') <> (s.completed_at is not null)
      or (s.status = 'failed') <> (s.failed_at is not null)
      or (s.status = 'skipped') <> (s.skipped_at is not null)
      or (s.status = 'created' and s.started_at is not null)
      or (s.status in ('started', 'completed') and s.started_at is null)
      or (s.status = 'failed' and (s.started_at is null) <> (s.remaining_tasks is null))
      or (s.status = 'skipped' and (s.started_at is not null) <> exists (
        select from pgflow.step_tasks t where t.run_id = s.run_id and t.step_slug = s.step_slug))
      -- Both are the moment of the run's start.
      or s.created_at <> r.started_at
      or greatest(s.started_at, s.completed_at, s.failed_at, s.skipped_at) > clock_timestamp() + interval '1 day'
  union all
  select 'step_output_bytes', s.run_id, format('the outputs of %s do not have %s bytes', s.step_slug, s.output_bytes)
    from pgflow.step_states s
   where s.output_bytes is not null and (s.output is null or s.output_bytes is distinct from (
     select sum(greatest(octet_length(t.output::text), pg_column_size(t.output #> '{}')))
       from pgflow.step_tasks t where t.run_id = s.run_id and t.step_slug = s.step_slug))
  union all
  select 'step_skip_reason', s.run_id, format('step %s was skipped for an unknown reason', s.step_slug)
    from pgflow.step_states s
   where s.skip_reason not in ('condition_unmet', 'handler_failed', 'dependency_skipped')
  union all
  select 'step_error', s.run_id, format('the error of %s is not that of a task, or none at all', s.step_slug)
    from pgflow.step_states s
   where case
     when s.status = 'failed' and s.remaining_tasks is null then s.error_message is distinct from 'Condition not met'
     -- What all tasks put out was too much.
     when s.status in ('failed', 'skipped') and s.error_message like 'Output too large: %' then exists (
       select from pgflow.step_tasks t
        where t.run_id = s.run_id and t.step_slug = s.step_slug and t.status <> 'completed')
     when s.status = 'failed' or (s.skip_reason = 'handler_failed' and s.error_message is not null) then not exists (
       select from pgflow.step_tasks t
        where t.run_id = s.run_id and t.step_slug = s.step_slug
          and (t.status = 'failed' or t.permanently_stalled_at is not null)
          and (coalesce(t.error_message, '') = coalesce(s.error_message, '')
               or (t.error_message like '[TYPE_VIOLATION]%' and s.error_message like '[TYPE_VIOLATION]%')
               -- The worker that had lost it has said later what it failed with.
               or (t.status = 'failed' and t.permanently_stalled_at is not null and s.error_message like 'stalled: %')))
     else s.error_message is not null
   end
$$;
