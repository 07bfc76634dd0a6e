-- Archives the message of one task, if it has one.
create or replace function pgflow._archive_task_message(p_run_id uuid, p_step_slug text, p_task_index int)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select pgflow._archive_messages(array[t.flow_slug], array[t.message_id])
    from pgflow.step_tasks t
   where t.run_id = p_run_id and t.step_slug = p_step_slug and t.task_index = p_task_index
$$;
