-- Says per item of a batch what became of it; `applied` holds the positions that took effect.
create or replace function pgflow._outcomes(
  p_run_ids uuid[],
  p_step_slugs text[],
  p_task_indexes int[],
  p_attempts int[],
  p_applied int[]
) returns table (run_id uuid, step_slug text, task_index int, outcome text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_outcomes text[];
  v_item int;
begin
  if cardinality(p_applied) = cardinality(p_run_ids) then
    return query select i.*, 'applied' from unnest(p_run_ids, p_step_slugs, p_task_indexes) i;
    return;
  end if;
  select array_agg(case
      when t.run_id is null then 'unknown'
      when t.status = 'completed' and coalesce(i.attempt = t.attempts_count, true) then 'already_settled'
      when r.status in ('failed', 'cancelled') then 'run_ended'
      when t.status = 'queued' or i.attempt <> t.attempts_count then 'fenced'
      when t.status = 'started' and s.status = 'started' then 'fenced'
      else 'already_settled'
    end order by i.n)
  into v_outcomes
  from unnest(p_run_ids, p_step_slugs, p_task_indexes, p_attempts)
    with ordinality i(run_id, step_slug, task_index, attempt, n)
  left join lateral (
    select t.run_id, t.status, t.attempts_count from pgflow.step_tasks t
     where t.run_id = i.run_id and t.step_slug = i.step_slug and t.task_index = i.task_index offset 0
  ) t on true
  left join lateral (select s.status from pgflow.step_states s where s.run_id = i.run_id and s.step_slug = i.step_slug offset 0) s on true
  left join lateral (select r.status from pgflow.runs r where r.run_id = i.run_id offset 0) r on true;
  foreach v_item in array coalesce(p_applied, '{}') loop
    v_outcomes[v_item] := 'applied';
  end loop;
  return query select * from unnest(p_run_ids, p_step_slugs, p_task_indexes, v_outcomes);
end;
$$;
