-- The flow that the run of that id belongs to; null if there is none. Refused if it is not a run of
-- the flow of that name, in any version.
create or replace function pgflow._flow_of_run(flow_name text, id uuid) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_flow text := (select r.flow_slug from pgflow.runs r where r.run_id = _flow_of_run.id);
begin
  if v_flow <> _flow_of_run.flow_name and not exists (
    select from pgflow.flow_versions v where v.flow_slug = v_flow and v.flow_name = _flow_of_run.flow_name
  ) then
    raise exception 'Run % belongs to flow "%", not to "%"', _flow_of_run.id, v_flow, _flow_of_run.flow_name
      using errcode = 'unique_violation', schema = 'pgflow', table = 'runs', constraint = 'runs_pkey',
            detail = jsonb_build_object('problem', 'other_flow', 'flow', v_flow);
  end if;
  return v_flow;
end;
$$;
