-- Refuses a payload that is no object, or larger than pgwf's jobs may carry.
create or replace function pgwf._check_object(p_payload jsonb) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_payload) <> 'object' then
    raise exception 'payload must be a JSON object';
  end if;
  if pg_column_size(p_payload) > 512 then
    raise exception 'payload exceeds 512 bytes';
  end if;
end;
$$;
