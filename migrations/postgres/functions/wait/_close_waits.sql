-- Ends waits, whatever they were for; the caller holds their runs. Children that have not ended are left behind, to be cancelled for
-- this reason (see cancel_abandoned), unless they are detached.
create or replace function pgflow._close_waits(run_ids uuid[], step_slugs text[], task_indexes int[], reason text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  with gone as (
    delete from pgflow.waits w using unnest(run_ids, step_slugs, task_indexes) k(run_id, step_slug, task_index)
     where w.run_id = k.run_id and w.step_slug = k.step_slug and w.task_index = k.task_index
    returning w.*
  ), over as (
    delete from pgflow.awaited a using gone g
     where a.run_id = g.run_id and a.step_slug = g.step_slug and a.task_index = g.task_index and a.attempt = g.attempt
       and (g.is_detached or a.ended is not null)
  )
  update pgflow.awaited a set abandoned = _close_waits.reason
    from gone g
   where a.run_id = g.run_id and a.step_slug = g.step_slug and a.task_index = g.task_index and a.attempt = g.attempt
     and not g.is_detached and a.ended is null;
  if found then
    perform pgflow._ask_to_wake();
  end if;
end;
$$;
