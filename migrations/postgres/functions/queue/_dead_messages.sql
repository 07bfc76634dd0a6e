-- Messages whose task will never run: its run has failed or was cancelled, or its step is over.
create or replace function pgflow._dead_messages(run_ids uuid[]) returns table (flow_slug text, message_id bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select t.flow_slug, t.message_id
      -- Steps before tasks: of a run in which all goes well, no task is looked at.
      from pgflow.runs r
      cross join lateral (
        select s.run_id, s.step_slug from pgflow.step_states s
         where s.run_id = r.run_id and (r.status in ('failed', 'cancelled') or s.status in ('failed', 'skipped')) offset 0
      ) s
      cross join lateral (
        select t.flow_slug, t.message_id, t.status from pgflow.step_tasks t
         where t.run_id = s.run_id and t.step_slug = s.step_slug offset 0
      ) t
     where r.run_id = any (run_ids)
       and t.status in ('queued', 'started') and t.message_id is not null;
end;
$$;
