-- Waits that may go on: those whose moment has come, of these flows or of all, and those whose children have ended. By (run, step, index).
create or replace function pgflow._due_waits(flow_slugs text[], kinds text[], children text[], qty int)
returns table (run_id uuid, step_slug text, task_index int)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select d.run_id, d.step_slug, d.task_index
      from (
        select w.run_id, w.step_slug, w.task_index from pgflow.waits w
         where w.until <= clock_timestamp() and (_due_waits.flow_slugs is null or w.flow_slug = any (_due_waits.flow_slugs))
         order by w.until limit _due_waits.qty
      ) d
    union
    select d.run_id, d.step_slug, d.task_index
      from (
        select a.run_id, a.step_slug, a.task_index
          from unnest(_due_waits.kinds, _due_waits.children) e(kind, child)
          join pgflow.awaited a on a.child = e.child and a.kind = e.kind
         where a.ended is null and a.abandoned is null
         order by 1, 2, 3 limit _due_waits.qty
      ) d
     order by 1, 2, 3;
end;
$$;
