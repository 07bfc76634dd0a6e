-- Refuses a payload that is too large or too deep, before anything is written. Bytes are those of the
-- text, as other databases and clients count them.
--
-- The text is written out only where it could be too long. A byte inside stands for 9,217 characters
-- at the most: a number takes 16 bytes and may have 131,072 digits before its point and 16,383 behind.
create or replace function pgflow._check_payload(payload jsonb, what text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limits pgflow.limits;
  v_size bigint := pg_column_size(_check_payload.payload);
  -- What comes out of a table may be compressed: then its size says nothing.
  v_is_compressed boolean := pg_column_compression(_check_payload.payload) is not null;
  v_bytes bigint;
begin
  select * into v_limits from pgflow.limits;
  if v_is_compressed or v_size * 9217 > v_limits.max_payload_bytes then
    v_bytes := pgflow._text_bytes(_check_payload.payload, v_limits.max_payload_bytes);
    if v_bytes > v_limits.max_payload_bytes then
      raise exception 'Payload too large: % has % bytes, the limit is %',
        _check_payload.what, v_bytes, v_limits.max_payload_bytes
        using errcode = 'program_limit_exceeded',
              detail = jsonb_build_object('problem', 'too_large', 'bytes', v_bytes, 'limit', v_limits.max_payload_bytes);
    end if;
  end if;
  -- A level of nesting takes 8 bytes, and no limit is below 100.
  if (v_is_compressed or v_size >= 800)
     and jsonb_path_exists(_check_payload.payload, format('$.**{%s}', v_limits.max_depth)::jsonpath) then
    raise exception 'Payload too deep: % has more than % levels', _check_payload.what, v_limits.max_depth
      using errcode = 'program_limit_exceeded',
            detail = jsonb_build_object('problem', 'too_deep', 'limit', v_limits.max_depth);
  end if;
end;
$$;
