-- Refuses what cannot be the name of a stream or a writer.
create or replace function pgflow._check_stream_name(name text, what text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if octet_length(_check_stream_name.name) between 1 and 128 then
    return;
  end if;
  raise exception 'The name of the % must have between 1 and 128 bytes', _check_stream_name.what
    using errcode = 'invalid_parameter_value', detail = jsonb_build_object('problem', 'bad_name');
end;
$$;
