-- Refuses a payload that is too large, too deep or (for maps) too long, before anything is written.
create or replace function pgflow._check_payload(payload jsonb, what text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limits pgflow.limits;
  v_bytes int := pg_column_size(_check_payload.payload);
begin
  -- What comes out of a table may be compressed: then its size says nothing.
  if pg_column_compression(_check_payload.payload) is not null then
    v_bytes := octet_length(_check_payload.payload::text);
  end if;
  -- A level of nesting takes 8 bytes and an element 4: what is this small is within every limit.
  if coalesce(v_bytes, 0) < 800 then
    return;
  end if;
  select * into v_limits from pgflow.limits;
  -- Bytes are those of the text, as other databases and clients count them. What is a sixth of the
  -- limit inside is within it as text, where a character takes six bytes at the most.
  if v_bytes > v_limits.max_payload_bytes / 6 then
    v_bytes := octet_length(_check_payload.payload::text);
  end if;
  if v_bytes > v_limits.max_payload_bytes then
    raise exception 'Payload too large: % has % bytes, the limit is %',
      _check_payload.what, v_bytes, v_limits.max_payload_bytes
      using errcode = 'program_limit_exceeded';
  end if;
  if jsonb_path_exists(_check_payload.payload, format('$.**{%s}', v_limits.max_depth)::jsonpath) then
    raise exception 'Payload too deep: % has more than % levels', _check_payload.what, v_limits.max_depth
      using errcode = 'program_limit_exceeded';
  end if;
end;
$$;
