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
      join pgflow.step_states s
        on s.run_id = r.run_id and (r.status in ('failed', 'cancelled') or s.status in ('failed', 'skipped'))
      join pgflow.step_tasks t on t.run_id = s.run_id and t.step_slug = s.step_slug
     where r.run_id = any (run_ids)
       and t.status in ('queued', 'started') and t.message_id is not null;
end;
$$;
