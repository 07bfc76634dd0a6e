-- Refuses a run of a flow with root map steps whose input is no array, or too long a one.
create or replace function pgflow._check_root_elements(flow_slug text, input jsonb, elements int) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if _check_root_elements.elements is null then
    raise exception 'Flow % has root map steps but input is not an array (got %)',
      _check_root_elements.flow_slug, jsonb_typeof(_check_root_elements.input)
      using detail = jsonb_build_object('problem', 'not_an_array');
  end if;
  perform pgflow._check_fanout(_check_root_elements.elements, 'the run''s input');
end;
$$;
