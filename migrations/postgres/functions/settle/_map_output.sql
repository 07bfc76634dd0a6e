-- All outputs of a map's tasks in their order, with their bytes; nothing if they are more than a step may put out. They are
-- measured first: what does not fit would take the server's memory before it is refused.
create or replace function pgflow._map_output(run_id uuid, step_slug text, out output jsonb, out output_bytes bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  select sum(greatest(octet_length(t.output::text), pg_column_size(t.output #> '{}'))) into output_bytes
    from pgflow.step_tasks t
   where t.run_id = _map_output.run_id and t.step_slug = _map_output.step_slug;
  if _map_output.output_bytes > (select l.max_output_bytes from pgflow.limits l) then
    output_bytes := null;
  else
    select to_jsonb(array_agg(t.output order by t.task_index)) into output from pgflow.step_tasks t
     where t.run_id = _map_output.run_id and t.step_slug = _map_output.step_slug;
  end if;
end;
$$;
