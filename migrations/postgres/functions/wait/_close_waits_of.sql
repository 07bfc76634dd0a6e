-- Ends the waits of a run, or of some of its steps.
create or replace function pgflow._close_waits_of(run_id uuid, step_slugs text[], reason text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform pgflow._close_waits(array_agg(w.run_id), array_agg(w.step_slug), array_agg(w.task_index), _close_waits_of.reason)
     from pgflow.waits w
    where w.run_id = _close_waits_of.run_id
      and (_close_waits_of.step_slugs is null or w.step_slug = any (_close_waits_of.step_slugs))
   having count(*) > 0;
end;
$$;
