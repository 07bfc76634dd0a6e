-- Messages of results that came after their step was over. Nothing will read them again.
create or replace function pgflow._late_messages(
  run_ids uuid[],
  step_slugs text[],
  task_indexes int[],
  attempts int[]
) returns table (flow_slug text, message_id bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select t.flow_slug, t.message_id
      from unnest(run_ids, step_slugs, task_indexes, attempts) i(run_id, step_slug, task_index, attempt)
      cross join lateral (
        select * from pgflow.step_tasks t
         where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index offset 0
      ) t
      cross join lateral (
        select from pgflow.step_states s where s.run_id = t.run_id and s.step_slug = t.step_slug and s.status <> 'started' offset 0) s
      cross join lateral (select from pgflow.runs r where r.run_id = t.run_id and r.status not in ('failed', 'cancelled') offset 0) r
     where i.attempt is null or i.attempt = t.attempts_count;
end;
$$;
