-- The tasks that messages name, in the order in which tasks are locked. A message that is not one
-- of ours names none.
create or replace function pgflow._tasks_of_messages(msg_ids bigint[], bodies jsonb[])
returns table (run_id uuid, step_slug text, task_index int, msg_id bigint)
language plpgsql immutable rows 10
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  -- All or nothing: the rows are sorted before the first is given out.
  return query
    select (m.body ->> 'run_id')::uuid, m.body ->> 'step_slug', (m.body ->> 'task_index')::int, m.msg_id
      from unnest(msg_ids, bodies) m(msg_id, body)
     order by 1, 2, 3;
exception when invalid_text_representation or numeric_value_out_of_range then
  -- Somebody has sent messages of their own: looked at one by one, which takes longer.
  return query
    select
      case when m.body ->> 'run_id' ~ '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' then (m.body ->> 'run_id')::uuid end,
      m.body ->> 'step_slug',
      case when m.body ->> 'task_index' ~ '^[0-9]{1,9}$' then (m.body ->> 'task_index')::int end,
      m.msg_id
    from unnest(msg_ids, bodies) m(msg_id, body)
    order by 1, 2, 3;
end;
$$;
