-- How many bytes of JSON an event is about: those of the run's input, or of an output. One that is too much for a page in any
-- case is not written down to be counted.
create or replace function pgflow._event_weight(run_id uuid, event_type text, step_slug text) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  case _event_weight.event_type
    when 'run:started' then
      return (select octet_length(r.input::text) from pgflow.runs r where r.run_id = _event_weight.run_id);
    when 'run:completed' then
      return (
        select case when pg_column_size(r.output) > pgflow._event_bytes() then pg_column_size(r.output)
                 else coalesce(octet_length(r.output::text), 0) end
          from pgflow.runs r where r.run_id = _event_weight.run_id);
    when 'step:completed' then
      return (
        select coalesce(s.output_bytes, octet_length(s.output::text), 0)
          from pgflow.step_states s
         where s.run_id = _event_weight.run_id and s.step_slug = _event_weight.step_slug);
    else
      return 0;
  end case;
end;
$$;
