-- Children: those of an open wait are counted, those that have ended are told or noted, all others are to be cancelled.
create or replace function pgflow._check_children() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query
  select 'wait_children', w.run_id, format('task %s of %s waits for %s of %s children up to place %s', w.task_index, w.step_slug,
                                           w.open_children, c.children, c.last)
    from pgflow.waits w
    cross join lateral (
      select count(*) as children, max(a.place) as last, min(a.place) as first, count(*) filter (where a.ended is null) as open,
             coalesce(bool_or(a.ended <> 'completed'), false) as has_failed,
             coalesce(bool_and(a.kind = case w.kind when 'runs' then 'run' when 'jobs' then 'job' end), true) as fits
        from pgflow.awaited a
       where a.run_id = w.run_id and a.step_slug = w.step_slug and a.task_index = w.task_index and a.attempt = w.attempt
         and a.abandoned is null
    ) c
   where w.open_children <> c.open or w.has_failed <> c.has_failed or not c.fits or coalesce(c.first, 0) <> 0
      or coalesce(c.last + 1, 0) <> c.children or (w.kind in ('runs', 'jobs') and not w.each and c.children <> 1)
  union all
  select 'child_of_nobody', a.run_id, format('%s %s is waited for by nobody', a.kind, a.child)
    from pgflow.awaited a
   where a.abandoned is null and not exists (
     select from pgflow.waits w
      where w.run_id = a.run_id and w.step_slug = a.step_slug and w.task_index = a.task_index and w.attempt = a.attempt)
  union all
  select 'child_mark', a.run_id, format('%s %s is waited for and does not know', a.kind, a.child)
    from pgflow.awaited a
   where a.abandoned is null
     and (exists (select from pgflow.runs r where a.kind = 'run' and r.run_id::text = a.child and r.is_child is not true)
          or exists (select from pgflow.jobs j where a.kind = 'job' and j.id = a.child and j.is_child is not true))
  union all
  select 'child_end', a.run_id, format('nobody was told how %s %s ended', a.kind, a.child)
    from pgflow.awaited a
   where a.abandoned is null and a.ended is null
     and not exists (select from pgflow.runs r where a.kind = 'run' and r.run_id::text = a.child and r.status = 'started')
     and not exists (select from pgflow.jobs j where a.kind = 'job' and j.id = a.child)
     and not exists (select from pgflow.wait_ends e where e.kind = a.kind and e.child = a.child)
  union all
  select 'child_output', a.run_id, format('%s %s put out something else, or failed otherwise', a.kind, a.child)
    from pgflow.awaited a
    cross join lateral pgflow._how_ended(array[a.kind], array[a.child]) e
   where a.ended is not null and e.ended <> 'deleted' and (a.ended, a.output, a.error) is distinct from (e.ended, e.output, e.error)
     -- A run may have been retried meanwhile.
     and not (a.kind = 'run' and a.ended = 'failed');
end;
$$;
