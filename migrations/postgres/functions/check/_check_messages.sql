-- Messages: every task was sent.
create or replace function pgflow._check_messages() returns table (invariant text, run_id uuid, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select 'task_message', t.run_id, format('task %s of %s was never sent', t.task_index, t.step_slug)
      from pgflow.step_tasks t where t.message_id is null;
end;
$$;
