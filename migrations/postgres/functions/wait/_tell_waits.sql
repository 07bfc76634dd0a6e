-- Notes how children ended in those of the waits that the caller has locked. Ends that others wait for too stay noted, and so do those that
-- somebody is just noting again. Returns how many waits were told, and ends forgotten: while it is more than none, there may be more.
create or replace function pgflow._tell_waits(
  kinds text[], children text[], run_ids uuid[], step_slugs text[], task_indexes int[]
) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_free record;
  v_told int;
  v_forgotten int;
begin
  select array_agg(f.kind) as kinds, array_agg(f.child) as children into v_free
    from (
      select e.kind, e.child from unnest(kinds, children) k(kind, child)
        join pgflow.wait_ends e on e.child = k.child and e.kind = k.kind
         for update of e skip locked
    ) f;
  with told as (
    update pgflow.awaited a set ended = e.ended, output = e.output, error = e.error
      from pgflow._how_ended(v_free.kinds, v_free.children) e
     where a.child = e.child and a.kind = e.kind and a.ended is null and a.abandoned is null
       and (a.run_id, a.step_slug, a.task_index) in (select * from unnest(run_ids, step_slugs, task_indexes))
    returning a.run_id, a.step_slug, a.task_index, a.attempt, a.ended
  )
  update pgflow.waits w
     set open_children = w.open_children - c.children, has_failed = w.has_failed or c.has_failed
    from (
      select t.run_id, t.step_slug, t.task_index, t.attempt, count(*)::int as children, bool_or(t.ended <> 'completed') as has_failed
        from told t group by 1, 2, 3, 4
    ) c
   where w.run_id = c.run_id and w.step_slug = c.step_slug and w.task_index = c.task_index and w.attempt = c.attempt;
  get diagnostics v_told = row_count;
  delete from pgflow.wait_ends e using unnest(v_free.kinds, v_free.children) k(kind, child)
   where e.child = k.child and e.kind = k.kind and not exists (
     select from pgflow.awaited a
      where a.child = e.child and a.kind = e.kind and a.ended is null and a.abandoned is null
        and (a.run_id, a.step_slug, a.task_index) not in (select * from unnest(run_ids, step_slugs, task_indexes)));
  get diagnostics v_forgotten = row_count;
  return v_told + v_forgotten;
end;
$$;
