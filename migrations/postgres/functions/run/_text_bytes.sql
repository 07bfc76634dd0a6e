-- How many bytes a payload has as text; where that is past `enough`, perhaps only that it is.
--
-- Texts end at a gigabyte, and numbers fill one from a payload of 128 KB: 131,072 digits before the point, and
-- 16,383 behind it, take 16 bytes inside. So in what is large the long numbers are added up first, until it
-- is enough; whatever is too long after that counts as a gigabyte.
create or replace function pgflow._text_bytes(payload jsonb, enough bigint) returns bigint
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_number numeric;
  v_bytes bigint := 0;
begin
  if pg_column_size(_text_bytes.payload) < 8000 and pg_column_compression(_text_bytes.payload) is null then
    return octet_length(_text_bytes.payload::text);
  end if;
  for v_number in
    -- Not jsonb_path_query: the time that takes grows with the square of what it finds.
    select n::numeric from jsonb_array_elements(
        jsonb_path_query_array(_text_bytes.payload, 'strict $.** ? (@.type() == "number")')) n
     where scale(n::numeric) > 30 or abs(n::numeric) >= 1e30
  loop
    v_bytes := v_bytes + octet_length(v_number::text);
    if v_bytes > _text_bytes.enough then
      return v_bytes;
    end if;
  end loop;
  return octet_length(_text_bytes.payload::text);
exception when program_limit_exceeded then
  return 1073741824;
end;
$$;
