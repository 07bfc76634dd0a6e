-- How many tasks a root map makes of a run's input, which must be an array.
create or replace function pgflow._count_root_elements(flow_slug text, input jsonb) returns int
language plpgsql stable
set search_path = ''
as $$
begin
  if _count_root_elements.input is null then
    raise exception 'Flow % has root map steps but input is NULL', _count_root_elements.flow_slug;
  elsif jsonb_typeof(_count_root_elements.input) <> 'array' then
    raise exception 'Flow % has root map steps but input is not an array (got %)',
      _count_root_elements.flow_slug, jsonb_typeof(_count_root_elements.input);
  end if;
  perform pgflow._check_fanout(jsonb_array_length(_count_root_elements.input), 'the run''s input');
  return jsonb_array_length(_count_root_elements.input);
end;
$$;
