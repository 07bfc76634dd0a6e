-- What a step whose tasks are all completed puts out.
create or replace function pgflow._step_output(flow_slug text, run_id uuid, step_slug text) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  if exists (
    select from pgflow.steps d
     where d.flow_slug = _step_output.flow_slug and d.step_slug = _step_output.step_slug and d.step_type = 'map'
  ) then
    return (
      select jsonb_agg(t.output order by t.task_index) from pgflow.step_tasks t
       where t.run_id = _step_output.run_id and t.step_slug = _step_output.step_slug
    );
  end if;
  return (
    select t.output from pgflow.step_tasks t
     where t.run_id = _step_output.run_id and t.step_slug = _step_output.step_slug and t.task_index = 0
  );
end;
$$;
